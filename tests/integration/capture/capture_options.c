/* What is captured can be chosen: columns, rows, images, and whose writes. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mirrored.h"

#define PEOPLE "create table person (id int primary key, name text, card text, pin int, photo bytea);"
#define WRITE_PEOPLE                                                                                                   \
  "insert into person values (1, 'Anna', '4111-1111', 1234, '\\x00'), (2, 'Bert', '4222-2222', 9999, null);"           \
  "update person set card = '4333-3333' where id = 1; update person set pin = 1, name = 'Bernd' where id = 2;"         \
  "update person set id = 3 where id = 2; delete from person where id = 1"

/* How often a text occurs in captured changes. */
static int64_t occurs(struct fixture *f, const char *text) {
  return ask_number(f->at_source,
                    "select count(*) from rowrelay.change where concat(old_row, new_row, key) like '%%%s%%'", text);
}

Test(capture_options, only_chosen_columns_are_captured) {
  struct fixture f;
  mirrored_begin(&f, "options_columns", PEOPLE);
  rowrelay_ok(&f, "capture", "person", "--columns", "id,name", "--before", "--to", "w", "--create", NULL);
  sql(f.at_source, WRITE_PEOPLE);
  mirrored_deliver(&f);
  same_rows(&f, "(select id, name from person)", "person", "id");
  cr_assert(occurs(&f, "4111") + occurs(&f, "4333") + occurs(&f, "1234") + occurs(&f, "card") == 0);
  cr_assert(occurs(&f, "Bert") > 1);
  fixture_end(&f);
}

Test(capture_options, excluded_columns_are_left_out_also_of_images_before_and_of_tables_without_a_key) {
  struct fixture f;
  mirrored_begin(&f, "options_exclude", PEOPLE "create table bag as table person");
  rowrelay_ok(&f, "capture", "person", "--exclude", "card,pin", "--before", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "bag", "--exclude", "card", "--exclude", "pin", "--to", "w", "--create", NULL);
  sql(f.at_source, WRITE_PEOPLE);
  sql(f.at_source, "insert into bag values (1, 'x', '4111'), (1, 'x', '4222'), (2, 'y', '4333'); delete from bag where "
                   "card = '4222'; update bag set pin = 1234");
  mirrored_deliver(&f);
  same_rows(&f, "(select id, name, photo from person)", "person", "id");
  same_rows(&f, "(select id, name, photo from bag)", "bag", "id");
  cr_assert(occurs(&f, "4111") + occurs(&f, "4333") + occurs(&f, "1234") + occurs(&f, "card") == 0);
  fixture_end(&f);
}

Test(capture_options, masked_columns_show_what_is_put_in_their_place) {
  struct fixture f;
  mirrored_begin(&f, "options_mask", PEOPLE);
  rowrelay_ok(&f, "capture", "person", "--mask", "card=****,pin", "--before", "--to", "w", "--create", NULL);
  sql(f.at_source, WRITE_PEOPLE);
  mirrored_deliver(&f);
  same_rows(&f, "(select id, name, '****' as card, null::int as pin, photo from person)", "person", "id");
  cr_assert(occurs(&f, "4111") + occurs(&f, "4333") + occurs(&f, "1234") == 0);
  cr_assert_str_eq(ask(f.at_source, "select old_row ->> 'card' from rowrelay.history where op = 'update' limit 1"),
                   "****");
  /* as SQL takes it: any JSON */
  sql(f.at_source, "select rowrelay.capture_table('person', mask => '{\"name\": \"it''s \\\"me\\\"\", \"pin\": 0}')");
  sql(f.at_source, "update person set pin = 4321");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select name || pin from person where id = 3"), "it's \"me\"0");
  fixture_end(&f);
}

Test(capture_options, a_key_cannot_be_left_out_or_masked) {
  struct fixture f;
  mirrored_begin(&f, "options_key", PEOPLE);
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.capture_table('person', exclude => '{id}')"), "22023");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.capture_table('person', columns => '{name}')"), "22023");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.capture_table('person', mask => '{\"id\": 0}')"), "22023");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.capture_table('person', exclude => '{nosuch}')"), "42703");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.capture_table('person', row_filter => 'nosuch = 1')"),
                   "22023");
  cr_assert_str_eq(
      sql_fails(f.at_source, "select rowrelay.capture_table('person', row_filter => 'id = 1; drop table person')"),
      "22023");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.capture_table('person', before => 'half')"), "22023");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.captures"), "0");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from pg_trigger where tgname like '!%%'"), "0");
  fixture_end(&f);
}

