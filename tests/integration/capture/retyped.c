/*
 * A column gets another type, or other values by USING. No trigger is fired for that: a mirror has what it had, and
 * what is delivered next may be more than its column can hold. Nothing of this may be silent.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "mirrored.h"

struct retyped {
  const char *was, *is_now;
  const char *former, *value; /* before and after */
};

static const struct retyped FINER[] = {
    {"numeric(10,2)", "numeric(12,4)", "1.25", "1.2511"},
    {"numeric(10,2)", "numeric", "1.25", "1.2511"},
    {"numeric(6)", "float8", "1", "1.5"},
    {"numeric(10,2)", "text", "1.25", "'1.2511'"},
    {"numeric(10,2)[]", "numeric[]", "'{1.25}'", "'{1.2511}'"},
    {"date", "timestamp", "'2020-01-01'", "'2020-01-01 10:00'"},
    {"date", "timestamptz", "'2020-01-01'", "'2020-01-01 10:00'"},
    {"timestamp", "timestamptz", "'2020-01-01'", "'2020-01-01 10:00+05'"},
    {"timestamptz(0)", "timestamptz", "'2020-01-01 10:00'", "'2020-01-01 10:00:00.1'"},
    {"timestamp(1)", "timestamp(3)", "'2020-01-01 10:00'", "'2020-01-01 10:00:00.11'"},
    {"time(0)", "time", "'10:00'", "'10:00:00.1'"},
    {"time", "timetz", "'10:00'", "'10:00+05'"},
    {"interval day", "interval", "'1 day'", "'1 day 1 hour'"},
    {"interval(0)", "interval(2)", "'1 day'", "'1.11 s'"},
    {"real", "float8", "1.5", "2.10000000001"},
    {"float8", "numeric", "1.5", "1.10000000000000000001"},
    {"money", "numeric", "1.5", "1.555"},
    {"char(3)", "text", "'abc'", "'ab '"},
    {"name", "text", "'abc'", "repeat('abc', 30)"},
    {"char(3)", "int", "'123'", "1234"},
    {"int", "text", "1", "'01234'"},
    {"numeric", "text", "1", "'1e2'"},
    {"bigint[]", "text[]", "'{1}'", "'{007}'"},
    {"smallint", "varchar", "1", "'01'"},
    {"boolean", "text", "true", "'yes'"},
    {"jsonb", "json", "'{}'", "'{\"a\":1,\"a\":2}'"},
    {"jsonb", "text", "'{}'", "'{\"a\":1}'"},
    {"uuid", "text", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'"},
    {"inet", "text", "'10.0.0.1'", "'10.0.0.1/32'"},
    {"tsvector", "text", "'the'", "'the cat the cat'"},
};
enum { FINER_COUNT = sizeof FINER / sizeof *FINER };

static const struct retyped WIDER[] = {
    {"int", "bigint", "1", "10"},
    {"bigint", "int", "1", "10"},
    {"varchar(3)", "varchar(9)", "'abc'", "'abd'"},
    {"varchar(9)", "text", "'abc'", "'abd'"},
    {"numeric(12,4)", "numeric(10,2)", "1.25", "1.7500"},
    {"numeric(12,4)", "int", "1", "2"},
    {"numeric", "numeric(10,2)", "1.25", "1.75"},
    {"timestamp", "timestamp(3)", "'2020-01-01 10:00'", "'2020-01-01 10:00:00.11'"},
    {"timestamp", "date", "'2020-01-01'", "'2020-01-02'"},
    {"float8", "real", "1.5", "2.25"},
    {"text", "int", "'1'", "2"},
    {"text", "jsonb", "'1'", "'{\"a\": 1}'"},
    {"json", "jsonb", "'{}'", "'{\"a\": 1}'"},
    {"int[]", "bigint[]", "'{1}'", "'{2}'"},
};
enum { WIDER_COUNT = sizeof WIDER / sizeof *WIDER };

static void begin(struct fixture *f, const char *name, const struct retyped *all, int count) {
  mirrored_begin(f, name, "create table other (id int primary key)");
  for (int i = 0; i < count; i++)
    sql(f->at_source, "create table t%d (id int primary key, v %s)", i, all[i].was);
  rowrelay_ok(f, "capture", "t*", "other", "--to", "w", "--create", NULL);
  for (int i = 0; i < count; i++)
    sql(f->at_source, "insert into t%1$d values (1, %2$s), (2, %2$s)", i, all[i].former);
  mirrored_deliver(f);
}

static void alter(struct fixture *f, const struct retyped *all, int count) {
  for (int i = 0; i < count; i++)
    sql(f->at_source, "alter table t%1$d alter v type %2$s using v::%2$s", i, all[i].is_now);
}

static void all_same(struct fixture *f, int count) {
  for (int i = 0; i < count; i++) {
    char table[16];
    snprintf(table, sizeof table, "t%d", i);
    mirrored_same(f, table);
  }
}

Test(retyped, values_that_a_mirror_would_change_wait_until_it_has_that_type) {
  struct fixture f;
  begin(&f, "retyped_finer", FINER, FINER_COUNT);
  alter(&f, FINER, FINER_COUNT);
  mirrored_maintain(&f);
  for (int i = 0; i < FINER_COUNT; i++)
    sql(f.at_source, "update t%d set v = %s where id = 1", i, FINER[i].value);
  sql(f.at_source, "insert into other values (1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "other", "other", "id");
  for (int i = 0; i < FINER_COUNT; i++) {
    const char *hint = ask(f.at_source,
                           "select substring(h.hint from '^run there: (.*)$') from rowrelay.hold h join "
                           "rowrelay.capture c on c.id = h.capture where c.relation_name = 'public.t%d'",
                           i);
    cr_assert_str_neq(hint, "", "%s to %s", FINER[i].was, FINER[i].is_now);
    sql(f.at_target, "%s", hint);
  }
  cr_assert_not_null(
      strstr(rowrelay_ok(&f, "errors", NULL),
             "column v of table public.t0 in the target has type numeric(10,2), and numeric(12,4) at the "
             "source: its values would not be kept as they are"));
  rowrelay_ok(&f, "retry", "--all", "--target", "w", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL);
  all_same(&f, FINER_COUNT);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps"), "0");
  fixture_end(&f);
}

Test(retyped, values_that_a_mirror_can_hold_arrive) {
  struct fixture f;
  begin(&f, "retyped_wider", WIDER, WIDER_COUNT);
  alter(&f, WIDER, WIDER_COUNT);
  mirrored_maintain(&f);
  for (int i = 0; i < WIDER_COUNT; i++)
    sql(f.at_source, "update t%d set v = %s where id = 1", i, WIDER[i].value);
  mirrored_deliver(&f);
  for (int i = 0; i < WIDER_COUNT; i++)
    cr_expect_str_eq(
        ask(f.at_target, "select v::text = %s::%s::text from t%d where id = 1", WIDER[i].value, WIDER[i].was, i), "t",
        "%s to %s", WIDER[i].was, WIDER[i].is_now);
  fixture_end(&f);
}

/* Until maintenance has looked, nobody knows of the new type: what was rounded then is told of, and found. */
Test(retyped, what_was_rounded_before_anybody_knew_is_told_until_it_is_repaired) {
  struct fixture f;
  const char *output;
  static const struct retyped ONE[] = {{"numeric(10,2)", "numeric", "1.25", "1.2511"},
                                       {"numeric(10,2)", "numeric(12,4)", "1.25", "1.2511"}};
  begin(&f, "retyped_unknown", ONE, 2);
  sql(f.at_source, "create table mine (id int primary key, v numeric(10,2))");
  sql(f.at_target, "create table mine (id int primary key, v numeric(10,2))");
  rowrelay_ok(&f, "capture", "mine", "--to", "w", NULL);
  sql(f.at_source, "insert into mine values (1, 1.25)");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until_empty(&f, 10);
  sql(f.at_source, "select rowrelay.take_job('maintain', '1 day')"); /* so that the process puts it off */
  alter(&f, ONE, 2);
  sql(f.at_source, "alter table mine alter v type numeric");
  sql(f.at_source, "update t0 set v = 1.2511 where id = 1; update t1 set v = 1.2511 where id = 1;"
                   "update mine set v = 1.2511");
  wait_until(f.at_target, "1.25 1.25 1.25", 20,
             "select string_agg(v::text, ' ') from (select v from t0 where id = 1 union all select v from t1 where id "
             "= 1 union all select v from mine) as x");
  wait_until_empty(&f, 10);
  cr_assert(stop_process(process, SIGTERM) == 0);
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ' order by relation_name) from rowrelay.gaps"),
                   "public.mine public.t0 public.t1");
  /* a mirror of people is as they made it */
  output = rowrelay_ok(&f, "verify", "w", NULL);
  cr_assert_not_null(strstr(output,
                            "public.t0: values count as equal that the target cannot tell apart: column v of table "
                            "public.t0 in the target has type numeric(10,2), and numeric at the source"),
                     "%s", output);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ' order by relation_name) from rowrelay.gaps"),
                   "public.t0 public.t1");
  sql(f.at_target, "alter table t0 alter v type numeric; alter table t1 alter v type numeric(12,4)");
  cr_assert(rowrelay(&f, &output, NULL, "verify", "w", "--repair", NULL) == 3, "%s", output);
  all_same(&f, 2);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps"), "0");
  fixture_end(&f);
}

