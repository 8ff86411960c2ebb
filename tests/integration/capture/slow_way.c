/*
 * What a trigger function captures the slow way, because the table was altered since it was made, is what it would have
 * captured itself: image for image, caveat for caveat, lane for lane.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "mirrored.h"

struct kind {
  const char *name;
  const char *make;    /* CREATE statements of table `it` */
  const char *capture; /* arguments of capture_table() after the table */
  const char *write;   /* statements that leave rows behind */
  const char *shown;   /* rows that the mirror has; NULL: rows with other values */
};
#define ALL "(select * from app.it)"

/* Of every table: columns whose values do not survive as JSON by themselves. */
#define AWKWARD                                                                                                        \
  "j json, b jsonb, a int[], aa text[], p app.pair, ps app.pair[], r app.span, m app.mood, d app.words, "              \
  "x numeric, t timestamptz"
#define VALUES                                                                                                         \
  "(1, 'null', 'null', '[0:1]={1,2}', '[2:2][3:4]={{a,b}}', '(1,null)', '{\"(1,null)\"}', '[1,3)', 'ok', "             \
  "'[0:0]={x}', 1.50, '2024-02-29 12:00+02'), "                                                                        \
  "(2, ' {\"a\": \"\\u0000\"} ', '\"null\"', '{1}', '{a,NULL}', null, '[3:3]={\"(2,1)\"}', 'empty', 'sad', '{x,y}', "  \
  "'NaN', 'infinity'), "                                                                                               \
  "(3, '\"\\ud800\"', '{\"a\": null}', '{{1},{2}}', '{}', '(,)', null, null, null, null, null, null), "                \
  "(4, null, null, null, null, null, null, null, null, null, null, null), "                                            \
  "(5, '{\"a\": 1.0}', '[]', '{}', '{null}', '(5,\"{}\")', '{}', '(,)', 'ok', '{}', 5, '2024-01-01 00:00+00')"
#define CHANGES                                                                                                        \
  "insert into app.it values " VALUES ";"                                                                              \
  "update app.it set j = 'null', b = '1' where id in (1, 3, 5); update app.it set a = '[0:0]={9}' where id > 1;"       \
  "update app.it set j = '1', b = 'null' where id < 4; update app.it set id = id + 10 where id in (1, 2);"             \
  "delete from app.it where id in (3, 11); insert into app.it values " VALUES " on conflict do nothing;"               \
  "delete from app.it where id = 2"
#define HEAP                                                                                                           \
  "insert into app.it values " VALUES "; insert into app.it values " VALUES ";"                                        \
  "update app.it set j = 'null', b = 'null' where id in (1, 3); delete from app.it where id = 2"

/* Its trigger fires before ours. Row 3 of a table with a key comes back once. */
#define NESTING                                                                                                        \
  "create table app.it (id int primary key, " AWKWARD ");"                                                             \
  "create or replace function app.again() returns trigger language plpgsql as $$ begin "                               \
  "  if tg_op <> 'DELETE' then "                                                                                       \
  "    if pg_trigger_depth() = 1 then update app.it set x = coalesce(x, 0) + 1 where id = new.id; end if; "            \
  "  elsif old.id = 3 and old.j::text = '1' and old.b is not null then insert into app.it values (3, '1'); end if; "   \
  "  return null; end $$;"                                                                                             \
  "create trigger \" again\" after insert or update or delete on app.it for each row execute function app.again()"

