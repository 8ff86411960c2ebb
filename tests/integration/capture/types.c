/* Values of every type arrive as they were, in tables that are made for them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mirrored.h"
#include "samples.h"

/* Values of these types occur only in catalogs and indexes. */
#define WITHOUT_VALUES                                                                                                 \
  "'gtsvector', 'pg_node_tree', 'pg_ndistinct', 'pg_dependencies', 'pg_mcv_list', 'pg_brin_bloom_summary', "           \
  "'pg_brin_minmax_multi_summary'"

static void make_tables(struct fixture *f, const char *name, const char *columns) {
  mirrored_begin(f, name, SAMPLES_TYPES);
  samples_make(f, columns);
  mirrored_capture(f, "many.*");
}

/* Puts the rows of the source's table into the same table of schema `expected` at the target, by their texts. */
static void copy_across(struct fixture *f, const char *table) {
  sql(f->at_target, "create schema if not exists expected; create table expected.%s (like many.%s)", table, table);
  char statement[128];
  snprintf(statement, sizeof statement, "copy many.%s to stdout", table);
  PQclear(PQexec(f->at_source, statement));
  snprintf(statement, sizeof statement, "copy expected.%s from stdin", table);
  PQclear(PQexec(f->at_target, statement));
  char *row;
  int length;
  while ((length = PQgetCopyData(f->at_source, &row, 0)) > 0) {
    cr_assert(PQputCopyData(f->at_target, row, length) == 1);
    PQfreemem(row);
  }
  PQputCopyEnd(f->at_target, NULL);
  finish(f->at_source);
  finish(f->at_target);
}

static const char *differences(struct fixture *f, const char *table, const char *key) {
  copy_across(f, table);
  /* *= compares what is stored, so also types that have no = */
  return ask(f->at_target,
             "select string_agg(format('%%s instead of %%s', m, e), E'\\n') from "
             "(select *, row_number() over (order by %s, m::text) as n from many.%s as m) as m "
             "full join (select *, row_number() over (order by %s, e::text) as n from expected.%s as e) as e using (n) "
             "where not (m.* *= e.*) or m.n is null or e.n is null",
             key, table, key, table);
}

Test(types, every_type_of_the_server_has_samples) {
  struct fixture f;
  fixture_begin(&f, "types_list");
  char *list = calloc(SAMPLE_COUNT, 64);
  for (int i = 0; i < SAMPLE_COUNT; i++)
    sprintf(list + strlen(list), "%sto_regtype($t$%s$t$)::oid", i > 0 ? ", " : "", SAMPLES[i].type);
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(typname, ' ') from pg_type where typnamespace = 'pg_catalog'::regnamespace "
                       "and typtype in ('b', 'r', 'm') and typcategory <> 'A' and typname not in (" WITHOUT_VALUES
                       ") and not exists (select from unnest(array[%s]) as s where s = pg_type.oid)",
                       list),
                   "");
  free(list);
  fixture_end(&f);
}

static void all_are_the_same(struct fixture *f, const char *key) {
  for (int i = 0; i < SAMPLE_COUNT; i++) {
    if (!samples_known(f, i))
      continue;
    char table[16];
    snprintf(table, sizeof table, "t%d", i);
    cr_expect_str_eq(differences(f, table, key), "", "%s", SAMPLES[i].type);
  }
}

Test(types, all_values_arrive_in_mirrors_that_are_made_for_them) {
  struct fixture f;
  make_tables(&f, "types_keyed", "id int generated always as identity primary key, ");
  samples_fill(&f);
  mirrored_deliver(&f);
  all_are_the_same(&f, "id");
  cr_assert(ask_number(f.at_target, "select count(*) from many.t0") == 12);
  fixture_end(&f);
}

/* Without a key rows are found by all their values, so a row with a value that arrived altered could not be deleted. */
Test(types, all_values_are_found_again_in_tables_without_a_key) {
  struct fixture f;
  make_tables(&f, "types_keyless", "");
  samples_fill(&f);
  mirrored_deliver(&f);
  all_are_the_same(&f, "null::int");
  sql(f.at_target, "drop schema expected cascade");
  for (int i = 0; i < SAMPLE_COUNT; i++)
    if (samples_known(&f, i))
      sql(f.at_source, "delete from many.t%d where v is null", i);
  mirrored_deliver(&f);
  all_are_the_same(&f, "null::int");
  for (int i = 0; i < SAMPLE_COUNT; i++)
    if (samples_known(&f, i))
      sql(f.at_source, "delete from many.t%d", i);
  mirrored_deliver(&f);
  for (int i = 0; i < SAMPLE_COUNT; i++)
    if (samples_known(&f, i))
      cr_expect(ask_number(f.at_target, "select count(*) from many.t%d", i) == 0, "%s", SAMPLES[i].type);
  fixture_end(&f);
}