/* Of the same type, of a key, of a table without one, of partitions, in a document. */
Test(retyped, other_values_by_using_are_told_until_they_are_repaired) {
  struct fixture f;
  mirrored_begin(&f, "retyped_using",
                 "create table same (id int primary key, v int); create table keyed (id int primary key, v int);"
                 "create table bare (v int); create table hidden (id int primary key, v int, s int);"
                 "create table parts (id int primary key, v int) partition by range (id);"
                 "create table parts_1 partition of parts for values from (0) to (10);"
                 "create table empty (id int primary key, v int); create table rest (id int primary key, v int)");
  rowrelay_ok(&f, "capture", "same", "keyed", "bare", "parts", "empty", "rest", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "hidden", "--to", "w", "--create", "--exclude", "s", NULL);
  sql(f.at_source, "insert into same values (1, 1), (2, 2); insert into keyed values (1, 1); insert into bare values "
                   "(1); insert into hidden values (1, 1, 1); insert into parts values (1, 1); insert into rest values "
                   "(1, 1)");
  mirrored_deliver(&f);
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps"), "0");
  sql(f.at_source, "alter table same alter v type int using v * 2; alter table keyed alter id type int using id + 1;"
                   "alter table bare alter v type int using v * 2; alter table hidden alter s type int using s * 2;"
                   "alter table parts alter v type bigint using v * 2; alter table empty alter v type int using v * 2;"
                   /* these write no values */
                   "alter table rest alter v set default 5; alter table rest add w int default 7");
  mirrored_maintain(&f);
  sql(f.at_source, "vacuum full rest");
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ' order by relation_name) from rowrelay.gaps"),
                   "public.bare public.keyed public.parts public.same");
  cr_assert(rowrelay(&f, NULL, NULL, "verify", "w", "same", "keyed", "parts", "--repair", NULL) == 3);
  mirrored_same(&f, "same");
  mirrored_same(&f, "keyed");
  mirrored_same(&f, "parts");
  sql(f.at_target, "truncate bare");
  rowrelay_ok(&f, "backfill", "bare", "--to", "w", NULL);
  mirrored_same(&f, "bare");
  mirrored_maintain(&f);
  fixture_end(&f);
}