/* ---- rows ----------------------------------------------------------------------------------------------------------
 */

Test(capture_options, rows_enter_and_leave_a_filter) {
  struct fixture f;
  mirrored_begin(&f, "options_filter",
                 "create table \"Order\" (id int primary key, \"the state\" text, note text, total numeric);"
                 "create table log (kind text, n int)");
  rowrelay_ok(&f, "capture", "\"Order\"", "--where", "\"the state\" = 'it''s open' and (total > 10 or total is null)",
              "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "log", "--where", "kind <> 'debug'", "--to", "w", "--create", NULL);
  static const char *const MORE_THAN_A_ROW[] = {"n > (select 1)", "exists (select from \"Order\")", "count(*) > 1",
                                                "row_number() over () > 1"};
  for (size_t i = 0; i < sizeof MORE_THAN_A_ROW / sizeof *MORE_THAN_A_ROW; i++) {
    const char *errors;
    cr_expect(rowrelay(&f, NULL, &errors, "capture", "log", "--where", MORE_THAN_A_ROW[i], NULL) == 2, "%s", errors);
    cr_expect(strstr(errors, "uses more than the row") != NULL, "%s", errors);
  }
  sql(f.at_source, "insert into \"Order\" select n, case when n %% 2 = 0 then 'it''s open' else 'closed' end, 'n', "
                   "nullif(n, 4) from generate_series(1, 30) as n");
  sql(f.at_source, "update \"Order\" set \"the state\" = 'closed' where id = 12; update \"Order\" set \"the state\" = "
                   "'it''s open' where id = 13;"
                   "update \"Order\" set note = 'touched'; update \"Order\" set total = null where id in (1, 2); "
                   "update \"Order\" set id = id + 100 where id in (14, 15);"
                   "delete from \"Order\" where id in (16, 17); update \"Order\" set \"the state\" = null where id = "
                   "18; update \"Order\" set id = 200, total = 1 where id = 20;"
                   "update \"Order\" set id = 201, \"the state\" = 'it''s open' where id = 21");
  sql(f.at_source, "insert into log values ('debug', 1), ('info', 1), ('info', 1), (null, 1); update log set kind = "
                   "'debug' where ctid = '(0,2)';"
                   "update log set kind = 'info' where kind = 'debug' and n = 1; update log set n = n + 1; delete from "
                   "log where n = 2 and kind is null");
  mirrored_deliver(&f);
  same_rows(&f, "(select * from \"Order\" where \"the state\" = 'it''s open' and (total > 10 or total is null))",
            "\"Order\"", "id");
  same_rows(&f, "(select * from log where kind <> 'debug')", "log", "1");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.history where key = '13' and op = 'insert'") == 1);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.history where key = '12' and op = 'delete'") == 1);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.history where key in ('3', '5', '17')") == 0);
  sql(f.at_source, "truncate \"Order\", log; insert into \"Order\" values (1, 'it''s open')");
  mirrored_deliver(&f);
  cr_assert(ask_number(f.at_target, "select 10 * (select count(*) from log) + (select count(*) from \"Order\")") == 1);
  fixture_end(&f);
}

/* The triggers' conditions are replaced; no write is missed or captured twice meanwhile. */
Test(capture_options, a_filter_can_be_changed) {
  struct fixture f;
  mirrored_begin(&f, "options_refilter",
                 "create table item (id int primary key, n int) partition by range (id);"
                 "create table item_1 partition of item for values from (0) to (100); create table item_2 partition of "
                 "item for values from (100) to (200)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1, 1)");
  sql(f.at_source, "select rowrelay.capture_table('item', row_filter => 'n > 10'); insert into item values (2, 2), (3, "
                   "30), (103, 30)");
  sql(f.at_source,
      "select rowrelay.capture_table('item', row_filter => 'n < 10'); insert into item values (4, 4), (5, 50)");
  sql(f.at_source, "select rowrelay.capture_table('item', row_filter => ''); insert into item values (6, 6), (7, 70)");
  cr_assert_str_eq(captured_changes(&f, "item"), "i:1 i:3 i:103 i:4 i:6 i:7");
  cr_assert_str_eq(
      ask(f.at_source, "select count(*) from pg_trigger where tgname like '!rowrelay%%' and tgenabled = 'A'"), "9");
  fixture_end(&f);
}

