/* Tables as they were: rowrelay.as_of() and rowrelay.row_as_of(), held against what was really there. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mirrored.h"

#define WRITERS 4
#define MOMENTS 20

/*
 * Runs statements, and again when they lose a deadlock, or read a table that is truncated at that moment. Gives the
 * first column of the last one's first row, "" for null.
 */
static const char *patiently(PGconn *connection, const char *statements) {
  static char answer[4096];
  for (;;) {
    PGresult *reply = PQexec(connection, statements);
    const char *state = PQresultErrorField(reply, PG_DIAG_SQLSTATE);
    if (state == NULL) {
      snprintf(answer, sizeof answer, "%s", PQntuples(reply) > 0 ? PQgetvalue(reply, 0, 0) : "");
      PQclear(reply);
      return answer;
    }
    cr_assert(strcmp(state, "40P01") == 0 || strcmp(state, "40001") == 0, "%s", PQresultErrorMessage(reply));
    PQclear(reply);
    if (PQtransactionStatus(connection) != PQTRANS_IDLE)
      sql(connection, "rollback");
  }
}

/* Keeps what is in `table` now, as moment `n`, with the snapshot that saw it and a time that follows it. */
static void remember(PGconn *connection, const char *table, int n) {
  char statements[1024];
  /* Locked first, because a snapshot does not hide what is truncated later. */
  snprintf(
      statements, sizeof statements,
      "begin isolation level repeatable read; lock table %s in access share mode; "
      "insert into truth select '%s', %d, pg_current_snapshot(), null, array(select t::text from %s as t order by 1); "
      "commit; update truth set at = clock_timestamp() where relation = '%s' and n = %d",
      table, table, n, table, table, n);
  patiently(connection, statements);
}

static void begin_truth(struct fixture *fixture, const char *name, const char *script) {
  fixture_begin(fixture, name);
  sql(fixture->at_source,
      "create table truth (relation text, n int, seen pg_snapshot, at timestamptz, rows text[], unique (relation, n))");
  sql(fixture->at_source, "%s", script);
}

/* The function that takes a moment that is known by its snapshot ("seen") or by its time ("at"). */
static const char *as_of(const char *by) {
  return strcmp(by, "seen") == 0 ? "as_of_snapshot" : "as_of";
}

/* Fails the test unless as_of gives moment `n` of `table` back; by is "seen" or "at". */
static void same_as_truth(PGconn *connection, const char *table, const char *by, int n) {
  char statement[1024];
  snprintf(statement, sizeof statement,
           "with past as (select past_row::text as r from truth t, rowrelay.%s(null::%s, t.%s) as past_row "
           "               where t.relation = '%s' and t.n = %d), "
           "real as (select unnest(t.rows) as r from truth t where t.relation = '%s' and t.n = %d) "
           "select concat((select string_agg('-' || r, ' ') from (table real except all table past) x), "
           "              (select string_agg('+' || r, ' ') from (table past except all table real) x))",
           as_of(by), table, by, table, n, table, n);
  const char *different = patiently(connection, statement);
  cr_assert(different[0] == '\0', "%s as of moment %d, by %s: %s", table, n, by, different);
}

/* The same of each single row of a table whose key is id. */
static void rows_same_as_truth(PGconn *connection, const char *table, const char *by, int n) {
  const char *different = ask(
      connection,
      "select string_agg(format('%%s: %%s, not %%s', k, a.r, m.r), '; ') "
      "  from (select * from truth t where t.relation = '%s' and t.n = %d) as t cross join generate_series(0, 101) as "
      "k "
      "  left join lateral (select past_row::text as r from rowrelay.row_%s(null::%s, k::text, t.%s) as past_row) "
      "as a on true "
      "  left join lateral (select r from unnest(t.rows) as r where r like format('(%%s,%%%%', k)) as m on true "
      " where a.r is distinct from m.r",
      table, n, as_of(by), table, by);
  cr_assert(different[0] == '\0', "%s as of moment %d, by %s: %s", table, n, by, different);
}