/* Rows match a filter, or no longer, though nobody writes them. */
Test(retyped, another_expression_of_a_filters_column_is_noted_until_repaired) {
  struct fixture f;
  PGconn *shared = connect_to(getenv("ROWRELAY_TEST_SOURCE"), NULL);
  bool can_set = PQserverVersion(shared) >= 170000;
  PQfinish(shared);
  if (!can_set)
    cr_skip_test("before PostgreSQL 17 a generated column keeps its expression");
  mirrored_begin(&f, "retyped_filter",
                 "create table seen (id int primary key, a int, b int generated always as (a * 2) stored);"
                 "create table hidden (id int primary key, a int, b int generated always as (a * 2) stored);"
                 "create table apart (id int primary key, a int, b int generated always as (a * 2) stored)");
  rowrelay_ok(&f, "capture", "seen", "--to", "w", "--create", "--where", "b > 3", NULL);
  rowrelay_ok(&f, "capture", "hidden", "--to", "w", "--create", "--where", "b > 3", "--exclude", "b", NULL);
  rowrelay_ok(&f, "capture", "apart", "--to", "w", "--create", "--where", "a > 1", "--exclude", "b", NULL);
  sql(f.at_source, "insert into seen values (1, 1), (2, 5); insert into hidden values (1, 1), (2, 5);"
                   "insert into apart values (1, 1), (2, 5)");
  mirrored_deliver(&f);
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps"), "0");
  sql(f.at_source,
      "alter table seen alter b set expression as (6 - a); alter table hidden alter b set expression as (6 - "
      "a); alter table apart alter b set expression as (6 - a)");
  mirrored_maintain(&f);
  cr_expect_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ' order by relation_name) from rowrelay.gaps"),
                   "public.hidden public.seen");
  cr_expect_eq(rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL), 3);
  mirrored_deliver(&f);
  cr_expect_str_eq(ask(f.at_target, "select string_agg(concat(id, ':', b), ' ') from seen"), "1:5");
  cr_expect_str_eq(ask(f.at_target, "select string_agg(id::text, ' ') from hidden"), "1");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps"), "0");
  rowrelay_ok(&f, "verify", "w", NULL);
  fixture_end(&f);
}