/* Only triggers that are really gone let the log begin again. */
Test(capture_options, a_filter_that_comes_or_goes_is_not_taken_for_lost_triggers) {
  struct fixture f;
  const char *errors;
  mirrored_begin(&f, "options_lost", "create table item (id int primary key, n int)");
  mirrored_capture(&f, "item");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "item", "--where", "n > 10", NULL), 0);
  cr_expect(strstr(errors, "lost") == NULL, "%s", errors);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "item", "--where", "", NULL), 0);
  cr_expect(strstr(errors, "lost") == NULL, "%s", errors);
  sql(f.at_source, "drop trigger \"!rowrelay\" on item");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "item", "--where", "n > 10", NULL), 0);
  cr_expect(strstr(errors, "had lost triggers") != NULL, "%s", errors);
  sql(f.at_source, "drop trigger \"!rowrelay_update_in\" on item");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "item", NULL), 0);
  cr_expect(strstr(errors, "had lost triggers") != NULL, "%s", errors);
  sql(f.at_source, "alter table item disable trigger \"!rowrelay_insert\"");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "item", "--where", "", NULL), 0);
  cr_expect(strstr(errors, "had lost triggers") != NULL, "%s", errors);
  fixture_end(&f);
}

/* The table has no triggers while they are made anew by another condition or way; nobody else can write then. */
Test(capture_options, what_an_event_trigger_writes_while_triggers_are_made_anew_is_told_of) {
  struct fixture f;
  const char *errors;
  mirrored_begin(
      &f, "options_event",
      "create table item (id serial primary key, name text);"
      "create function note() returns event_trigger language plpgsql as $$ begin "
      "insert into public.item (name) select object_identity from pg_event_trigger_dropped_objects(); end $$;"
      "create event trigger note on sql_drop execute function note()");
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", "--per", "statement", NULL);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "item", "--per", "row", NULL), 0);
  cr_assert_not_null(strstr(errors, "table public.item had lost triggers"), "%s", errors);
  cr_assert_not_null(strstr(errors, "rowrelay verify w public.item --repair"), "%s", errors);
  fixture_end(&f);
}

/* ---- images, and who did it ----------------------------------------------------------------------------------------
 */

Test(capture_options, the_row_before_is_kept_when_asked_for) {
  struct fixture f;
  mirrored_begin(&f, "options_before",
                 "create table a (id int primary key, name text); create table b (id int primary key, name text)");
  sql(f.at_source, "select rowrelay.capture_table('a'); select rowrelay.capture_table('b', before => 'full')");
  for (const char *table = "a"; table != NULL; table = *table == 'a' ? "b" : NULL)
    sql(f.at_source,
        "insert into %s values (1, 'one'); update %s set name = 'two'; update %s set id = 2; delete from %s", table,
        table, table, table);
  static const char CHANGES[] = "select string_agg(concat_ws('/', left(op, 1), replace(old_row::text, ' ', ''), "
                                "new_row), ' ' order by change_id) "
                                "from rowrelay.history where relation = '%s'::regclass";
  cr_assert_str_eq(ask(f.at_source, CHANGES, "a"), "i/{\"id\":1,\"name\":\"one\"} u/{\"id\":1,\"name\":\"two\"} "
                                                   "d/{\"id\":1} i/{\"id\":2,\"name\":\"two\"} d/{\"id\":2}");
  cr_assert_str_eq(ask(f.at_source, CHANGES, "b"),
                   "i/{\"id\":1,\"name\":\"one\"} u/{\"id\":1,\"name\":\"one\"}/{\"id\":1,\"name\":\"two\"} "
                   "d/{\"id\":1,\"name\":\"two\"} i/{\"id\":2,\"name\":\"two\"} d/{\"id\":2,\"name\":\"two\"}");
  fixture_end(&f);
}

