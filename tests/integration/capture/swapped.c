/*
 * A captured table is renamed or moved away and kept, and another one gets its name, as a migration does that copies a
 * table and swaps the names: nothing captures that one, and everybody who asks is told so, with what captures it as the
 * former one was, and with what says that the former one is to go on.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "mirrored.h"

/* Runs what is told to people, as it is printed; the last command, verify, ends with 3 where it repairs. */
static void follow(struct fixture *f, const char *commands, int status) {
  char line[4096];
  pid_t process = fixture_run(f, "--workers", "1", NULL);
  snprintf(line, sizeof line, "rowrelay() { '%s' -d '%s' \"$@\" || exit; }\n%s", getenv("ROWRELAY_BIN"), f->source,
           commands);
  cr_assert_eq(WEXITSTATUS(system(line)), status, "%s", commands);
  wait_until_empty(f, 20);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
}

/* What is told of captured tables, one line each. */
static const char *told(const struct fixture *f) {
  sql(f->at_source, "set rowrelay.shell = on");
  return ask(f->at_source, "select string_agg(note, E'\\n' order by note) from rowrelay.captures");
}

/* The commands in the one note that there is. */
static void commands_of(const struct fixture *f, char *commands, size_t size) {
  const char *note = told(f);
  const char *begin = strstr(note, "; to capture it again: ");
  cr_assert_not_null(begin, "%s", note);
  snprintf(commands, size, "%s", begin + strlen("; to capture it again: "));
}

