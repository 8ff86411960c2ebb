/* Where the server module is installed, what is captured is the same as without it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "native.h"

static int64_t last_id(struct fixture *f) {
  return ask_number(f->at_source, "select coalesce(max(id), 0) from rowrelay.change");
}

/* All that is in the log and the queue after `id`, key by key, but for numbers and times. */
static char *written_since(struct fixture *f, int64_t id) {
  const char *text = ask(
      f->at_source,
      "select string_agg(concat_ws('|', t, op, coalesce(key, '-'), coalesce(actor, '-'), db_user, application_name, "
      "client_addr, coalesce(old_row::text, '-'), left(coalesce(new_row::text, '-'), 3000), "
      "md5(coalesce(new_row::text, '-')), coalesce(caveat::text, '-'), day, "
      "queued), "
      "E'\\n' order by key, id) from (select c.*, dense_rank() over (order by c.txid) as t, q.queued "
      "from rowrelay.change c left join "
      "(select q.change_id, string_agg(q.lane || ':' || q.bytes || ':' || q.day, ',' order by q.lane) as queued "
      "from rowrelay.queue q group by q.change_id) as q on q.change_id = c.id where c.id > %lld) as c",
      (long long)id);
  char *copy = strdup(text);
  cr_assert(copy != NULL);
  return copy;
}

static void capture_by(struct fixture *f, bool natively) {
  sql(f->at_source, "select count(*) from rowrelay.capture_natively(%s)", natively ? "true" : "false");
}

/* Writes `statements` once each way, beginning with an empty table each time, and compares what was captured. */
static void same_either_way(struct fixture *f, const char *table, const char *const *statements) {
  char *written[2];
  for (int way = 0; way < 2; way++) {
    capture_by(f, way == 0);
    cr_assert(ask_number(f->at_source,
                         "select count(*) from rowrelay.captures where native and relation = '%s'::regclass",
                         table) == (way == 0),
              "%s is not captured as it should be", table);
    sql(f->at_source, "begin; set local rowrelay.skip = on; delete from %s; commit", table);
    int64_t id = last_id(f);
    PGconn *writer = connect_to(f->source, "application_name='it is me'");
    for (int i = 0; statements[i] != NULL; i++)
      PQclear(PQexec(writer, statements[i])); /* some are meant to fail */
    PQfinish(writer);
    written[way] = written_since(f, id);
  }
  /* the first line that differs, because Criterion cannot show much */
  size_t begin = 0, end = 0;
  while (written[0][end] != '\0' && written[0][end] == written[1][end]) {
    end++;
    if (written[0][end - 1] == '\n')
      begin = end;
  }
  cr_assert(strcmp(written[0], written[1]) == 0, "natively %.3000s\nand %.3000s", written[0] + begin,
            written[1] + begin);
  cr_assert(strlen(written[0]) > 0);
  free(written[0]);
  free(written[1]);
}

