/* Tables as they were: rowrelay.as_of() and rowrelay.row_as_of(), held against what was really there. */
#include <criterion/criterion.h>
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

/* Fails the test unless as_of gives moment `n` of `table` back; by is "seen" or "at". */
static void same_as_truth(PGconn *connection, const char *table, const char *by, int n) {
  char statement[1024];
  snprintf(statement, sizeof statement,
           "with past as (select past_row::text as r from truth t, rowrelay.as_of(null::%s, t.%s) as past_row "
           "               where t.relation = '%s' and t.n = %d), "
           "real as (select unnest(t.rows) as r from truth t where t.relation = '%s' and t.n = %d) "
           "select concat((select string_agg('-' || r, ' ') from (table real except all table past) x), "
           "              (select string_agg('+' || r, ' ') from (table past except all table real) x))",
           table, by, table, n, table, n);
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
      "  left join lateral (select a::text as r from rowrelay.row_as_of(null::%s, k::text, t.%s) as a) as a on true "
      "  left join lateral (select r from unnest(t.rows) as r where r like format('(%%s,%%%%', k)) as m on true "
      " where a.r is distinct from m.r",
      table, n, table, by);
  cr_assert(different[0] == '\0', "%s as of moment %d, by %s: %s", table, n, by, different);
}

static const char KINDS[] =
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
    "    perform pg_sleep(random() * 0.004);"
    "  end loop;"
    "end $$";

static const char *const TABLES[] = {"\"Old Shop\".\"Order\"", "item", "tally", "part"};
#define TABLE_COUNT (sizeof TABLES / sizeof *TABLES)

Test(as_of, every_one_of_twenty_moments_comes_back_as_it_was_while_others_wrote) {
  struct fixture fixture;
  begin_truth(&fixture, "asof_random", KINDS);
  PGconn *writers[WRITERS];
  for (int i = 0; i < WRITERS; i++) {
    writers[i] = connect_to(fixture.source, NULL);
    start(writers[i], WORK, i + 1, 400, 17);
  }
  for (int n = 0; n < MOMENTS; n++) {
    for (size_t t = 0; t < TABLE_COUNT; t++)
      remember(fixture.at_source, TABLES[t], n);
    if (n % 3 == 1)
      sql(fixture.at_source, "select rowrelay.tick(at_once => true)"); /* each takes less to read from here on */
    sleep_seconds((double)(random() % 100) / 1000);
  }
  for (int n = 0; n < MOMENTS; n++)
    for (size_t t = 0; t < TABLE_COUNT; t++)
      same_as_truth(fixture.at_source, TABLES[t], "seen", n); /* they are still at it */
  for (int i = 0; i < WRITERS; i++) {
    finish(writers[i]);
    PQfinish(writers[i]);
  }
  for (int n = 0; n < MOMENTS; n++)
    for (size_t t = 0; t < TABLE_COUNT; t++)
      same_as_truth(fixture.at_source, TABLES[t], "seen", n);
  rows_same_as_truth(fixture.at_source, "item", "seen", 7);
  rows_same_as_truth(fixture.at_source, "part", "seen", 15);
  cr_assert(ask_number(fixture.at_source, "select count(distinct rows) from truth where relation = 'item'") >
            MOMENTS / 2);
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