Test(capture_options, an_application_says_who_does_it_and_what_not_to_capture) {
  struct fixture f;
  mirrored_begin(&f, "options_actor", "create table item (id int primary key)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1)");
  sql(f.at_source, "begin; set local rowrelay.actor = 'anna'; insert into item values (2); update item set id = 3 "
                   "where id = 2; commit; insert into item values (4)");
  sql(f.at_source, "begin; set local rowrelay.skip = on; insert into item values (5); delete from item where id = 1; "
                   "truncate item; commit; insert into item values (6)");
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(concat_ws(':', key, actor), ' ' order by change_id) from rowrelay.history"),
      "1:postgres 2:anna 2:anna 3:anna 4:postgres 6:postgres");
  /* Any spelling of a boolean works, and any other value is no error. */
  static const char *const yes[] = {"true", "ON", "Yes", "1", "t"};
  static const char *const no[] = {"off", "false", "0", "", "maybe"};
  for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
    sql(f.at_source,
        "begin; set local rowrelay.skip = '%s'; insert into item values (10 + %d); delete from item where id > 10; "
        "truncate item; commit",
        yes[i], (int)i);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.change"), "6");
  for (size_t i = 0; i < sizeof no / sizeof *no; i++)
    sql(f.at_source, "begin; set local rowrelay.skip = '%s'; insert into item values (20 + %d); commit", no[i], (int)i);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.change"), "11");
  fixture_end(&f);
}

/* ---- loops ---------------------------------------------------------------------------------------------------------
 */

/* A → B → C. Otherwise nothing is delivered, nothing queued, and nothing said. */
Test(capture_options, where_a_mirror_is_captured_is_told_that_what_arrives_there_is_not) {
  struct fixture f;
  mirrored_begin(&f, "options_chain", "create table item (id int primary key); create table own (id int primary key)");
  const char *output;
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "item", "--to", "w", "--create", NULL), 0);
  cr_expect_null(strstr(errors, "--capture-origin"), "%s", errors);
  rowrelay(&f, &output, NULL, "doctor", NULL);
  cr_expect_null(strstr(output, "--capture-origin"), "%s", output);
  sql(f.at_source, "insert into item values (1)");
  mirrored_deliver(&f);

  struct fixture next = f;
  snprintf(next.source, sizeof next.source, "%s", f.target);
  rowrelay_ok(&next, "init", NULL);
  cr_assert_eq(rowrelay(&next, NULL, &errors, "capture", "item", "--dry-run", NULL), 0);
  cr_expect_null(strstr(errors, "--capture-origin"), "%s", errors);
  cr_assert_eq(rowrelay(&next, NULL, &errors, "capture", "item", NULL), 0);
  cr_expect_not_null(strstr(errors, "--capture-origin"), "%s", errors);
  rowrelay(&next, &output, NULL, "doctor", NULL);
  cr_expect_not_null(strstr(output, "ok    chain: public.item — "), "%s", output);
  sql(f.at_source, "insert into item values (2)");
  mirrored_deliver(&f);
  cr_assert_eq(rowrelay(&next, NULL, &errors, "capture", "item", "--capture-origin", NULL), 0);
  cr_expect_null(strstr(errors, "--capture-origin"), "%s", errors);
  rowrelay(&next, &output, NULL, "doctor", NULL);
  cr_expect_null(strstr(output, "--capture-origin"), "%s", output);
  sql(f.at_source, "insert into item values (3)");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(key, ' ' order by change_id) from rowrelay.history"), "3");
  fixture_end(&f);
}

/* Writes as that role, marked as those of a process, and tells which operations were captured of the table. */
static const char *captured_of(struct fixture *f, const char *role, const char *table) {
  sql(f->at_target,
      "set session authorization %1$s; set rowrelay.origin = 'elsewhere'; set rowrelay.traceparent = '-';"
      "insert into %2$s values (10), (11); update %2$s set id = 12 where id = 11; delete from %2$s where id = 10;"
      "truncate %2$s; reset rowrelay.origin; reset rowrelay.traceparent; reset session authorization",
      role, table);
  return ask(f->at_target,
             "with gone as (delete from rowrelay.change where capture = (select id from rowrelay.capture "
             "where relation = '%s'::regclass) returning id, op) select string_agg(op::text, '' order by id) from gone",
             table);
}