/* More of them than a function may have arguments. */
Test(types, a_table_of_many_arrays_and_documents_is_captured) {
  struct fixture f;
  mirrored_begin(&f, "types_wide",
                 "do $$ begin execute (select format('create table wide (id int primary key, %s)', "
                 "string_agg(format('a%s int[], j%s json', n, n), ', ')) from generate_series(1, 60) as n); end $$");
  sql(f.at_source, "insert into wide (id, a1, j60) values (1, '[0:1]={1,2}', '{\"a\": \"\\u0000\"}')");
  rowrelay_ok(&f, "capture", "wide", "--to", "w", "--create", "--before", NULL);
  rowrelay_ok(&f, "backfill", "wide", "--to", "w", "--no-copy", NULL);
  sql(f.at_source, "insert into wide (id, a60, j1) values (2, '[3:4]={1,2}', '{\"a\": \"\\u0000\"}');"
                   "update wide set a30 = '[5:6]={1,2}', j30 = 'null'");
  mirrored_same(&f, "wide");
  fixture_end(&f);
}

/* Types of an extension are not copied: the extension has to be installed. */
Test(types, values_of_extensions_types_arrive) {
  static const char *const EXTENSIONS[] = {"citext", "hstore", "ltree", "cube", "isn", "seg", "intarray"};
  struct fixture f;
  mirrored_begin(&f, "types_extensions", "create schema ext");
  for (size_t i = 0; i < sizeof EXTENSIONS / sizeof *EXTENSIONS; i++) {
    if (ask_number(f.at_source, "select count(*) from pg_available_extensions where name = '%s'", EXTENSIONS[i]) == 0) {
      fixture_end(&f);
      cr_skip("extension %s is not available", EXTENSIONS[i]);
    }
    sql(f.at_source, "create extension %s schema ext", EXTENSIONS[i]);
    sql(f.at_target, "create schema if not exists ext; create extension %s schema ext", EXTENSIONS[i]);
  }
  sql(f.at_source, "create type ext.bag as (h ext.hstore, c ext.citext);"
                   "create table item (id ext.citext primary key, h ext.hstore, hs ext.hstore[], l ext.ltree, c "
                   "ext.cube, i ext.isbn13, s ext.seg, b ext.bag, n int[]);"
                   "create table pile as table item");
  mirrored_capture(&f, "item");
  mirrored_capture(&f, "pile");
  sql(f.at_source, "set search_path to ext, public");
  sql(f.at_source, "insert into item values ('Anna', 'a=>1, \"b c\"=>NULL, d=>\"it''s \\\"\"', array['a=>1', null, "
                   "'']::hstore[], 'a.b_1', '(0.1,0.30000000000000004),(2,3)',"
                   " '978-0-11-000533-1', '1.5 .. 2', row('x=>y', 'Z'), '{1,2}'), ('bert', '', '{}', '', '(1)', null, "
                   "'~1', row(null, null), '{}');"
                   "update item set id = 'ANNA' where id = 'anna'; update item set h = h || 'e=>f' where id = 'anna'; "
                   "insert into item select * from item where false;"
                   "insert into pile select * from item; insert into pile select * from item; delete from pile where "
                   "ctid = '(0,1)'; update pile set n = '{3}'");
  mirrored_deliver(&f);
  sql(f.at_target, "set search_path to ext, public");
  same_rows(&f, "item", "item", "1");
  same_rows(&f, "pile", "pile", "1");
  cr_assert(ask_number(f.at_target, "select count(*) from item where id = 'anna' and h -> 'e' = 'f'") == 1);
  fixture_end(&f);
}

/* ---- sizes, and what cannot be
 * --------------------------------------------------------------------------------------- */

Test(types, a_text_of_50_megabytes_arrives) {
  struct fixture f;
  mirrored_begin(
      &f, "types_large",
      "create table item (id int primary key, body text, j json); alter table item alter body set storage external");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1, repeat(md5('x'), 50 * 1024 * 1024 / 32), '[1]'), (2, 'small', 'null')");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select concat(length(body), md5(body)) from item where id = 1"),
                   ask(f.at_source, "select concat(length(body), md5(body)) from item where id = 1"));
  cr_assert(ask_number(f.at_target, "select count(*) from item where j::text = 'null'") == 1);
  fixture_end(&f);
}

