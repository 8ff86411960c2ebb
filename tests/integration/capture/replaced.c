/*
 * A captured table is dropped, and another one gets its name, as by "pg_restore --clean -t": nothing captures that one,
 * and everybody who asks is told so, with what captures it as the former one was.
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

static const char *commands_of(const struct fixture *f) {
  sql(f->at_source, "set rowrelay.shell = on");
  return ask(f->at_source,
             "select rowrelay.capture_again(c) from rowrelay.capture c where c.relation_name = 'public.item'");
}

static void begin(struct fixture *f, const char *name, const char *lines) {
  mirrored_begin(f, name,
                 "create table item (gone int, id int primary key, v text, secret text, pin text, \"La ne\" int);"
                 "alter table item drop gone; create table other (id int primary key)");
  rowrelay_ok(f, "capture", "other", "--to", "w", "--create", NULL);
  rowrelay_ok(f, "capture", "item", "--key", "id", "--exclude", "secret", "--mask", "pin=\"a \"\"b, 100%\"", "--lane",
              "\"La ne\"", "--where", "id > 0 and v <> '''x%'", "--before", NULL);
  rowrelay_ok(f, "target", "add", "lines", lines, NULL);
  rowrelay_ok(f, "route", "item", "lines", NULL);
  rowrelay_ok(f, "route", "item", "w", "--into", "\"The Items\"", "--create", NULL);
  sql(f->at_source, "insert into item select n, 'a', 'SECRET', 'PIN', 1 from generate_series(1, 5) as n");
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

#define SHOWN                                                                                                          \
  "public.item: the table is gone, and the one that has its name now is not captured: no target gets its changes; "

Test(replaced, a_table_in_the_place_of_a_captured_one_is_told_of_until_it_is_captured) {
  struct fixture f;
  const char *output;
  const char *errors;
  begin(&f, "replaced_told", "file:/dev/null");
  sql(f.at_source, "drop table item");
  rowrelay_ok(&f, "verify", "w", NULL);
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.captures where relation_name = 'public.item'"),
                   "the table is gone: release it");
  sql(f.at_source, "create table item (id int primary key, v text, secret text, pin text, \"La ne\" int);"
                   "insert into item select n, 'b', 'SECRET', 'PIN', 2 from generate_series(2, 6) as n");
  for (int maintained = 0; maintained < 2; maintained++) {
    cr_expect_str_eq(
        ask(f.at_source, "select distinct left(note, strpos(note, 'to capture') - 1) from rowrelay.status"), SHOWN);
    cr_expect(rowrelay(&f, &output, NULL, "doctor", NULL) == 1);
    cr_expect_not_null(strstr(output, "\nfail  capture: public.item"), "%s", output);
    cr_expect(rowrelay(&f, &output, NULL, "doctor", "item", NULL) == 1);
    cr_expect_not_null(strstr(output, "\n      rowrelay capture public.item --key id "), "%s", output);
    cr_expect(rowrelay(&f, &output, &errors, "verify", "w", NULL) == 1);
    cr_expect_not_null(strstr(output, "public.other: 0 rows"), "the others are compared: %s", output);
    cr_expect_not_null(
        strstr(errors, "table public.item was dropped, and the one that has its name now is not captured"), "%s",
        errors);
    cr_expect(rowrelay(&f, NULL, NULL, "verify", "w", "item", NULL) == 1);
    rowrelay_ok(&f, "verify", "w", "other", NULL);
    mirrored_maintain(&f);
  }
  follow(&f, commands_of(&f), 3);
  cr_expect_str_eq(ask(f.at_source,
                       "select string_agg(concat(relation_name, key, lane, exclude, mask, row_filter, before, "
                       "targets, note), ' ' order by relation_name) from rowrelay.captures"),
                   "public.item{id}{\"La ne\"}{secret}{\"pin\": \"a \\\"b, 100%\"}id > 0 and v <> '''x%'full{lines,w} "
                   "public.other{id}{}none{w}");
  rowrelay_ok(&f, "verify", "w", NULL);
  fixture_end(&f);
}

/* The triggers of the former one came with it. */
Test(replaced, a_table_that_was_restored_with_its_triggers_is_captured_by_the_name) {
  struct fixture f;
  begin(&f, "replaced_triggers", "file:/dev/null");
  sql(f.at_source, "create table next_item (like item including all);"
                   "create trigger \"!rowrelay_insert\" after insert on next_item for each row execute function "
                   "rowrelay.capture_2(); alter table next_item enable always trigger \"!rowrelay_insert\";"
                   "drop table item; alter table next_item rename to item");
  follow(&f, commands_of(&f), 3);
  sql(f.at_source, "insert into item values (7, 'b', 'SECRET', 'PIN', 2)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  rowrelay_ok(&f, "verify", "w", NULL);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.lacking_triggers()"), "0");
  rowrelay_ok(&f, "release", "item", NULL);
  cr_expect_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ') from rowrelay.captures"), "public.other");
  fixture_end(&f);
}

static const char *lacking(struct fixture *f) {
  return ask(f->at_source, "select string_agg(target || ':' || repair, ' ' order by target) from rowrelay.gaps");
}