/* Only a role that delivers to this database, or one of this schema's processes, keeps out what it writes. */
Test(capture_options, origin_set_by_an_ordinary_role_leaves_nothing_out) {
  struct fixture f;
  fixture_begin(&f, "options_origin");
  sql(f.at_target,
      "drop role if exists options_deliverer, options_ordinary;"
      "create role options_deliverer login; create role options_ordinary login;"
      "create table item (id int primary key); create table list (id int primary key);"
      "grant all on item, list to options_ordinary, options_deliverer; alter table item owner to options_deliverer;"
      "create schema rowrelay_target authorization options_deliverer");
  sql(f.at_source, "create table item (id int primary key)");
  struct fixture mirror = f;
  snprintf(mirror.source, sizeof mirror.source, "%s", f.target);
  rowrelay_ok(&mirror, "init", NULL);
  rowrelay_ok(&mirror, "capture", "item", "--per", "row", NULL);
  rowrelay_ok(&mirror, "capture", "list", "--per", "statement", NULL);
  char url[sizeof f.target_url + 32];
  snprintf(url, sizeof url, "%s%suser=options_deliverer", f.target_url, strchr(f.target_url, '?') == NULL ? "?" : "&");
  rowrelay_ok(&f, "target", "add", "w", url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1), (2)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_target, "select count(*) from item"), "2");
  cr_expect_str_eq(ask(f.at_target, "select count(*) from rowrelay.change"), "0", "what a process delivered");
  cr_expect_str_eq(captured_of(&f, "options_ordinary", "item"), "iididt", "for each row");
  cr_expect_str_eq(captured_of(&f, "options_ordinary", "list"), "iididt", "for each statement");
  cr_expect_str_eq(captured_of(&f, "options_deliverer", "item"), "", "by the role that delivers here");
  sql(f.at_target, "alter schema rowrelay_target owner to current_user; alter table rowrelay_target.fence owner to "
                   "current_user; grant usage on schema rowrelay_target to options_deliverer;"
                   "grant select, insert, update on rowrelay_target.fence to options_deliverer");
  cr_expect_str_eq(captured_of(&f, "options_deliverer", "item"), "", "by one with no rights but these");
  cr_expect_str_eq(captured_of(&f, PQuser(f.at_target), "list"), "", "by the owner of the schema");
  fixture_end(&f);
  PGconn *server = connect_to(getenv("ROWRELAY_TEST_TARGET"), NULL);
  sql(server, "drop role options_deliverer, options_ordinary");
  PQfinish(server);
}

Test(capture_options, two_databases_that_mirror_each_other_do_not_loop) {
  struct fixture f;
  mirrored_begin(
      &f, "options_loop",
      "create table item (id int primary key, name text); create table seen (id int primary key, name text)");
  /* the target is a source too, and this one its target */
  struct fixture other = f;
  snprintf(other.source, sizeof other.source, "%s", f.target);
  snprintf(other.target_url, sizeof other.target_url, "postgresql:///%s?host=%s&port=%s&user=%s", PQdb(f.at_source),
           PQhost(f.at_source), PQport(f.at_source), PQuser(f.at_source));
  rowrelay_ok(&other, "init", NULL);
  rowrelay_ok(&other, "target", "add", "w", other.target_url, NULL);
  sql(f.at_target,
      "create table item (id int primary key, name text); create table seen (id int primary key, name text)");
  rowrelay_ok(&f, "capture", "item", "seen", "--to", "w", NULL);
  rowrelay_ok(&other, "capture", "item", "--to", "w", NULL);
  rowrelay_ok(&other, "capture", "seen", "--capture-origin", NULL);
  sql(f.at_source, "insert into item values (1, 'here'); insert into seen values (1, 'x')");
  sql(f.at_target, "insert into item values (2, 'there')");
  for (int i = 0; i < 3; i++) {
    mirrored_deliver(&f);
    rowrelay_ok(&other, "run", "--until-empty", NULL);
  }
  same_rows(&f, "item", "item", "id");
  sql(f.at_source, "update item set name = 'both'; delete from item where id = 1; update seen set name = 'y'");
  for (int i = 0; i < 3; i++) {
    mirrored_deliver(&f);
    rowrelay_ok(&other, "run", "--until-empty", NULL);
  }
  same_rows(&f, "item", "item", "id");
  cr_assert_str_eq(captured_changes(&f, "item"), "i:1 u:1 u:2 d:1");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(left(op, 1) || key, ' ' order by change_id) from "
                                    "rowrelay.history where relation = 'item'::regclass"),
                   "i2");
  /* unless it is asked for */
  cr_assert_str_eq(ask(f.at_target, "select string_agg(left(op, 1) || key, ' ' order by change_id) from "
                                    "rowrelay.history where relation = 'seen'::regclass"),
                   "i1 u1");
  fixture_end(&f);
}

/* ---- once more ----------------------------------------------------------------------------------------------------
 */