/* A json column takes it, and every function that reads JSON refuses it. */
#define HALF_PAIRS                                                                                                     \
  "(1, 'a', '{\"a\" : \"\\ud83d\"}'), (2, 'b', '{\"a\" : \"\\uD83D\\uDE00 \\\\ud83d\"}'), (3, 'c', "                   \
  "'\"\\udc00\\ud83d\"'), "                                                                                            \
  "(4, 'd', '{\"\\u0000\" : \"\\u00e9\"}'), (5, 'e', '\"\\ud83d\\ud83d\\ude00\"'), (6, 'f', '\"\\ud83d\\\\ude00\"')"

Test(types, json_with_half_of_a_surrogate_pair_arrives_whatever_is_left_out) {
  struct fixture f;
  mirrored_begin(&f, "types_surrogates",
                 "create table item (id int primary key, name text, j json); create table masked (like item including "
                 "all); create table chosen (like item including all); create table plain (like item including all);"
                 "create table hashed (id int primary key, name text, j json) partition by hash (id);"
                 "create table hashed_0 partition of hashed for values with (modulus 1, remainder 0)");
  rowrelay_ok(&f, "capture", "item", "--exclude", "name", "--before", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "masked", "--mask", "name=x", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "chosen", "--columns", "id,j", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "plain", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "hashed", "--exclude", "name", "--before", "--to", "w", "--create", NULL);
  static const char *const tables[] = {"item", "masked", "chosen", "plain", "hashed"};
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
    sql(f.at_source, "insert into %s values " HALF_PAIRS, tables[i]);
  sql(f.at_source,
      "update item set j = '\"\\udead\"' where id = 2; update item set name = 'z'; delete from item where id = 6");
  mirrored_deliver(&f);
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
    char source[64], target[64];
    snprintf(source, sizeof source, "(select id, j::text from %s)", tables[i]);
    snprintf(target, sizeof target, "(select id, j::text from %s)", tables[i]);
    same_rows(&f, source, target, "id");
  }
  cr_expect_str_eq(ask(f.at_source, "select string_agg(problem, ', ') from rowrelay.history"), "");
  cr_expect_str_eq(
      ask(f.at_source, "select changed ->> 'j' from rowrelay.history where key = '2' and changed::text <> '{}'"),
      "[\"{\\\"a\\\" : \\\"\\\\uD83D\\\\uDE00 \\\\\\\\ud83d\\\"}\", \"\\\"\\\\udead\\\"\"]");
  cr_expect_str_eq(ask(f.at_source, "select j::text from rowrelay.row_as_of(null::item, '6', (select max(captured_at) "
                                    "from rowrelay.change where key = '6' and op = 'u'))"),
                   "\"\\ud83d\\\\ude00\"");
  sql(f.at_source, "truncate hashed_0");
  mirrored_deliver(&f);
  cr_expect_str_eq(ask(f.at_target, "select count(*) from hashed"), "0");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  /* rows that are read, too */
  sql(f.at_target, "truncate item");
  rowrelay_ok(&f, "backfill", "item", "--to", "w", "--no-copy", NULL);
  mirrored_deliver(&f);
  same_rows(&f, "(select id, j::text from item)", "(select id, j::text from item)", "id");
  /* nor does it matter that the function was made for other columns */
  sql(f.at_source, "alter table item rename j to document; insert into item values (7, 'g', '\"\\ud83d\"')");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(problem, ', ') from rowrelay.history"), "");
  fixture_end(&f);
}

/* As a row of more than a gigabyte, whose image PostgreSQL cannot make; making one of those takes too long here. */
/* A number of a few bytes may have 131,072 digits, so the size of an array, jsonb or jsonpath says nothing of its text.
 */
Test(types, what_is_small_on_the_disk_and_huge_as_text_breaks_no_writer, .timeout = 120) {
  struct fixture f;
  mirrored_begin(&f, "types_huge",
                 "create table list (id int primary key, v numeric[]); create table doc (id int primary key, v jsonb);"
                 "create table spans (id int primary key, v numeric); create table plain (id int primary key, v text);"
                 "create table path (id int primary key, v jsonpath)");
  sql(f.at_source, "select rowrelay.capture_table(t) from unnest('{list,doc,spans,plain,path}'::regclass[]) t");
  sql(f.at_source, "insert into spans values (1, 1e131071); insert into plain values (1, repeat('x', 20000000))");
  sql(f.at_source, "insert into list values (1, array_fill(1e131071::numeric, array[9000]))");
  sql(f.at_source, "insert into path select 1, ('$[' || string_agg('1e131071', ',') || ']')::jsonpath "
                   "from generate_series(1, 9000)");
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(format('%%s %%s', relation, problem is null), ' ' order by change_id) "
                       "from rowrelay.history"),
                   "spans t plain t list f path f");
  /* and costs nothing where it is left out */
  sql(f.at_source, "set rowrelay.skip = on; set statement_timeout = '5s'");
  for (int id = 2; id < 40; id++)
    sql(f.at_source, "insert into list values (%d, array_fill(1e131071::numeric, array[9000]))", id);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.history") == 4);
  fixture_end(&f);
}