static const char KINDS[] =
    "create table stop ();"
    "create schema \"Old Shop\";"
    /* there before, with the row before */
    "create table \"Old Shop\".\"Order\" (\"Year\" int, \"N\"\"r\" text, total numeric, doc jsonb, note json, "
    "  primary key (\"Year\", \"N\"\"r\"));"
    "insert into \"Old Shop\".\"Order\" select 2020 + g / 20, (g % 20)::text, g * 1.50, jsonb_build_object('g', g), "
    "'null' "
    "  from generate_series(1, 60) as g;"
    "select rowrelay.capture_table('\"Old Shop\".\"Order\"', before => 'full');"
    /* empty, and without the row before */
    "create table item (id int primary key, word text, at timestamptz default clock_timestamp());"
    "select rowrelay.capture_table('item');"
    /* without a key */
    "create table tally (a int, b float8);"
    "insert into tally select g / 3, 0.1 from generate_series(1, 60) as g;"
    "select rowrelay.capture_table('tally');"
    /* partitions */
    "create table part (id int primary key, word text) partition by range (id);"
    "create table part_low partition of part for values from (0) to (20);"
    "create table part_high partition of part for values from (20) to (100);"
    "select rowrelay.capture_table('part');";

/* One writer's work: short transactions of random statements, some of which are rolled back or lose a deadlock. */
static const char WORK[] =
    "do $$"
    "declare k int; n int; what int;"
    "begin"
    "  perform setseed(%d / 10.0);"
    "  for n in 1 .. %d loop"
    "    exit when exists (select from stop);"
    "    for i in 1 .. 1 + (random() * 3)::int loop"
    "      begin"
    "        k := (random() * 50)::int; what := (random() * %d)::int;"
    "        if what = 0 then"
    "          insert into \"Old Shop\".\"Order\" values (2020 + k / 20, k %% 20, k, '{\"é\": null}', '{\"z\" : "
    "\"\\u0000\"}')"
    "            on conflict (\"Year\", \"N\"\"r\") do update set total = \"Order\".total + 0.10, doc = 'null';"
    "        elsif what = 1 then"
    "          update \"Old Shop\".\"Order\" set \"N\"\"r\" = (random() * 20)::int where \"Year\" = 2020 + k / 20 and "
    "\"N\"\"r\" = (k %% 20)::text;"
    "        elsif what = 2 then"
    "          delete from \"Old Shop\".\"Order\" where \"Year\" = 2020 + k / 20 and \"N\"\"r\" < (k / 5)::text;"
    "        elsif what = 3 then"
    "          insert into item (id, word) values (k, n) on conflict (id) do update set word = excluded.word || i;"
    "        elsif what = 4 then"
    "          update item set word = repeat('w', k), at = clock_timestamp() where id between k and k + 5;"
    "        elsif what = 5 then"
    "          delete from item where id between k and k + 2;"
    "        elsif what = 6 then"
    "          insert into tally values (k, k / 7.0), (k, k / 7.0), (k, '-0');"
    "        elsif what = 7 then"
    "          update tally set b = b + 1 where a = k / 2;"
    "        elsif what = 8 then"
    "          delete from tally where a = k / 2;"
    "        elsif what = 9 then"
    "          update item set id = 100 - id where id = k;"
    "          if random() < 0.3 then raise exception 'no'; end if;"
    "        elsif what in (10, 11, 12) then"
    "          insert into part values (k, 'p'), (k + 1, 'q') on conflict (id) do update set word = part.word || n;"
    "        elsif what = 13 then"
    "          update part set id = id + 25 where id between k and k + 1;"
    "        elsif what = 14 then"
    "          delete from part where id >= k and id < k + 3;"
    "        elsif what = 15 and random() < 0.3 then"
    "          truncate item;"
    "        elsif what = 16 and random() < 0.3 then"
    "          truncate part_low;"
    "        elsif what = 17 and random() < 0.3 then"
    "          truncate part;"
    "        end if;"
    "      exception when others then null;"
    "      end;"
    "    end loop;"
    "    if random() < 0.1 then rollback; else commit; end if;"
    "    perform pg_sleep(random() * 0.01);"
    "  end loop;"
    "end $$";