/* A person who adds a target, or follows a hint, may forget what was left out. */
Test(capture_options, what_is_not_left_out_any_more_is_told) {
  struct fixture f;
  const char *errors;
  mirrored_begin(&f, "options_again",
                 "create table person (id int primary key, name text, \"the iban\" text, pin text)");
  rowrelay_ok(&f, "capture", "person", "--exclude", "\"the iban\"", "--mask", "pin=*", "--where", "id > 0", NULL);
  cr_assert(rowrelay(&f, NULL, &errors, "capture", "person", "--to", "w", "--exclude", "\"the iban\",pin", "--where",
                     "id > 1", NULL) == 0);
  cr_expect_str_eq(errors, "");
  cr_assert(rowrelay(&f, NULL, &errors, "capture", "person", "--to", "w", "--exclude", "", "--mask", "", "--where", "",
                     NULL) == 0);
  cr_expect(strstr(errors,
                   "warning: table public.person: columns \"the iban\", pin are no longer left out or masked") != NULL,
            "%s", errors);
  cr_expect(strstr(errors, "rows that do not meet (id > 1) are no longer left out") != NULL, "%s", errors);
  cr_expect(strstr(errors,
                   "\nhint: If that is not what you want, capture it again: rowrelay capture public.person --where "
                   "'id > 1'\n") != NULL,
            "%s", errors);
  rowrelay_ok(&f, "capture", "person", "--columns", "id,name", NULL);
  cr_assert(rowrelay(&f, NULL, &errors, "capture", "person", "--reset", "--mask", "pin", NULL) == 0);
  cr_expect(strstr(errors, "columns \"the iban\" are no longer left out") != NULL, "%s", errors);
  rowrelay_ok(&f, "capture", "person", "--exclude", "\"the iban\"", "--where", "id > 1", NULL);
  rowrelay_ok(&f, "release", "person", NULL);
  cr_assert(rowrelay(&f, NULL, &errors, "capture", "person", "--mask", "pin", NULL) == 0);
  cr_expect(strstr(errors, "columns \"the iban\" are no longer left out") != NULL, "%s", errors);
  cr_expect(strstr(errors, "rows that do not meet (id > 1) are no longer left out") != NULL, "%s", errors);
  sql(f.at_source, "drop table person; create table person (\"the iban\" text, pin text, id int primary key)");
  cr_assert(rowrelay(&f, NULL, &errors, "capture", "person", NULL) == 0);
  cr_expect(strstr(errors, "columns pin are no longer left out") != NULL, "%s", errors);
  fixture_end(&f);
}

Test(capture_options, who_is_refused_is_told_only_why) {
  struct fixture f;
  const char *errors;
  mirrored_begin(&f, "options_refused", "create table person (id int primary key, name text, pin text)");
  rowrelay_ok(&f, "capture", "person", "--exclude", "name", NULL);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "person", "--exclude", "id", NULL), 2);
  cr_expect(strncmp(errors, "rowrelay: the key of table public.person cannot be left out or masked\n", 70) == 0, "%s",
            errors);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "person", "--exclude", "", "--where", "x y", NULL), 2);
  cr_expect(strncmp(errors, "rowrelay: row filter \"x y\"", 26) == 0, "%s", errors);
  /* A key that is named identifies nothing that the primary key does not. */
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "person", "--key", "pin", NULL), 2);
  cr_expect(strstr(errors, "or omit the key: then rows are identified by (id).") != NULL, "%s", errors);
  /* What one waits for is told at once, whatever becomes of it. */
  sql(f.at_source, "begin; select rowrelay.lock_configuration()");
  pid_t waiting = fixture_start(&f, "capture", "person", "--exclude", "id", NULL);
  wait_until_says(waiting, "warning: waiting for another transaction that changes captures or targets", 10);
  sql(f.at_source, "commit");
  cr_assert_eq(wait_process(waiting, 10), 2);
  fixture_end(&f);
}

/* What rowrelay.capture says of a table. */
static const char *as_captured(struct fixture *f) {
  return ask(f->at_source, "select concat_ws(' ', key_columns, lane_columns, only_columns, exclude_columns, "
                           "exclude_names, mask, mask_names, row_filter, before, capture_origin) "
                           "from rowrelay.capture where relation = 'person'::regclass and released_at is null");
}