Test(native, log_and_queue_are_the_same_for_every_type_and_setting) {
  struct fixture f;
  native_begin(&f, "native_types");
  sql(f.at_source,
      "create domain positive as numeric(12,4) check (value > 0); create type mood as enum ('glad', 'it''s \"so\"');"
      "create domain mild as mood check (value <> 'glad'); create domain names as text[];"
      "create table item (id int8 primary key, a bool, b bytea, c \"char\", d name, e int2, f int4, g "
      "text, h oid, i jsonb, "
      "j float4, k float8, l macaddr, m macaddr8, n inet, o cidr, p bpchar(5), q varchar(20), r date, s "
      "time, t timetz, "
      "u timestamp, v timestamptz, w interval, x bit(4), y varbit, z numeric, aa uuid, bb positive, \"C "
      "\"\"c\\\" text, "
      "gone int, \"größe\" int generated always as (f + 1) stored, cc json, dd text[], ee int[], ff float8[], gg "
      "date[], hh mood, ii mild, jj names, kk bytea[], ll interval[], mm bool[], nn numeric[]);"
      "alter table item drop column gone; alter table item add column late text default 'later'");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  rowrelay_ok(&f, "route", "item", "few", NULL);
  static const char *const STATEMENTS[] = {
      "insert into item (id) values (1), (-9223372036854775808), (9223372036854775807)",
      "insert into item values (2, true, '\\x5c27220a00ff', 'a', 'Name', -32768, 2147483646, E'it''s \"q\" \\\\ "
      "\\t\\n\\x01 数', "
      "4294967295, '{\"a\": null, \"b\": [1.00, \"x\"]}', 'NaN', '-Infinity', '08:00:2b:01:02:03', "
      "'08:00:2b:01:02:03:04:05', "
      "'10.0.0.1/8', '10.0.0.0/8', 'ab', ' blanks ', '0044-03-15 BC', '23:59:59.999999', '12:30:00.123456+05:45', "
      "'infinity', '2024-02-29 12:30:00.000001+05:45', '-1 days +02:00:00.000001', '1010', '101', 'NaN', "
      "'00000000-0000-0000-0000-00000000000a', 1.5, 'x')",
      "set timezone = 'Asia/Kathmandu'; set datestyle = 'German'; set intervalstyle = 'iso_8601'; "
      "set extra_float_digits = -3; set bytea_output = 'escape'",
      "insert into item select 3, a, b, c, d, e, f, g, h, i, 0.1, 0.30000000000000004, l, m, n, o, p, q, 'infinity', "
      "s, t, "
      "'2024-02-29 12:30', '-infinity', '1 year -2 mons', x, y, 1e100, aa, bb, '' from item where id = 2",
      "set timezone = 'America/New_York'; update item set v = '2024-07-01 12:00', u = '0001-01-01 BC'",
      "set quote_all_identifiers = on; set xmlbinary = hex; set lc_monetary = 'C'; update item set g = 'again'",
      "update item set i = 'null' where id = 2", /* JSON null, which JSON would not bring back */
      "update item set i = '\"\\\\u0000\"' where id = 3",
      "update item set a = not a where id = 2",
      "update item set cc = '{\"b\":  [1.00 , {}]}', dd = array['a', null, '{\"\\', '数', 'null'], ee = "
      "'{{1,2},{3,null}}', "
      "ff = '{0.30000000000000004,NaN,-Infinity}', gg = '{infinity,2024-02-29,0044-03-15 BC}', hh = 'it''s \"so\"', "
      "ii = 'it''s \"so\"', jj = '{x}', kk = array['\\x00ff'::bytea], ll = '{1 year -2 mons}', mm = '{t,f,null}', "
      "nn = '{1.50,NaN}' where id = 2",
      "update item set cc = 'null' where id = 2",
      "update item set cc = ' [1]' where id = 2",
      "update item set cc = '\"\\u0041\"' where id = 2",
      "update item set cc = '\"\\u0000\"', hh = 'glad' where id = 2",
      "update item set cc = '3', ee = '[0:1]={1,2}' where id = 2",
      "update item set ee = '{{{{1}}}}' where id = 2",
      "update item set ee = '{}', dd = '{}', jj = array_fill('y'::text, array[2, 2], array[1, 2]) where id = 2",
      "update item set jj = array(select repeat('z', n) from generate_series(1, 3000) as n) where id = 2",
      "update item set cc = null, ff = array_fill(1e-300::float8, array[3000]) where id = 2",
      "update item set g = repeat('x', 9000000) where id = 1",
      "update item set a = true where id = 1",
      "update item set g = repeat(md5('y'), 1000)",
      "delete from item where id = 3",
      "delete from item",
      NULL};
  same_either_way(&f, "item", STATEMENTS);
  fixture_end(&f);
}

