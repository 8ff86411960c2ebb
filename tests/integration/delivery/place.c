/* What goes to one place at a target, one table after the other, stays in order, and is never written over what came
 * later. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"

/* Table item is captured to "w", where somebody has made it: without column x, and without 'bad'. */
static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, v text, x int)");
  sql(f->at_target, "create table item (id int primary key, v text check (v <> 'bad'))");
  rowrelay_ok(f, "target", "add", "w", f->target_url, "--option", "retries=0", NULL);
}

static void end(struct fixture *f) {
  cr_expect_str_eq(ask(f->at_source, "select count(*) from rowrelay.queue"), "0");
  fixture_end(f);
}

static const char *mirrored(struct fixture *f) {
  return ask(f->at_target, "select string_agg(concat(id, v), ' ' order by id) from item");
}

static void deliver(struct fixture *f) {
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

/* The first table has two rows that wait, and then gives its name and place to the second. `leaves` ends its route;
 * `arrives` begins the second's. */
static void one_after_the_other(const char *name, const char *before, const char *leaves, const char *arrives) {
  struct fixture f;
  begin(&f, name);
  sql(f.at_source, "%s", before);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item select n, 'old' from generate_series(1, 2) as n");
  deliver(&f);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors where state = 'waiting'"), "2");
  sql(f.at_source, "alter table item rename to old_item");
  sql(f.at_source, "%s", leaves);
  sql(f.at_source, "create table if not exists next_item (id int primary key, v text)");
  sql(f.at_source, "alter table next_item rename to item");
  sql(f.at_source, "%s", arrives);
  sql(f.at_source, "insert into item values (1, 'new')");
  deliver(&f);
  cr_expect_str_eq(mirrored(&f), "", "it waits for the older ones");
  sql(f.at_target, "alter table item add x int");
  deliver(&f);
  cr_expect_str_eq(mirrored(&f), "1new 2old");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.refusal"), "0");
  end(&f);
}

Test(place, what_waits_goes_first_where_only_the_route_of_its_table_was_removed) {
  one_after_the_other("place_unrouted", "select 1", "select rowrelay.unroute('old_item', 'w')",
                      "select rowrelay.capture_table('item'), rowrelay.route('item', 'w')");
}

Test(place, what_waits_goes_first_whatever_spelling_the_place_has) {
  one_after_the_other("place_spelled", "select 1", "select rowrelay.release_table('old_item')",
                      "select rowrelay.capture_table('item'), rowrelay.route('item', 'w', '\"item\"')");
}

Test(place, what_waits_goes_first_where_the_next_table_was_captured_before) {
  one_after_the_other("place_captured",
                      "create table next_item (id int primary key, v text); select rowrelay.capture_table('next_item')",
                      "select rowrelay.release_table('old_item')", "select rowrelay.route('item', 'w', 'public.item')");
}

/* Three in one backlog, the last of which is the second again. */
Test(place, what_waits_goes_first_where_the_next_table_has_left_again) {
  struct fixture f;
  begin(&f, "place_left");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item select n, 'old' from generate_series(1, 2) as n;"
                   "alter table item rename to old_item; select rowrelay.release_table('old_item');"
                   "create table item (id int primary key, v text)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1, 'new')");
  rowrelay_ok(&f, "release", "item", NULL);
  deliver(&f);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (3, 'last')");
  deliver(&f);
  cr_expect_str_eq(mirrored(&f), "");
  sql(f.at_target, "alter table item add x int");
  deliver(&f);
  cr_expect_str_eq(mirrored(&f), "1new 2old 3last");
  end(&f);
}

