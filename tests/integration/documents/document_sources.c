/*
 * How rows of any table lead to documents: whatever their keys look like, whatever the writer's session does, and
 * whatever becomes of the tables meanwhile.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

static void build(struct fixture *f) {
  rowrelay_ok(f, "run", "--until-empty", "--workers", "2", NULL);
  cr_assert_str_eq(ask(f->at_source, "select string_agg(key || ': ' || message, ' ') from rowrelay.errors"), "");
}

/* ---- keys ------------------------------------------------------------------------------------------------------- */

/* Types that keys may have, and values: some are keys of documents, others come when rows move. */
static const struct {
  const char *type;
  const char *values;
} KEYS[] = {
    {"bigint", "(1), (-7), (9223372036854775807)"},
    {"oid", "(1), (4294967295)"},
    {"numeric", "(1.0), (1.500), (-0.10), (1e20), ('NaN')"},
    {"text",
     "(E'it''s \"q\" \\\\ back\\\\slash'), (E'{a,b}'), (''), ('NULL'), (E'new\\nline\\ttab\\u0001'), ('größe ✎'), "
     "('with space '), ('$1 %s'), ('\"')"},
    {"varchar(20)", "('a,b'), ('x ')"},
    {"char(5)", "('ab'), (''), ('abcde')"},
    {"name", "('n')"},
    {"uuid", "('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')"},
    {"date", "('2024-03-04'), ('0044-03-15 BC'), ('infinity')"},
};
enum { KEY_COUNT = sizeof KEYS / sizeof *KEYS };

/* Names that have to be quoted, in every place. */
#define ROOT "\"Old: Shop\".\"Ord(er) \\1 '%d\""
#define CHILD "\"Old: Shop\".\"Li\"\"ne %d\""
#define KEY "\"The \"\"Key\""

#define KEYS_QUERY                                                                                                     \
  "select r." KEY " as " KEY ", r.v, (select string_agg(c.w, ',' order by c.id) from " CHILD " c where c.k = r." KEY   \
  ") as w from " ROOT " r"

static void make_tables(struct fixture *f) {
  sql(f->at_source, "create schema \"Old: Shop\"");
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  for (int i = 0; i < KEY_COUNT; i++) {
    sql(f->at_source,
        "create table " ROOT " (" KEY " %s primary key, v text); create table " CHILD
        " (id int primary key, k %s, w text);"
        "create table keys%d (k %s); insert into keys%d values %s",
        i, KEYS[i].type, i, KEYS[i].type, i, KEYS[i].type, i, KEYS[i].values);
    sql(f->at_source,
        "select rowrelay.add_document(name || %d, 'w', 'The \"Key', query, array[$$" ROOT ":" KEY "$$, $$" CHILD
        ":k(k, w)$$], create_table => true) from (values ('row', $$" KEYS_QUERY " where r." KEY
        " = any ($1)$$), ('json', $$select to_jsonb(q) from (" KEYS_QUERY ") as q where " KEY
        " = any ($1) -- all$$)) as d(name, query)",
        i, i, i, i, i, i, i);
  }
}

static void keys_are_right(struct fixture *f) {
  char query[2048];
  for (int i = 0; i < KEY_COUNT; i++) {
    snprintf(query, sizeof query, "(" KEYS_QUERY ")", i, i);
    char table[64];
    snprintf(table, sizeof table, "(select " KEY ", v, w from row%d)", i);
    same_rows(f, query, table, "1");
    snprintf(query, sizeof query, "(select " KEY ", to_jsonb(q)::text as j from (" KEYS_QUERY ") as q)", i, i);
    snprintf(table, sizeof table, "(select " KEY ", document::text from json%d)", i);
    same_rows(f, query, table, "1");
  }
}

/* A session in which names, operators and texts are not what they seem. */
static PGconn *hostile_session(struct fixture *f) {
  sql(f->at_source,
      "create schema evil; create function evil.fail(text, text) returns bool language plpgsql as $$ begin raise "
      "'hostile'; end $$;"
      "create operator evil.= (leftarg = text, rightarg = text, procedure = evil.fail);"
      "create operator evil.<> (leftarg = text, rightarg = text, procedure = evil.fail);"
      "create function evil.hashtext(text) returns int language plpgsql as $$ begin raise 'hostile'; end $$;"
      "create function evil.concat(variadic text[]) returns text language plpgsql as $$ begin raise 'hostile'; end $$;"
      "create domain evil.text as varchar check (value = 'hostile'); create domain evil.int8 as int check (value = 0);"
      "create table evil.queue (x int); create table evil.change (x int)");
  PGconn *session = connect_to(f->source, NULL);
  sql(session,
      "set search_path = evil, pg_catalog; set datestyle = 'German, DMY'; set standard_conforming_strings = off;"
      "set extra_float_digits = -15; set timezone = 'Asia/Kathmandu'; set array_nulls = off; set quote_all_identifiers "
      "= on;"
      "set default_transaction_isolation = serializable");
  return session;
}