Test(native, log_and_queue_are_the_same_for_every_kind_of_write) {
  struct fixture f;
  native_begin(&f, "native_writes");
  sql(f.at_source,
      "create role native_role; grant native_role to current_user;"
      "create table item (a int, b text, c uuid, n int, primary key (a, b)); grant all on item to native_role");
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--before", NULL);
  rowrelay_ok(&f, "route", "item", "few", NULL);
  static const char *const STATEMENTS[] = {
      "insert into item select n, 'k' || n, null, n from generate_series(1, 30) as n",
      "update item set n = n + 1; update item set n = n + 1 where a < 5; delete from item where a = 30",
      "begin; set local rowrelay.traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'; insert into "
      "item values (200, 'y', "
      "null, 1), (201, 'y', null, 1); update item set n = 8 where a >= 200; delete from item where a = 200; commit",
      "begin; set local rowrelay.traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x'; update item "
      "set n = 9 where a = 201; "
      "commit; update item set n = 10 where a = 201",
      "begin; insert into item values (100, 'x', null, 1); update item set n = 2 where a = 100; delete from item where "
      "a = "
      "100; insert into item values (100, 'x', null, 3); commit",
      "begin; update item set n = 0 where a = 1; savepoint s; update item set n = 1 where a = 1; rollback to s; update "
      "item "
      "set n = 2 where a = 1; commit",
      "begin; delete from item where a = 2; rollback",
      "insert into item values (3, 'k3', null, 9) on conflict (a, b) do update set n = excluded.n + 100",
      "insert into item values (3, 'k3', null, 9) on conflict do nothing",
      "update item set a = a + 1000 where a between 10 and 15",
      "update item set a = 5000 - a where a between 1010 and 1015",
      "begin; select from item where a = 4 for update; update item set n = n - 1 where a = 4; commit",
      "set rowrelay.actor = 'anna'; update item set n = n + 1 where a = 5; reset rowrelay.actor",
      "set role native_role; update item set n = n + 1 where a = 6; set rowrelay.actor = 'ben'; update item set n = n "
      "+ 1 "
      "where a = 7; reset role; reset rowrelay.actor",
      "set role native_role; set session authorization native_role; update item set n = n + 1 where a = 8; reset "
      "session authorization",
      "set rowrelay.skip = on; update item set n = 0; reset rowrelay.skip; set rowrelay.skip = off; update item set n "
      "= 8 "
      "where a = 8; reset rowrelay.skip",
      "set rowrelay.origin = 'elsewhere'; update item set n = 0 where a = 9; reset rowrelay.origin",
      "set session_replication_role = replica; update item set n = 4 where a = 9; reset session_replication_role",
      "create schema mine; create function mine.ne(int, int) returns bool language sql as 'select true'; create "
      "operator "
      "mine.<> (leftarg = int, rightarg = int, function = mine.ne); set search_path = mine, public, pg_catalog; update "
      "item "
      "set n = 1 where a = 1; reset search_path",
      "alter table item rename column b to bb; update item set n = 7 where a = 7; alter table item rename column bb to "
      "b",
      "alter table item add column extra int default 5; update item set n = 17 where a = 7",
      "alter table item drop column extra; update item set n = 18 where a = 7",
      "copy (select 1) to stdout; truncate item; insert into item values (1, 'after', null, 1)",
      "drop schema mine cascade",
      NULL};
  same_either_way(&f, "item", STATEMENTS);
  fixture_end(&f);
  PGconn *server = connect_to(getenv("ROWRELAY_TEST_SOURCE"), NULL);
  sql(server, "drop role native_role");
  PQfinish(server);
}

/* Changes of one key that were captured by turns must be in one lane. */
Test(native, lanes_are_the_same_for_every_type_of_key) {
  struct fixture f;
  native_begin(&f, "native_keys");
  static const char *const KEYS[] = {"int2", "int4", "int8", "text", "varchar(40)", "uuid", "label"};
  sql(f.at_source, "create domain label as varchar(40) collate \"C\"");
  for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
    char table[16];
    char insert[256];
    snprintf(table, sizeof table, "k%zu", i);
    sql(f.at_source, "create table %s (id %s primary key, second %s, v int, unique (second, id))", table, KEYS[i],
        KEYS[i]);
    rowrelay_ok(&f, "capture", table, "--to", "w", NULL);
    const char *value = strcmp(KEYS[i], "uuid") == 0 ? "md5(n::text)" : "n::text";
    snprintf(insert, sizeof insert, "insert into %s select %s::%s, %s::%s, n from generate_series(-50, 50) as n", table,
             value, KEYS[i], value, KEYS[i]);
    const char *statements[] = {insert, NULL};
    same_either_way(&f, table, statements);
    rowrelay_ok(&f, "release", table, NULL);
    rowrelay_ok(&f, "capture", table, "--to", "w", "--key", "second,id", NULL);
    same_either_way(&f, table, statements);
  }
  fixture_end(&f);
}