/* What was written to it before it was captured again is told to be missing, until somebody has copied it. */
Test(replaced, targets_lack_what_was_written_to_the_table_before_it_was_captured_again) {
  struct fixture f;
  char commands[1024];
  mirrored_begin(&f, "replaced_lacks", "create table item (id int primary key, v text); create table bare (v text)");
  rowrelay_ok(&f, "target", "add", "lines", "file:/dev/null", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "lines", NULL);
  rowrelay_ok(&f, "capture", "bare", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into bare values ('old')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "drop table item, bare; create table item (id int primary key, v text);"
                   "create table bare (v text); insert into item values (1, 'new'); insert into bare values ('new')");
  snprintf(commands, sizeof commands, "%s", commands_of(&f));
  cr_assert_str_eq(commands, "rowrelay capture public.item; rowrelay route public.item lines --into public.item; "
                             "rowrelay backfill public.item --to lines");
  sql(f.at_source, "insert into item values (2, 'new')");
  rowrelay_ok(&f, "capture", "item", "--to", "lines", NULL);
  cr_assert_str_eq(lacking(&f), "lines:rowrelay backfill public.item --to lines");
  follow(&f, commands, 0);
  cr_assert_str_eq(lacking(&f), "");
  rowrelay_ok(&f, "capture", "bare", NULL);
  cr_assert_str_eq(lacking(&f), "", "it does not go there yet");
  rowrelay_ok(&f, "route", "bare", "w", NULL);
  cr_assert_str_eq(lacking(&f), "w:empty its table at w, and then: rowrelay backfill public.bare --to w");
  sql(f.at_target, "truncate bare");
  follow(&f, "rowrelay backfill public.bare --to w", 0);
  cr_assert_str_eq(lacking(&f), "");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(v, ' ') from bare"), "new");
  rowrelay_ok(&f, "release", "bare", NULL);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.gap"), "0");
  fixture_end(&f);
}

/* Numbers of its columns are others, too. */
Test(replaced, a_document_reads_the_table_again_as_soon_as_it_is_captured) {
  struct fixture f;
  const char *output;
  mirrored_begin(&f, "replaced_doc",
                 "create table line (a int, b int, id int primary key, item int, v text);"
                 "create table item (id int primary key, a int, v text)");
  sql(f.at_source, "select rowrelay.add_document('doc', 'w', 'id', 'select i.id, i.v, array(select l.v from line l "
                   "where l.item = i.id order by l.id) as lines from item i where i.id = any ($1)', "
                   "'{item:id,line:item(v)}', create_table => true)");
  sql(f.at_source, "insert into item values (1, 1, 'a'), (2, 1, 'a'); insert into line values (1, 1, 1, 1, 'x')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  rowrelay_ok(&f, "verify", "w", NULL);
  sql(f.at_source, "drop table line, item; create table line (id int primary key, v text, item int);"
                   "create table item (v text, id int primary key);"
                   "insert into item values ('b', 1), ('b', 3); insert into line values (1, 'y', 1), (2, 'y', 3)");
  cr_expect_not_null(strstr(rowrelay_ok(&f, "status", NULL), SHOWN "to capture it again: rowrelay capture "
                                                                   "public.item; rowrelay verify w --document doc"));
  cr_expect(rowrelay(&f, &output, NULL, "doctor", NULL) == 1);
  cr_expect_not_null(
      strstr(output, "\n      rowrelay capture public.line; rowrelay verify w --document doc --repair\n"), "%s",
      output);
  rowrelay_ok(&f, "capture", "line", "item", NULL);
  cr_expect_str_eq(ask(f.at_source, "select concat(note, sources) from rowrelay.documents"),
                   "{public.item:id,public.line:item(v)}");
  cr_expect_not_null(strstr(rowrelay_ok(&f, "status", NULL), " -- run: rowrelay verify w --document doc --repair"));
  follow(&f, "rowrelay verify w --document doc --repair", 3);
  cr_expect_str_eq(lacking(&f), "");
  rowrelay_ok(&f, "verify", "w", NULL);
  sql(f.at_source,
      "update line set v = 'z' where id = 1; delete from item where id = 3; insert into item values ('c', 4)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_target, "select string_agg(concat(id, v, lines), ' ' order by id) from doc"), "1b{z} 4c{}");
  fixture_end(&f);
}

/* A name means the table that has it, also where somebody captured it before reading what was told. */
Test(replaced, who_captures_the_new_table_is_told_where_the_former_one_went) {
  struct fixture f;
  const char *errors;
  begin(&f, "replaced_captured", "file:/dev/null");
  sql(f.at_source, "drop table item; create table item (id int primary key, v text, secret text)");
  cr_assert(rowrelay(&f, NULL, &errors, "capture", "item", "--exclude", "secret", "--where", "true", "--to", "lines",
                     NULL) == 0);
  cr_expect_not_null(strstr(errors,
                            "table public.item goes no longer to \"w\", because it was dropped and created again\n"
                            "hint: If it is to go there again: rowrelay route public.item w"),
                     "%s", errors);
  cr_expect_str_eq(ask(f.at_source,
                       "select string_agg(concat(relation_name, targets, note), ' ' order by relation_name) "
                       "from rowrelay.captures"),
                   "public.item{lines} public.other{w}");
  fixture_end(&f);
}