Test(document_sources, keys_of_every_type_lead_to_their_documents_whatever_a_session_has_set) {
  struct fixture f;
  fixture_begin(&f, "docsrc_keys");
  make_tables(&f);
  PGconn *session = hostile_session(&f);
  for (int i = 0; i < KEY_COUNT; i++)
    sql(session,
        "insert into " ROOT " select k, 'v' from public.keys%d;"
        "insert into " CHILD " select row_number() over (), k, 'line' from public.keys%d",
        i, i, i, i);
  build(&f);
  keys_are_right(&f);
  for (int i = 0; i < KEY_COUNT; i++)
    sql(session,
        "update " ROOT " set v = 'w';"
        /* all lines move to the first, and one out of all */
        "update " CHILD " set k = (select k from public.keys%d limit 1); update " CHILD " set k = null where id = 2",
        i, i, i, i);
  build(&f);
  keys_are_right(&f);
  /* numeric: equal keys that are written otherwise */
  sql(session, "update " CHILD " set k = 1.00, w = 'again' where id = 1", 2);
  sql(session, "delete from " CHILD " where id = 3", 2);
  build(&f);
  keys_are_right(&f);
  /* what is asked for by hand, in the words of that session */
  sql(session, "set rowrelay.skip = on");
  for (int i = 0; i < KEY_COUNT; i++)
    sql(session, "update " ROOT " set v = 'skipped'", i);
  sql(session, "reset search_path; set standard_conforming_strings = on");
  for (int i = 0; i < KEY_COUNT; i++)
    sql(session, "select rowrelay.rebuild('row%d', array(select k::text from keys%d)), rowrelay.rebuild('json%d')", i,
        i, i);
  build(&f);
  keys_are_right(&f);
  sql(session, "reset rowrelay.skip; set search_path = evil, pg_catalog");
  for (int i = 0; i < KEY_COUNT; i++)
    sql(session, "delete from " ROOT, i);
  build(&f);
  for (int i = 0; i < KEY_COUNT; i++)
    cr_assert_str_eq(ask(f.at_target, "select (select count(*) from row%d) + (select count(*) from json%d)", i, i), "0",
                     "%s", KEYS[i].type);
  PQfinish(session);
  fixture_end(&f);
}

Test(document_sources, columns_of_another_type_than_the_keys_are_refused) {
  struct fixture f;
  fixture_begin(&f, "docsrc_type");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_source, "create table t (id int primary key); create table c (id int primary key, t text)");
  static const char ADD[] = "select rowrelay.add_document('doc', 'w', 'id', 'select id, array(select c.id from c where "
                            "c.t = t.id::text order by 1) as c "
                            "from t where id = any ($1)', array['t:id', 'c:%s'], create_table => true)";
  cr_assert_str_eq(sql_fails(f.at_source, ADD, "t"), "42804");
  sql(f.at_source, ADD, "select t from changed where t ~ ''^[0-9]+$''");
  sql(f.at_source, "insert into t values (1), (2); insert into c values (1, '1'), (2, '01'), (3, 'x')");
  build(&f);
  sql(f.at_source, "update c set t = '2' where t = '1'");
  build(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(doc::text, ' ' order by id) from doc"), "(1,{}) (2,{1})");
  fixture_end(&f);
}

/* ---- ways from rows to documents -------------------------------------------------------------------------------- */

