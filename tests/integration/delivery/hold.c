/* A table that a target cannot take waits alone: others go on, and it follows when the target can take it. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

/* Tables item and other go to "w", where somebody has made both. `option` is a further word of target add. */
static void begin_with(struct fixture *f, const char *name, const char *option) {
  fixture_begin(f, name);
  for (int i = 0; i < 2; i++)
    sql(i == 0 ? f->at_source : f->at_target,
        "create table item (id int primary key, n int); create table other (id int primary key, n int)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, "--option", option, NULL);
  rowrelay_ok(f, "capture", "item", "other", "--to", "w", NULL);
}

static void begin(struct fixture *f, const char *name) {
  begin_with(f, name, "retries=1");
}

static void others_go_on(struct fixture *f) {
  sql(f->at_source, "insert into other select coalesce(max(id), 0) + 1, 1 from other; update other set n = n + 1");
  rowrelay_ok(f, "run", "--until-empty", NULL);
  same_rows(f, "other", "other", "id");
  wait_until(f->at_source, "running", 1,
             "select case when state = 'not running' then 'running' else state end from rowrelay.status");
}

static const char *waiting(struct fixture *f) {
  return ask(f->at_source, "select count(*) from rowrelay.errors where state = 'waiting' and op <> 'barrier'");
}

static void nothing_is_left(struct fixture *f) {
  cr_assert_str_eq(ask(f->at_source, "select count(*) from rowrelay.queue"), "0");
  cr_assert_str_eq(ask(f->at_source, "select count(*) from rowrelay.refusal"), "0");
  cr_assert_str_eq(ask(f->at_source, "select count(*) from rowrelay.hold"), "0");
  cr_assert_str_eq(ask(f->at_source, "select note from rowrelay.status"), "");
}

/* ---- what is missing will come --------------------------------------------------------------------------------- */

Test(hold, a_table_with_a_column_that_the_target_lacks_waits_alone_and_goes_on_when_it_is_there) {
  struct fixture f;
  begin(&f, "hold_column");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "insert into item select n, 0 from generate_series(1, 50) as n");
  wait_until_empty(&f, 10);
  sql(f.at_source, "alter table item add extra text; update item set extra = 'x' || id; delete from item where id = 7;"
                   "update item set n = n + 1; insert into other select n, 0 from generate_series(1, 50) as n");
  wait_until(f.at_target, "50", 10, "select count(*) from other");
  wait_until_empty(&f, 10);
  wait_until(f.at_source, "t", 10, "select count(*) between 99 and 100 from rowrelay.errors where state = 'waiting'");
  wait_until(
      f.at_source, "t", 10,
      "select note like '%%item waits since %%: table public.item in the target has no column extra, which "
      "public.item has -- create it there, or run: rowrelay route --create public.item w%%' from rowrelay.status");
  cr_assert_str_eq(ask(f.at_source, "select concat(state, ' ', errors, ' ', blocked >= 99) from rowrelay.status"),
                   "running 0 t");
  cr_assert_not_null(strstr(rowrelay_ok(&f, "status", "--tables", NULL), "waits at w since"));
  cr_assert_not_null(strstr(rowrelay_ok(&f, "errors", NULL), "has no column extra"));
  cr_assert_str_eq(ask(f.at_source, "select status ->> 'w' from rowrelay.history where key = '9' and op = 'update' "
                                    "order by change_id desc limit 1"),
                   "new");

  /* What is written meanwhile stands behind. */
  sql(f.at_source, "update item set n = n + 1; insert into item values (100, 1, 'new'); update other set n = 5");
  wait_until(f.at_target, "50", 10, "select count(*) from other where n = 5");
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item where n > 0"), "0");
  sql(f.at_target, "alter table item add extra text");
  wait_until_nothing_waits(&f, 50);
  same_rows(&f, "item", "item", "id");
  cr_assert(stop_process(process, SIGTERM) == 0);
  sql(f.at_source, "delete from rowrelay.job; select rowrelay.maintain()"); /* it was altered, and status says so */
  nothing_is_left(&f);
  fixture_end(&f);
}

