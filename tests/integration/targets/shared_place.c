/* Tables that share a place at a target, because somebody said so: neither loses rows by what concerns the other. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "mirrored.h"
#include "verified.h"

#define REFUSED                                                                                                        \
  "select string_agg(concat_ws(' ', relation, op, state, sqlstate, message, detail), e'\\n' order by change_id) from " \
  "rowrelay.errors where state = 'error'"

/* Tables a and b at the source, with keys from 1 and from 11 on, go into table one of target w. */
static void begin(struct fixture *f, const char *name, const char *table) {
  mirrored_begin(f, name, "select");
  sql(f->at_target, "create table one (%s)", table);
  sql(f->at_source, "create table a (%1$s); create table b (%1$s)", table);
  rowrelay_ok(f, "capture", "a", "b", NULL);
  rowrelay_ok(f, "route", "a", "w", "--into", "one", NULL);
  rowrelay_ok(f, "route", "b", "w", "--into", "public.\"one\"", "--shared", NULL);
  sql(f->at_source, "insert into a values (1, 'a'), (2, 'a'); insert into b values (11, 'b'), (12, 'b')");
  mirrored_deliver(f);
}

static void deliver(struct fixture *f) {
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

static const char *rows_there(struct fixture *f) {
  return ask(f->at_target, "select string_agg(concat(id, v), ' ' order by id) from one");
}

/* The first refused change is discarded as its detail says, once the rows are gone. */
static void follow_advice(struct fixture *f) {
  char id[32];
  snprintf(id, sizeof id, "%s",
           ask(f->at_source,
               "select substring(detail from '^delete the rows of public.a from .* there, then run: rowrelay skip "
               "([0-9]+) --target w$') from rowrelay.errors where state = 'error' order by change_id limit 1"));
  cr_assert_str_eq(rowrelay_ok(f, "skip", id, "--target", "w", NULL), "1 discarded\n");
}

Test(shared_place, a_truncate_of_one_table_is_refused_until_its_rows_are_deleted_by_hand) {
  struct fixture f;
  begin(&f, "shared_truncate", "id int primary key, v text");
  sql(f.at_source, "truncate a; insert into a values (2, 'new'); update b set v = 'c' where id = 11");
  deliver(&f);
  cr_expect_str_eq(rows_there(&f), "1a 2a 11c 12b");
  cr_expect_not_null(strstr(ask(f.at_source, REFUSED),
                            "a truncate error a truncate of public.a would take away the rows "
                            "of public.b, which go to the same place"));
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors where state = 'blocked'"), "1");
  sql(f.at_target, "delete from one where id < 10");
  follow_advice(&f);
  mirrored_deliver(&f);
  cr_expect_str_eq(rows_there(&f), "2new 11c 12b");
  fixture_end(&f);
}

Test(shared_place, a_truncate_may_go_on_when_no_other_table_goes_there_any_more) {
  struct fixture f;
  begin(&f, "shared_left", "id int primary key, v text");
  sql(f.at_source, "truncate a; insert into a values (3, 'new')");
  deliver(&f);
  rowrelay_ok(&f, "route", "b", "w", "--remove", NULL);
  rowrelay_ok(&f, "retry", "--all", NULL);
  mirrored_deliver(&f);
  cr_expect_str_eq(rows_there(&f), "3new");
  fixture_end(&f);
}

/* A change of it is delivered though the table is gone. */
Test(shared_place, nor_does_the_truncate_of_a_table_that_was_released_since) {
  struct fixture f;
  begin(&f, "shared_released", "id int primary key, v text");
  sql(f.at_source, "truncate a");
  rowrelay_ok(&f, "release", "a", NULL);
  deliver(&f);
  cr_expect_str_eq(rows_there(&f), "1a 2a 11b 12b");
  follow_advice(&f);
  fixture_end(&f);
}

/* It would be a delete by a condition that rows of the other table may meet. */
Test(shared_place, a_truncate_of_a_partition_is_refused) {
  struct fixture f;
  begin(&f, "shared_partition", "id int primary key, v text");
  sql(f.at_source, "create table p (id int, v text, primary key (id, v)) partition by list (v); "
                   "create table p_b partition of p for values in ('b')");
  sql(f.at_target, "alter table one drop constraint one_pkey, add primary key (id, v)");
  rowrelay_ok(&f, "capture", "p", NULL);
  rowrelay_ok(&f, "route", "p", "w", "--into", "one", "--shared", NULL);
  sql(f.at_source, "insert into p values (21, 'b'); truncate p_b");
  deliver(&f);
  cr_expect_str_eq(rows_there(&f), "1a 2a 11b 12b 21b");
  fixture_end(&f);
}

Test(shared_place, a_truncate_is_refused_where_the_other_table_comes_by_another_target) {
  struct fixture f;
  begin(&f, "shared_twin", "id int primary key, v text");
  rowrelay_ok(&f, "route", "b", "w", "--remove", NULL);
  rowrelay_ok(&f, "target", "add", "twin", f.target_url, "--option", "claim=lease", NULL);
  pid_t process = fixture_run(&f, NULL, NULL);
  sql(f.at_source, "update a set v = 'A'");
  wait_until(f.at_target, "2", 20, "select count(*) from one where v = 'A'");
  rowrelay_ok(&f, "route", "b", "twin", "--into", "one", "--shared", NULL);
  sql(f.at_source, "truncate a; update b set v = 'B'");
  wait_until(f.at_target, "2", 20, "select count(*) from one where v = 'B'");
  wait_until_empty(&f, 20);
  cr_expect_str_eq(rows_there(&f), "1A 2A 11B 12B");
  cr_expect_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

/* Two targets name it. Nothing is sent there. */
Test(shared_place, a_truncate_is_refused_by_a_search_index_of_two_tables) {
  struct fixture f;
  fixture_begin(&f, "shared_index");
  sql(f.at_source, "create table a (id int primary key); create table b (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", "opensearch+http://127.0.0.1:1/index", NULL);
  rowrelay_ok(&f, "target", "add", "twin", "opensearch+http://127.0.0.1:1/index", NULL);
  rowrelay_ok(&f, "capture", "a", "--to", "w", NULL);
  rowrelay_ok(&f, "capture", "b", "--to", "twin", NULL);
  sql(f.at_source, "truncate a, b");
  deliver(&f);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors where message like 'a truncate of public._ "
                                    "would take away the rows of public._,%%'"),
                   "2");
  fixture_end(&f);
}