/* Statements call tables by letters, which may be columns of what they read. */
Test(document_sources, columns_may_be_called_by_any_letter) {
  struct fixture f;
  fixture_begin(&f, "docsrc_letters");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_source, "do $$ begin execute (select 'create table letters (key int primary key, ' || "
                   "string_agg(chr(n) || ' int default ' || n, ', ') || ')' from generate_series(97, 122) n); end $$");
  sql(f.at_source, "select rowrelay.add_document('doc', 'w', 'key', 'select * from letters where key = any ($1)', "
                   "'{letters:key}', create_table => true)");
  sql(f.at_source, "insert into letters values (1), (2); update letters set d = 7 where key = 2");
  build(&f);
  same_rows(&f, "letters", "doc", "key");
  const char *said = rowrelay_ok(&f, "log", "letters", "2", "--json", "--as-of", "tomorrow", NULL);
  cr_assert(strstr(said, "\"c\":99,\"d\":7,\"e\":101") != NULL, "%s", said);
  fixture_end(&f);
}

Test(document_sources, a_table_may_lead_to_documents_by_several_columns) {
  struct fixture f;
  fixture_begin(&f, "docsrc_two");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_source, "create table account (id int primary key); create table transfer (id int primary key, giver int, "
                   "taker int, amount int);"
                   "create view sums as select a.id, (select sum(amount) from transfer where giver = a.id) as gave, "
                   "(select sum(amount) from transfer where taker = a.id) as took from account a");
  sql(f.at_source, "select rowrelay.add_document('doc', 'w', 'id', 'select * from sums where id = any ($1)', "
                   "'{account:id, transfer:giver, transfer:taker}', create_table => true)");
  sql(f.at_source, "insert into account select generate_series(1, 50); insert into transfer select n, n, 51 - n, n "
                   "from generate_series(1, 50) n");
  build(&f);
  same_rows(&f, "sums", "(select id, gave, took from doc)", "1");
  sql(f.at_source,
      "update transfer set giver = taker, taker = giver where id < 10; update transfer set giver = taker where id = 20;"
      "update transfer set amount = 7 where id = 30; delete from transfer where id = 40; update transfer set taker = "
      "null where id = 41");
  build(&f);
  same_rows(&f, "sums", "(select id, gave, took from doc)", "1");
  fixture_end(&f);
}

/* A category's documents show all that is above it. */
Test(document_sources, the_way_may_be_a_query_with_with) {
  struct fixture f;
  fixture_begin(&f, "docsrc_with");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_source,
      "create table category (id int primary key, parent int, name text); create table item (id int primary key, "
      "category int);"
      "create view paths as with recursive up(item, category, depth) as (select id, category, 1 from item union all "
      "select u.item, c.parent, u.depth + 1 from up u join category c on c.id = u.category) "
      "select i.id, (select string_agg(c.name, '/' order by u.depth desc) from up u join category c on c.id = "
      "u.category where u.item = i.id) as path from item i");
  sql(f.at_source, "select rowrelay.add_document('doc', 'w', 'id', 'select p.* from unnest($1) as k join paths p on "
                   "p.id = k', array['item:id', "
                   "E'category(id, name, parent): WITH\\nRECURSIVE below(id) as (select id from changed union select "
                   "c.id from category c join below b on c.parent = b.id) "
                   "select i.id from item i join below b on b.id = i.category;'], create_table => true)");
  sql(f.at_source, "insert into category values (1, null, 'all'), (2, 1, 'tools'), (3, 2, 'saws'), (4, 1, 'books');"
                   "insert into item values (10, 3), (11, 4), (12, null)");
  build(&f);
  same_rows(&f, "paths", "(select id, path from doc)", "1");
  sql(f.at_source, "update category set name = 'everything' where id = 1");
  build(&f);
  cr_assert_str_eq(ask(f.at_target, "select path from doc where id = 10"), "everything/tools/saws");
  sql(f.at_source, "update category set parent = 4 where id = 3; delete from category where id = 2");
  build(&f);
  same_rows(&f, "paths", "(select id, path from doc)", "1");
  fixture_end(&f);
}

/* Orders and lines; the document reads lines through a view, which knows its columns whatever they are called now. */
static void begin_orders(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  sql(f->at_source,
      "create table orders (id bigint primary key, status text, noted text);"
      "create table line (id int primary key, order_id bigint, item text, noted text); create view lines as select * "
      "from line;"
      "create view wanted as select o.id, o.status, (select string_agg(item, ',' order by l.id) from lines l "
      "where l.order_id = o.id) as items from orders o");
  sql(f->at_source, "select rowrelay.add_document('doc', 'w', 'id', 'select * from wanted where id = any ($1)', "
                    "array['orders:id(status)', 'line:order_id(order_id, item)'], create_table => true)");
  sql(f->at_source, "insert into orders select n, 'new' from generate_series(1, 40) n; insert into line select n, n, "
                    "'i' || n from generate_series(1, 40) n");
}