/* `status` advises to capture a table again, and who adds a target does. */
Test(capture_options, what_is_not_said_again_stays) {
  struct fixture f;
  const char *errors;
  mirrored_begin(&f, "options_stay",
                 "create table person (id int, code text not null, area int, name text, pin text, primary key (id));"
                 "create unique index on person (code)");
  rowrelay_ok(&f, "capture", "person", "--key", "code", "--lane", "area", "--exclude", "name", "--mask", "pin=*",
              "--where", "id > 0", "--before", "--capture-origin", "--to", "w", "--create", NULL);
  char said[256];
  snprintf(said, sizeof said, "%s", as_captured(&f));
  cr_assert_str_eq(said, "{2} {3} {4} {name} {\"5\": \"*\"} {\"pin\": \"*\"} id > 0 full t");
  cr_assert(rowrelay(&f, NULL, &errors, "capture", "person", NULL) == 0);
  cr_expect_str_eq(errors, "");
  cr_expect_str_eq(as_captured(&f), said);
  sql(f.at_source, "select rowrelay.capture_table('person')");
  cr_expect_str_eq(as_captured(&f), said);
  rowrelay_ok(&f, "capture", "person", "--to", "w", NULL);
  rowrelay_ok(&f, "route", "person", "w", NULL);
  cr_expect_str_eq(ask(f.at_source, "select create_table from rowrelay.route"), "t");
  sql(f.at_source, "insert into person values (1, 'a', 1, 'Anna', '1234'); update person set name = 'Bert'");
  cr_expect_str_eq(ask(f.at_source, "select old_row::jsonb || new_row::jsonb from rowrelay.change where op = 'u'"),
                   "{\"id\": 1, \"pin\": \"*\", \"area\": 1, \"code\": \"a\"}");
  /* one thing at a time */
  rowrelay_ok(&f, "capture", "person", "--mask", "", NULL);
  cr_expect_str_eq(as_captured(&f), "{2} {3} {4} {name} {} {} id > 0 full t");
  /* a backfill that is taken up again keeps its bound */
  rowrelay_ok(&f, "target", "pause", "w", NULL);
  sql(f.at_source, "select rowrelay.backfill('person', 'w', row_filter => 'id > 5', rate => 7)");
  sql(f.at_source, "select rowrelay.backfill('person', 'w')");
  cr_expect_str_eq(ask(f.at_source, "select concat_ws(' ', rate, row_filter) from rowrelay.backfill"), "7 id > 5");
  sql(f.at_source, "select rowrelay.backfill('person', 'w', rate => 0)");
  cr_expect_str_eq(ask(f.at_source, "select coalesce(rate, 0) from rowrelay.backfill"), "0");
  rowrelay_ok(&f, "capture", "person", "--reset", "--exclude", "area", NULL);
  cr_expect_str_eq(as_captured(&f), "{1} {3} {area} {} {} none f");
  fixture_end(&f);
}

/* A key that was not chosen follows the table; a chosen one stays as long as its columns exist. */
Test(capture_options, a_key_that_nobody_chose_is_found_anew) {
  struct fixture f;
  const char *errors;
  mirrored_begin(&f, "options_rekey",
                 "create table person (id int primary key, code text not null, area int not null);"
                 "create unique index on person (code, area)");
  rowrelay_ok(&f, "capture", "person", "--lane", "area,code", NULL);
  sql(f.at_source, "alter table person drop constraint person_pkey");
  rowrelay_ok(&f, "capture", "person", NULL);
  cr_expect_str_eq(as_captured(&f), "{2,3} {3,2} {} {} {} {} none f");
  sql(f.at_source, "alter table person add unique (id)");
  rowrelay_ok(&f, "capture", "person", "--key", "id", NULL);
  rowrelay_ok(&f, "capture", "person", NULL);
  cr_expect_str_eq(as_captured(&f), "{1} {3,2} {} {} {} {} none f");
  sql(f.at_source, "alter table person drop id, drop area");
  cr_assert(rowrelay(&f, NULL, &errors, "capture", "person", NULL) == 0);
  cr_expect(strstr(errors, "lane columns were dropped") != NULL, "%s", errors);
  cr_expect_str_eq(as_captured(&f), "{} {2} {} {} {} {} none f");
  fixture_end(&f);
}

/* A crash empties the table without firing triggers. */
Test(capture_options, an_unlogged_table_is_captured_with_a_warning) {
  struct fixture f;
  const char *errors;
  mirrored_begin(&f, "options_unlogged",
                 "create unlogged table cache (id int primary key); create table item (id int primary key)");
  cr_assert(rowrelay(&f, NULL, &errors, "capture", "item", "cache", "--to", "w", NULL) == 0);
  cr_expect(strstr(errors, "a crash empties unlogged tables without firing triggers: public.cache") != NULL, "%s",
            errors);
  cr_expect(strstr(errors, "public.item") == NULL, "%s", errors);
  fixture_end(&f);
}

