/* rowrelay.requeue() brings chosen rows to a mirror anew, in order with what is written and delivered meanwhile. */
#include <criterion/criterion.h>
#include <signal.h>

#include "mirrored.h"

static void begin(struct fixture *f, const char *name) {
  mirrored_begin(f, name, "create table item (id int primary key, n int)");
  mirrored_capture(f, "item");
  sql(f->at_source, "insert into item select n, n from generate_series(1, 10) as n");
  mirrored_deliver(f);
}

Test(requeue, a_row_that_comes_while_its_delete_is_queued_again_is_kept) {
  struct fixture f;
  begin(&f, "requeue_insert");
  PGconn *early = connect_to(f.source, NULL);
  PGconn *late = connect_to(f.source, NULL);
  PGconn *repair = connect_to(f.source, NULL);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  /* one with a smaller id that is not committed yet, and one with a larger id that is delivered in the meantime */
  sql(early, "begin; insert into item values (100, 1)");
  start(repair, "select rowrelay.requeue('item', 'w', '{100,200,300}')");
  wait_until(
      f.at_source, "t", 10,
      "select exists (select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database())");
  sql(late, "insert into item values (200, 2)");
  wait_until(f.at_target, "1", 10, "select count(*) from item where id = 200");
  cr_assert(is_running(repair));
  sql(early, "commit");
  finish(repair);
  wait_until_empty(&f, 20);
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(op || ' ' || key, ', ' order by change_id) from rowrelay.history "
                       "where key in ('100', '200', '300')"),
                   "insert 100, delete 300, insert 200, snapshot 100, snapshot 200");
  cr_assert(stop_process(process, SIGTERM) == 0);
  same_rows(&f, "item", "item", "id");
  cr_assert(ask_number(f.at_target, "select count(*) from item") == 12);
  PQfinish(early);
  PQfinish(late);
  PQfinish(repair);
  fixture_end(&f);
}

Test(requeue, nothing_of_its_lane_is_delivered_before_a_delete_that_is_queued_again) {
  struct fixture f;
  begin(&f, "requeue_lane");
  PGconn *repair = connect_to(f.source, NULL);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  sql(repair, "begin; select rowrelay.requeue('item', 'w', '{100}')");
  sql(f.at_source, "insert into item values (100, 1)");
  sql(f.at_source, "insert into item values (101, 1)");
  wait_until(f.at_target, "1", 10, "select count(*) from item where id = 101");
  sleep_seconds(0.2);
  cr_assert(ask_number(f.at_target, "select count(*) from item where id = 100") == 0);
  sql(repair, "commit");
  wait_until(f.at_target, "1", 10, "select count(*) from item where id = 100");
  wait_until_empty(&f, 20);
  cr_assert(stop_process(process, SIGTERM) == 0);
  same_rows(&f, "item", "item", "id");
  PQfinish(repair);
  fixture_end(&f);
}

Test(requeue, a_row_that_is_being_written_is_not_queued_again_nor_waited_for) {
  struct fixture f;
  begin(&f, "requeue_locked");
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; update item set n = 70 where id = 7");
  cr_assert(ask_number(f.at_source, "select rowrelay.requeue('item', 'w', '{6,7,8}')") == 2);
  sql(writer, "commit");
  mirrored_same(&f, "item");
  PQfinish(writer);
  fixture_end(&f);
}

Test(requeue, a_key_in_another_spelling_is_the_same_row) {
  struct fixture f;
  fixture_begin(&f, "requeue_spelling");
  if (ask_number(f.at_source, "select count(*) from pg_available_extensions where name = 'citext'") == 0) {
    fixture_end(&f);
    cr_skip("extension citext is not available");
  }
  sql(f.at_source, "create schema ext; create extension citext schema ext");
  sql(f.at_target, "create schema ext; create extension citext schema ext");
  sql(f.at_source, "create table item (id ext.citext, day timestamptz, n numeric, primary key (id, day))");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values ('Anna', '2024-02-29', 1.50), ('Bert', '2024-02-29', 2)");
  mirrored_deliver(&f);
  rowrelay_ok(&f, "verify", "w", NULL);
  cr_assert(
      ask_number(
          f.at_source,
          "select rowrelay.requeue('item', 'w', array['[\"ANNA\", \"2024-02-29\"]', '[\"x\", \"2024-02-29\"]'])") == 2);
  mirrored_deliver(&f);
  rowrelay_ok(&f, "verify", "w", NULL);
  sql(f.at_target, "update item set n = 1.5 where n = 1.50");
  cr_assert_eq(rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL), 3);
  mirrored_deliver(&f);
  rowrelay_ok(&f, "verify", "w", NULL);
  fixture_end(&f);
}

Test(requeue, rows_can_be_queued_again_only_where_that_is_safe) {
  struct fixture f;
  begin(&f, "requeue_wrong");
  sql(f.at_source,
      "create table pile (n int); select rowrelay.capture_table('pile'); select rowrelay.route('pile', 'w')");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.requeue('pile', 'w', '{1}')"), "55000");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.requeue('item', 'x', '{1}')"), "42704");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.requeue('item', 'w', '{x}')"), "22P02");
  cr_assert_str_eq(
      sql_fails(f.at_source, "begin isolation level repeatable read; select rowrelay.requeue('item', 'w', '{1}')"),
      "55000");
  sql(f.at_source, "rollback");
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; insert into item values (100, 1)");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.requeue('item', 'w', '{99}', patience => '100 ms')"),
                   "55P03");
  sql(writer, "rollback; begin; select rowrelay.lock_lanes(rowrelay.lanes_of(1))");
  cr_assert_str_eq(sql_fails(f.at_source, "set lock_timeout = '50ms';"
                                          "select rowrelay.lock_lanes(rowrelay.lanes_of(1))"),
                   "55P03");
  cr_assert_not_null(strstr(PQerrorMessage(f.at_source), "a batch that is in flight did not end within 50ms"), "%s",
                     PQerrorMessage(f.at_source));
  sql(f.at_source, "reset lock_timeout");
  PQfinish(writer);
  cr_assert(ask_number(f.at_source, "select rowrelay.requeue('item', 'w', '{99,99}')") == 1);
  fixture_end(&f);
}