/* The hint is run as it is printed. */
Test(hold, what_the_hint_says_makes_the_column) {
  struct fixture f;
  begin(&f, "hold_hint");
  sql(f.at_source, "alter table item add extra text; insert into item values (1, 1, 'x')");
  others_go_on(&f);
  cr_assert_str_eq(waiting(&f), "1");
  cr_assert_str_eq(ask(f.at_source, "select substring(hint from 'run: (.*)') from rowrelay.hold"),
                   "rowrelay route --create public.item w");
  rowrelay_ok(&f, "route", "--create", "public.item", "w", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "item", "item", "id");
  nothing_is_left(&f);
  fixture_end(&f);
}

/* Whatever the server says against the table, and not against the data. */
static void wait_for(const char *name, const char *option, const char *harm, const char *remedy, const char *words) {
  struct fixture f;
  begin_with(&f, name, option);
  sql(f.at_source, "insert into item values (1, 1), (2, 2); insert into other values (-1, 1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_target, "%s", harm);
  sql(f.at_source, "update item set n = 3; delete from item where id = 2; insert into item values (3, 3)");
  others_go_on(&f);
  cr_assert_str_eq(waiting(&f), "4");
  cr_assert_not_null(strstr(ask(f.at_source, "select string_agg(distinct message, ' ') from rowrelay.errors"), words),
                     "%s", ask(f.at_source, "select string_agg(distinct message, ' ') from rowrelay.errors"));
  sql(f.at_source, "truncate item; insert into item select n, n from generate_series(1, 30) as n");
  others_go_on(&f);
  cr_assert_str_eq(waiting(&f), "35");
  sql(f.at_target, "%s", remedy);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "item", "item", "id");
  nothing_is_left(&f);
  fixture_end(&f);
}

Test(hold, a_table_that_is_gone_in_the_target_waits_alone) {
  wait_for("hold_table", "retries=1", "alter table item rename to away", "alter table away rename to item",
           "table public.item does not exist in the target");
}

Test(hold, a_table_whose_trigger_is_broken_waits_alone) {
  wait_for("hold_trigger", "retries=1",
           "create function broken() returns trigger language plpgsql as 'begin perform nothing(); return new; end';"
           "create trigger broken before insert or update or delete on item for each row execute function broken()",
           "drop trigger broken on item", "function nothing() does not exist");
}

Test(hold, a_table_whose_file_cannot_be_read_waits_alone) {
  wait_for("hold_file", "retries=1",
           "create function broken() returns trigger language plpgsql as "
           "'begin raise ''could not access file'' using errcode = ''58P01''; end';"
           "create trigger broken before insert or update or delete on item for each row execute function broken()",
           "drop trigger broken on item", "could not access file");
}

Test(hold, a_table_without_its_unique_index_waits_alone_under_a_lease) {
  wait_for("hold_lease", "claim=lease", "alter table item drop constraint item_pkey",
           "alter table item add primary key (id)", "has no unique index on the key");
}

Test(hold, a_table_waits_alone_where_transactions_are_kept_whole) {
  wait_for("hold_whole", "lanes=1", "alter table item drop n", "alter table item add n int", "has no column n");
}

Test(hold, a_table_waits_alone_in_a_target_that_is_sent_to_at_most_once) {
  wait_for("hold_once", "guarantee=at-most-once", "alter table item rename to away", "alter table away rename to item",
           "table public.item does not exist in the target");
}

