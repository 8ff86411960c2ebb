/* A table that is captured by statement: what is captured is the same as by row. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "mirrored.h"
#include "retold.h"

static int64_t last_id(struct fixture *f) {
  return ask_number(f->at_source, "select coalesce(max(id), 0) from rowrelay.change");
}

/* All that is in the log and the queue after `id`, key by key, but for numbers and times. */
static char *written_since(struct fixture *f, int64_t id) {
  const char *text = ask(
      f->at_source,
      "select string_agg(concat_ws('|', t, op, coalesce(key, '-'), coalesce(actor, '-'), db_user, application_name, "
      "client_addr, left(coalesce(old_row::text, '-'), 3000), md5(coalesce(old_row::text, '-')), "
      "left(coalesce(new_row::text, '-'), 3000), "
      "md5(coalesce(new_row::text, '-')), coalesce(caveat::text, '-'), day, queued), E'\\n' order by key, id) "
      "from (select c.*, dense_rank() over (order by c.txid) as t, q.queued from rowrelay.change c left join "
      "(select q.change_id, string_agg(q.lane || ':' || q.bytes || ':' || q.day, ',' order by q.lane) as queued "
      "from rowrelay.queue q group by q.change_id) as q on q.change_id = c.id where c.id > %lld) as c",
      (long long)id);
  char *copy = strdup(text);
  cr_assert(copy != NULL);
  return copy;
}

static void is_by_statement(struct fixture *f, const char *table, bool expected) {
  cr_assert(ask_number(f->at_source,
                       "select count(*) from pg_trigger where tgrelid = '%s'::regclass and tgname = "
                       "'!rowrelay_updated' and tgenabled = 'O'",
                       table) == expected,
            "%s is not captured as it should be", table);
}

/* Writes `statements` once each way, beginning with an empty table each time, and compares what was captured. */
static void same_either_way(struct fixture *f, const char *table, const char *const *statements) {
  char *written[2];
  for (int way = 0; way < 2; way++) {
    sql(f->at_source, "select rowrelay.capture_table('%s', per => '%s')", table, way == 0 ? "row" : "statement");
    is_by_statement(f, table, way == 1);
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
  cr_assert(strcmp(written[0], written[1]) == 0, "by row %.3000s\nby statement %.3000s", written[0] + begin,
            written[1] + begin);
  cr_assert(strlen(written[0]) > 0);
  free(written[0]);
  free(written[1]);
}

static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  rowrelay_ok(f, "target", "add", "w", "file:/dev/null", NULL);
  rowrelay_ok(f, "target", "add", "few", "file:/dev/null", "--option", "lanes=8", NULL);
}