static const char *const TABLES[] = {"\"Old Shop\".\"Order\"", "item", "tally", "part"};
#define TABLE_COUNT (sizeof TABLES / sizeof *TABLES)

/* Until the others have made some changes, however busy the machine is. */
static void let_others_write(PGconn *connection) {
  int64_t last = ask_number(connection, "select rowrelay.last_change_id()");
  for (int i = 0; i < 1000 && ask_number(connection, "select rowrelay.last_change_id()") < last + 20; i++)
    sleep_seconds(0.02);
}

Test(as_of, every_one_of_twenty_moments_comes_back_as_it_was_while_others_wrote) {
  struct fixture fixture;
  begin_truth(&fixture, "asof_random", KINDS);
  PGconn *writers[WRITERS];
  sql(fixture.at_source, "set deadlock_timeout = '20ms'");
  for (int i = 0; i < WRITERS; i++) {
    writers[i] = connect_to(fixture.source, NULL);
    sql(writers[i], "set deadlock_timeout = '20ms'");
    start(writers[i], WORK, i + 1, 100000, 17);
  }
  for (int n = 0; n < MOMENTS; n++) {
    for (size_t t = 0; t < TABLE_COUNT; t++)
      remember(fixture.at_source, TABLES[t], n);
    if (n % 3 == 1)
      sql(fixture.at_source, "select rowrelay.tick(at_once => true)"); /* each takes less to read from here on */
    let_others_write(fixture.at_source);
    sleep_seconds((double)(random() % 50) / 1000);
  }
  for (size_t t = 0; t < TABLE_COUNT; t++)
    same_as_truth(fixture.at_source, TABLES[t], "seen", MOMENTS / 2); /* they are still at it */
  sql(fixture.at_source, "insert into stop default values");
  for (int i = 0; i < WRITERS; i++) {
    finish(writers[i]);
    PQfinish(writers[i]);
  }
  for (int n = 0; n < MOMENTS; n++)
    for (size_t t = 0; t < TABLE_COUNT; t++)
      same_as_truth(fixture.at_source, TABLES[t], "seen", n);
  rows_same_as_truth(fixture.at_source, "item", "seen", 7);
  rows_same_as_truth(fixture.at_source, "part", "seen", 15);
  int64_t seen = ask_number(fixture.at_source, "select count(distinct rows) from truth where relation = 'item'");
  cr_assert(seen > MOMENTS / 4, "%" PRId64, seen);
  fixture_end(&fixture);
}

Test(as_of, a_time_between_transactions_comes_back_as_it_was) {
  struct fixture fixture;
  begin_truth(&fixture, "asof_time", KINDS);
  for (int n = 0; n < MOMENTS; n++) {
    sql(fixture.at_source, WORK, n % 10, 10, 17);
    for (size_t t = 0; t < TABLE_COUNT; t++)
      remember(fixture.at_source, TABLES[t], n);
    if (n % 3 == 1)
      sql(fixture.at_source, "select rowrelay.tick(at_once => true)");
  }
  sql(fixture.at_source, WORK, 0, 20, 17);
  for (int n = 0; n < MOMENTS; n++)
    for (size_t t = 0; t < TABLE_COUNT; t++)
      same_as_truth(fixture.at_source, TABLES[t], "at", n);
  rows_same_as_truth(fixture.at_source, "item", "at", 7);
  rows_same_as_truth(fixture.at_source, "part", "at", 15);
  fixture_end(&fixture);
}

/* What as_of gives of moment `n`, in one line. */
static const char *table_at(PGconn *connection, const char *table, const char *by, int n) {
  return ask(connection,
             "select string_agg(past_row::text, ' ' order by past_row::text) "
             "from truth t, rowrelay.%s(null::%s, t.%s) as past_row where t.relation = '%s' and t.n = %d",
             as_of(by), table, by, table, n);
}