Test(hold, a_table_of_changes_waits_alone) {
  struct fixture f;
  begin_with(&f, "hold_append", "mode=append");
  sql(f.at_source, "insert into item values (1, 1); insert into other values (-1, 1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_target, "alter table item_changes rename new_row to away");
  sql(f.at_source, "update item set n = 2; insert into other values (1, 1)");
  sql(f.at_source, "update item set n = 3; delete from item");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(waiting(&f), "3");
  cr_assert_str_eq(ask(f.at_target, "select count(*) from other_changes"), "2");
  sql(f.at_target, "alter table item_changes rename away to new_row");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(
      ask(f.at_target, "select string_agg(concat(op, new_row ->> 'n'), ' ' order by position) from item_changes"),
      "insert1 update2 update3 delete");
  nothing_is_left(&f);
  fixture_end(&f);
}

Test(hold, a_run_until_empty_brings_all_that_waited) {
  struct fixture f;
  begin(&f, "hold_many");
  sql(f.at_target, "alter table item rename to away");
  sql(f.at_source, "insert into item select n, n from generate_series(1, 30000) as n");
  others_go_on(&f);
  cr_assert_str_eq(waiting(&f), "30000");
  sql(f.at_target, "alter table away rename to item");
  rowrelay_ok(&f, "run", "--until-empty", "--workers", "3", NULL);
  same_rows(&f, "item", "item", "id");
  nothing_is_left(&f);
  fixture_end(&f);
}

/* Again and again in the middle of the work of several processes: of no row an older state comes last. */
Test(hold, what_waited_comes_in_order_however_often_the_table_came_and_went) {
  struct fixture f;
  begin_with(&f, "hold_order", "mode=append");
  sql(f.at_source, "insert into item select n, 0 from generate_series(1, 40) as n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  pid_t processes[] = {fixture_run(&f, "--workers", "3", NULL), fixture_run(&f, "--workers", "3", NULL)};
  for (int round = 1; round <= 60; round++) {
    sql(f.at_source, "update item set n = n + 1; update item set n = n + 1 where id %% 3 = 0");
    if (round % 12 == 4)
      sql(f.at_target, "alter table item_changes rename to away");
    if (round % 12 == 10)
      sql(f.at_target, "drop table if exists item_changes; alter table away rename to item_changes");
    sleep_seconds(0.05);
  }
  sql(f.at_source, "update item set n = n + 1");
  wait_until_nothing_waits(&f, 60); /* attempts are 15 s apart at most */
  for (int i = 0; i < 2; i++)
    cr_assert(stop_process(processes[i], SIGTERM) == 0);
  cr_assert_str_eq(ask(f.at_target,
                       "select count(*) from (select (new_row ->> 'n')::int as n, lag((new_row ->> 'n')::int) "
                       "over (partition by key order by position) as before from item_changes) as x "
                       "where n <= before"),
                   "0");
  nothing_is_left(&f);
  fixture_end(&f);
}

/* ---- what is missing will never come --------------------------------------------------------------------------- */

Test(hold, a_column_that_was_dropped_before_delivery_is_left_out) {
  struct fixture f;
  begin(&f, "hold_dropped");
  rowrelay_ok(&f, "target", "add", "made", f.target_url, NULL);
  rowrelay_ok(&f, "route", "item", "made", "--into", "made_item", "--create", NULL);
  sql(f.at_source, "insert into item values (1, 1); alter table item add tmp int default 5;"
                   "insert into item values (2, 2, 2); update item set tmp = 6; alter table item drop tmp;"
                   "insert into item values (3, 3); delete from item where id = 1");
  others_go_on(&f);
  same_rows(&f, "item", "item", "id");
  same_rows(&f, "item", "made_item", "id");
  nothing_is_left(&f);
  fixture_end(&f);
}

/* Though it might have been renamed, for all that its row shows: the row lacks a column that came later. */
Test(hold, a_column_that_is_left_out_before_delivery_is_left_out) {
  struct fixture f;
  begin(&f, "hold_excluded");
  rowrelay_ok(&f, "target", "add", "made", f.target_url, NULL);
  rowrelay_ok(&f, "route", "item", "made", "--into", "made_item", "--create", NULL);
  sql(f.at_source, "insert into item values (1, 1); alter table item add later int");
  sql(f.at_target, "alter table item add later int");
  rowrelay_ok(&f, "capture", "item", "--exclude", "n", NULL);
  sql(f.at_source, "insert into item values (2, 2, 2)");
  others_go_on(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(m::text, ' ' order by id) from made_item as m"), "(1,) (2,2)");
  fixture_end(&f);
}

/* It may be what another column is called now, so it is not left out in silence. */
Test(hold, a_change_whose_column_may_have_been_renamed_is_refused_alone) {
  struct fixture f;
  begin(&f, "hold_renamed");
  sql(f.at_source,
      "insert into item values (1, 1); alter table item rename n to worth; insert into item values (2, 2)");
  sql(f.at_target, "alter table item rename n to worth");
  others_go_on(&f);
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(concat(key, ' ', state, ' ', message), ', ') from rowrelay.errors"),
      "1 error table public.item in the target has no column n, which public.item had when the change was "
      "captured, but no longer has");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, ' ', worth), ', ') from item"), "2 2");
  fixture_end(&f);
}