Test(statements, log_and_queue_are_the_same_for_every_type_and_setting) {
  struct fixture f;
  begin(&f, "statements_types");
  sql(f.at_source,
      "create domain positive as numeric(12,4) check (value > 0);"
      "create table item (id int8 primary key, a bool, b bytea, c \"char\", d name, e int2, f int4, g text, h oid, "
      "j float4, k float8, l macaddr, n inet, o cidr, p bpchar(5), q varchar(20), r date, s time, t timetz, u "
      "timestamp, v timestamptz, w %s, x bit(4), y varbit, z numeric, aa uuid, bb positive, \"C \"\"c\\\" text, "
      "gone int, \"größe\" int generated always as (f + 1) stored, cc json);"
      "alter table item drop column gone; alter table item add column late text default 'later'",
      /* an interval may have no text there, so such a table is captured by row: rowrelay.may_be_long() */
      PQserverVersion(f.at_source) < 150000 ? "text" : "interval");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  rowrelay_ok(&f, "route", "item", "few", NULL);
  static const char *const STATEMENTS[] = {
      "insert into item (id) values (1), (-9223372036854775808), (9223372036854775807)",
      "insert into item values (2, true, '\\x5c27220a00ff', 'a', 'Name', -32768, 2147483646, E'it''s \"q\" \\\\ "
      "\\t\\n\\x01 数', 4294967295, 'NaN', '-Infinity', '08:00:2b:01:02:03', '10.0.0.1/8', '10.0.0.0/8', 'ab', "
      "' blanks ', '0044-03-15 BC', '23:59:59.999999', '12:30:00.123456+05:45', 'infinity', '2024-02-29 "
      "12:30:00.000001+05:45', '-1 days +02:00:00.000001', '1010', '101', 'NaN', "
      "'00000000-0000-0000-0000-00000000000a', 1.5, 'x')",
      "set timezone = 'Asia/Kathmandu'; set datestyle = 'German'; set intervalstyle = 'iso_8601'; "
      "set extra_float_digits = -3; set bytea_output = 'escape'",
      "update item set k = 0.30000000000000004, j = 0.1, r = 'infinity', u = '2024-02-29 12:30', w = '1 year -2 mons'",
      "set timezone = 'America/New_York'; update item set v = '2024-07-01 12:00', u = '0001-01-01 BC'",
      "update item set cc = '{\"b\":  [1.00 , {}]}' where id = 2",
      "update item set cc = 'null' where id = 2",
      "update item set cc = ' [1]'",
      "update item set cc = '\"\\u0000\"' where id = 2",
      "update item set cc = null",
      "update item set g = repeat('x', 9000000) where id = 1",
      "update item set a = true where id = 1",
      "update item set g = repeat(md5('y'), 1000)",
      "update item set id = id / 2 + 5",
      "delete from item where id = 6",
      "delete from item",
      NULL};
  same_either_way(&f, "item", STATEMENTS);
  fixture_end(&f);
}

static const char *const WRITES[] = {
    "insert into item select n, 'k' || n, null, n from generate_series(1, 30) as n",
    "update item set n = n + 1; update item set n = n + 1 where a < 5; delete from item where a = 30",
    "begin; set local rowrelay.traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'; insert into "
    "item values (200, 'y', "
    "null, 1), (201, 'y', null, 1); update item set n = 8 where a >= 200; update item set a = 202 where a = 201; "
    "delete from item where a = 200; commit",
    "update item set n = 1 where false; delete from item where false",
    "begin; insert into item values (100, 'x', null, 1); update item set n = 2 where a = 100; delete from item where "
    "a = 100; insert into item values (100, 'x', null, 3); commit",
    "begin; update item set n = 0 where a = 1; savepoint s; update item set n = 1 where a = 1; rollback to s; update "
    "item set n = 2 where a = 1; commit",
    "begin; delete from item where a = 2; rollback",
    "insert into item values (3, 'k3', null, 9) on conflict (a, b) do update set n = excluded.n + 100",
    "insert into item values (3, 'k3', null, 9) on conflict do nothing",
    "update item set a = a + 1000 where a between 10 and 15",
    "update item set a = 5000 - a where a between 1010 and 1015",
    "begin; select from item where a = 4 for update; update item set n = n - 1 where a = 4; commit",
    "set rowrelay.actor = 'anna'; update item set n = n + 1 where a = 5; reset rowrelay.actor",
    "set role statement_role; update item set n = n + 1 where a = 6; set rowrelay.actor = 'ben'; update item set n = n "
    "+ 1 where a = 7; reset role; reset rowrelay.actor",
    "set role statement_role; set session authorization statement_role; update item set n = n + 1 where a = 8; reset "
    "session authorization",
    "set rowrelay.skip = on; update item set n = 0; reset rowrelay.skip; set rowrelay.skip = off; update item set n "
    "= 8 where a = 8; reset rowrelay.skip",
    "set rowrelay.origin = 'elsewhere'; update item set n = 0 where a = 9; reset rowrelay.origin",
    "set session_replication_role = replica; update item set n = 4 where a < 9; reset session_replication_role",
    "create schema mine; create function mine.ne(int, int) returns bool language sql as 'select true'; create operator "
    "mine.<> (leftarg = int, rightarg = int, function = mine.ne); set search_path = mine, public, pg_catalog; update "
    "item set n = 1 where a = 1; reset search_path",
    "alter table item rename column b to bb; update item set n = 7 where a = 7; alter table item rename column bb to b",
    "alter table item add column extra int default 5; update item set n = 17 where a = 7",
    "alter table item drop column extra; update item set n = 18 where a = 7",
    "insert into item select n, 'many', null, n from generate_series(2001, 3100) as n",
    "update item set n = n + 1 where b = 'many'; update item set a = a + 2000 where a > 2000",
    "update item set a = case when a = 5099 then 9999 else a end where b = 'many'; update item set a = 12001 - a "
    "where b = 'many' and a = 5098; update item set b = case a when 4001 then 'late' else 'many' end where b = 'many'",
    "delete from item where b = 'many'",
    "copy item (a, b) from program 'printf \"7001\\tx\\n7002\\ty\\n\"'",
    "truncate item; insert into item values (1, 'after', null, 1)",
    "drop schema mine cascade",
    NULL};