static const struct kind KINDS[] = {
    {"a table", "create table app.it (id int primary key, " AWKWARD ")", "", CHANGES, ALL},
    {"a table with rows before", "create table app.it (id int primary key, " AWKWARD ")", ", before => 'full'", CHANGES,
     ALL},
    {"lanes of a table without a key", "create table app.it (id int, " AWKWARD ")", ", lane => '{id}'",
     HEAP "; update app.it set id = 7 where id = 5", ALL},
    {"a table without a key", "create table app.it (id int, " AWKWARD ")", "", HEAP, ALL},
    {"rows that a trigger writes again before", NESTING, "", CHANGES, ALL},
    {"the same with rows before", NESTING, ", before => 'full'", CHANGES, ALL},
    {"the same in lanes of another column", NESTING, ", lane => '{x}'", CHANGES, ALL},
    {"chosen columns", "create table app.it (id int primary key, " AWKWARD ")", ", columns => '{id,j,a,p}'", CHANGES,
     NULL},
    {"columns left out", "create table app.it (id int primary key, " AWKWARD ")",
     ", exclude => '{j,aa,ps}', before => 'full'", CHANGES, NULL},
    {"masks", "create table app.it (id int primary key, " AWKWARD ")", ", mask => '{\"x\": 7}'", CHANGES, NULL},
    {"a filter", "create table app.it (id int primary key, " AWKWARD ")",
     ", row_filter => 'j::text <> ''1''', before => 'full'", CHANGES, "(select * from app.it where j::text <> '1')"},
    {"a filter without rows before", "create table app.it (id int primary key, " AWKWARD ")",
     ", row_filter => 'j::text <> ''1'''", CHANGES, "(select * from app.it where j::text <> '1')"},
    {"lanes of another column", "create table app.it (id int primary key, " AWKWARD ")", ", lane => '{x}'", CHANGES,
     ALL},
    {"partitions with columns in another order",
     "create table app.it (id int primary key, " AWKWARD ") partition by range (id);"
     "create table app.it_low partition of app.it for values from (0) to (3);"
     "create table app.it_high (gone int, m app.mood, t timestamptz, x numeric, d app.words, r app.span, "
     "ps app.pair[], p app.pair, aa text[], a int[], b jsonb, j json, id int not null);"
     "alter table app.it_high drop column gone;"
     "alter table app.it attach partition app.it_high for values from (3) to (100)",
     ", before => 'full'", CHANGES, ALL},
    {"inheritance",
     "create table app.it (id int primary key, " AWKWARD ");"
     "create table app.it_child (own json, primary key (id)) inherits (app.it)",
     "",
     CHANGES "; insert into app.it_child (id, j, own) values (50, 'null', 'null'), (51, '1', '1');"
             "update app.it_child set own = '2', b = 'null' where id = 51",
     ALL},
    {"a key that reads as another value", "create table app.it (id jsonb primary key, a int[], n int)",
     ", before => 'full'",
     "insert into app.it values ('{\"a\": null}', '[0:0]={1}', 1), ('\"null\"', '{1}', 2), ('\"a\"', null, 3), ('1.0', "
     "null, 4);"
     "update app.it set n = 5; update app.it set id = '\"b\"' where n = 5 and a = '[0:0]={1}'; delete from app.it "
     "where id = '\"a\"'",
     ALL},
    {"nothing that cannot be read", "create table app.it (id int primary key, a int[], b jsonb)", ", before => 'full'",
     "insert into app.it values (1, '[0:0]={1}', '1'), (2, '{1}', 'null'), (3, '{1}', '1'); update app.it set b = '2';"
     "update app.it set b = 'null' where id = 3; update app.it set id = 4 where id = 1; delete from app.it where id = "
     "2",
     ALL},
    {"a key of several columns", "create table app.it (k int[], x numeric, m app.mood, n int, primary key (x, k, m))",
     "",
     "insert into app.it values ('[0:0]={1}', 1.50, 'ok', 1), ('{1}', 1.5, 'sad', 2); update app.it set n = 3;"
     "update app.it set x = 1.5 where m = 'ok'; update app.it set x = 2.00; delete from app.it where m = 'sad'",
     ALL},
};
#define KIND_COUNT ((int)(sizeof KINDS / sizeof KINDS[0]))

static const char TYPES[] = "create schema app; create type app.mood as enum ('ok', 'sad');"
                            "create type app.span as range (subtype = int); create type app.pair as (n int, j json);"
                            "create domain app.words as text[]";