Test(shared_place, a_table_that_came_after_another_one_had_left_does_not_keep_that_from_being_truncated) {
  struct fixture f;
  mirrored_begin(&f, "shared_after", "create table a (id int primary key); create table b (id int primary key)");
  sql(f.at_target, "create table one (id int primary key)");
  rowrelay_ok(&f, "capture", "a", "b", NULL);
  rowrelay_ok(&f, "route", "a", "w", "--into", "one", NULL);
  sql(f.at_source, "insert into a values (1); truncate a; insert into a values (2)");
  rowrelay_ok(&f, "route", "a", "w", "--remove", NULL);
  rowrelay_ok(&f, "route", "b", "w", "--into", "one", NULL);
  sql(f.at_source, "insert into b values (3)");
  mirrored_deliver(&f);
  cr_expect_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from one"), "2 3");
  fixture_end(&f);
}

/* ---- verify ---------------------------------------------------------------------------------------------------- */

#define NOT_LOOKED_FOR(table, other)                                                                                   \
  "public." table ": extra rows were not looked for, since the rows of public." other " are in the same place\n"

static void repairs(struct fixture *f, const char *finds) {
  VERIFIED_FINDS(f, NOT_LOOKED_FOR("a", "b"), NOT_LOOKED_FOR("b", "a"), finds);
  cr_expect_null(strstr(verified_said, "extra 1"), "%s", verified_said);
  cr_expect_eq(verified(f, "--repair"), 3);
  mirrored_deliver(f);
  cr_expect_eq(verified(f, NULL), 0, "%s%s", verified_said, verified_complained);
  cr_expect_not_null(strstr(verified_said, " s: none missing or different\n"), "%s", verified_said);
}

Test(shared_place, rows_of_the_other_table_are_not_extra_and_not_deleted_by_a_repair) {
  struct fixture f;
  begin(&f, "shared_verify", "id int primary key, v text");
  cr_expect_eq(verified(&f, "--repair"), 0, "%s%s", verified_said, verified_complained);
  mirrored_deliver(&f);
  sql(f.at_source, "insert into a select n, 'a' from generate_series(1001, 4000) as n; "
                   "insert into b select n, 'b' from generate_series(100001, 103000) as n");
  mirrored_deliver(&f);
  sql(f.at_target, "delete from one where id in (1, 12, 3000, 101000); update one set v = 'x' where id in (2, 2000); "
                   "insert into one values (7, 'nobody')");
  repairs(&f, "public.a: 3,002 rows in ");
  cr_expect_str_eq(ask(f.at_target, "select count(*) from one"), "6005", "and rows of nobody stay");
  cr_expect_str_eq(ask(f.at_target, "select count(*) from one where v = 'x'"), "0");
  cr_expect_eq(verified(&f, "--json"), 0);
  cr_expect_not_null(strstr(verified_said, "\"shared_with\": \"public.b\""), "%s", verified_said);
  cr_expect_not_null(strstr(verified_said, "\"extra\": null"), "%s", verified_said);
  fixture_end(&f);
}

Test(shared_place, nor_where_keys_are_not_in_one_order) {
  struct fixture f;
  begin(&f, "shared_blocks", "id int primary key, v text");
  sql(f.at_target, "alter table one drop constraint one_pkey; create unique index on one using btree (id desc)");
  sql(f.at_target, "delete from one where id in (1, 12)");
  repairs(&f, "public.a: 2 rows in ");
  cr_expect_str_eq(rows_there(&f), "1a 2a 11b 12b");
  fixture_end(&f);
}

Test(shared_place, rows_of_a_table_without_a_key_are_missing_and_never_extra) {
  struct fixture f;
  begin(&f, "shared_keyless", "id int, v text");
  sql(f.at_target, "delete from one where id = 1");
  VERIFIED_FINDS(&f, NOT_LOOKED_FOR("a", "b"), "public.a: missing", "public.a: 2 rows in ", "1 missing, 0 different\n",
                 NOT_LOOKED_FOR("b", "a"));
  cr_expect_not_null(strstr(verified_complained, "it waits until you have deleted the rows of public.a there"), "%s",
                     verified_complained);
  fixture_end(&f);
}