Test(retyped, a_row_type_that_lacks_an_attribute_at_the_target_waits) {
  struct fixture f;
  mirrored_begin(&f, "retyped_parts",
                 "create type place as (street text, no numeric(6,2)); create domain price as numeric(10,2);"
                 "create table t (id int primary key, v place, a place[], p price);"
                 "create table k (k place primary key); create table d (id int primary key, p price)");
  rowrelay_ok(&f, "capture", "t", "k", "d", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into t values (1, ('a', 1), '{\"(a,1)\"}', 1); insert into k values (('a', 1));"
                   "insert into d values (1, 1.25)");
  mirrored_deliver(&f);
  sql(f.at_source, "alter type place add attribute zip text; alter table d alter p type numeric(12,4)");
  mirrored_maintain(&f);
  sql(f.at_source,
      "insert into t values (2, ('b', 2, 'z'), '{\"(b,2,z)\"}', 2); insert into k values "
      "(('a', 1, 'y')), (('a', 1, 'z')); delete from k where (k).zip = 'z'; insert into d values (2, 1.2511)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(distinct relation_name, ' ') from rowrelay.errors e where "
                                    "state = 'waiting'"),
                   "public.d public.k public.t");
  const char *errors = rowrelay_ok(&f, "errors", NULL);
  cr_assert_not_null(strstr(errors, "the type place of column k of table public.k in the target has no attribute zip"),
                     "%s", errors);
  sql(f.at_target, "alter type place add attribute zip text; alter table d alter p type numeric(12,4)");
  rowrelay_ok(&f, "retry", "--all", "--target", "w", NULL);
  mirrored_same(&f, "t");
  mirrored_same(&f, "k");
  mirrored_same(&f, "d");
  fixture_end(&f);
}

Test(retyped, columns_that_are_added_again_or_renamed_are_told_of) {
  struct fixture f;
  mirrored_begin(
      &f, "retyped_names",
      "create table again (id int primary key, v int); create table renamed (id int primary key, v int);"
      "create table mine (id int primary key, v int); create table later (id int primary key);"
      "create table dropped (id int primary key, v int); create table onto (id int primary key, a int, b int);"
      "create table swapped (id int primary key, v int, w int)");
  sql(f.at_target, "create table mine (id int primary key, v int); create table dropped (id int primary key, v int);"
                   "create table onto (id int primary key, a int, b int)");
  rowrelay_ok(&f, "capture", "again", "renamed", "swapped", "later", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "mine", "dropped", "onto", "--to", "w", NULL);
  sql(f.at_source, "insert into again values (1, 1); insert into renamed values (1, 1);"
                   "insert into mine values (1, 1); insert into swapped values (1, 1, 2); insert into later values (1);"
                   "insert into dropped values (1, 1); insert into onto values (1, 1, 2)");
  mirrored_deliver(&f);
  sql(f.at_source, "alter table later add v int default 5; alter table dropped drop v;"
                   "alter table onto drop b");
  mirrored_maintain(&f);
  sql(f.at_source, "update later set v = 9");
  mirrored_deliver(&f);
  sql(f.at_source,
      "alter table later rename v to w; alter table later add v int default 5; alter table dropped add v int;"
      "alter table onto rename a to b");
  sql(f.at_source,
      "alter table again drop v; alter table again add v int; alter table renamed rename v to u;"
      "alter table mine rename v to u; alter table swapped rename v to x; alter table swapped rename w to v;"
      "alter table swapped rename x to w");
  sql(f.at_target, "alter table mine rename v to u");
  mirrored_maintain(&f);
  sql(f.at_source, "insert into mine values (2, 2); insert into renamed values (2, 2)");
  mirrored_same(&f, "mine");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ' order by relation_name) from rowrelay.gaps"),
                   "public.again public.dropped public.later public.mine public.onto public.renamed public.swapped",
                   "nobody knows here whether a mirror that was made by hand has renamed its own");
  sql(f.at_source, "insert into later values (2)");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select w from later where id = 1"), ""); /* nobody knows */
  cr_assert(rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL) == 3);
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select concat((select v from again), (select u from renamed where id = 1), "
                                    "(select concat(v, w) from swapped), (select concat(v, w) from later where id = "
                                    "1), (select concat(v) from dropped), (select b from onto))"),
                   "121591");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps"), "0");
  fixture_end(&f);
}