static void begin(struct fixture *f, const char *name) {
  mirrored_begin(f, name,
                 "create table item (gone int, id int primary key, v text, secret text);"
                 "alter table item drop gone; insert into item values (1, 'a', 's'), (2, 'b', 's')");
  rowrelay_ok(f, "capture", "item", "--exclude", "secret", NULL);
  rowrelay_ok(f, "route", "item", "w", "--into", "\"The Items\"", "--create", NULL);
  rowrelay_ok(f, "backfill", "item", "--to", "w", NULL);
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

/* The new table, with another row and other columns. */
#define NEW(NAME)                                                                                                      \
  "create table " NAME " (id int primary key, secret text, v text);"                                                   \
  "insert into " NAME " select id, secret, upper(v) from item; insert into " NAME " values (3, 's', 'c');"

#define SWAP                                                                                                           \
  "begin;" NEW("item_new") "alter table item rename to item_old; alter table item_new rename to item; commit;"         \
                           "delete from item where id = 1"

static const char *at_target(const struct fixture *f) {
  return ask(f->at_target, "select string_agg(concat(id, v), ' ' order by id) from \"The Items\"");
}

/* Repairs as is printed, and checks that all is well from then on. */
static void repair(struct fixture *f, const char *was, const char *table) {
  char commands[2048];
  commands_of(f, commands, sizeof commands);
  cr_expect_not_null(strstr(commands, " --exclude secret; rowrelay release "), "%s", commands);
  follow(f, commands, 3);
  cr_expect_str_eq(told(f), "");
  cr_expect_str_eq(ask(f->at_source, "select count(*) from rowrelay.gaps"), "0");
  cr_expect_str_eq(at_target(f), "2B 3c");
  sql(f->at_source, "insert into %s values (4, 's', 'd'); insert into %s values (9, 'z', 's')", table, was);
  rowrelay_ok(f, "run", "--until-empty", NULL);
  cr_expect_str_eq(at_target(f), "2B 3c 4d");
  rowrelay_ok(f, "verify", "w", NULL);
}

Test(swapped, a_table_that_took_the_name_of_a_captured_one_is_told_of_until_it_is_captured) {
  struct fixture f;
  const char *output;
  const char *errors;
  begin(&f, "swapped_told");
  sql(f.at_source, SWAP);
  for (int maintained = 0; maintained < 2; maintained++) {
    cr_expect_not_null(strstr(told(&f), "the table is called public.item_old now, and the one that has its name now, "
                                        "public.item, is not captured as it was"),
                       "%s", told(&f));
    cr_expect_not_null(strstr(rowrelay_ok(&f, "status", NULL), "; to capture it again: rowrelay capture public.item "));
    cr_expect(rowrelay(&f, &output, NULL, "doctor", NULL) == 1);
    cr_expect_not_null(strstr(output, "\nfail  capture: public.item"), "%s", output);
    cr_expect(rowrelay(&f, &output, NULL, "doctor", "item", NULL) == 1);
    cr_expect_not_null(strstr(output, "\n      rowrelay capture public.item --exclude secret; "), "%s", output);
    cr_expect(rowrelay(&f, NULL, &errors, "verify", "w", NULL) == 1);
    cr_expect_not_null(strstr(errors, "table public.item was renamed to public.item_old, and the one that has its name "
                                      "now is not captured"),
                       "%s", errors);
    cr_expect(rowrelay(&f, NULL, NULL, "verify", "w", "item", NULL) == 1);
    cr_expect(rowrelay(&f, NULL, NULL, "verify", "w", "item_old", NULL) == 1);
    sql(f.at_source, "alter table item_old add more%d int", maintained); /* its function is made anew */
    mirrored_maintain(&f);
  }
  sql(f.at_source, "alter table item_old drop more0, drop more1");
  mirrored_maintain(&f);
  repair(&f, "item_old (id, v, secret)", "item");
  fixture_end(&f);
}

Test(swapped, so_is_one_in_the_place_of_one_that_went_to_another_schema) {
  struct fixture f;
  begin(&f, "swapped_schema");
  sql(f.at_source,
      "create schema stage; create schema \"Old Ones\";" NEW(
          "stage.item") "alter table item set schema \"Old Ones\"; alter table stage.item set schema public;"
                        "delete from item where id = 1");
  cr_expect_not_null(strstr(told(&f), "the table is called \"Old Ones\".item now"), "%s", told(&f));
  repair(&f, "\"Old Ones\".item (id, v, secret)", "item");
  fixture_end(&f);
}

Test(swapped, so_is_one_in_a_schema_that_took_the_name_of_another) {
  struct fixture f;
  mirrored_begin(&f, "swapped_schemas",
                 "create schema app; create table app.item (id int primary key, v text);"
                 "create schema app_new; create table app_new.item (id int primary key, v text);"
                 "insert into app.item values (1, 'a'); insert into app_new.item values (1, 'b'), (2, 'b')");
  rowrelay_ok(&f, "capture", "app.item", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "backfill", "app.item", "--to", "w", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "alter schema app rename to app_old; alter schema app_new rename to app");
  char commands[2048];
  commands_of(&f, commands, sizeof commands);
  cr_expect_str_eq(commands, "rowrelay capture app.item; rowrelay release app_old.item; rowrelay route app.item w "
                             "--into app.item --create; rowrelay verify w app.item --repair");
  follow(&f, commands, 3);
  cr_expect_str_eq(told(&f), "");
  mirrored_same(&f, "app.item");
  fixture_end(&f);
}

Test(swapped, the_new_one_may_be_partitioned_and_have_the_former_one_as_a_partition) {
  struct fixture f;
  begin(&f, "swapped_part");
  sql(f.at_source, "alter table item rename to item_old; create table item (id int primary key, v text, secret text) "
                   "partition by range (id); alter table item attach partition item_old for values from (0) to (100);"
                   "create table item_more partition of item for values from (100) to (200); insert into item values "
                   "(100, 'c', 's')");
  char commands[2048];
  commands_of(&f, commands, sizeof commands);
  cr_expect_not_null(strstr(commands, "rowrelay release public.item_old; rowrelay capture public.item "), "%s",
                     commands);
  follow(&f, commands, 3);
  cr_expect_str_eq(told(&f), "");
  cr_expect_str_eq(at_target(&f), "1a 2b 100c");
  rowrelay_ok(&f, "verify", "w", NULL);
  fixture_end(&f);
}

/* Nobody has to be told of what is meant to be. */
Test(swapped, nothing_is_told_of_a_table_that_was_renamed_and_goes_on) {
  struct fixture f;
  begin(&f, "swapped_renamed");
  sql(f.at_source, "alter table item rename to article; update article set v = 'x' where id = 1");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(told(&f), "", "no other one has its name");
  sql(f.at_source, "create view item as table article");
  cr_expect_str_eq(told(&f), "", "applications go on writing to it");
  rowrelay_ok(&f, "doctor", NULL);
  rowrelay_ok(&f, "verify", "w", NULL);
  sql(f.at_source, "drop view item; create table item (n int)");
  cr_expect_not_null(strstr(told(&f), "(if they are to get those of public.article: rowrelay capture public.article)"),
                     "%s", told(&f));
  follow(&f, "rowrelay capture public.article", 0);
  cr_expect_str_eq(told(&f), "", "somebody has said that it is to go on");
  rowrelay_ok(&f, "doctor", NULL);
  rowrelay_ok(&f, "verify", "w", NULL);
  cr_expect_str_eq(at_target(&f), "1x 2b");
  cr_expect_str_eq(ask(f.at_source, "select concat(relation, exclude, targets) from rowrelay.captures"),
                   "article{secret}{w}");
  fixture_end(&f);
}

/* Who stops in the middle is told again. */
Test(swapped, to_capture_the_new_one_alone_ends_nothing) {
  struct fixture f;
  const char *errors;
  begin(&f, "swapped_half");
  sql(f.at_source, SWAP);
  cr_assert(rowrelay(&f, NULL, &errors, "capture", "item", NULL) == 0);
  cr_expect_not_null(strstr(errors, "columns secret are no longer left out"), "%s", errors);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.captures"), "2");
  rowrelay_ok(&f, "capture", "item", "--exclude", "secret", NULL);
  cr_assert(rowrelay(&f, NULL, &errors, "route", "item", "w", "--into", "\"The Items\"", NULL) != 0);
  cr_expect_not_null(strstr(errors, "table public.item_old already go into table"), "%s", errors);
  char commands[2048];
  commands_of(&f, commands, sizeof commands);
  cr_expect_not_null(strstr(commands, "rowrelay capture public.item; rowrelay release public.item_old; "), "%s",
                     commands);
  follow(&f, commands, 3);
  cr_expect_str_eq(told(&f), "");
  cr_expect_str_eq(at_target(&f), "2B 3c");
  cr_expect_str_eq(ask(f.at_source, "select concat(relation, exclude, targets) from rowrelay.captures"),
                   "item{secret}{w}");
  fixture_end(&f);
}

static void begin_document(struct fixture *f, const char *name) {
  mirrored_begin(f, name,
                 "create table line (a int, id int primary key, item int, v text);"
                 "create table item (id int primary key, v text)");
  sql(f->at_source, "alter table line drop a; insert into item values (1, 'a'), (2, 'a');"
                    "insert into line values (1, 1, 'x');"
                    "select rowrelay.add_document('doc', 'w', 'id', 'select i.id, i.v, array(select l.v from line l "
                    "where l.item = i.id order by l.id) as lines from item i where i.id = any ($1)', "
                    "'{item:id,line:item(v)}', create_table => true)");
  rowrelay_ok(f, "document", "rebuild", "doc", NULL);
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

static const char *documents(const struct fixture *f) {
  return ask(f->at_target, "select string_agg(concat(id, v, lines), ' ' order by id) from doc");
}

#define SWAP_LINES                                                                                                     \
  "create table line_new (id int primary key, v text, item int); insert into line_new values (1, 'y', 1), "            \
  "(2, 'y', 2); alter table line rename to line_old; alter table line_new rename to line;"

Test(swapped, a_document_reads_the_new_one_as_soon_as_it_is_captured) {
  struct fixture f;
  begin_document(&f, "swapped_doc");
  sql(f.at_source, SWAP_LINES);
  char commands[2048];
  commands_of(&f, commands, sizeof commands);
  cr_expect_str_eq(commands, "rowrelay capture public.line; rowrelay release public.line_old; "
                             "rowrelay verify w --document doc --repair");
  cr_expect_not_null(strstr(rowrelay_ok(&f, "status", NULL), commands));
  follow(&f, commands, 3);
  cr_expect_str_eq(told(&f), "");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps"), "0");
  sql(f.at_source, "update line set v = 'z' where id = 1; insert into line_old values (7, 2, 'no')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(documents(&f), "1a{z} 2a{y}");
  fixture_end(&f);
}

/* The query reads the table that has the name, whatever else goes on. */
Test(swapped, a_document_is_told_of_also_where_the_former_one_is_to_go_on) {
  struct fixture f;
  begin_document(&f, "swapped_doc_on");
  sql(f.at_source, SWAP_LINES);
  rowrelay_ok(&f, "capture", "line_old", NULL);
  sql(f.at_source, "select rowrelay.add_document('other', 'w', 'id', 'select l.id, l.v from line_old l "
                   "where l.id = any ($1)', '{line_old:id}', create_table => true)");
  char commands[2048];
  commands_of(&f, commands, sizeof commands);
  cr_expect_str_eq(commands, "rowrelay capture public.line; rowrelay verify w --document doc --repair");
  follow(&f, commands, 3);
  cr_expect_str_eq(told(&f), "");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(sources::text, ' ' order by document) from rowrelay.documents"),
                   "{public.item:id,public.line:item(v)} {public.line_old:id}");
  sql(f.at_source, "update line set v = 'z' where id = 1; insert into line_old values (7, 2, 'old')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(documents(&f), "1a{z} 2a{y}");
  cr_expect_str_eq(ask(f.at_target, "select string_agg(concat(id, v), ' ') from other"), "7old");
  fixture_end(&f);
}

/* Both captured before: nothing is to be captured, but documents read the other one from now on. */
Test(swapped, a_document_is_told_of_where_two_captured_tables_swap_names) {
  struct fixture f;
  begin_document(&f, "swapped_both");
  sql(f.at_source, "create table spare (id int primary key, v text, item int)");
  rowrelay_ok(&f, "capture", "spare", NULL);
  sql(f.at_source, "alter table line rename to z; alter table spare rename to line; alter table z rename to spare;"
                   "insert into line values (1, 'y', 1)");
  char commands[2048];
  commands_of(&f, commands, sizeof commands);
  cr_expect_str_eq(commands, "rowrelay capture public.line; rowrelay verify w --document doc --repair");
  follow(&f, commands, 3);
  cr_expect_str_eq(told(&f), "");
  sql(f.at_source, "update line set v = 'z' where id = 1");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(documents(&f), "1a{z} 2a{}");
  fixture_end(&f);
}