static const char *row_at(PGconn *connection, const char *table, const char *key, int n) {
  return ask(connection,
             "select past_row::text from truth t, rowrelay.row_as_of_snapshot(null::%s, '%s', t.seen) as past_row "
             "where t.relation = '%s' and t.n = %d",
             table, key, table, n);
}

/* Fails the test unless reading the table as of moment `n` fails with a message that contains `words`. */
static void fails_at(PGconn *connection, const char *table, const char *by, int n, const char *words) {
  const char *state = sql_fails(connection,
                                "select count(*) from truth t, rowrelay.%s(null::%s, t.%s) as past_row "
                                "where t.relation = '%s' and t.n = %d",
                                as_of(by), table, by, table, n);
  cr_assert(strstr(PQerrorMessage(connection), words) != NULL, "%s: %s", state, PQerrorMessage(connection));
}

Test(as_of, rows_that_have_not_changed_since_capture_began_are_as_the_table_has_them) {
  struct fixture fixture;
  begin_truth(&fixture, "asof_unchanged",
              "create table t (id int primary key, a text);"
              "insert into t values (1, 'old'), (2, 'old'), (3, 'old');");
  PGconn *source = fixture.at_source;
  remember(source, "t", 0);
  sql(source, "select rowrelay.capture_table('t')");
  remember(source, "t", 1);
  sql(source, "insert into t values (4, 'new')");
  remember(source, "t", 2);
  sql(source, "update t set a = 'newer' where id = 4");
  same_as_truth(source, "t", "seen", 1);
  same_as_truth(source, "t", "at", 2);
  /* before the log begins */
  fails_at(source, "t", "seen", 0, "the log of table public.t begins at");
  fails_at(source, "t", "at", 0, "the log of table public.t begins at");
  /* nobody kept what a row was that was there before and has changed since */
  sql(source, "update t set a = 'newer' where id = 2");
  fails_at(source, "t", "seen", 1, "the log does not have row 2 of table public.t as it was before change");
  cr_assert_str_eq(row_at(source, "t", "3", 1), "(3,old)");
  cr_assert_str_eq(row_at(source, "t", "4", 1), "");
  remember(source, "t", 3);
  sql(source, "delete from t where id in (2, 4); insert into t values (2, 'again')");
  same_as_truth(source, "t", "seen", 3);
  sql(source, "select rowrelay.release_table('t')");
  fails_at(source, "t", "seen", 3, "is no longer captured");
  fixture_end(&fixture);
}

Test(as_of, deleted_and_inserted_again_a_row_is_what_it_was_each_time) {
  struct fixture fixture;
  begin_truth(&fixture, "asof_again",
              "create table t (id int primary key, a text); insert into t values (1, 'first');"
              "select rowrelay.capture_table('t', before => 'full');");
  PGconn *source = fixture.at_source;
  remember(source, "t", 0);
  sql(source, "delete from t");
  remember(source, "t", 1);
  sql(source, "insert into t values (1, 'second')");
  remember(source, "t", 2);
  sql(source, "begin; delete from t; insert into t values (1, 'third'); delete from t; commit");
  remember(source, "t", 3);
  sql(source, "insert into t values (1, 'fourth')");
  for (int n = 0; n < 4; n++) {
    same_as_truth(source, "t", "seen", n);
    same_as_truth(source, "t", "at", n);
    rows_same_as_truth(source, "t", "seen", n);
    rows_same_as_truth(source, "t", "at", n);
  }
  fixture_end(&fixture);
}

Test(as_of, a_time_shows_whole_transactions_only) {
  struct fixture fixture;
  begin_truth(&fixture, "asof_whole",
              "create table t (id int primary key, a text); create table u (id int primary key);"
              "select rowrelay.capture_table('t'); select rowrelay.capture_table('u');");
  PGconn *source = fixture.at_source;
  PGconn *writer = connect_to(fixture.source, NULL);
  for (int ticked = 0; ticked < 2; ticked++) {
    sql(source, "truncate truth");
    sql(writer, "begin; insert into t values (%d, 'half')", 2 * ticked);
    remember(source, "t", 0);
    sql(writer, "insert into u values (%d); commit", ticked);
    remember(source, "t", 1);
    sql(source, "insert into t values (%d, 'later')", 2 * ticked + 1);
    if (ticked)
      sql(source, "select rowrelay.tick(at_once => true)");
    for (int n = 0; n < 2; n++) {
      same_as_truth(source, "t", "at", n);
      rows_same_as_truth(source, "t", "at", n);
    }
  }
  PQfinish(writer);
  fixture_end(&fixture);
}

