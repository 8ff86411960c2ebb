/* The view rowrelay.history: what happened, who did it, and what has become of it at each target. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>

#include "hooked.h"
#include "mirrored.h"

/* Of all changes, in order. `columns` are SQL expressions. */
static const char *history(struct fixture *f, const char *columns) {
  return ask(f->at_source, "select string_agg(concat_ws(' ', %s), ', ' order by change_id) from rowrelay.history",
             columns);
}

/* ---- who ------------------------------------------------------------------------------------------------------- */

Test(history, says_who_made_a_change_and_nobody_can_say_otherwise) {
  struct fixture f;
  role_begin("test_history_app");
  role_begin("test_history_anna");
  mirrored_begin(&f, "history_who",
                 "create table item (id int primary key, name text); create table part (id int, n int) partition by "
                 "hash (id); create table part_0 partition of part for values with (modulus 1, remainder 0);"
                 "grant all on item, part, part_0 to test_history_app, test_history_anna;"
                 "create function put(id int) returns void language sql security definer as $$ insert into item values "
                 "(id, current_user) $$; grant test_history_anna to test_history_app");
  mirrored_capture(&f, "item");
  mirrored_capture(&f, "part");
  PGconn *app = connect_to(f.source, "user=test_history_app application_name=till");
  sql(app, "insert into item values (1, 'a')");
  sql(app, "set rowrelay.actor = 'eve'; set rowrelay.db_user = 'eve'; set rowrelay.application_name = 'eve';"
           "set rowrelay.client_addr = '1.2.3.4'; update item set id = 2; select put(3)");
  sql(app, "reset rowrelay.actor; set role test_history_anna; set application_name = 'desk'; delete from item where id "
           "= 2; reset role");
  sql(app, "insert into part values (4, 1); truncate part_0; truncate item");
  PQfinish(app);
  cr_assert_str_eq(history(&f, "op, key, actor, db_user, application_name"),
                   "insert 1 test_history_app test_history_app till, "
                   "delete 1 eve test_history_app till, insert 2 eve test_history_app till, "
                   "insert 3 eve test_history_app till, "
                   "delete 2 test_history_app test_history_app as test_history_anna desk, "
                   "insert test_history_app test_history_app desk, delete test_history_app test_history_app desk, "
                   "truncate test_history_app test_history_app desk");
  cr_assert_str_eq(ask(f.at_source, "select count(client_addr) from rowrelay.history"), "0");
  fixture_end(&f);
  role_end("test_history_app");
  role_end("test_history_anna");
}

Test(history, says_where_a_change_came_from) {
  struct fixture f;
  struct receiver *receiver = receiver_begin(); /* knows a free port */
  char port[32];
  snprintf(port, sizeof port, "port=%d", receiver_port(receiver));
  receiver_end(receiver);
  own_server("source", port);
  mirrored_begin(&f, "history_where", "create table item (id int primary key)");
  mirrored_capture(&f, "item");
  PGconn *near = connect_to(f.source, NULL);
  PGconn *far = connect_to(f.source, "host=127.0.0.1");
  /* Plans that a session keeps know its own address, and no other's. */
  for (int i = 0; i < 20; i++)
    sql(i % 2 == 0 ? near : far, "insert into item values (%d)", i);
  sql(far, "update item set id = 100 where id = 1");
  PQfinish(near);
  PQfinish(far);
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(distinct concat(client_addr, ' ', (new_row ->> 'id')::int %% 2), "
                       "', ') from rowrelay.history where op = 'insert' and key <> '100'"),
                   " 0, 127.0.0.1 1");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.history where client_addr = '127.0.0.1'"), "12");
  fixture_end(&f);
}

/* ---- what ------------------------------------------------------------------------------------------------------ */

Test(history, says_what_an_update_changed) {
  struct fixture f;
  mirrored_begin(
      &f, "history_what",
      "create table item (id int primary key, name text, price numeric, more json, tags text[], secret text);"
      "create table plain (id int primary key, name text)");
  sql(f.at_source, "select rowrelay.capture_table('item', before => 'full', mask => '{\"secret\": \"*\"}');"
                   "select rowrelay.capture_table('plain')");
  sql(f.at_source, "insert into item values (1, 'a', 1.50, '{\"a\": 1}', '{x}', 'one')");
  sql(f.at_source, "update item set name = 'say \"\\u00e4\"', price = 1.500, secret = 'two'");
  sql(f.at_source, "update item set name = null, more = '{\"a\": \"\\u0000\"}', tags = '[0:1]={x,y}'");
  sql(f.at_source, "update item set secret = 'three'");
  sql(f.at_source,
      "update item set id = 2; delete from item; insert into plain values (1, 'a'); update plain set name = 'b'");
  cr_assert_str_eq(history(&f, "op, changed"),
                   "insert, update {\"name\": [\"a\", \"say \\\"\\\\u00e4\\\"\"], \"price\": [1.50, 1.500]}, "
                   "update {\"name\": [\"say \\\"\\\\u00e4\\\"\", null], "
                   "\"more\": [\"{\\\"a\\\": 1}\", \"{\\\"a\\\": \\\"\\\\u0000\\\"}\"], "
                   "\"tags\": [\"{x}\", \"[0:1]={x,y}\"]}, update {}, delete, insert, delete, insert, update");
  fixture_end(&f);
}