/* Before version 15 PostgreSQL stores what it cannot write. */
Test(types, an_interval_that_has_no_text_breaks_no_writer) {
  struct fixture f;
  mirrored_begin(&f, "types_interval", "create table item (id int primary key, v interval)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1, interval '2147483647 hours' + interval '1 hour'), (2, '1 hour')");
  sql(f.at_source, "update item set v = v where id = 1");
  bool has_text = ask_number(f.at_source, "select current_setting('server_version_num')::int") >= 150000;
  cr_expect_str_eq(ask(f.at_source, "select string_agg(concat(op, key, problem is null), ' ' order by change_id) "
                                    "from rowrelay.history"),
                   has_text ? "insert1t insert2t update1t" : "insert1f insert2t update1f");
  fixture_end(&f);
}

Test(types, a_row_whose_image_cannot_be_made_breaks_no_writer_and_is_listed) {
  struct fixture f;
  mirrored_begin(&f, "types_problem",
                 "create type glass as enum ('whole', 'broken');"
                 "create table item (id int primary key, g glass); create table pile (g glass)");
  sql(f.at_source, "select rowrelay.capture_table('item'); select rowrelay.capture_table('pile')");
  sql(f.at_source, "select rowrelay.route('item', 'w', create_table => true); select rowrelay.route('pile', 'w', "
                   "create_table => true)");
  sql(f.at_source, "select count(*) from rowrelay.capture_natively(false)"); /* the server module makes such an image */
  sql(f.at_source,
      "create or replace function rowrelay.row_is_known(relation regclass, types oid[], is_plain boolean) "
      "returns boolean language sql immutable as 'select false';"
      "create function breaking(r record) returns json language plpgsql as $$ begin"
      "  if r::text like '%%broken%%' then raise 'it is broken'; end if; return row_to_json(r); end $$;"
      "create or replace function rowrelay.image_expression(capture rowrelay.capture, row_name text default "
      "'new', other text default null, out image text, out text_columns text) language sql as $$"
      "  select format('public.breaking(%%I)', row_name), null::text $$");
  sql(f.at_source,
      "begin; insert into item values (1, 'broken'), (2, 'broken'); insert into pile values ('broken'); commit");
  sql(f.at_source, "update item set id = 3 where id = 2; delete from item where id = 1");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert(ask_number(
                f.at_source,
                "select count(*) from rowrelay.errors where message || coalesce(detail, '') like '%%it is broken%%'") >=
            3);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.history where problem like '%%it is broken%%'") >=
            3);
  cr_assert(ask_number(f.at_source, "select count(*) from item") == 1);
  rowrelay_ok(&f, "init", NULL);
  rowrelay_ok(&f, "skip", "--all", "--table", "pile", NULL); /* rows without a key wait behind what was refused */
  sql(f.at_source, "update item set g = 'whole'; delete from pile; insert into pile values ('whole')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "item", "item", "id");
  same_rows(&f, "pile", "pile", "1");
  fixture_end(&f);
}