static void same_writes(const char *name) {
  struct fixture f;
  begin(&f, name);
  sql(f.at_source, "create role statement_role; grant statement_role to current_user;"
                   "create table item (a int, b text, c uuid, n int, primary key (a, b));"
                   "grant all on item to statement_role");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  rowrelay_ok(&f, "route", "item", "few", NULL);
  same_either_way(&f, "item", WRITES);
  fixture_end(&f);
  PGconn *server = connect_to(getenv("ROWRELAY_TEST_SOURCE"), NULL);
  sql(server, "drop role statement_role");
  PQfinish(server);
}

Test(statements, log_and_queue_are_the_same_for_every_kind_of_write) {
  same_writes("statements_writes");
}

Test(statements, log_and_queue_are_the_same_with_the_image_before) {
  struct fixture f;
  static const char *const STATEMENTS[] = {
      "insert into item select n, n from generate_series(1, 1200) as n",
      "update item set n = n + 1 where id < 20",
      "update item set n = n + 1",
      "update item set id = id + 1 where id = 1200; update item set id = -id, n = 0 where id < 9",
      "delete from item",
      NULL};
  begin(&f, "statements_before");
  sql(f.at_source, "create table item (id int primary key, n int)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--before", NULL);
  same_either_way(&f, "item", STATEMENTS);
  fixture_end(&f);
}