static void orders_are_right(struct fixture *f) {
  same_rows(f, "wanted", "(select id, status, items from doc)", "1");
}

Test(document_sources, a_changed_key_refreshes_documents_that_show_nothing_else_of_the_row) {
  struct fixture f;
  begin_orders(&f, "docsrc_rekey");
  build(&f);
  sql(f.at_source, "update orders set id = 100 where id = 1; update line set id = id + 100 where id < 10");
  build(&f);
  orders_are_right(&f);
  fixture_end(&f);
}

/* The trigger functions are as the table was; every change goes the slow way. */
Test(document_sources, columns_may_be_renamed_while_rows_change) {
  struct fixture f;
  begin_orders(&f, "docsrc_rename");
  sql(f.at_source, "update line set order_id = 1 where id = 2"); /* builds only when the column has another name */
  PGconn *session = connect_to(f.source, NULL);
  sql(session, "select 1 from line; update line set item = 'x' where id = 40");
  sql(f.at_source, "alter table line rename order_id to belongs_to; alter table line rename item to article");
  sql(session,
      "update line set belongs_to = 20 where id between 10 and 19; update line set article = 'new' where id = 30;"
      "update line set noted = 'n'; delete from line where id = 31; insert into line values (50, 32, 'more');"
      "update line set id = 51, belongs_to = 34 where id = 33");
  build(&f);
  orders_are_right(&f);
  PQfinish(session);
  fixture_end(&f);
}

/* The documents' keys stay dates. */
static void lead_to_documents(const char *name, const char *type, bool maintained) {
  struct fixture f;
  fixture_begin(&f, name);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_source,
      "create table day (day date primary key, v text); create table line (id int primary key, d date, h text);"
      "insert into day select date '2026-01-01' + n, 'old' from generate_series(1, 20) as n;"
      "insert into line select n, date '2026-01-01' + n, 'old' from generate_series(1, 20) as n;"
      /* a document that was read before waits here, and is delivered last */
      "create function gate(v text) returns text language plpgsql as $$ begin if v = 'waits' then "
      "perform pg_advisory_xact_lock_shared(4711); end if; return v; end $$;"
      "select rowrelay.add_document('doc', 'w', 'day', 'select day::text::date as day, gate(v) as v, (select max(h) "
      "from "
      "line "
      "where left(line.d::text, 10) = left(day.day::text, 10)) as h from day where day::text::date = any ($1)', "
      "'{day:day,line:d}', create_table => true)");
  sql(f.at_source, "update day set v = 'built'");
  build(&f);
  sql(f.at_source, "update day set v = 'waits' where day = '2026-01-05'");
  sql(f.at_source, "alter table day alter day type %1$s; alter table line alter d type %1$s", type);
  if (maintained)
    sql(f.at_source, "update rowrelay.job set held_until = now(); select rowrelay.maintain()");
  PGconn *gate = connect_to(f.source, NULL);
  sql(gate, "select pg_advisory_lock(4711)");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_source, "1", 20,
             "select count(*) from pg_locks where locktype = 'advisory' and objid = 4711 and not granted");
  PGconn *session = connect_to(f.source, "options='-c timezone=Asia/Tokyo -c datestyle=German'");
  sql(session, "update day set v = 'new'; update line set h = 'new' where id > 10");
  sql(session, "update line set d = '2026-01-12 20:00+00' where id = 3; delete from line where id = 4");
  sleep_seconds(1);
  sql(gate, "select pg_advisory_unlock(4711)");
  wait_until_empty(&f, 20);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  build(&f);
  same_rows(&f,
            "(select left(day::text, 10)::date as day, v, (select max(h) from line where left(line.d::text, 10) = "
            "left(day.day::text, 10)) as h from day)",
            "doc", "day");
  PQfinish(session);
  PQfinish(gate);
  fixture_end(&f);
}

Test(document_sources, columns_may_get_another_type_than_the_keys) {
  lead_to_documents("docsrc_timestamptz", "timestamptz", true);
}

Test(document_sources, columns_that_have_just_got_another_type_than_the_keys_lead_to_the_same_documents) {
  lead_to_documents("docsrc_timestamp", "timestamp", false);
}