Test(native, ordinary_rows_do_not_need_pl_pgsql) {
  struct fixture f;
  native_begin(&f, "native_ordinary");
  sql(f.at_source,
      "create type mood as enum ('glad', 'sad'); create table item (id int primary key, v int, "
      "m mood default 'sad', j json default '{\"a\": [1]}', l text[] default '{a,b}', d jsonb default '[]')");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin");
  native_written_slowly(writer);
  sql(writer, "insert into item select n, 0 from generate_series(1, 100) as n; update item set v = 1");
  cr_assert(native_written_slowly(writer) == 0, "%lld", (long long)native_written_slowly(writer));
  sql(writer, "update item set id = -id where id = 1");
  cr_assert(native_written_slowly(writer) > 0);
  sql(writer, "commit");
  cr_assert(ask_number(writer, "select count(*) from rowrelay.queue") == 202);
  PQfinish(writer);
  fixture_end(&f);
}

/* What was inserted in another transaction, or rolled back, cannot be there again. */
Test(native, a_deleted_row_needs_pl_pgsql_only_where_it_may_have_come_back) {
  struct fixture f;
  PGconn *writer = native_item_begin(&f, "native_deleted");
  sql(writer, "insert into item select n, 1 from generate_series(1, 9) as n");
  sql(writer, "begin");
  int64_t before = native_written_slowly(writer);
  sql(writer, "savepoint s; update item set v = 2; insert into item values (10, 1); rollback to s");
  sql(writer, "delete from item where id = 1");
  cr_assert(native_written_slowly(writer) == before);
  sql(writer, "savepoint s; savepoint t; insert into item values (10, 1); release t; release s");
  sql(writer, "delete from item where id = 2");
  cr_assert(native_written_slowly(writer) == before + 1);
  sql(writer, "commit");
  cr_assert(ask_number(writer, "select count(*) from rowrelay.change where op = 'd'") == 2);
  PQfinish(writer);
  fixture_end(&f);
}

Test(native, a_plan_with_lanes_that_cannot_be_is_not_followed) {
  struct fixture f;
  native_begin(&f, "native_lanes");
  sql(f.at_source, "create table item (id int primary key, v int)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "do $$ begin execute (select regexp_replace(pg_get_functiondef(p.oid), ' lanes=[0-9:]+', "
                   "' lanes=2147483647:4096') from pg_proc p where p.proname = 'capture_1'); end $$");
  cr_assert(ask_number(f.at_source, "select count(*) from pg_proc where prosrc like '%%lanes=2147483647:4096%%'") == 1);
  sql(f.at_source, "insert into item select n, 1 from generate_series(1, 9) as n");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.queue where rowrelay.lane_target(lane) = 1") == 9);
  fixture_end(&f);
}

/* Until its function is made anew, what a session that begins now reads of it speaks of a type that is gone. */
Test(native, a_domain_that_goes_with_its_column_breaks_no_writer) {
  struct fixture f;
  native_begin(&f, "native_domain");
  sql(f.at_source, "create domain label as text; create table item (id int primary key, v int, l label)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.captures where native") == 1);
  sql(f.at_source, "alter table item drop column l; drop domain label");
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "insert into item values (1, 1); update item set v = 2");
  cr_assert_str_eq(ask(writer, "select string_agg(op::text || new_row::text, ' ' order by id) from rowrelay.change"),
                   "i{\"id\":1,\"v\":1} u{\"id\":1,\"v\":2}");
  PQfinish(writer);
  fixture_end(&f);
}

/* 10 bytes are a number of 131,072 digits: the image is larger than PostgreSQL can make it. */
Test(native, a_document_that_is_too_long_as_text_does_not_stop_the_writer) {
  struct fixture f;
  native_begin(&f, "native_digits");
  sql(f.at_source, "create table item (id int primary key, j jsonb)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "insert into item select 1, jsonb_agg(1e131071::numeric) from generate_series(1, 10000)");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.change where caveat ->> 'problem' <> ''") == 1);
  PQfinish(writer);
  fixture_end(&f);
}

static void begin_many_tables(struct fixture *f, const char *name) {
  native_begin(f, name);
  if (ask_number(f->at_source, "select current_setting('server_version_num')::int") < 140000)
    cr_skip_test("PostgreSQL 13 does not tell what memory is for");
  sql(f->at_source,
      "do $$ begin for n in 1 .. 41 loop execute format('create table t%%s (id int primary key, a text, b text, "
      "c int, d int, e numeric, f timestamptz, g date, h bool, k bigint)', n); end loop; end $$");
  rowrelay_ok(f, "capture", "t*", "--to", "w", NULL);
}