/* What is compressed well is a small row with a large image, which a single row does not log as others do. */
Test(statements, log_and_queue_are_the_same_for_a_small_row_with_a_large_image) {
  struct fixture f;
  static const char *const STATEMENTS[] = {
      "insert into item values (1, repeat(E'\\x01', 8700000), repeat(E'\\x01', 100000), 1)", "update item set n = 2",
      "delete from item", NULL};
  begin(&f, "statements_compressed");
  sql(f.at_source, "create table item (id int primary key, t text, more text, n int)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  same_either_way(&f, "item", STATEMENTS);
  fixture_end(&f);
}

/* What PostgreSQL attaches to others would be written to by their names. */
/* The function compares arrays of keys, and PostgreSQL allows no array of more than a gigabyte. */
Test(statements, a_table_whose_keys_no_index_bounds_is_captured_by_row_and_says_so) {
  struct fixture f;
  begin(&f, "statements_keys");
  sql(f.at_source, "create table item (id int primary key, big text not null, n int);"
                   "insert into item values (1, 'x', 0), (2, 'y', 0);"
                   "select rowrelay.capture_table('item', target => 'w', key => '{id,big}', per => 'statement')");
  is_by_statement(&f, "item", false);
  cr_expect_str_eq(ask(f.at_source, "select by_row_because from rowrelay.captures"),
                   "a column of its key is in no index, and may be large");
  sql(f.at_source, "create index on item (big); select rowrelay.maintain()");
  is_by_statement(&f, "item", true);
  fixture_end(&f);
}

/* Its triggers by statement queue for the document, too. */
Test(statements, a_table_that_a_document_is_built_from_is_told_to_turn_and_not_to_lack_triggers) {
  static const char QUERY[] = "/tmp/rowrelay-statements-document.sql";
  struct fixture f;
  const char *said;
  begin(&f, "statements_document");
  sql(f.at_source, "create table item (id int primary key, n int);"
                   "select rowrelay.capture_table('item', per => 'statement')");
  FILE *query = fopen(QUERY, "we");
  cr_assert(query != NULL);
  fputs("select id, n from item where id = any ($1)", query);
  fclose(query);
  rowrelay_ok(&f, "document", "add", "doc", "--target", "w", "--key", "id", "--query", QUERY, "--from", "item:id",
              NULL);
  unlink(QUERY);
  is_by_statement(&f, "item", true);
  said = ask(f.at_source, "select note from rowrelay.captures");
  cr_expect_not_null(strstr(said, "maintenance will replace its triggers, which miss nothing until then"), "%s", said);
  sql(f.at_source, "insert into item values (1, 1), (2, 2)");
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.queue") == 2);
  sql(f.at_source, "delete from rowrelay.job; select rowrelay.maintain()");
  is_by_statement(&f, "item", false);
  cr_expect_str_eq(ask(f.at_source, "select note from rowrelay.captures"), "");
  sql(f.at_source, "alter table item disable trigger \"!rowrelay\"");
  cr_expect_not_null(strstr(ask(f.at_source, "select note from rowrelay.captures"), "triggers are missing"));
  fixture_end(&f);
}

Test(statements, a_table_that_stands_alone_stays_so) {
  struct fixture f;
  begin(&f, "statements_alone");
  sql(f.at_source, "create table item (id int primary key, n int); create table whole (id int primary key, n int) "
                   "partition by range (id); create table part partition of whole for values from (1) to (9);"
                   "create table parent (id int primary key); create table child () inherits (parent)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--per", "statement", NULL);
  is_by_statement(&f, "item", true);
  cr_assert_str_eq(sql_fails(f.at_source, "alter table whole attach partition item for values from (10) to (20)"),
                   "0A000");
  cr_assert_str_eq(sql_fails(f.at_source, "alter table item inherit parent"), "0A000");
  static const char *const REFUSED[] = {"whole", "part", "parent", "child"};
  for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
    const char *errors;
    cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", REFUSED[i], "--per", "statement", NULL), 2, "%s", errors);
    cr_assert(strstr(errors, "cannot be captured by statement") != NULL, "%s", errors);
  }
  fixture_end(&f);
}

Test(statements, a_table_that_others_inherit_from_is_captured_by_row_and_says_so) {
  struct fixture f;
  const char *output;
  mirrored_begin(&f, "statements_parent", "create table item (id int primary key, n int);");
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", "--per", "statement", NULL);
  sql(f.at_source, "create table child () inherits (item); insert into item values (1, 1), (2, 2)");
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.change where op = 'i'"), 2);
  sql(f.at_source, "select * from rowrelay.maintain()");
  is_by_statement(&f, "item", false);
  sql(f.at_source, "insert into child values (3, 3); update item set n = n + 1");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, n), ' ' order by id) from item"), "12 23 34");
  cr_assert_eq(rowrelay(&f, &output, NULL, "status", "--tables", NULL), 0);
  cr_assert(strstr(output, "captured by row, because it has inheritance children") != NULL, "%s", output);
  fixture_end(&f);
}