/* A table that is routed to its former place again, after another one was there: each waits for the one before. */
Test(place, what_waits_keeps_the_order_in_which_tables_came_and_went) {
  struct fixture f;
  begin(&f, "place_back");
  sql(f.at_source, "create table other (id int primary key, v text, x int)");
  rowrelay_ok(&f, "capture", "item", "other", NULL);
  static const char *const TURNS[] = {"item", "other", "item", "other", "item"};
  for (int i = 0; i < 5; i++) {
    rowrelay_ok(&f, "route", TURNS[i], "w", "--into", "item", NULL);
    sql(f.at_source,
        "insert into %1$s select n, 'v%2$d' from generate_series(1, 5) as n on conflict (id) do update set v = "
        "excluded.v; delete from %1$s where id = 5 - %2$d",
        TURNS[i], i);
    if (i % 2 == 1)
      deliver(&f);
    if (i < 4)
      rowrelay_ok(&f, "route", TURNS[i], "w", "--remove", NULL);
  }
  deliver(&f);
  cr_expect_str_eq(mirrored(&f), "");
  sql(f.at_target, "alter table item add x int");
  /* What the second table has left is not due yet, and so nothing that the first one brought after it is released. */
  for (int round = 0; round < 3; round++)
    sql(f.at_source, "update rowrelay.hold h set piece = 100, released = 0, retry_at = clock_timestamp() + case "
                     "when c.relation = 'item'::regclass then interval '0' else interval '30 s' end "
                     "from rowrelay.capture c where c.id = h.capture; select rowrelay.release_held(1)");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(distinct h.new_row ->> 'v', ' ') from rowrelay.queue q "
                                    "join rowrelay.change h on h.id = q.change_id"),
                   "v0");
  deliver(&f);
  cr_expect_str_eq(mirrored(&f), "2v4 3v4 4v4 5v4");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.refusal"), "0");
  end(&f);
}

/* Refused is not held: what comes later passes it, and no retry may write it over that. */
Test(place, what_was_refused_is_not_retried_after_another_table_took_the_place) {
  struct fixture f;
  begin(&f, "place_refused");
  sql(f.at_target, "alter table item add x int");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1, 'bad')");
  deliver(&f);
  sql(f.at_source, "alter table item rename to old_item; create table item as table old_item;"
                   "alter table item add primary key (id); select rowrelay.unroute('old_item', 'w')");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "update item set v = 'new'");
  deliver(&f);
  sql(f.at_target, "alter table item drop constraint item_v_check");
  rowrelay_ok(&f, "retry", "--all", NULL);
  deliver(&f);
  cr_expect_str_eq(mirrored(&f), "1new");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "1", "it stays listed");
  end(&f);
}

Test(place, what_was_refused_is_queued_as_it_is_now_after_its_route_was_removed_and_added_again) {
  struct fixture f;
  begin(&f, "place_again");
  sql(f.at_target, "alter table item add x int");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1, 'bad'), (2, 'bad'), (3, 'ok')");
  deliver(&f);
  rowrelay_ok(&f, "route", "item", "w", "--remove", NULL);
  sql(f.at_source, "delete from item where id = 1; update item set v = 'new'");
  rowrelay_ok(&f, "route", "item", "w", NULL);
  sql(f.at_target, "alter table item drop constraint item_v_check");
  rowrelay_ok(&f, "retry", "--all", NULL);
  deliver(&f);
  cr_expect_str_eq(mirrored(&f), "2new 3ok", "of 3 nothing was refused");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  end(&f);
}

Test(place, a_refused_truncate_is_not_retried_after_another_table_took_the_place) {
  struct fixture f;
  begin(&f, "place_truncate");
  sql(f.at_target, "alter table item add x int; create function no() returns trigger language plpgsql as "
                   "$$ begin raise 'no truncate here'; end $$;"
                   "create trigger no before truncate on item execute function no()");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "truncate item; drop table item; create table item (id int primary key, v text)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (5, 'new')");
  deliver(&f);
  cr_expect_str_eq(mirrored(&f), "5new");
  sql(f.at_target, "drop trigger no on item");
  rowrelay_ok(&f, "retry", "--all", NULL);
  deliver(&f);
  cr_expect_str_eq(mirrored(&f), "5new");
  end(&f);
}