/* What was captured since; the ids of changes do not count. It is the caller's to free. */
static char *captured_since(struct fixture *f, int64_t id) {
  PGresult *reply = PQexecParams(
      f->at_source,
      "select string_agg(concat_ws(' | ', h.op, h.key, h.old_row, h.new_row, h.caveat, q.lane), E'\\n' order by h.id) "
      "from rowrelay.change h left join rowrelay.queue q on q.change_id = h.id where h.id > $1::text::bigint",
      1, NULL, (const char *const[]){ask(f->at_source, "select %ld::text", (long)id)}, NULL, NULL, 0);
  cr_assert(PQresultStatus(reply) == PGRES_TUPLES_OK, "%s", PQerrorMessage(f->at_source));
  char *captured = strdup(PQgetvalue(reply, 0, 0));
  PQclear(reply);
  return captured;
}

static char *write_and_see(struct fixture *f, const struct kind *kind) {
  int64_t last = ask_number(f->at_source, "select coalesce(max(id), 0) from rowrelay.change");
  PGconn *session = connect_to(f->source, NULL);
  sql(session, "%s", kind->write);
  PQfinish(session);
  return captured_since(f, last);
}

static void one_kind(struct fixture *f, const struct kind *kind) {
  sql(f->at_source, "%s", kind->make);
  sql(f->at_source, "select rowrelay.capture_table('app.it'%s)", kind->capture);
  sql(f->at_source, "select rowrelay.route('app.it', 'w', create_table => true)");
  char *fast = write_and_see(f, kind);
  mirrored_deliver(f);
  sql(f->at_source, "delete from app.it");
  mirrored_deliver(f);
  sql(f->at_source,
      "create or replace function rowrelay.row_is_known(relation regclass, types oid[], is_plain boolean) "
      "returns boolean language sql immutable as 'select false'");
  char *slow = write_and_see(f, kind);
  cr_expect(strcmp(slow, fast) == 0, "%s, the slow way:\n%s\nas it is:\n%s", kind->name, slow, fast);
  mirrored_deliver(f);
  /* not the columns of inheritance children; and what is left out is not there */
  if (kind->shown != NULL)
    same_rows(f, kind->shown, "app.it", "1");
  free(fast);
  free(slow);
  rowrelay_ok(f, "init", NULL);
  sql(f->at_source, "select rowrelay.release_table('app.it'); drop table app.it cascade");
  sql(f->at_target, "drop table app.it");
}

Test(slow_way, captures_what_the_trigger_function_would, .timeout = 600) {
  struct fixture f;
  mirrored_begin(&f, "slow_same", TYPES);
  sql(f.at_target, "%s", TYPES);
  for (int i = 0; i < KIND_COUNT; i++)
    if (is_tried_of(i, 7))
      one_kind(&f, &KINDS[i]);
  fixture_end(&f);
}

/* The trigger function takes values out of a row that JSON cannot hold, and then meets the column that it does not
 * know. */
Test(slow_way, keeps_what_the_trigger_function_took_out_of_the_row) {
  struct fixture f;
  mirrored_begin(&f, "slow_taken",
                 "create type mood as enum ('sad'); create type part as (a int, m mood);"
                 "create table plain (id int primary key, j json, p part[], b int);"
                 "create table kept (id int primary key, j json, p part[], b int);"
                 "select rowrelay.capture_table('plain'), rowrelay.capture_table('kept', before => 'full')");
  sql(f.at_source,
      "begin; alter table plain rename b to c; alter table kept rename b to c;"
      "insert into plain values (1, '\"\\u0000\"', null, 1); insert into kept values (1, '\"\\u0000\"', null, 1);"
      "update kept set j = '[\"\\u0000\"]'; delete from kept; commit");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', op, old_row ->> 'j', new_row ->> 'j', caveat), "
                                    "', ' order by id) from rowrelay.change"),
                   "i \"\\u0000\" {\"text_columns\" : [\"j\"]}, i \"\\u0000\" {\"text_columns\" : [\"j\"]}, "
                   "u \"\\u0000\" [\"\\u0000\"] {\"text_columns\" : [\"j\"]}, "
                   "d [\"\\u0000\"] {\"text_columns\" : [\"j\"]}");
  fixture_end(&f);
}