/* ---- what became of it ------------------------------------------------------------------------------------------ */

/* Of target w: members of `deliveries`, in the order of the changes. */
static const char *deliveries(struct fixture *f, const char *members) {
  return history(f, ask(f->at_source,
                        "select 'key, ' || string_agg(format('deliveries -> ''w'' ->> %%L', m), ', ') from "
                        "regexp_split_to_table('%s', ' ') as m",
                        members));
}

Test(history, a_delivery_says_which_process_when_and_what_the_target_answered) {
  struct fixture f;
  mirrored_begin(&f, "history_mirror", "create table item (id int primary key, name text)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1, 'a'), (2, 'b')");
  cr_assert_str_eq(deliveries(&f, "status attempts process answer settled_at"), "1 new, 2 new");
  mirrored_deliver(&f);
  sql(f.at_source, "update item set name = 'c' where id = 1; update item set name = 'd' where id = 1; delete from item "
                   "where id = 2");
  mirrored_deliver(&f);
  sql(f.at_source, "truncate item");
  mirrored_deliver(&f);
  cr_assert_str_eq(deliveries(&f, "status attempts answer error"),
                   "1 complete 1 stored, 2 complete 1 stored, 1 complete 1 superseded by a later change, 1 complete 1 "
                   "stored, 2 complete 1 deleted, complete 1 truncated");
  /* The processes are gone by now. */
  cr_assert_str_eq(
      ask(f.at_source,
          "select concat(count(distinct d ->> 'process'), ' ', count(distinct d ->> 'pid'), ' ', bool_and((d "
          "->> 'pid')::int > 1 and d ->> 'host' <> '' and (d ->> 'claimed_at')::timestamptz > captured_at "
          "and (d ->> 'settled_at')::timestamptz > (d ->> 'claimed_at')::timestamptz)) "
          "from (select captured_at, deliveries -> 'w' as d from rowrelay.history) as h"),
      "3 3 t");
  fixture_end(&f);
}

Test(history, a_webhooks_delivery_has_its_status_line_and_no_secret) {
  struct fixture f;
  struct receiver *receiver = hooked_begin(&f, "history_hook", NULL);
  receiver_answer(receiver, "\"created\"", 0, (struct answer){.status = 201, .body = "the secret is 42"});
  receiver_answer(receiver, "\"odd\"", 0, (struct answer){.status = 299});
  receiver_answer(receiver, "\"bad\"", 0, (struct answer){.status = 422, .body = "not so"});
  sql(f.at_source, "insert into item values (1, 'created'), (2, 'odd'), (3, 'bad'), (4, 'plain'), (5, 'created')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(deliveries(&f, "status answer error"), "1 complete 201 Created, 2 complete 299, "
                                                          "3 error HTTP 422: not so, "
                                                          "4 complete 204 No Content, 5 complete 201 Created");
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(concat_ws(' ', outcome, answer, change_ids, first_id, last_id), ', ' "
                       "order by first_id) from rowrelay.receipt"),
                   "delivered 201 Created {1,5} 1 5, delivered 299 {2} 2 2, refused {3} 3 3, "
                   "delivered 204 No Content {4} 4 4");
  hooked_end(&f, receiver);
}

Test(history, a_refused_change_has_all_its_attempts_and_one_that_was_skipped_says_by_whom) {
  struct fixture f;
  mirrored_begin(&f, "history_refused", "create table item (id int primary key, n int)");
  mirrored_capture(&f, "item");
  mirrored_deliver(&f);
  sql(f.at_source, "insert into item values (0, 0)");
  mirrored_deliver(&f);
  sql(f.at_target, "alter table item add constraint small check (n < 9)");
  rowrelay_ok(&f, "target", "set", "w", "--option", "retries=1", NULL);
  sql(f.at_source, "insert into item values (1, 10), (2, 10), (3, 10), (4, 1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  const char *words = "new row for relation \"item\" violates check constraint \"small\"";
  cr_assert_str_eq(
      ask(f.at_source,
          "select string_agg(concat_ws(' ', key, d ->> 'status', d ->> 'attempts', d ->> 'process' is not "
          "null, starts_with(d ->> 'error', '%s'), d ->> 'settled_at' is not null), ', ' order by change_id) "
          "from (select *, deliveries -> 'w' as d from rowrelay.history) as h where key in ('1', '4')",
          words),
      "1 error 2 t t t, 4 complete 1 t t");
  sql(f.at_source, "update item set n = 2 where id = 3");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "set rowrelay.actor = 'anna'; select rowrelay.skip('w', array(select change_id from rowrelay.errors "
                   "where key = '1')); reset rowrelay.actor");
  rowrelay_ok(&f, "retry", "--all", NULL);
  cr_assert_str_eq(ask(f.at_source,
                       "select concat_ws(' ', deliveries -> 'w' ->> 'status', deliveries -> 'w' ->> "
                       "'attempts', deliveries -> 'w' ->> 'settled_at') from rowrelay.history where key = '2'"),
                   "new 2");
  sql(f.at_target, "alter table item drop constraint small");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(history(&f, "key, status ->> 'w'"),
                   "0 complete, 1 skipped, 2 complete, 3 superseded, 4 complete, 3 complete");
  cr_assert_str_eq(deliveries(&f, "status attempts actor answer error"),
                   ask(f.at_source,
                       "select replace('0 complete 1 stored, 1 skipped 2 anna @, 2 complete 3 stored, 3 "
                       "superseded 2 @, 4 complete 1 stored, 3 complete 1 stored', '@', '%s')",
                       words));
  cr_assert_str_eq(ask(f.at_source,
                       "select concat((deliveries -> 'w' ->> 'settled_at')::timestamptz > now() - interval "
                       "'1 min', deliveries -> 'w' ->> 'process') from rowrelay.history where key = '1'"),
                   "t");
  fixture_end(&f);
}