/* The text that was noted may be none of the new type. */
Test(retyped, an_added_column_of_another_type_is_told_of_and_stops_nothing) {
  struct fixture f;
  mirrored_begin(&f, "retyped_added", "create table t (id int primary key)");
  mirrored_capture(&f, "t");
  sql(f.at_source, "insert into t values (1)");
  sql(f.at_source, "alter table t add v text default 'abc', add n int default 5, add d date default '2020-02-03'");
  mirrored_maintain(&f);
  sql(f.at_source,
      "alter table t alter v drop default, alter v type int using length(v), alter n type int using n * 100,"
      " alter d drop default, alter d type timestamp using d + time '10:00'");
  mirrored_maintain(&f);
  sql(f.at_source, "insert into t values (2, 4)");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ') from rowrelay.gaps"), "public.t");
  cr_assert(rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL) == 3);
  mirrored_same(&f, "t");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps"), "0");
  fixture_end(&f);
}

/* The table was written anew long ago, or truncated; or its keys were altered, and then all rows were deleted. */
Test(retyped, what_writes_no_values_is_not_told_of) {
  struct fixture f;
  enum { COUNT = 4 };
  mirrored_begin(&f, "retyped_nothing", "create role reads_columns");
  for (int i = 0; i < COUNT; i++)
    sql(f.at_source, "create table t%d (id int primary key, v int)", i);
  mirrored_capture(&f, "t*");
  for (int i = 0; i < COUNT; i++)
    sql(f.at_source, "insert into t%d values (1, 1)", i);
  mirrored_deliver(&f);
  sql(f.at_source, "vacuum full t0");
  sql(f.at_source, "cluster t1 using t1_pkey");
  sql(f.at_source, "truncate t2; alter table t3 alter id type int using id + 10; delete from t3");
  sql(f.at_source, "vacuum t3");
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ') from rowrelay.gaps"), "public.t3");
  for (int i = 0; i < COUNT; i++)
    sql(f.at_source,
        "insert into t%1$d values (2, 2); alter table t%1$d alter v set statistics 10;"
        "alter table t%1$d alter v set not null; grant select (v) on t%1$d to reads_columns",
        i);
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ') from rowrelay.gaps"), "public.t3");
  for (int i = 0; i < COUNT; i++)
    sql(f.at_source, "revoke select (v) on t%d from reads_columns", i);
  sql(f.at_source, "drop role reads_columns");
  fixture_end(&f);
}

/* A document reads the table, and not what is captured of it. */
Test(retyped, a_document_that_reads_a_column_which_is_left_out_is_told_of) {
  struct fixture f;
  mirrored_begin(&f, "retyped_document", "create table t (id int primary key, a text, b text)");
  rowrelay_ok(&f, "capture", "t", "--exclude", "b", "--to", "w", "--create", NULL);
  sql(f.at_source, "select rowrelay.add_document('doc', 'w', 'id', $$select id, b from t where id = any ($1)$$, "
                   "'{t:id}', create_table => true); insert into t values (1, 'a', 'b')");
  mirrored_deliver(&f);
  sql(f.at_source, "alter table t alter b type text using upper(b)");
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(target, ' ') from rowrelay.gaps where target = 'doc'"), "doc");
  rowrelay(&f, NULL, NULL, "verify", "w", "--document", "doc", "--repair", NULL);
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select b from doc"), "B");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps where target = 'doc'"), "0");
  fixture_end(&f);
}