Test(document_sources, columns_that_have_become_texts_lead_to_the_same_documents) {
  lead_to_documents("docsrc_text", "text", true);
}

/* Of two rows that one statement moves, the first one's trigger moves the second again. */
Test(document_sources, a_row_that_a_trigger_moves_again_refreshes_all_that_it_was_in) {
  struct fixture f;
  begin_orders(&f, "docsrc_again");
  sql(f.at_source, "create function again() returns trigger language plpgsql as $$ begin update line set order_id = 30 "
                   "where id = 2 and new.id = 1; return null; end $$;"
                   "create trigger again after update on line for each row execute function again();"
                   "select rowrelay.capture_table('line')");
  build(&f);
  sql(f.at_source, "update line set order_id = 20 where id in (1, 2)");
  build(&f);
  orders_are_right(&f);
  cr_assert_str_eq(ask(f.at_target, "select items from doc where id = 2"), "");
  fixture_end(&f);
}

Test(document_sources, names_are_looked_up_as_for_the_one_who_wrote_the_query) {
  struct fixture f;
  fixture_begin(&f, "docsrc_path");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_source, "create schema mine; create table mine.t (id int primary key, v text); create schema postgres_own;"
                   "set search_path = \"$user\", mine");
  sql(f.at_source, "select rowrelay.add_document('doc', 'w', 'id', 'select id, v from t where id = any ($1)', "
                   "'{t:id}', create_table => true)");
  sql(f.at_source, "insert into t values (1, 'a')");
  cr_assert_str_eq(ask(f.at_source, "select search_path from rowrelay.documents"), "mine");
  build(&f);
  cr_assert_str_eq(ask(f.at_target, "select v from doc"), "a");
  fixture_end(&f);
}

/* ---- what happens meanwhile ------------------------------------------------------------------------------------- */

/* It holds a lower id than what was built before. */
Test(document_sources, a_late_commit_is_built) {
  struct fixture f;
  begin_orders(&f, "docsrc_late");
  build(&f);
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  PGconn *late = connect_to(f.source, NULL);
  sql(late, "begin; insert into line values (100, 5, 'late')");
  for (int i = 0; i < 5; i++) {
    sql(f.at_source, "update orders set status = 'n%d' where id = 5", i);
    char status[8];
    snprintf(status, sizeof status, "n%d", i);
    wait_until(f.at_target, status, 20, "select status from doc where id = 5");
  }
  sql(late, "commit");
  wait_until(f.at_target, "i5,late", 20, "select items from doc where id = 5");
  orders_are_right(&f);
  PQfinish(late);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/* Its table was captured already; it still runs the trigger function that does not know the document. */
Test(document_sources, a_writer_that_began_before_the_document_is_waited_for) {
  struct fixture f;
  fixture_begin(&f, "docsrc_before");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_source, "create table t (id int primary key, v text); select rowrelay.capture_table('t'); insert into t "
                   "values (1, 'a'), (2, 'a')");
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; update t set v = 'b' where id = 1");
  static const char ADD[] =
      "select rowrelay.add_document('doc', 'w', 'id', 'select id, v from t where id = any ($1)', '{t:id}', "
      "create_table => true, lock_wait => '%d s')";
  cr_assert_str_eq(sql_fails(f.at_source, ADD, 0), "55P03");
  start(f.at_source, ADD, 30);
  sleep_seconds(0.5);
  cr_assert(is_running(f.at_source));
  sql(writer, "update t set v = 'c' where id = 2; commit");
  finish(f.at_source);
  sql(f.at_source, "select rowrelay.rebuild('doc')");
  build(&f);
  same_rows(&f, "t", "doc", "1");
  PQfinish(writer);
  fixture_end(&f);
}

Test(document_sources, a_table_that_is_released_and_captured_again_refreshes_as_before) {
  struct fixture f;
  begin_orders(&f, "docsrc_release");
  build(&f);
  sql(f.at_source,
      "delete from line where id = 1; update orders set status = 'paid' where id = 2; delete from orders where id = 3");
  sql(f.at_source, "select rowrelay.release_table('line'); select rowrelay.release_table('orders')");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.documents"),
                   "table public.orders is no longer captured; table public.line is no longer captured");
  sql(f.at_source, "update line set item = 'missed' where id = 7");
  const char *errors;
  cr_assert(rowrelay(&f, NULL, &errors, "capture", "orders", "line", NULL) == 0);
  cr_assert_not_null(strstr(errors, "table public.line was not captured for a while"), "%s", errors);
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.documents"), "");
  sql(f.at_source, "update line set order_id = 9 where id = 8; delete from orders where id = 10");
  build(&f);
  sql(f.at_source, "select rowrelay.rebuild('doc')");
  build(&f);
  orders_are_right(&f);
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.capture_table('line', exclude => '{order_id}')"), "22023");
  fixture_end(&f);
}