Test(hold, a_table_that_was_dropped_before_its_mirror_was_made_waits_alone_until_it_is_given_up) {
  struct fixture f;
  const char *errors;
  begin(&f, "hold_gone");
  sql(f.at_source, "create table \"gone'\" (id int primary key)");
  rowrelay_ok(&f, "capture", "gone'", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into \"gone'\" select generate_series(1, 20); drop table \"gone'\"");
  others_go_on(&f);
  cr_assert_str_eq(waiting(&f), "20");
  char number[16];
  snprintf(number, sizeof number, "%s", ask(f.at_source, "select min(relation::oid) from rowrelay.errors"));
  cr_assert_str_eq(ask(f.at_source, "select replace(hint, '%s', 'N') from rowrelay.hold", number),
                   "create it there, or discard its changes: rowrelay skip --all --table N --target w");
  char shown[64];
  snprintf(shown, sizeof shown, "  public.\"gone'\" (dropped, %s)  ", number);
  cr_assert_not_null(strstr(rowrelay_ok(&f, "errors", NULL), shown));
  cr_assert_str_eq(rowrelay_ok(&f, "skip", "--all", NULL), "0 discarded\n");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "skip", "--all", "--table", "nobody", NULL), 2);
  const char *one = ask(f.at_source, "select min(change_id) from rowrelay.errors");
  cr_assert_str_eq(rowrelay_ok(&f, "skip", one, NULL), "1 discarded\n");
  cr_assert_str_eq(rowrelay_ok(&f, "skip", "--all", "--table", "public.\"gone'\"", "--target", "w", NULL),
                   "19 discarded\n");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.hold"), "0", "and status asks for nothing more");
  others_go_on(&f);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.hold"), "0");
  cr_assert_str_eq(
      ask(f.at_source, "select sum(cardinality(change_ids)) from rowrelay.receipt where outcome = 'skipped'"), "20");
  fixture_end(&f);
}

static const char *mirrored(struct fixture *f, const char *table) {
  return ask(f->at_target, "select string_agg(concat(id, v), ' ' order by id) from %s", table);
}

/* What waits of a table that was dropped, or gave its name away, comes before what is captured of the next one, or
 * never: it must not be written over that. */
Test(hold, what_waits_of_a_table_does_not_come_after_another_one_that_took_its_place) {
  struct fixture f;
  begin(&f, "hold_replaced");
  static const char *const TABLES[] = {"undelivered", "waiting", "renamed", "renamed_undelivered"};
  for (int i = 0; i < 4; i++) {
    const char *table = TABLES[i];
    sql(f.at_source, "create table %s (id int primary key, v text, x int)", table);
    if (i > 0)
      sql(f.at_target, "create table %s (id int primary key, v text)", table);
    rowrelay_ok(&f, "capture", table, "--to", "w", i == 0 ? "--create" : NULL, NULL);
    sql(f.at_source, "insert into %s select n, 'old' from generate_series(1, 3) as n", table);
    if (i == 1 || i == 2)
      rowrelay_ok(&f, "run", "--until-empty", NULL);
    if (i < 2)
      sql(f.at_source, "drop table %s", table);
    else
      sql(f.at_source, "alter table %1$s rename to old_%1$s; select rowrelay.release_table('old_%1$s')", table);
    sql(f.at_source, "create table %s (id int primary key, v text)", table);
    rowrelay_ok(&f, "capture", table, "--to", "w", i == 0 ? "--create" : NULL, NULL);
    sql(f.at_source, "insert into %s select n, 'new' from generate_series(1, 2) as n", table);
    rowrelay_ok(&f, "run", "--until-empty", NULL);
    cr_expect_str_eq(mirrored(&f, table), i < 2 ? "1new 2new" : "", "%s", table);
    if (i > 0)
      sql(f.at_target, "alter table %s add x int", table);
    rowrelay_ok(&f, "run", "--until-empty", NULL);
    cr_expect_str_eq(mirrored(&f, table), i < 2 ? "1new 2new" : "1new 2new 3old", "%s", table);
    cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors where state = 'error'"),
                     i == 0 ? "3" : "6");
  }
  rowrelay_ok(&f, "retry", "--all", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(mirrored(&f, "undelivered"), "1new 2new", "newer ones have arrived");
  fixture_end(&f);
}