/* PostgreSQL takes a gigabyte into a row. Rows of that size take minutes here, so this makes the limit smaller. */
Test(types, a_change_that_is_too_large_for_the_log_breaks_no_writer_and_is_listed) {
  struct fixture f;
  mirrored_begin(&f, "types_gigabyte",
                 "create table item (id int primary key, n int, t text); create table pile (n int, t text);"
                 "create table moving (id int primary key, part int, t text)");
  sql(f.at_source, "select rowrelay.capture_table('item', before => 'full'); select rowrelay.capture_table('pile');"
                   "select rowrelay.capture_table('moving', lane => '{part}', before => 'full')");
  sql(f.at_source, "select rowrelay.add_target('null', 'file:/dev/null'); select rowrelay.route(relation, 'null') from "
                   "rowrelay.captures");
  sql(f.at_source,
      "create function refuse() returns trigger language plpgsql as $$ begin"
      "  if coalesce(pg_column_size(new.old_row), 0) + coalesce(pg_column_size(new.new_row), 0) > 60000000 then"
      "    raise 'tuple is too big' using errcode = 'program_limit_exceeded'; end if; return new; end $$;"
      "create trigger refuse before insert on rowrelay.change for each row execute function refuse()");
  sql(f.at_source, "insert into item values (1, 1, repeat('x', 31000000)); insert into pile values (1, repeat('y', "
                   "31000000)); insert into moving values (1, 1, repeat('z', 31000000))");
  sql(f.at_source, "update item set n = 2; update pile set n = 2; update moving set part = 2; update item set id = 3; "
                   "insert into item values (4, 4, 'small'); update item set t = 'z' where id = 3; delete from pile; "
                   "delete from moving");
  /* what is large and can be logged is logged as ever: the row before the rekey, and the last of the pile */
  cr_expect_str_eq(
      ask(f.at_source, "select string_agg(concat(c.relation_name, ' ', h.op, h.key, ' ', h.caveat ->> "
                       "'problem'), ', ' order by h.id) from rowrelay.change h join rowrelay.capture c on "
                       "c.id = h.capture where h.caveat is not null"),
      "public.item u1 tuple is too big, public.pile u tuple is too big, public.moving u1 tuple is too big");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(op::text || coalesce(key, ''), ' ' order by id) from "
                                    "rowrelay.change where op <> 'b'"),
                   "i1 i i1 u1 u u1 d1 i3 i4 u3 d d1");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors where message like '%%tuple is too big%%'"),
                   "3");
  fixture_end(&f);
}

/* As a row of more than a gigabyte, of which PostgreSQL cannot make a value for a function's parameter. */
Test(types, a_row_that_cannot_be_passed_to_a_function_breaks_no_writer_and_is_listed) {
  struct fixture f;
  mirrored_begin(
      &f, "types_impassable",
      "create table item (id int primary key, t text); create table pile (t text);"
      "create table doc (id int primary key, t text, j jsonb); alter table item alter t set storage external");
  sql(f.at_source, "select rowrelay.capture_table('item'), rowrelay.capture_table('doc', row_filter => 'id > 0'), "
                   "rowrelay.capture_table('pile');"
                   "select rowrelay.add_target('null', 'file:/dev/null'); select rowrelay.route(relation, 'null') from "
                   "rowrelay.captures");
  sql(f.at_source, "select count(*) from rowrelay.capture_natively(false)"); /* the server module has its own way */
  sql(f.at_source,
      "create or replace function rowrelay.row_is_known(relation regclass, types oid[], is_plain boolean) "
      "returns boolean language sql immutable as 'select false';"
      "create or replace function rowrelay.row_is_unaltered(relation regclass, types oid[], names text[], named_types "
      "oid[]) returns boolean language sql immutable as 'select true';"
      "create function too_big(given record) returns integer language plpgsql as $$ begin"
      "  raise 'tuple is too big' using errcode = 'program_limit_exceeded'; end $$;"
      "do $$ declare f text; begin"
      "  for f in select pg_get_functiondef(p.oid) from pg_proc p where p.pronamespace = 'rowrelay'::regnamespace"
      "             and p.proname ~ '^capture_[0-9]+$' loop"
      "    execute replace(f, 'pg_catalog.pg_column_size(coalesce(old, new))', 'public.too_big(coalesce(old, new))');"
      "  end loop; end $$");
  sql(f.at_source, "insert into item values (1, repeat('x', 200000)); update item set id = 3; update item set t = t || "
                   "'y'; delete from item");
  sql(f.at_source, "insert into doc values (1, 'x', '1'); update doc set t = 'y'; update doc set id = 2; delete from "
                   "doc; insert into pile values ('x'); update pile set t = 'y'; delete from pile");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(concat(h.op, h.key, case when h.caveat ->> 'problem' = "
                                    "'tuple is too big' or h.caveat ->> 'problem' ~ 'altered' then '!' end), "
                                    "' ' order by h.id) from rowrelay.change h"),
                   "i1! d1 i3! u3! d3 i1! u1! d1 i2! d2 i! u! d!");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.errors") >= 8);
  fixture_end(&f);
}

Test(types, capture_warns_of_columns_that_may_name_large_objects) {
  struct fixture f;
  const char *said;
  mirrored_begin(&f, "types_objects",
                 "create domain lo as oid; create table doc (id int primary key, body lo, \"old body\" oid, size int)");
  rowrelay(&f, NULL, &said, "capture", "doc", "--to", "w", "--create", NULL);
  cr_expect_not_null(
      strstr(said, "table public.doc: large objects are not copied, only their numbers in columns body, \"old body\""),
      "%s", said);
  rowrelay(&f, NULL, &said, "capture", "doc", "--exclude", "body,\"old body\"", NULL);
  cr_expect_null(strstr(said, "large objects"), "%s", said);
  fixture_end(&f);
}