/* From SQL: no command line has them. */
Test(capture_options, a_column_without_a_name_is_refused_in_words) {
  static const char *const OPTIONS[] = {"key", "lane", "columns", "exclude"};
  struct fixture f;
  mirrored_begin(&f, "options_null", "create table item (id int primary key)");
  for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++) {
    PGresult *result;
    char call[128];
    snprintf(call, sizeof call, "select rowrelay.capture_table('item', %s => array[null])", OPTIONS[i]);
    result = PQexec(f.at_source, call);
    cr_expect_not_null(strstr(PQresultErrorMessage(result), "the name of a column of table public.item is null ("),
                       "%s", PQresultErrorMessage(result));
    cr_expect_not_null(strstr(PQresultErrorMessage(result), OPTIONS[i]));
    PQclear(result);
  }
  fixture_end(&f);
}

/* ---- patterns ------------------------------------------------------------------------------------------------------
 */

Test(capture_options, a_pattern_names_tables_as_in_psql) {
  struct fixture f;
  mirrored_begin(
      &f, "options_pattern",
      "create schema shop; create schema \"Shop\"; create table shop.orders (id int); create table shop.order_line (id "
      "int);"
      "create table shop.\"Orders\" (id int); create table \"Shop\".orders (id int); create table shop.parts (id int) "
      "partition by list (id);"
      "create table shop.parts_1 partition of shop.parts default; create view shop.orders_view as select 1;"
      "create materialized view shop.orders_mat as select 1; create table public.orders (id int); create temp table "
      "orders (id int);"
      "create table shop.\"a.b\" (id int); create table shop.\"a$b\" (id int); create table shop.aab (id int)");
  struct {
    const char *pattern;
    const char *tables;
  } const cases[] = {
      {"shop.*", "shop.\"Orders\" shop.\"a$b\" shop.\"a.b\" shop.aab shop.order_line shop.orders shop.parts"},
      {"shop.order*", "shop.order_line shop.orders"},
      {"SHOP.Order?", "shop.orders"},
      {"shop.\"Order\"?", "shop.\"Orders\""},
      {"\"Shop\".*", "\"Shop\".orders"},
      {"*.orders", "\"Shop\".orders orders shop.orders"},
      {"shop.parts_1", "shop.parts_1"},
      {"shop.\"a.b\"", "shop.\"a.b\""},
      {"shop.a$b", "shop.\"a$b\""},
      {"shop.\"*\"", ""},
      {"shop.orders_view", ""},
      {"rowrelay.*", ""},
      {"pg_catalog.pg_class", ""},
  };
  PGconn *session = connect_to(f.source, NULL); /* without the temporary table, which would hide orders */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    cr_assert_str_eq(
        ask(session,
            "select string_agg(m::text, ' ' order by m::text collate \"C\") from rowrelay.matching_tables('%s') as m",
            cases[i].pattern),
        cases[i].tables, "%s", cases[i].pattern);
  const char *errors;
  cr_assert(rowrelay(&f, NULL, &errors, "capture", "shop.orders", "nosuch.*", NULL) == 2);
  cr_assert_str_eq(ask(session, "select count(*) from rowrelay.captures"), "0");
  rowrelay_ok(&f, "capture", "shop.order*", "\"Shop\".*", NULL);
  cr_assert_str_eq(
      ask(session,
          "select string_agg(relation::text, ' ' order by relation::text collate \"C\") from rowrelay.captures"),
      "\"Shop\".orders shop.order_line shop.orders");
  PQfinish(session);
  fixture_end(&f);
}

Test(capture_options, a_pattern_that_stops_at_a_table_says_which_it_did_not_get_to) {
  struct fixture f;
  const char *output;
  const char *errors;
  fixture_begin(&f, "options_rest");
  sql(f.at_source,
      "create schema shop; create table shop.a (id int primary key, n int); create table shop.c (like shop.a);"
      "create table shop.b (id int primary key); create table shop.d (like shop.a)");
  cr_assert_neq(rowrelay(&f, &output, &errors, "capture", "shop.*", "--exclude", "n", NULL), 0);
  cr_expect_str_eq(output, "shop.a: captured\n");
  cr_expect_not_null(strstr(errors, "2 tables after it, from shop.c on, were left as they were.\n"), "%s", errors);
  cr_assert_neq(rowrelay(&f, &output, &errors, "capture", "shop.a", "shop.b", "--exclude", "n", NULL), 0);
  cr_expect_null(strstr(errors, "after it"), "%s", errors);
  fixture_end(&f);
}