/* Each attempt puts the oldest one back into the queue; a process that died has left it there. */
Test(hold, what_is_being_tried_again_is_skipped_with_what_waits) {
  struct fixture f;
  begin(&f, "hold_tried");
  sql(f.at_source, "create table gone (id int primary key)");
  rowrelay_ok(&f, "capture", "gone", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into gone select generate_series(1, 5); drop table gone");
  others_go_on(&f);
  for (int way = 0; way < 2; way++) {
    sql(f.at_source, "update rowrelay.hold set retry_at = now(); select rowrelay.release_held(1)");
    cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "1");
    if (way == 0)
      cr_assert_str_eq(
          rowrelay_ok(&f, "skip", ask(f.at_source, "select change_id from rowrelay.queue"), "--target", "w", NULL),
          "1 discarded\n");
    else
      cr_assert_str_eq(rowrelay_ok(&f, "skip", "--all", "--table", "public.gone", NULL), "4 discarded\n");
    cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "0");
  }
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.hold"), "0");
  cr_assert_str_eq(
      ask(f.at_source, "select sum(cardinality(change_ids)) from rowrelay.receipt where outcome = 'skipped'"), "5");
  others_go_on(&f);
  fixture_end(&f);
}

/* What is refused of the dropped one is not what waits of the one that has its name now. */
Test(hold, to_discard_changes_of_a_dropped_table_leaves_those_of_the_next_one) {
  struct fixture f;
  const char *errors;
  char number[16];
  begin(&f, "hold_name");
  for (int i = 0; i < 2; i++) {
    sql(f.at_source, "drop table if exists again; create table again (id int primary key, v text%s)",
        i == 0 ? ", x int" : "");
    rowrelay_ok(&f, "capture", "again", "--to", "w", NULL);
    sql(f.at_source, "insert into again values (1, 'v'), (2, 'v')");
  }
  sql(f.at_target, "create table again (id int primary key, v text)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "alter table again add y int; insert into again values (3, 'v', 5), (4, 'v', 5), (5, 'v', 5)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  snprintf(number, sizeof number, "%s",
           ask(f.at_source, "select min(relation::oid) from rowrelay.errors where state = 'error'"));
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(distinct concat(relation = 'again'::regclass, ' ', state), ', ') "
                       "from rowrelay.errors"),
                   "f error, t waiting");
  char shown[64];
  snprintf(shown, sizeof shown, "  public.again (dropped, %s)  ", number);
  cr_expect_not_null(strstr(rowrelay_ok(&f, "errors", NULL), shown));
  cr_expect_null(strstr(rowrelay_ok(&f, "errors", "--table", number, NULL), "waiting"));
  cr_expect_eq(rowrelay(&f, NULL, &errors, "skip", "--all", "--table", "public.again", "--target", "w", NULL), 2);
  cr_expect_not_null(strstr(errors, "changes of 2 tables with the name \"public.again\" are refused"), "%s", errors);
  snprintf(shown, sizeof shown, "%s is public.again, dropped", number);
  cr_expect_not_null(strstr(errors, shown), "%s", errors);
  cr_expect_not_null(strstr(errors, "rowrelay skip --all --table NUMBER"), "%s", errors);
  cr_expect_str_eq(rowrelay_ok(&f, "skip", "--all", "--table", number, "--target", "w", NULL), "2 discarded\n");
  sql(f.at_target, "alter table again add y int");
  rowrelay_ok(&f, "retry", "--all", NULL);
  others_go_on(&f);
  same_rows(&f, "again", "again", "id");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.refusal"), "0");
  /* Now only one table can be meant. */
  cr_expect_str_eq(rowrelay_ok(&f, "skip", "--all", "--table", "public.again", NULL), "0 discarded\n");
  rowrelay_ok(&f, "route", "public.again", "w", "--into", "again", NULL);
  fixture_end(&f);
}

Test(hold, a_table_that_has_no_column_left_stops_no_other) {
  struct fixture f;
  begin(&f, "hold_bare");
  sql(f.at_source, "create table bare (a int); create table keyed (id int primary key)");
  rowrelay_ok(&f, "capture", "bare", "keyed", "--to", "w", "--create", NULL);
  sql(f.at_source, "alter table bare drop a; insert into bare default values; insert into bare default values;"
                   "alter table keyed drop id; insert into keyed default values");
  others_go_on(&f);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from bare"), "2");
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(distinct concat(relation, ' ', state), ', ') from rowrelay.errors"),
      "keyed waiting", "%s", ask(f.at_source, "select string_agg(message, ', ') from rowrelay.errors"));
  const char *hint = ask(f.at_source, "select hint from rowrelay.hold");
  cr_assert_str_eq(hint, "run: rowrelay capture public.keyed");
  rowrelay_ok(&f, "capture", "public.keyed", NULL);
  others_go_on(&f);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors where state = 'waiting'"), "0", "%s",
                   ask(f.at_source, "select string_agg(message, ', ') from rowrelay.errors"));
  fixture_end(&f);
}