/* A partition that was captured by itself before, into the place of its table. */
Test(place, what_was_refused_of_a_table_that_became_a_partition_is_not_retried) {
  struct fixture f;
  begin(&f, "place_partition");
  sql(f.at_source, "create table whole (id int primary key, v text) partition by range (id);"
                   "create table part_1 partition of whole for values from (1) to (100);"
                   "create table part_2 (id int primary key, v text)");
  rowrelay_ok(&f, "capture", "whole", "part_2", NULL);
  rowrelay_ok(&f, "route", "whole", "w", "--into", "item", NULL);
  rowrelay_ok(&f, "route", "part_2", "w", "--into", "item", "--shared", NULL);
  sql(f.at_source, "insert into part_2 values (101, 'bad'), (102, 'ok'), (103, 'bad')");
  deliver(&f);
  rowrelay_ok(&f, "release", "part_2", NULL);
  sql(f.at_source, "alter table whole attach partition part_2 for values from (100) to (200);"
                   "update whole set v = 'new'; delete from whole where id = 103");
  deliver(&f);
  sql(f.at_target, "alter table item drop constraint item_v_check");
  rowrelay_ok(&f, "retry", "--all", NULL);
  deliver(&f);
  cr_expect_str_eq(mirrored(&f), "101new 102new");
  end(&f);
}

/* Nothing keeps the changes of two targets in order. */
Test(place, another_target_of_the_same_database_has_to_wait_for_what_the_first_one_has) {
  struct fixture f;
  const char *errors;
  begin(&f, "place_target");
  sql(f.at_target, "alter table item add x int");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1, 'old'), (2, 'bad')");
  rowrelay_ok(&f, "target", "add", "w2", f.target_url, "--option", "lanes=1", NULL);
  rowrelay_ok(&f, "target", "add", "w3", f.target_url, NULL);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "route", "item", "w2", "--shared", NULL), 2);
  cr_assert_not_null(strstr(errors, "Remove that route first: rowrelay route --remove public.item w\n"), "%s", errors);
  rowrelay_ok(&f, "route", "item", "w", "--remove", NULL);
  for (int i = 0; i < 2; i++) {
    cr_assert_eq(rowrelay(&f, NULL, &errors, "route", "item", "w2", NULL), 2, "%s", i == 0 ? "queued" : "refused");
    cr_assert_not_null(strstr(errors, "target \"w\" still has changes of table public.item for the same place"));
    deliver(&f);
  }
  rowrelay_ok(&f, "skip", "--all", "--target", "w", NULL);
  rowrelay_ok(&f, "route", "item", "w2", NULL);
  sql(f.at_source, "update item set v = 'new'");
  deliver(&f);
  cr_expect_str_eq(mirrored(&f), "1new 2new");
  /* The same of a table that was dropped. */
  sql(f.at_source, "update item set v = 'old'; drop table item; create table item (id int primary key, v text)");
  rowrelay_ok(&f, "capture", "item", NULL);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "route", "item", "w3", NULL), 2);
  cr_assert_not_null(strstr(errors, "target \"w2\" still has changes of table public.item for the same place"));
  /* Or that gets the other one's URL. */
  rowrelay_ok(&f, "target", "set", "w3", "--url", "postgresql:///elsewhere", NULL);
  rowrelay_ok(&f, "route", "item", "w3", NULL);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "target", "set", "w3", "--url", f.target_url, NULL), 2);
  cr_assert_not_null(strstr(errors, "target \"w2\" still has changes of table public.item for the same place"));
  rowrelay_ok(&f, "target", "drop", "w2", NULL);
  rowrelay_ok(&f, "target", "set", "w3", "--url", f.target_url, NULL);
  rowrelay_ok(&f, "target", "add", "w4", "postgresql:///elsewhere", NULL);
  sql(f.at_source, "create table next_item (id int primary key)");
  rowrelay_ok(&f, "capture", "next_item", NULL);
  rowrelay_ok(&f, "route", "next_item", "w4", "--into", "item", NULL);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "target", "set", "w4", "--url", f.target_url, NULL), 2);
  cr_assert_not_null(strstr(errors, "already go into table"));
  fixture_end(&f);
}