Test(retyped, nothing_is_told_of_types_that_have_another_name_for_who_looks) {
  struct fixture f;
  mirrored_begin(&f, "retyped_type_names",
                 "create type mood as enum ('a'); create domain name50 as varchar(50);"
                 "create table t (id int primary key, m mood, n name50, l mood[])");
  sql(f.at_target, "create type mood as enum ('a'); create domain name50 as varchar(50)");
  sql(f.at_source, "insert into t values (1, 'a', 'x', '{a}')");
  mirrored_capture(&f, "t");
  rowrelay_ok(&f, "backfill", "t", "--to", "w", NULL);
  mirrored_maintain(&f);
  mirrored_same(&f, "t");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps"), "0");
  fixture_end(&f);
}

Test(retyped, other_labels_and_attributes_of_types_are_told_until_they_are_repaired) {
  struct fixture f;
  static const char TYPES[] = "create type mood as enum ('a', 'b'); create type pair as (x int, y int);"
                              "create domain moods as mood[]; create type nested as (p pair, m mood)";
  mirrored_begin(&f, "retyped_labels", TYPES);
  sql(f.at_target, TYPES);
  sql(f.at_source, "create table labels (id int primary key, m mood); create table lists (id int primary key, m moods);"
                   "create table pairs (id int primary key, p pair); create table nests (id int primary key, n nested);"
                   "create table other (id int primary key, v text); create table none (id int primary key, m mood);"
                   "create table hidden (id int primary key, m mood); insert into hidden values (1, 'a')");
  rowrelay_ok(&f, "capture", "hidden", "--exclude", "m", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "labels", "lists", "pairs", "nests", "other", "none", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into labels values (1, 'a'); insert into lists values (1, '{a}');"
                   "insert into pairs values (1, row(1, 2)); insert into nests values (1, row(row(1, 2), 'a'));"
                   "insert into other values (1, 'a')");
  mirrored_deliver(&f);
  mirrored_maintain(&f);
  static const char TOLD[] = "select string_agg(relation_name, ' ' order by relation_name) from rowrelay.gaps";
  sql(f.at_source, "alter type mood add value 'c'");
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, TOLD), "");
  sql(f.at_source, "alter type mood rename value 'a' to 'aa'");
  sql(f.at_target, "alter type mood rename value 'a' to 'aa'; alter type mood add value 'c'");
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, TOLD), "public.labels public.lists public.nests");
  rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL);
  cr_assert_str_eq(ask(f.at_source, TOLD), "");
  sql(f.at_source, "alter type pair drop attribute y; alter type pair add attribute y int");
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, TOLD), "public.nests public.pairs");
  rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL);
  mirrored_same(&f, "pairs");
  mirrored_same(&f, "nests");
  cr_assert_str_eq(ask(f.at_source, TOLD), "");
  fixture_end(&f);
}

/* It compared the types when it began, and knows of nothing else until maintenance has looked. */
Test(retyped, an_attribute_that_a_running_process_does_not_know_is_told_to_be_missing) {
  struct fixture f;
  mirrored_begin(&f, "retyped_attribute",
                 "create type pair as (x int, y int); create table t (id int primary key, p pair)");
  mirrored_capture(&f, "t");
  mirrored_maintain(&f);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  sql(f.at_source, "insert into t values (1, row(1, 2))");
  wait_until_empty(&f, 10);
  sql(f.at_source, "alter type pair add attribute z int; insert into t values (2, row(1, 2, 3))");
  wait_until(f.at_source, "t", 20,
             "select (select count(*) from rowrelay.queue) = 0 or "
             "exists (select from rowrelay.hold)");
  mirrored_maintain(&f);
  wait_until(f.at_source, "1", 10, "select count(*) from rowrelay.gaps");
  sql(f.at_target, "alter type pair add attribute z int");
  cr_expect_eq(rowrelay(&f, NULL, NULL, "verify", "w", "t", "--repair", NULL), 3);
  wait_until_empty(&f, 20);
  mirrored_same(&f, "t");
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}
