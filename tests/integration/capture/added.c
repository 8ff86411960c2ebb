/*
 * A column is added with a default: rows that are older have it at the source, although no image in the log says so. A
 * mirror has the same in them, whenever it was made, and whatever is done to the table before they are delivered.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "mirrored.h"

#define TABLES "create table item (id int primary key, v text); create table bare (v text)"
#define ADDED                                                                                                          \
  "add n int not null default 42, add b bool not null default false, add j jsonb default '{\"a\": [1]}', "             \
  "add t timestamptz default now(), add a text[] default '{a,\"b, ''c\"}', add e text default 'it''s \\ odd'"

/* Equal rows count, too. */
static void same(struct fixture *f, const char *table) {
  mirrored_same(f, table);
  cr_assert_str_eq(ask(f->at_source, "select string_agg(relation_name, ' ') from rowrelay.gaps"), "");
}

static void begin(struct fixture *f, const char *name) {
  mirrored_begin(f, name, TABLES);
  rowrelay_ok(f, "capture", "item", "bare", "--to", "w", "--create", NULL);
  sql(f->at_source, "insert into item values (1, 'a'), (2, 'b'); insert into bare values ('a'), ('b'), ('c'), ('d')");
}

static void alter(struct fixture *f, const char *actions) {
  sql(f->at_source, "alter table item %s", actions);
  sql(f->at_source, "alter table bare %s", actions);
}

static void write_on(struct fixture *f) {
  sql(f->at_source,
      "insert into item values (3, 'c'); update item set v = 'new' where id = 1;"
      "insert into bare values ('a'); update bare set v = 'new' where v = 'b'; delete from bare where v = 'c'");
}

Test(added, rows_that_are_older_have_the_default_in_a_mirror_that_is_made_later) {
  struct fixture f;
  begin(&f, "added_later");
  alter(&f, ADDED);
  write_on(&f);
  same(&f, "item");
  same(&f, "bare");
  cr_assert_str_eq(ask(f.at_target, "select n from item where id = 2"), "42");
  rowrelay_ok(&f, "verify", "w", NULL);
  fixture_end(&f);
}

Test(added, also_after_the_default_was_dropped_and_in_a_mirror_like_the_table) {
  struct fixture f;
  mirrored_begin(&f, "added_dropped", TABLES);
  rowrelay_ok(&f, "capture", "item", "bare", "--to", "w", "--create", "--like", "full", NULL);
  sql(f.at_source, "insert into item values (1, 'a'), (2, 'b'); insert into bare values ('a'), ('b'), ('c'), ('d')");
  alter(&f, ADDED);
  alter(&f, "alter n drop default, alter b set default true, alter a drop default");
  sql(f.at_source, "insert into item values (4, 'd', 1, true, null, null, null); insert into bare values ('d', 1)");
  same(&f, "item");
  same(&f, "bare");
  fixture_end(&f);
}

Test(added, also_in_partitions_and_rows_without_a_key_that_are_alike_otherwise) {
  struct fixture f;
  mirrored_begin(&f, "added_parts",
                 "create table item (id int primary key, v text) partition by range (id);"
                 "create table item_1 partition of item for values from (0) to (10);"
                 "create table item_2 partition of item for values from (10) to (20);"
                 "create table bare (v text)");
  rowrelay_ok(&f, "capture", "item", "bare", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item values (1, 'a'), (11, 'b'); insert into bare values ('a'), ('a'), ('a');"
                   "delete from bare where ctid = '(0,1)'");
  alter(&f, "add n int default 42");
  sql(f.at_source,
      "insert into item values (2, 'c', 7), (12, 'd', null); insert into bare values ('a', 7), ('a', null)");
  same(&f, "item");
  same(&f, "bare");
  fixture_end(&f);
}