/* A push waits for a lock there, while its table goes elsewhere and another one, with other lanes, takes its place. */
static void in_flight(const char *name, const char *elsewhere) {
  struct fixture f;
  begin(&f, name);
  sql(f.at_target, "alter table item add x int; create table item_2 (like item including all);"
                   "insert into item values (1, 'a'), (2, 'a')");
  sql(f.at_source, "insert into item values (1, 'a', 7), (2, 'a', 7)");
  rowrelay_ok(&f, "capture", "item", "--lane", "x", "--to", "w", NULL);
  rowrelay_ok(&f, "target", "set", "w", "--option", "push_timeout=600", NULL); /* it waits for a tenth of that */
  PGconn *reader = connect_to(f.target, NULL);
  sql(reader, "begin; select from item where id = 1 for update");
  fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "update item set v = 'old'");
  wait_until(f.at_target, "1", 10,
             "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()");
  sql(f.at_source, "alter table item rename to old_item; create table item as table old_item;"
                   "alter table item add primary key (id)");
  PGconn *mover = connect_to(f.source, NULL);
  sql(mover, "set statement_timeout = '30 s'");
  start(mover, elsewhere == NULL ? "select rowrelay.unroute('old_item', 'w')"
                                 : "select rowrelay.route('old_item', 'w', 'item_2')");
  if (elsewhere != NULL) {
    sleep_seconds(0.5);
    cr_expect(is_running(mover), "what is in flight goes where it went");
    sql(reader, "commit");
  }
  finish(mover);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "update item set v = 'new' where id = 2");
  sleep_seconds(1);
  if (elsewhere == NULL)
    sql(reader, "commit");
  wait_until_empty(&f, 20);
  cr_expect_str_eq(mirrored(&f), "1old 2new");
  PQfinish(reader);
  PQfinish(mover);
  fixture_end(&f);
}

Test(place, a_push_in_flight_is_not_overtaken_by_the_next_table_where_its_route_was_removed) {
  in_flight("place_flight", NULL);
}

Test(place, a_push_in_flight_is_not_overtaken_by_the_next_table_where_its_table_goes_elsewhere) {
  in_flight("place_into", "item_2");
}

/* ---- channels of messages -------------------------------------------------------------------------------------- */

/* Characters that the name of a topic may not have become "_": then two tables would have one, and perhaps equal keys.
 */
Test(place, tables_whose_topics_would_have_one_name_are_refused) {
  static const char *const URLS[] = {"kafka://127.0.0.1:1/", "redis://127.0.0.1:1/2", "nats://127.0.0.1:1/a.{table}",
                                     "amqp://127.0.0.1:1/exchange"};
  struct fixture f;
  fixture_begin(&f, "place_channels");
  sql(f.at_source, "create table \"x y\" (id int primary key); create table x_y (id int primary key); "
                   "create table \"\u00e9\" (id int primary key); create table \"\u00fc\" (id int primary key)");
  for (int i = 0; i < 4; i++) {
    sql(f.at_source, "select rowrelay.add_target('t%d', '%s')", i, URLS[i]);
    sql(f.at_source, "select rowrelay.capture_table('x_y', target => 't%d')", i);
    cr_expect_str_eq(sql_fails(f.at_source, "select rowrelay.capture_table('\"x y\"', target => 't%d')", i), "22023");
    sql(f.at_source,
        "select rowrelay.capture_table('\"x y\"'); select rowrelay.route('\"x y\"', 't%d', into_table => "
        "'other')",
        i);
    sql(f.at_source, "select rowrelay.capture_table('\"\u00e9\"', target => 't%d')", i);
    cr_expect_str_eq(sql_fails(f.at_source, "select rowrelay.capture_table('\"\u00fc\"', target => 't%d')", i),
                     "22023");
  }
  /* One topic for all is wanted. */
  sql(f.at_source, "select rowrelay.add_target('all', 'kafka://127.0.0.1:1/changes');"
                   "select rowrelay.capture_table('x_y', target => 'all');"
                   "select rowrelay.capture_table('\"x y\"', target => 'all')");
  fixture_end(&f);
}