Test(as_of, what_was_truncated_is_there_when_the_log_began_with_an_empty_table) {
  struct fixture fixture;
  begin_truth(&fixture, "asof_truncate",
              "create table fresh (id int primary key, a text); select rowrelay.capture_table('fresh');"
              "create table old (id int primary key, a text); insert into old values (1, 'a'), (2, 'b');"
              "select rowrelay.capture_table('old');");
  PGconn *source = fixture.at_source;
  sql(source, "insert into fresh values (1, 'a'), (2, 'b')");
  remember(source, "fresh", 0);
  sql(source, "update old set a = 'c' where id = 1");
  remember(source, "old", 0);
  sql(source, "truncate fresh; truncate old");
  remember(source, "fresh", 1);
  remember(source, "old", 1);
  sql(source, "insert into fresh values (2, 'c'); insert into old values (3, 'c')");
  remember(source, "old", 2);
  sql(source, "truncate fresh, old");
  same_as_truth(source, "fresh", "seen", 0);
  same_as_truth(source, "fresh", "at", 1);
  rows_same_as_truth(source, "fresh", "at", 0);
  fails_at(source, "old", "seen", 0, "truncated table");
  same_as_truth(source, "old", "seen", 1);
  same_as_truth(source, "old", "at", 2);
  cr_assert_str_eq(row_at(source, "old", "1", 0), "(1,c)");
  sql_fails(source,
            "select rowrelay.row_as_of_snapshot(null::old, '2', seen) from truth where relation = 'old' and n = 0");
  cr_assert(strstr(PQerrorMessage(source), "does not have row 2 of table public.old") != NULL, "%s",
            PQerrorMessage(source));

  /* a truncate is what a snapshot does not hide: better an error than rows that are not right */
  PGconn *reader = connect_to(fixture.source, NULL);
  sql(reader, "begin isolation level repeatable read; select count(*) from truth");
  sql(source, "insert into fresh values (5, 'e')");
  sql(source, "truncate fresh");
  cr_assert_str_eq(sql_fails(reader, "select * from rowrelay.as_of(null::fresh, clock_timestamp())"), "40001");
  PQfinish(reader);
  fixture_end(&fixture);
}