Test(slow_way, a_column_added_to_a_parent_arrives_exactly_from_parent_and_children) {
  struct fixture f;
  mirrored_begin(
      &f, "slow_parent",
      "create table it (id int primary key); create table it_child (own int, primary key (id)) inherits (it)");
  mirrored_capture(&f, "it");
  PGconn *session = connect_to(f.source, NULL);
  sql(session, "insert into it values (1); insert into it_child values (2)");
  sql(f.at_source, "alter table it add j json, add a int[]");
  sql(session,
      "insert into it values (3, 'null', '[0:0]={1}'); insert into it_child values (4, 7, 'null', '[5:6]={1,2}');"
      "update it set j = 'null' where id < 3; insert into it_child values (3, 1, '1')");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(caveat ->> 'problem', ', ') from rowrelay.change"),
                   "another row of the table, or of its inheritance children, has the same key");
  sql(session, "delete from it_child where id = 3");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  PQfinish(session);
  fixture_end(&f);
}

/*
 * In a transaction that sees tables as they were when it began: it does not see the rows of rowrelay's own tables that
 * say where the changes go.
 */
Test(slow_way, what_a_transaction_from_before_a_route_writes_arrives) {
  struct fixture f;
  mirrored_begin(
      &f, "slow_old",
      "create schema app; create table app.it (id int primary key, n int);"
      "create table app.emptied (id int primary key);"
      "create table app.parts (id int primary key) partition by range (id);"
      "create table app.low partition of app.parts for values from (0) to (10);"
      "create table app.high (id int primary key);"
      "create table app.heap (n int); create table app.late (id int primary key);"
      "insert into app.it select i, 1 from generate_series(1, 5) as i; insert into app.high values (11), (12);"
      "insert into app.parts values (1), (2); insert into app.emptied values (1), (2)");
  sql(f.at_source, "select rowrelay.capture_table(t::regclass) from unnest('{app.it,app.emptied,app.parts,app.heap}'"
                   "::text[]) as t");
  sql(f.at_source, "create function app.again() returns trigger language plpgsql as $$ begin "
                   "update app.heap set n = n + 1 where n < 3; return null; end $$;"
                   "create trigger again after insert on app.heap for each row execute function app.again()");
  PGconn *old = connect_to(f.source, NULL);
  sql(old, "begin isolation level repeatable read; select count(*) from rowrelay.route");
  sql(f.at_source, "select rowrelay.route(t::regclass, 'w', create_table => true) from "
                   "unnest('{app.it,app.emptied,app.parts,app.heap}'::text[]) as t");
  sql(f.at_source, "select rowrelay.add_document('doc', 'w', 'id', 'select id, n from app.it where id = any ($1)', "
                   "array['app.it:id'], create_table => true)");
  sql(f.at_source, "alter table app.parts attach partition app.high for values from (10) to (20)");
  for (const char *const *table = (const char *const[]){"app.it", "app.emptied", "app.parts", NULL}; *table; table++)
    rowrelay_ok(&f, "backfill", *table, "--to", "w", NULL);
  rowrelay_ok(&f, "backfill", "--document", "doc", NULL);
  mirrored_deliver(&f);
  sql(f.at_source, "select rowrelay.capture_table('app.late'), rowrelay.route('app.late', 'w', create_table => true)");
  sql(f.at_source, "create or replace function rowrelay.row_is_known(relation regclass, types oid[], is_plain boolean) "
                   "returns boolean language sql immutable as 'select false'");
  sql(old,
      "update app.it set n = 2 where id = 1; delete from app.it where id = 2; update app.it set id = 9 where id = 3");
  sql(old, "insert into app.heap values (1), (2)");
  sql(old, "truncate app.emptied; truncate app.high");
  sql(old, "truncate app.late; commit");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "app.it", "app.it", "id");
  same_rows(&f, "app.it", "doc", "id");
  same_rows(&f, "app.emptied", "app.emptied", "id");
  same_rows(&f, "app.parts", "app.parts", "id");
  same_rows(&f, "app.heap", "app.heap", "n");
  /* Whether that emptied the table is unknown to a transaction that does not see that it is captured. */
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(concat_ws(' ', relation, op, message), ',') from rowrelay.errors"),
      "app.late truncate the row could not be captured: the table was captured by a transaction that this one cannot "
      "see yet");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "0");
  PQfinish(old);
  fixture_end(&f);
}