/* What statements began is told of before them; MERGE and ON CONFLICT have two triggers. */
Test(statements, what_nests_leaves_the_last_state_of_each_row) {
  struct fixture f;
  mirrored_begin(
      &f, "statements_nesting",
      "create table tally (id int primary key, n int); create table link (id int primary key, up int references link "
      "on delete cascade on update cascade, n int default 0);"
      "create function tally() returns trigger language plpgsql as $$ begin"
      "  update tally set n = n + new.n where id = new.id; if found then return null; end if; return new; end $$;"
      "create trigger tally before insert on tally for each row execute function tally();"
      "create function settle() returns trigger language plpgsql as $$ begin"
      "  if new.n = 3 then update tally set n = 30 where n < 3; delete from tally where id = 8;"
      "  insert into tally values (50 + new.id, 9); end if; return null; end $$;"
      "create trigger settle after update on tally for each row execute function settle();"
      "create function bump(i int) returns int language plpgsql as $$ begin"
      "  update tally set n = n + 100 where id < i; return i; end $$;");
  replay_begin(f.at_source);
  rowrelay_ok(&f, "capture", "tally", "link", "--to", "w", "--create", "--per", "statement", NULL);
  sql(f.at_source, "insert into tally values (1, 1), (1, 2), (1, 4), (2, 1), (8, 1), (9, 2)");
  sql(f.at_source, "update tally set n = n + 1");
  sql(f.at_source, "insert into tally select bump(i), 0 from generate_series(101, 105) as i");
  sql(f.at_source, "with d as (delete from tally where id = 2 returning *) insert into tally select * from d");
  sql(f.at_source, "begin; insert into tally select i, 0 from generate_series(201, 2000) as i; savepoint s;"
                   "update tally set id = id + 1 where id = 2000; rollback to s; update tally set id = -id; commit");
  sql(f.at_source, "insert into link values (1, null), (2, 1), (3, 2), (4, 1);"
                   "update link set id = id + 10 where id = 1; delete from link where id = 2");
  mirrored_same(&f, "tally");
  mirrored_same(&f, "link");
  cr_assert_str_eq(ask(f.at_source, "select replay.check()"), "");
  fixture_end(&f);
}

/* The image of such a table names all columns, as PostgreSQL found out too late. */
Test(statements, a_renamed_column_beside_one_of_json_makes_no_writer_fail) {
  struct fixture f;
  fixture_begin(&f, "statements_renamed");
  sql(f.at_source, "create table item (id int primary key, v int, j json)");
  rowrelay_ok(&f, "target", "add", "w", "file:/dev/null", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--per", "statement", NULL);
  sql(f.at_source, "insert into item values (1, 1, '1'); update item set v = 2; delete from item");
  sql(f.at_source, "alter table item rename v to w; insert into item values (2, 1, '1'); update item set w = 2;"
                   "delete from item");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat(op, new_row ->> 'w', caveat), ' ' order by id) from "
                                    "rowrelay.change where key = '2'"),
                   "i1 u2 d");
  fixture_end(&f);
}

Test(statements, a_capture_keeps_what_is_not_said_and_goes_back_to_rows) {
  struct fixture f;
  const char *output;
  begin(&f, "statements_options");
  sql(f.at_source, "create table item (id int primary key, n int)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--per", "statement", NULL);
  rowrelay_ok(&f, "capture", "item", "--before", NULL);
  is_by_statement(&f, "item", true);
  cr_assert_eq(rowrelay(&f, &output, NULL, "export", NULL), 0);
  cr_assert(strstr(output, "per: statement") != NULL, "%s", output);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.lacking_triggers()"), 0);
  /* what cannot be is remembered */
  rowrelay_ok(&f, "capture", "item", "--exclude", "n", NULL);
  is_by_statement(&f, "item", false);
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(': ', per, by_row_because) from rowrelay.captures"),
                   "statement: columns are left out or masked");
  rowrelay_ok(&f, "capture", "item", "--exclude", "", NULL);
  is_by_statement(&f, "item", true);
  rowrelay_ok(&f, "capture", "item", "--per", "row", NULL);
  is_by_statement(&f, "item", false);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat(tgname, tgenabled), ' ' order by tgname) from pg_trigger "
                                    "where tgrelid = 'item'::regclass"),
                   "!rowrelayA !rowrelay_truncateA !rowrelay_truncatedA");
  rowrelay_ok(&f, "capture", "item", "--per", "statement", NULL);
  rowrelay_ok(&f, "release", "item", NULL);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from pg_trigger where tgrelid = 'item'::regclass"), 0);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from pg_proc where proname ~ '^capture_[0-9]+_'"), 0);
  fixture_end(&f);
}