/* The server forgets the value then: it was noted. */
Test(added, also_after_the_rows_were_written_anew) {
  struct fixture f;
  begin(&f, "added_anew");
  mirrored_deliver(&f);
  sql(f.at_source,
      "insert into item values (4, 'd'); insert into bare values ('e'); alter table item drop v, add v2 text");
  alter(&f, ADDED);
  mirrored_maintain(&f);
  sql(f.at_source, "vacuum full item");
  sql(f.at_source, "vacuum full bare");
  alter(&f, "alter n type bigint, alter b type text");
  mirrored_maintain(&f);
  sql(f.at_source,
      "insert into item (id, n) values (5, 1); insert into bare values ('f', 2); delete from bare where v = 'd'");
  mirrored_same(&f, "bare");
  cr_assert_str_eq(
      ask(f.at_target, "select string_agg(concat(id, '/', n, '/', b, '/', j), ' ' order by id) from item"),
      ask(f.at_source, "select string_agg(concat(id, '/', n, '/', b, '/', j), ' ' order by id) from item"));
  fixture_end(&f);
}

Test(added, what_nobody_knows_any_more_is_told_until_it_is_repaired) {
  struct fixture f;
  const char *output;
  begin(&f, "added_unknown");
  mirrored_deliver(&f);
  sql(f.at_source, "alter table item add n int default 42");
  sql(f.at_source, "vacuum full item");
  sql(f.at_source, "alter table item alter n drop default; alter table bare add r float8 default random()");
  sql(f.at_source, "insert into item values (5, 'e', 1)");
  mirrored_deliver(&f);
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ' order by relation_name) from rowrelay.gaps"),
                   "public.bare public.item");
  cr_assert_not_null(strstr(rowrelay_ok(&f, "status", NULL), "or columns were altered -- run: "));
  rowrelay(&f, &output, NULL, "doctor", NULL);
  cr_expect_not_null(strstr(output, "warn  lost changes: public.bare, public.item"), "%s", output);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps where relation_name = 'public.item'"
                                    " and repair like '%%rowrelay verify w public.item --repair'"),
                   "1");
  cr_expect(rowrelay(&f, NULL, NULL, "verify", "w", "item", "--repair", NULL) == 3);
  mirrored_same(&f, "item");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ') from rowrelay.gaps"), "public.bare");
  /* nothing is unknown of rows that there are not, nor where older ones have null for sure */
  sql(f.at_source, "truncate item");
  mirrored_deliver(&f);
  sql(f.at_source, "alter table item add r float8 default random()");
  mirrored_maintain(&f);
  sql(f.at_source, "insert into item values (1); alter table item add z int; alter table item alter z set default 5");
  mirrored_maintain(&f);
  mirrored_same(&f, "item");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ') from rowrelay.gaps"), "public.bare");
  fixture_end(&f);
}

/* A child had the column before its parent got it; a partition comes with its own. */
Test(added, what_differs_between_children_or_partitions_is_told_until_it_is_repaired) {
  struct fixture f;
  mirrored_begin(&f, "added_differs",
                 "create table p (id int primary key); create table c (n int, primary key (id)) inherits (p);"
                 "create table q (id int primary key) partition by range (id);"
                 "create table q1 partition of q for values from (0) to (10); create table q2 (id int primary key)");
  rowrelay_ok(&f, "capture", "p", "q", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into p values (1); insert into c values (2, 42), (3, null); insert into q values (1);"
                   "insert into q2 values (11)");
  mirrored_deliver(&f);
  sql(f.at_source,
      "alter table p add n int default 5; alter table q add n int default 5;"
      "alter table q2 add n int default 9; alter table q attach partition q2 for values from (10) to (20)");
  sql(f.at_source, "insert into p values (4, 1); insert into q values (2, 1), (12, 2)");
  mirrored_deliver(&f);
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ' order by relation_name) from rowrelay.gaps"),
                   "public.p public.q");
  cr_assert_str_eq(ask(f.at_target,
                       "select count(*) from (select n from p where id < 4 union all select n from q where "
                       "id = 1) as x where n is not null"),
                   "0");
  cr_assert(rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL) == 3);
  mirrored_same(&f, "p");
  mirrored_same(&f, "q");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps"), "0");
  fixture_end(&f);
}