Test(as_of, columns_that_were_added_renamed_and_dropped_are_found_under_their_names_of_now) {
  struct fixture fixture;
  begin_truth(&fixture, "asof_columns",
              "create table t (id int primary key, a text, b int, c date, z text);"
              "insert into t values (1, 'one', 1, '2020-01-01', 'z1'), (2, 'two', 2, '2020-01-02', 'z2');"
              "select rowrelay.capture_table('t', before => 'full');"
              "create table k (a int, b text); insert into k values (1, 'x'), (1, 'x'), (2, 'y');"
              "select rowrelay.capture_table('k');");
  PGconn *source = fixture.at_source;
  sql(source, "update t set b = 10 where id = 1; update k set b = 'z' where a = 2");
  remember(source, "t", 0);
  remember(source, "k", 0);
  sql(source, "update t set b = 11 where id = 1; delete from k where a = 2");
  /* nobody looks between these, but at the end of each row */
  sql(source, "alter table t rename a to name; update t set b = 12 where id = 1");
  sql(source, "alter table t add n int default 7, add m text; update t set b = 13, m = 'm' where id = 1");
  sql(source, "select count(*) from rowrelay.maintain()");
  sql(source, "delete from rowrelay.job");
  remember(source, "t", 1);
  /* two names change places; another column is dropped, and added again at the end */
  sql(source, "alter table t rename b to x; alter table t rename n to b; alter table t rename x to n");
  sql(source, "alter table t drop z, add z text");
  sql(source, "alter table k add c int default 5; alter table k rename b to bb");
  sql(source, "update t set z = 'new', b = 8; update k set c = 6 where a = 1 and ctid = (select min(ctid) from k)");
  for (int noticed = 0; noticed < 2; noticed++) {
    /*                                                   id name n  c  b m z: what b was is now n */
    cr_assert_str_eq(ask(source, "select string_agg(attname, ' ' order by attnum) from pg_attribute "
                                 "where attrelid = 't'::regclass and attnum > 0 and not attisdropped"),
                     "id name n c b m z");
    cr_assert_str_eq(table_at(source, "t", "seen", 0), "(1,one,10,2020-01-01,7,,) (2,two,2,2020-01-02,7,,)");
    cr_assert_str_eq(table_at(source, "t", "at", 1), "(1,one,13,2020-01-01,7,m,) (2,two,2,2020-01-02,7,,)");
    cr_assert_str_eq(row_at(source, "t", "1", 0), "(1,one,10,2020-01-01,7,,)");
    cr_assert_str_eq(table_at(source, "k", "seen", 0), "(1,x,5) (1,x,5) (2,z,5)");
    sql(source, "select count(*) from rowrelay.maintain()");
  }
  fixture_end(&fixture);
}

Test(as_of, values_come_back_as_they_were_whatever_the_session_reads_them_by) {
  struct fixture fixture;
  begin_truth(
      &fixture, "asof_values",
      "create domain amount as numeric(12,3);"
      "create table t (\"Größe\" timestamptz, \"a\"\"b\" numeric, j json, jb jsonb, arr int[], ja jsonb[], m money, "
      "  i interval, f float8, by bytea, d amount, r tstzrange, ts timestamp, primary key (\"Größe\", \"a\"\"b\"));"
      "select rowrelay.capture_table('t', before => 'full');"
      "insert into t values "
      "  ('2024-02-29 12:30:00.000001+05:45', 1.50, 'null', 'null', '[0:1]={1,2}', array['null', '1']::jsonb[], "
      "1234.5, "
      "   '-1 days +02:00:00.000001', 0.30000000000000004, '\\x5c00', 1.5, '[2020-01-01,2021-01-01)', '0044-03-15 "
      "12:00 BC'),"
      "  ('infinity', 'NaN', '{\"a\" : \"\\u0000\", \"a\": 1e400}', '\"null\"', '{}', null, null, '1 year', '-0', '', "
      "null, "
      "   'empty', 'infinity'),"
      "  ('-infinity', 0, '  [1 ,2]\n', '[null]', '{{1,2},{3,null}}', '{}', '-0.01', '0', 'NaN', '\\xff', 0, '(,)', "
      "now());");
  PGconn *source = fixture.at_source;
  remember(source, "t", 0);
  sql(source, "update t set f = 1 where \"a\"\"b\" = 0; update t set \"a\"\"b\" = 9 where f = '-0'; delete from t "
              "where d = 1.5");
  sql(source, "insert into t values ('2000-01-01', 5)");
  remember(source, "t", 1);
  sql(source, "delete from t");
  sql(source, "set datestyle = 'SQL, DMY'; set timezone = 'Asia/Kathmandu'; set intervalstyle = 'sql_standard'; "
              "set bytea_output = 'escape'; set extra_float_digits = -10; set search_path = pg_temp, public");
  for (int n = 0; n < 2; n++) {
    /* read by these settings, compared without them */
    sql(source,
        "create temp table was as select * from rowrelay.as_of_snapshot(null::public.t, "
        "(select seen from truth where relation = 't' and n = %d))",
        n);
    sql(source,
        "set datestyle = default; set timezone = default; set intervalstyle = default; set bytea_output = default; "
        "set extra_float_digits = default");
    cr_assert_str_eq(ask(source,
                         "select string_agg(r, ' ') from (select was::text as r from was except all "
                         "select unnest(rows) from truth where relation = 't' and n = %d) x",
                         n),
                     "");
    cr_assert(ask_number(source, "select count(*) from was") == 3);
    sql(source, "drop table was");
    same_as_truth(source, "t", "at", n);
  }
  cr_assert_str_eq(ask(source,
                       "select f::text from truth, rowrelay.row_as_of_snapshot(null::public.t, "
                       "'[\"2024-02-29T06:45:00.000001+00:00\",  1.500]', seen) where relation = 't' and n = 0"),
                   "0.30000000000000004");
  fixture_end(&fixture);
}