/* Its table is all that it has: it is tried again as a whole, and nothing of it counts as delivered. */
Test(hold, a_document_whose_table_is_missing_is_built_when_it_is_there) {
  struct fixture f;
  begin(&f, "hold_document");
  FILE *query = fopen("/tmp/rowrelay-hold-document.sql", "we");
  cr_assert(query != NULL);
  fputs("select id, n from item where id = any ($1)", query);
  fclose(query);
  rowrelay_ok(&f, "document", "add", "doc", "--target", "w", "--key", "id", "--query",
              "/tmp/rowrelay-hold-document.sql", "--from", "item:id", NULL);
  unlink("/tmp/rowrelay-hold-document.sql");
  sql(f.at_source, "insert into item values (1, 1), (2, 2)");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_target, "2", 10, "select count(*) from item");
  wait_until(f.at_source, "failing", 10, "select state from rowrelay.status where target = 'doc'");
  sql(f.at_source, "insert into other values (1, 1)");
  wait_until(f.at_target, "1", 10, "select count(*) from other");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.hold"), "0");
  sql(f.at_target, "create table doc (id int primary key, n int)");
  wait_until_empty(&f, 40);
  same_rows(&f, "item", "doc", "id");
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/* Otherwise all of it would be held. */
Test(hold, a_backfill_rests_while_its_table_waits) {
  struct fixture f;
  begin(&f, "hold_backfill");
  sql(f.at_source,
      "alter table item add extra text; insert into item select n, n, n from generate_series(1, 5000) as n;"
      "delete from item where id = 1");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "1", 10, "select count(*) from rowrelay.hold");
  sql(f.at_source, "select rowrelay.backfill('item', 'w')");
  wait_until(f.at_source, "t", 20,
             "select note = 'target \"w\" cannot take the table: rowrelay status says why' from rowrelay.backfills");
  sleep_seconds(1);
  cr_assert(ask_number(f.at_source, "select rows from rowrelay.backfills") <= 2000);
  sql(f.at_target, "alter table item add extra text");
  wait_until(f.at_source, "done", 40, "select state from rowrelay.backfills");
  wait_until_empty(&f, 20);
  same_rows(&f, "item", "item", "id");
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/* It does not wait for a change whose time is unknown. */
Test(hold, verify_says_what_is_missing_while_a_table_waits) {
  struct fixture f;
  const char *said;
  begin(&f, "hold_verify");
  sql(f.at_source, "insert into item values (1, 1); insert into other values (1, 1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_target,
      "create function broken() returns trigger language plpgsql as 'begin perform nothing(); return new; end';"
      "create trigger broken before insert or update on item for each row execute function broken()");
  sql(f.at_source, "update item set n = 2");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "1", 10, "select count(*) from rowrelay.hold");
  wait_until_empty(&f, 10);
  cr_assert_eq(rowrelay(&f, &said, NULL, "verify", "w", "--wait", "5", NULL), 3);
  cr_assert_not_null(strstr(said, "its table waits"), "%s", said);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/*
 * They wait behind those of before, whatever time they are due at. Of these one is tried at a time, so that more than
 * one must wait: else none does while it is tried.
 */
Test(hold, a_run_until_empty_ends_though_changes_of_a_table_captured_anew_wait) {
  struct fixture f;
  begin(&f, "hold_anew");
  sql(f.at_source,
      "alter table item add extra text; insert into item select n, n, 'x' from generate_series(1, 3) as n");
  rowrelay(&f, NULL, NULL, "run", "--until-empty", NULL);
  cr_assert_str_eq(waiting(&f), "3");
  sql(f.at_source, "select rowrelay.release_table('item'), rowrelay.capture_table('item', target => 'w')");
  sql(f.at_source, "insert into item values (4, 4, 'y')");
  pid_t process = fixture_run(&f, "--until-empty", NULL);
  cr_assert(wait_process(process, 10) >= 0, "it does not end");
  cr_assert_str_eq(waiting(&f), "4");
  sql(f.at_target, "alter table item add extra text");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "item", "item", "id");
  nothing_is_left(&f);
  fixture_end(&f);
}