/* The command that is told finds nothing to repair as long as the mirror has no such column. */
Test(added, what_is_told_stays_until_the_mirror_has_the_column) {
  struct fixture f;
  begin(&f, "added_later_there");
  mirrored_deliver(&f);
  sql(f.at_source, "alter table item add n float8 default random()");
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ') from rowrelay.gaps"), "public.item");
  rowrelay_ok(&f, "verify", "w", "item", "--repair", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ') from rowrelay.gaps"), "public.item");
  sql(f.at_source, "insert into item values (9, 'z')");
  mirrored_deliver(&f);
  cr_assert(rowrelay(&f, NULL, NULL, "verify", "w", "item", "--repair", NULL) == 3);
  same(&f, "item");
  fixture_end(&f);
}

static const char *const LABELS = "select array_to_string(enum_range(null::mood), ' ')";

static void same_labels(struct fixture *f) {
  char here[200];
  snprintf(here, sizeof here, "%s", ask(f->at_source, "%s", LABELS));
  cr_expect_str_eq(ask(f->at_target, "%s", LABELS), here);
}

Test(added, label_of_an_enum_reaches_created_mirrors_with_its_row) {
  struct fixture f;
  mirrored_begin(
      &f, "added_labels",
      "create type mood as enum ('b', 'f'); create domain moods as mood[]; create type pair as (n int, m mood);"
      "create table item (id int primary key, m mood, l moods, p pair);"
      "create table lone (m mood, n int)");
  mirrored_capture(&f, "*");
  sql(f.at_source, "insert into item values (1, 'b', '{f}', (1, 'f')); insert into lone values ('b', 1)");
  mirrored_deliver(&f);
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "alter type mood add value 'g'; alter type mood add value 'a' before 'b';"
                   "alter type mood add value 'c' before 'f'; alter type mood add value 'd' before 'f';"
                   "alter type mood add value 'it''s' before 'a'");
  sql(f.at_source, "insert into item values (2, 'd', '{a,b}', (1, 'c')), (3, 'a', null, null);"
                   "insert into lone values ('a', 1); update item set m = 'g' where id = 1");
  wait_until_nothing_waits(&f, 30);
  stop_process(process, SIGTERM);
  mirrored_same(&f, "item");
  same_labels(&f);
  sql(f.at_source, "alter type mood add value 'z'");
  sql(f.at_source, "create table late (id int primary key, m mood default 'z'); insert into late values (1), (2)");
  rowrelay_ok(&f, "capture", "late", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "backfill", "late", "--to", "w", NULL);
  mirrored_same(&f, "late");
  same_labels(&f);
  sql(f.at_source, "alter type mood add value 'y'");
  sql(f.at_source, "alter table item add column y mood default 'y'; insert into item values (9)");
  mirrored_same(&f, "item");
  same_labels(&f);
  fixture_end(&f);
}

Test(added, label_of_an_enum_that_is_not_ours_there_refuses_its_row_alone) {
  struct fixture f;
  const char *said;
  mirrored_begin(&f, "added_label_owner",
                 "create type mood as enum ('a'); create table item (id int primary key, m mood)");
  sql(f.at_target,
      "drop role if exists added_label_app; create role added_label_app login;"
      "create type mood as enum ('a'); grant create on schema public to added_label_app;"
      "do $$ begin execute format('grant create on database %%I to added_label_app', current_database()); end $$");
  char url[600];
  snprintf(url, sizeof url, "%s%suser=added_label_app", f.target_url, strchr(f.target_url, '?') == NULL ? "?" : "&");
  rowrelay_ok(&f, "target", "set", "w", "--url", url, NULL);
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1, 'a')");
  mirrored_deliver(&f);
  sql(f.at_source, "alter type mood add value 'b'");
  sql(f.at_source, "insert into item values (2, 'b'), (3, 'a')");
  rowrelay(&f, NULL, NULL, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from item"), "1 3");
  rowrelay(&f, &said, NULL, "errors", NULL);
  cr_expect_not_null(strstr(said, "invalid input value for enum mood: \"b\""), "%s", said);
  sql(f.at_target, "alter type mood add value 'b'");
  rowrelay_ok(&f, "retry", "--all", "--target", "w", NULL);
  mirrored_same(&f, "item");
  sql(f.at_target, "drop owned by added_label_app cascade; drop role added_label_app");
  fixture_end(&f);
}