Test(as_of, what_is_left_out_is_null_and_what_is_masked_shows_the_mask_in_all_rows) {
  struct fixture fixture;
  begin_truth(
      &fixture, "asof_masked",
      "create table t (id int primary key, name text, iban text, pin int, note text);"
      "insert into t values (1, 'one', 'DE1', 11, 'n1'), (2, 'two', 'DE2', 22, 'n2'), (3, 'drei', 'DE3', 33, 'n3');"
      "select rowrelay.capture_table('t', before => 'full', exclude => '{note}', mask => '{\"iban\": \"***\", \"pin\": "
      "\"***\"}', "
      "  row_filter => 'id < 3');");
  PGconn *source = fixture.at_source;
  remember(source, "t", 0);
  sql(source, "update t set name = 'uno', iban = 'DE9', pin = 99, note = 'n9' where id = 1; update t set name = 'x' "
              "where id = 3");
  cr_assert_str_eq(table_at(source, "t", "seen", 0), "(1,one,***,,) (2,two,***,,)");
  cr_assert_str_eq(row_at(source, "t", "1", 0), "(1,one,***,,)");
  cr_assert_str_eq(row_at(source, "t", "2", 0), "(2,two,***,,)");
  cr_assert_str_eq(row_at(source, "t", "3", 0), "");
  fixture_end(&fixture);
}

Test(as_of, questions_that_have_no_answer_are_refused) {
  struct fixture fixture;
  begin_truth(
      &fixture, "asof_refused",
      "create table t (id int primary key) partition by range (id);"
      "create table t1 partition of t for values from (0) to (10); create table free (id int);"
      "create table keyless (id int); select rowrelay.capture_table('keyless'); select rowrelay.capture_table('t');");
  PGconn *source = fixture.at_source;
  static const char *const QUESTIONS[][2] = {
      {"select * from rowrelay.as_of(null::free, now())", "is not captured"},
      {"select * from rowrelay.as_of(null::t1, now())", "It is captured as a part of public.t: query that table."},
      {"select * from rowrelay.as_of(null::int, now())", "is not the row type of a table"},
      {"select * from rowrelay.as_of(null::t, null)", "the time or snapshot is null"},
      {"select * from rowrelay.as_of(null::t, '2000-01-01 12:00')", "begins at"},
      {"select * from rowrelay.row_as_of(null::t, '1', '2000-01-01 12:00')", "begins at"},
      {"select * from rowrelay.as_of_snapshot(null::t, '99999999:99999999:')", "is not in the past"},
      {"select * from rowrelay.row_as_of(null::t, 'x', now())", "invalid input syntax for type integer"},
      {"select * from rowrelay.row_as_of(null::keyless, '1', now())", "has no key"},
  };
  for (size_t i = 0; i < sizeof QUESTIONS / sizeof *QUESTIONS; i++) {
    sql_fails(source, "%s", QUESTIONS[i][0]);
    cr_assert(strstr(PQerrorMessage(source), QUESTIONS[i][1]) != NULL, "%s: %s", QUESTIONS[i][0],
              PQerrorMessage(source));
  }
  fixture_end(&fixture);
}