Test(document_sources, a_document_may_be_dropped_while_it_is_delivered) {
  struct fixture f;
  begin_orders(&f, "docsrc_drop");
  sql(f.at_source, "select rowrelay.add_document('other', 'w', 'id', 'select id, status from orders where id = any "
                   "($1)', '{orders:id}', create_table => true)");
  build(&f);
  sql(f.at_target, "begin; update doc set status = status");
  sql(f.at_source, "update orders set status = 'b'");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(
      f.at_source, "t", 10,
      "select count(*) > 0 from pg_stat_activity where datname = current_database() and state = 'idle in transaction'");
  start(f.at_source, "select rowrelay.drop_document('doc')");
  sleep_seconds(0.5);
  sql(f.at_target, "commit");
  finish(f.at_source);
  wait_until(f.at_target, "40", 20, "select count(*) from other where status = 'b'");
  sql(f.at_source, "update orders set status = 'c'; update line set item = 'c'");
  wait_until(f.at_target, "40", 20, "select count(*) from other where status = 'c'");
  wait_until(f.at_source, "0", 20, "select count(*) from rowrelay.queue");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.trouble"), "0");
  /* and added again */
  sql(f.at_target, "drop table doc");
  sql(f.at_source, "select rowrelay.add_document('doc', 'w', 'id', 'select * from wanted where id = any ($1)', "
                   "array['orders:id(status)', 'line:order_id(order_id, item)'], create_table => true); select "
                   "rowrelay.rebuild('doc')");
  wait_until_empty(&f, 20);
  orders_are_right(&f);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/* Writers notice nothing, status says what is wrong, and mending it is enough. */
Test(document_sources, a_query_that_does_not_fit_its_tables_any_more_waits_for_a_person) {
  struct fixture f;
  begin_orders(&f, "docsrc_alter");
  build(&f);
  sql(f.at_source, "drop view wanted; alter table line drop column order_id cascade; update line set item = 'x'; "
                   "insert into line values (200, 'y');"
                   "delete from line where id = 1; update orders set status = 'late' where id = 4");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.documents"), "column order_id of public.line is gone");
  /* Who waits for the queue's end is told that it does not come. */
  const char *said;
  cr_assert_eq(rowrelay(&f, NULL, &said, "run", "--until-empty", NULL), 1);
  cr_assert_not_null(strstr(said, "document doc cannot be built, so its queue will not become empty: "), "%s", said);
  cr_assert_not_null(strstr(said, "to see it: rowrelay document show doc"), "%s", said);
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_source, "t", 20,
             "select count(*) = 1 from rowrelay.trouble where message like '%%\"public.wanted\" does not exist%%'");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  sql(f.at_source, "create view wanted as select o.id, o.status, null::text as items from orders o");
  wait_until(f.at_target, "late", 30, "select status from doc where id = 4");
  wait_until(f.at_source, "0", 20, "select count(*) from rowrelay.trouble");
  sql(f.at_source, "drop table orders cascade; update line set item = 'z'");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.documents"),
                   "table public.orders is gone; column order_id of public.line is gone");
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

Test(document_sources, a_target_that_was_down_gets_all_when_it_is_back) {
  struct fixture f;
  own_server("target", NULL);
  begin_orders(&f, "docsrc_down");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until_empty(&f, 20);
  PQfinish(f.at_target);
  stop_server("target", "immediate");
  sql(f.at_source,
      "update orders set status = 'down'; update line set order_id = 41 - order_id; delete from orders where id = 9");
  wait_until(f.at_source, "1", 20, "select count(*) from rowrelay.trouble");
  start_server("target");
  f.at_target = connect_to(f.target, NULL);
  wait_until_empty(&f, 30);
  orders_are_right(&f);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/* The truncate is a barrier for what it says of the first source, and is queued for the other one as well. */
Test(document_sources, a_truncate_of_a_table_that_is_two_sources_of_a_document_empties_it) {
  struct fixture f;
  fixture_begin(&f, "doc_twice");
  sql(f.at_source, "create table member (id int primary key, team int)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_source,
      "select rowrelay.add_document('peers', 'w', 'id', 'select m.id, (select count(*) from member o where o.team = "
      "m.team) as peers from member m where m.id = any ($1)', array['member:id', 'member(team):select m.id from member "
      "m join changed c on c.team = m.team'], create_table => true)");
  sql(f.at_source, "insert into member values (1, 1), (2, 1), (3, 2)");
  build(&f);
  sql(f.at_source, "truncate member; insert into member values (2, 2), (3, 2)");
  fixture_run(&f, "--workers", "2", NULL);
  wait_until_empty(&f, 5);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, ':', peers), ' ' order by id) from peers"),
                   "2:2 3:2");
  fixture_end(&f);
}