Test(history, who_has_retried_or_replayed_a_change_is_told) {
  struct fixture f;
  char file[64];
  mirrored_begin(&f, "history_again", "create table item (id int primary key, n int)");
  mirrored_capture(&f, "item");
  snprintf(file, sizeof file, "file:/tmp/rowrelay-%d.again", (int)getpid());
  rowrelay_ok(&f, "target", "add", "lines", file, NULL);
  rowrelay_ok(&f, "route", "item", "lines", NULL);
  sql(f.at_source, "insert into item values (0, 0)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_target, "alter table item add constraint small check (n < 9)");
  rowrelay_ok(&f, "target", "set", "w", "--option", "retries=1", NULL);
  sql(f.at_source, "insert into item values (1, 10)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "set rowrelay.actor = 'anna'; select rowrelay.retry('w'); reset rowrelay.actor");
  const char *said = rowrelay_ok(&f, "log", "item", "1", NULL);
  cr_expect_not_null(strstr(said, "\nTo w:        new "), "%s", said);
  cr_expect_not_null(strstr(said, " retried by anna "), "%s", said);
  sql(f.at_target, "alter table item drop constraint small");
  rowrelay_ok(&f, "replay", "lines", "--since", "yesterday", NULL);
  cr_expect_str_eq(ask(f.at_source, "select status ->> 'lines' from rowrelay.history where key = '1'"), "new");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(
      ask(f.at_source,
          "select string_agg(concat_ws(' ', t, d ->> 'status', d ->> 'actor', d ->> 'again', "
          "d ->> 'again_by', (d ->> 'again_at')::timestamptz > now() - interval '1 min'), ', ' order by t) "
          "from rowrelay.history, jsonb_each(deliveries) as e(t, d) where key = '1'"),
      "lines complete replayed postgres t, w complete retried anna t");
  said = rowrelay_ok(&f, "log", "item", "1", NULL);
  cr_expect_not_null(strstr(said, " replayed by postgres "), "%s", said);
  unlink(file + strlen("file:"));
  fixture_end(&f);
}

Test(history, what_was_never_delivered_does_not_look_complete) {
  struct fixture f;
  mirrored_begin(&f, "history_dropped",
                 "create table item (id int primary key); create table doc (id int primary key)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1)");
  mirrored_deliver(&f);
  sql(f.at_source, "insert into item values (2)");
  rowrelay_ok(&f, "target", "drop", "w", NULL);
  cr_assert_str_eq(history(&f, "key, status ->> 'w'"), "1 complete, 2 dropped");
  fixture_end(&f);
}

Test(history, a_process_that_has_a_lease_is_named) {
  struct fixture f;
  struct receiver *receiver = hooked_begin(&f, "history_lease", (const char *[]){"claim=lease", NULL});
  receiver_answer(receiver, "\"slow\"", 1, (struct answer){.status = 204, .delay = 3});
  sql(f.at_source, "insert into item values (1, 'slow')");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "in-progress t", 20,
             "select concat(deliveries -> 'w' ->> 'status', ' ', (deliveries -> 'w' ->> 'pid')::int = %d) from "
             "rowrelay.history",
             (int)process);
  wait_until(f.at_source, "complete t 204 No Content", 20,
             "select concat(deliveries -> 'w' ->> 'status', ' ', (deliveries -> 'w' ->> 'pid')::int = %d, ' ', "
             "deliveries -> 'w' ->> 'answer') from rowrelay.history",
             (int)process);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  hooked_end(&f, receiver);
}

Test(history, rows_that_came_with_a_copy_of_the_table_are_complete) {
  struct fixture f;
  mirrored_begin(&f, "history_copy", "create table item (id int primary key); insert into item values (1)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (2)");
  rowrelay_ok(&f, "backfill", "item", "--to", "w", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(deliveries(&f, "status answer"), "2 complete it came with a copy of the table");
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}