/* Nobody knows what was written while a trigger was missing. */
Test(as_of, a_table_that_lost_its_triggers_has_no_past_from_before_they_were_put_back) {
  static const char *const LOSSES[] = {"alter table item disable trigger \"!rowrelay\"",
                                       "drop trigger \"!rowrelay\" on item", "alter table item disable trigger all",
                                       "drop trigger \"!rowrelay_truncate\" on item"};
  struct fixture f;
  begin_truth(&f, "as_of_lost",
              "create table item (id int primary key, n int); select rowrelay.capture_table('item', before => 'full')");
  for (int i = 0; i < 4; i++) {
    sql(f.at_source, "insert into item values (%d, 0)", i);
    remember(f.at_source, "item", 2 * i);
    same_as_truth(f.at_source, "item", "at", 2 * i);
    sql(f.at_source, "%s", LOSSES[i]);
    sql(f.at_source, "update item set n = n + 1");
    sql(f.at_source, i % 2 == 0 ? "select rowrelay.capture_table('item', before => 'full')"
                                : "delete from rowrelay.job; select rowrelay.maintain()");
    cr_assert_str_eq(
        sql_fails(f.at_source, "select * from rowrelay.as_of(null::item, (select at from truth where n = %d))", 2 * i),
        "22023");
    remember(f.at_source, "item", 2 * i + 1);
    sql(f.at_source, "update item set n = n + 10");
    same_as_truth(f.at_source, "item", "at", 2 * i + 1);
    same_as_truth(f.at_source, "item", "seen", 2 * i + 1);
  }
  /* what is new has lost nothing */
  sql(f.at_source, "create table child () inherits (item); delete from rowrelay.job; select rowrelay.maintain()");
  same_as_truth(f.at_source, "item", "at", 7);
  fixture_end(&f);
}

/* Else it would have no past for as long as the clock was ahead. */
Test(as_of, a_table_captured_while_the_clock_was_ahead_has_a_past_when_it_is_right_again) {
  struct fixture f;
  fixture_begin(&f, "as_of_ahead");
  sql(f.at_source,
      "create table item (id int primary key, n int); create table pruned (id int primary key);"
      "select rowrelay.capture_table('item', before => 'full'), rowrelay.capture_table('pruned');"
      "update rowrelay.capture set log_since = log_since + interval '400 days';"
      "update rowrelay.shape s set noticed_at = c.log_since from rowrelay.capture c where c.id = s.capture;"
      "update rowrelay.capture set log_since = log_since + interval '1 day' where relation = 'pruned'::regclass");
  sql(f.at_source, "select * from rowrelay.maintain()");
  sql(f.at_source, "insert into item values (1, 1); create table moment as select clock_timestamp() as at");
  sql(f.at_source, "update item set n = 2; delete from item");
  cr_expect_str_eq(ask(f.at_source, "select i::text from rowrelay.as_of(null::item, (select at from moment)) as i"),
                   "(1,1)");
  cr_expect_str_eq(ask(f.at_source,
                       "select bool_and(c.log_since <= clock_timestamp() and s.noticed_at + case relation_name "
                       "when 'public.pruned' then interval '1 day' else '0' end = c.log_since) "
                       "from rowrelay.capture c join rowrelay.shape s on s.capture = c.id"),
                   "t");
  fixture_end(&f);
}

Test(as_of, a_row_that_is_shown_has_its_column_names_also_where_values_are_masked_or_left_out) {
  struct fixture f;
  fixture_begin(&f, "as_of_masked");
  sql(f.at_source,
      "create table item (id int primary key, email text, iban text, phone text, secret text, tags text[]);"
      "select rowrelay.capture_table('item', before => 'full', exclude => '{secret}',"
      "                              mask => '{\"email\": null, \"iban\": \"***\"}');"
      "insert into item values (1, 'a@b', 'DE1', '123', 'pw', '{x}'); update item set phone = '456'");
  const char *output = rowrelay_ok(&f, "log", "item", "1", "--as-of", "now", "--json", NULL);
  const char *const parts[] = {"\"id\":1",          "\"email\":null",  "\"iban\":\"***\"",
                               "\"phone\":\"456\"", "\"secret\":null", "\"tags\":[\"x\"]"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    cr_expect_not_null(strstr(output, parts[i]), "%s is not in %s", parts[i], output);
  fixture_end(&f);
}