/* A row's first state is left out where a trigger has changed the row again; that change may concern no document. */
Test(document_sources, a_row_that_a_trigger_changes_where_its_document_does_not_look_is_in_it) {
  struct fixture f;
  fixture_begin(&f, "doc_again");
  sql(f.at_source,
      "create table member (id int primary key, team int, seen int default 0); create table heap (like member);"
      "create function seen() returns trigger language plpgsql as $$ begin"
      "  execute format('update %%I set seen = seen + 1 where seen < 3', tg_table_name); return null; end $$;"
      "create trigger seen after insert or update of team on member for each row execute function seen();"
      "create trigger seen after insert or update of team on heap for each row execute function seen()");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_source,
      "select rowrelay.add_document('teams', 'w', 'id', 'select t.id, (select count(*) from member m where "
      "m.team = t.id) as members, (select count(*) from heap h where h.team = t.id) as heaped from "
      "generate_series(1, 9) as t(id) where t.id = any ($1)', array['member:team(team)', "
      "'heap:team(team)'], create_table => true)");
  sql(f.at_source, "insert into member select i, i from generate_series(1, 4) as i;"
                   "insert into heap select i, i from generate_series(1, 4) as i");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_target, "select string_agg(concat(id, ':', members, heaped), ' ' order by id) from teams"),
                   "1:11 2:11 3:11 4:11");
  sql(f.at_source, "update member set team = team + 4, seen = 0; update heap set team = team + 4, seen = 0");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_target, "select string_agg(concat(id, ':', members, heaped), ' ' order by id) from teams "
                                    "where id > 4"),
                   "5:11 6:11 7:11 8:11");
  fixture_end(&f);
}

/* "changed" has rows of the log: by such a column it would find nothing, and the documents would stay as they are. */
Test(document_sources, a_query_that_finds_documents_by_a_column_that_is_left_out_or_masked_is_refused) {
  struct fixture f;
  fixture_begin(&f, "document_hidden");
  sql(f.at_source, "create table item (id int primary key, g int, h int)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  static const char DOCUMENT[] =
      "select rowrelay.add_document('d', 'w', 'id', 'select i.id, (select count(*) from item as o where o.g = i.g) as "
      "n "
      "from item as i where i.id = any ($1)', array['item:id', 'item(g):select i.id from item as i join changed c "
      "on c.g = i.g'], create_table => true)";
  static const char *const HIDDEN[] = {"mask => '{\"g\": 9}'", "exclude => '{g}'", "columns => '{id,h}'"};
  for (int i = 0; i < 3; i++) {
    sql(f.at_source, "select rowrelay.capture_table('item', reset => true, %s)", HIDDEN[i]);
    cr_expect_str_eq(sql_fails(f.at_source, "%s", DOCUMENT), "22023", "%s", HIDDEN[i]);
  }
  sql(f.at_source, "select rowrelay.capture_table('item', reset => true, mask => '{\"h\": 9}')");
  sql(f.at_source, "%s", DOCUMENT);
  for (int i = 0; i < 3; i++)
    cr_expect_str_eq(sql_fails(f.at_source, "select rowrelay.capture_table('item', reset => true, %s)", HIDDEN[i]),
                     "22023", "%s", HIDDEN[i]);
  sql(f.at_source, "insert into item values (1, 1, 1), (2, 1, 1), (3, 2, 1)");
  build(&f);
  sql(f.at_source, "update item set g = 1 where id = 3");
  build(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id || ' ' || n, ', ' order by id) from d"), "1 3, 2 3, 3 3");
  fixture_end(&f);
}