/* Bytes that a session keeps for each table to which it writes `statements`; %1$s is the number in the table's name. */
static int64_t kept_for_each_table(struct fixture *f, const char *statements) {
  static const char WRITE[] = "do $do$ begin for n in %d .. %d loop execute format($$%s$$, n); end loop; end $do$";
  PGconn *session = connect_to(f->source, NULL);
  sql(session, WRITE, 41, 41, statements);
  int64_t before = ask_number(session, "select sum(total_bytes) from pg_backend_memory_contexts");
  sql(session, WRITE, 1, 40, statements);
  int64_t kept = ask_number(session, "select sum(total_bytes) from pg_backend_memory_contexts") - before;
  PQfinish(session);
  sql(f->at_source, "do $$ begin for n in 1 .. 41 loop execute format('truncate t%%s', n); end loop; end $$");
  return kept / 40;
}

Test(native, a_session_keeps_little_for_each_table) {
  struct fixture f;
  static const char WRITE[] = "insert into t%1$s values (1, 'x'); update t%1$s set a = 'y'";
  begin_many_tables(&f, "native_memory");
  int64_t captured = kept_for_each_table(&f, WRITE);
  sql(f.at_source, "do $$ begin for n in 1 .. 41 loop execute format('alter table t%%s disable trigger \"!rowrelay\"', "
                   "n); end loop; end $$");
  int64_t kept = captured - kept_for_each_table(&f, WRITE); /* what it keeps without us is in both */
  cr_assert(kept < (int64_t)40 * 1024, "%lld bytes", (long long)kept);
  fixture_end(&f);
}

/* It has PL/pgSQL's plans then, but not those for rows that are rare there, too. */
Test(native, a_session_keeps_no_more_than_pl_pgsql_does_where_rows_come_back) {
  struct fixture f;
  static const char WRITE[] = "insert into t%1$s values (1, 'x'); delete from t%1$s";
  begin_many_tables(&f, "native_back");
  int64_t natively = kept_for_each_table(&f, WRITE);
  capture_by(&f, false);
  int64_t kept = natively - kept_for_each_table(&f, WRITE);
  cr_assert(kept < (int64_t)40 * 1024, "%lld bytes", (long long)kept);
  fixture_end(&f);
}

Test(native, a_session_that_writes_much_does_not_grow) {
  struct fixture f;
  native_begin(&f, "native_soak");
  if (ask_number(f.at_source, "select current_setting('server_version_num')::int") < 140000)
    cr_skip_test("PostgreSQL 13 does not tell what memory is for");
  sql(f.at_source, "create table item (id int primary key, v int, t text, j jsonb, at timestamptz)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "insert into item select n, 0, repeat('x', n), '{\"a\": 1}', now() from generate_series(1, 500) as n");
  static const char WRITE[] = "do $$ begin for n in 1 .. %d loop update item set v = v + 1; end loop; end $$";
  sql(writer, "update item set id = -id where id = 1"); /* what PL/pgSQL keeps is there from now on */
  sql(writer, WRITE, 10);
  int64_t before = ask_number(writer, "select sum(total_bytes) from pg_backend_memory_contexts");
  sql(writer, WRITE, 100);
  int64_t grown = ask_number(writer, "select sum(total_bytes) from pg_backend_memory_contexts") - before;
  cr_assert(grown < (int64_t)64 * 1024, "%lld bytes", (long long)grown);
  PQfinish(writer);
  fixture_end(&f);
}

/* How many calls of a function of rowrelay's it takes a new session to write a row. */
static int64_t calls(struct fixture *f, const char *function, const char *statement) {
  PGconn *writer = connect_to(f->source, NULL);
  sql(writer, "set track_functions = 'all'; begin");
  sql(writer, "%s", statement);
  int64_t count = ask_number(
      writer, "select coalesce(sum(calls), 0) from pg_stat_xact_user_functions where funcname = '%s'", function);
  sql(writer, "commit");
  PQfinish(writer);
  return count;
}

/* The function names the table by a number that the restored one does not have. */
Test(native, a_restored_table_is_captured_fast_again_after_maintenance) {
  for (int way = 0; way < 2; way++) {
    struct fixture f;
    char command[4096];
    native_begin(&f, way == 0 ? "native_restored" : "restored");
    needs_pg_dump(f.at_source);
    capture_by(&f, way == 0);
    sql(f.at_source, "create table item (id int primary key, v int)");
    rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
    snprintf(command, sizeof command,
             "bin=$(tests/support/pg.sh bin); dump=$($bin/pg_dump '%s') && "
             "$bin/psql -XAtqc 'drop schema rowrelay cascade; drop table item' '%s' >/dev/null 2>&1 && "
             "printf '%%s\n' \"$dump\" | $bin/psql -XAtq '%s' >/dev/null 2>&1",
             f.source, f.source, f.source);
    cr_assert(system(command) == 0);
    cr_assert(calls(&f, "record_row", "insert into item values (1, 1)") == 1);
    cr_assert_str_eq(
        ask(f.at_source, "delete from rowrelay.job; select string_agg(m, ' ') from rowrelay.maintain() as m"),
        "table public.item was altered: trigger function replaced");
    cr_assert(calls(&f, "record_row", "insert into item values (2, 1)") == 0);
    cr_assert(calls(&f, "log_row", "insert into item values (3, 1)") == (way == 0 ? 0 : 1));
    cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.queue") == 3);
    fixture_end(&f);
  }
}

Test(native, it_is_switched_by_one_statement_while_writers_go_on) {
  struct fixture f;
  native_begin(&f, "native_switch");
  sql(f.at_source, "create table item (id int primary key, v int not null); insert into item select n, 0 from "
                   "generate_series(1, 20) as n");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  PGconn *writer = connect_to(f.source, NULL);
  int64_t id = last_id(&f);
  start(
      writer,
      "do $$ begin for n in 1 .. 400 loop update item set v = v + 1 where id = 1 + n %% 20; commit; end loop; end $$");
  for (int i = 0; i < 6; i++)
    capture_by(&f, i % 2 == 0);
  finish(writer);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.change where id > %lld and op = 'u'",
                       (long long)id) == 400);
  cr_assert(ask_number(f.at_source,
                       "select count(*) from (select max((new_row ->> 'v')::int) as v from rowrelay.change "
                       "where op = 'u' group by key) as l where v = 20") == 20);
  PQfinish(writer);
  fixture_end(&f);
}

Test(native, what_somebody_else_writes_in_it_does_not_write_into_the_log) {
  struct fixture f;
  native_begin(&f, "native_rights");
  sql(f.at_source, "create role native_stranger login; grant create on schema public to native_stranger;"
                   "create table item (id int primary key, v int); alter table item owner to native_stranger");
  PGconn *stranger = connect_to(f.source, "user=native_stranger");
  static const char FORGED[] =
      "create function public.forged() returns trigger language rowrelay security definer as "
      "$$-- plan 1 capture=1 relation=%lld origin=f before=f types=23,23 keys=1:6964 lanes=\nbegin return null; end$$";
  long long oid = (long long)ask_number(stranger, "select 'item'::regclass::oid");
  cr_assert_str_eq(sql_fails(stranger, FORGED, oid), "42501");
  /* where somebody was too generous, it is a function like any other */
  sql(f.at_source, "grant usage on language rowrelay to native_stranger");
  sql(stranger, FORGED, oid);
  sql(stranger, "create trigger forged after insert on item for each row execute function forged()");
  sql(stranger, "insert into item values (1, 1)");
  cr_assert(ask_number(f.at_source, "select count(*) from item") == 1);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.change") == 0);
  PQfinish(stranger);
  fixture_end(&f);
  PGconn *server = connect_to(getenv("ROWRELAY_TEST_SOURCE"), NULL);
  sql(server, "drop role native_stranger");
  PQfinish(server);
}

/* The server shares the symbols of all its libraries: another one's function of the same name would be called. */
Test(native, it_shows_the_server_nothing_but_its_entry_points) {
  const char *library = getenv("ROWRELAY_TEST_NATIVE");
  char command[512], names[512] = "";
  if (library == NULL || system("command -v nm >/dev/null") != 0)
    cr_skip_test("the server module is not built, or nm is not here");
  snprintf(command, sizeof command, "nm -D --defined-only '%s' | awk '{ print $3 }' | LC_ALL=C sort | tr '\\n' ' '",
           library);
  FILE *pipe = popen(command, "r");
  cr_assert(pipe != NULL && fgets(names, sizeof names, pipe) != NULL);
  cr_assert(pclose(pipe) == 0);
  cr_assert_str_eq(names, "Pg_magic_func _PG_init pg_finfo_rowrelay_call_handler pg_finfo_rowrelay_validator "
                          "rowrelay_call_handler rowrelay_validator ");
}
