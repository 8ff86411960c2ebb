/* The fate of changes that a target refuses, and of their neighbours. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "refused.h"

/* A change of key and price in an append target that takes none below zero. */
static void begin_append(struct fixture *f, const char *name, const char *option) {
  refused_begin(f, name, "mode=append", option);
  sql(f->at_source, "insert into item (id, price) values (0, 0)");
  rowrelay_ok(f, "run", "--until-empty", NULL);
  sql(f->at_target, "truncate item_changes;"
                    "alter table item_changes add constraint not_negative check ((new_row ->> 'price')::numeric >= 0)");
}

/* Prices that arrived of one key, in their order. */
static const char *prices_of(struct fixture *f, int key) {
  return ask(
      f->at_target,
      "select string_agg(coalesce(new_row ->> 'price', op), ' ' order by position) from item_changes where key = '%d'",
      key);
}

static int count_words(const char *text, const char *words) {
  int count = 0;
  for (const char *at = text; (at = strstr(at, words)) != NULL; at++)
    count++;
  return count;
}

/* Each comes alone, so none is in a batch with another. */
Test(refusal, the_log_tells_once_of_those_that_are_refused_for_the_same_reason) {
  struct fixture f;
  refused_begin(&f, "refusal_log", NULL, "retries=0");
  pid_t process = fixture_run(&f, "--log-format", "json", NULL);
  sql(f.at_source, "insert into item (id) select generate_series(1, 9)");
  wait_until_empty(&f, 10);
  for (int i = 1; i <= 9; i++) {
    char expected[8];
    snprintf(expected, sizeof expected, "%d", i);
    sql(f.at_source, i == 9 ? "update item set code = null where id = %d" : "update item set price = -1 where id = %d",
        i);
    wait_until(f.at_source, expected, 10, "select count(*) from rowrelay.errors");
  }
  wait_until_says(process, "violates not-null constraint", 10);
  wait_until_says(process, "\"message\":\"target w: 1 worker\",\"target\":\"w\"}", 10);
  const char *said = process_log(process);
  /* On a machine that is so slow that a minute went by, it tells again of those since. */
  int again = count_words(said, "since the last message");
  cr_assert_eq(count_words(said, "violates check constraint"), 1 + again, "%s", said);
  cr_assert_eq(count_words(said, "violates not-null constraint"), 1, "%s", said);
  cr_assert_eq(count_words(said, "\"target\":\"w\",\"table\":\"public.item\""), 2 + again, "%s", said);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* What differs in its values alone is one reason: each of these names the row in its message. */
Test(refusal, the_log_tells_once_of_those_that_differ_in_values_alone) {
  struct fixture f;
  refused_begin(&f, "refusal_values", NULL, "retries=0");
  sql(f.at_target,
      "create function forbid() returns trigger language plpgsql as $$begin "
      "  if new.price = 0 then return new; end if; raise 'order %% is not for: \"%%\"', new.id, new.name; end$$;"
      "create trigger forbid before insert or update on item for each row execute function forbid()");
  pid_t process = fixture_run(&f, "--log-format", "json", NULL);
  sql(f.at_source, "insert into item (id, name) select i, 'x' || i from generate_series(1, 9) i");
  wait_until_empty(&f, 10);
  for (int i = 1; i <= 9; i++) {
    char expected[8];
    snprintf(expected, sizeof expected, "%d", i);
    sql(f.at_source, "update item set price = 1 where id = %d", i);
    wait_until(f.at_source, expected, 10, "select count(*) from rowrelay.errors");
  }
  wait_until_says(process, "is not for", 10);
  const char *said = process_log(process);
  int again = count_words(said, "since the last message");
  cr_assert_eq(count_words(said, "is not for"), 1 + again, "%s", said);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* ---- one among many -------------------------------------------------------------------------------------------- */

Test(refusal, neighbours_of_refused_rows_arrive_and_the_refused_are_listed_with_the_servers_words) {
  struct fixture f;
  refused_begin(&f, "refusal_listed", NULL, NULL);
  sql(f.at_target,
      "insert into item values (-1, 'x', 0, 'c', 'taken');"
      "create function forbid() returns trigger language plpgsql as $$begin "
      "  if new.name = 'forbidden' then raise 'no %% here', new.name using detail = 'ask the owner'; end if; "
      "  return new; "
      "end$$;"
      "create trigger forbid before insert on item for each row execute function forbid()");
  sql(f.at_source, "insert into item (id) select generate_series(1, 2000);"
                   "update item set price = -1 where id = 300;"
                   "update item set code = null where id = 700;"
                   "update item set name = 'much too long a name' where id = 1000;"
                   "update item set name = 'forbidden' where id = 1500;"
                   "update item set tag = 'taken' where id = 1999");
  rowrelay_ok(&f, "run", "--until-empty", NULL);

  /* All 2,000 arrive as they were inserted, and the five updates are refused. */
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item where id > 0 and price = 0 and code = 'c'"), "2000");
  cr_assert_str_eq(
      ask(f.at_source,
          "select string_agg(concat_ws('|', key, op, relation, sqlstate, state, attempts), ' ' order by key::int)"
          " from rowrelay.errors"),
      "300|update|item|23514|error|4 700|update|item|23502|error|4 1000|update|item|22001|error|4 "
      "1500|update|item|P0001|error|4 1999|update|item|23505|error|4");
  static const char *const words[][2] = {
      {"300", "new row for relation \"item\" violates check constraint \"item_price_check\""},
      {"700", "null value in column \"code\" of relation \"item\" violates not-null constraint"},
      {"1000", "value too long for type character varying(10)"},
      {"1500", "no forbidden here"},
      {"1999", "duplicate key value violates unique constraint \"item_tag_key\""}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    cr_assert_str_eq(ask(f.at_source, "select message from rowrelay.errors where key = '%s'", words[i][0]),
                     words[i][1]);
  cr_assert_str_eq(ask(f.at_source, "select detail from rowrelay.errors where key = '1500'"), "ask the owner");
  cr_assert_str_eq(ask(f.at_source, "select new_row ->> 'price' from rowrelay.errors where key = '300'"), "-1");

  const char *said = rowrelay_ok(&f, "errors", NULL);
  cr_assert_not_null(strstr(said, "no forbidden here; ask the owner"), "%s", said);
  cr_assert_not_null(strstr(said, "23514"), "%s", said);
  cr_assert_str_eq(ask(f.at_source, "select concat(state, ' ', errors, ' ', blocked) from rowrelay.status"),
                   "not running 5 0");
  cr_assert_str_eq(
      ask(f.at_source, "select sum(cardinality(change_ids)) from rowrelay.receipt where outcome = 'refused'"), "5");
  cr_assert_str_eq(
      ask(f.at_source, "select status ->> 'w' from rowrelay.history where key = '300' order by change_id desc limit 1"),
      "error");
  fixture_end(&f);
}

Test(refusal, every_row_of_a_batch_may_be_refused) {
  struct fixture f;
  refused_begin(&f, "refusal_all", "retries=0", NULL);
  sql(f.at_source, "insert into item (id, price) select n, -n from generate_series(1, 300) as n");
  refused_deliver(&f);
  cr_assert_str_eq(ask(f.at_source, "select concat(count(*), ' ', sum(attempts)) from rowrelay.errors"), "300 300");
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item"), "0");
  fixture_end(&f);
}

Test(refusal, an_error_code_that_only_the_targets_owner_knows_is_a_refusal_too) {
  struct fixture f;
  refused_begin(&f, "refusal_code", "retries=0", NULL);
  sql(f.at_target,
      "create function forbid() returns trigger language plpgsql as $$begin "
      "  raise 'closed' using errcode = 'XYZ42'; "
      "end$$;"
      "create trigger forbid before insert on item for each row when (new.id = 50) execute function forbid()");
  sql(f.at_source, "insert into item (id) select generate_series(1, 100)");
  refused_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item"), "99");
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', key, sqlstate, message) from rowrelay.errors"),
                   "50 XYZ42 closed");
  fixture_end(&f);
}

Test(refusal, what_could_not_be_captured_is_refused_and_shown) {
  struct fixture f;
  refused_begin(&f, "refusal_problem", NULL, NULL);
  sql(f.at_source,
      "insert into item (id) values (1), (2);"
      "select rowrelay.add_change((select id from rowrelay.capture), 'i', '7', 0, null, null, 'the row is too large')");
  refused_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item"), "2");
  cr_assert_str_eq(ask(f.at_source, "select concat_ws('|', key, state, message) from rowrelay.errors"),
                   "7|error|the row could not be captured: the row is too large");
  cr_assert_str_eq(ask(f.at_source, "select problem from rowrelay.history where key = '7'"), "the row is too large");
  fixture_end(&f);
}

/* ---- the target's own trouble ---------------------------------------------------------------------------------- */

/* The target's trigger fails the first ten times with this code. */
static void fail_ten_times(const char *name, const char *sqlstate) {
  struct fixture f;
  refused_begin(&f, name, "retries=0", NULL);
  sql(f.at_target,
      "create sequence tries;"
      "create function fail() returns trigger language plpgsql as $$begin "
      "  if nextval('tries') <= 5 then raise 'busy' using errcode = '%s'; end if; "
      "  return new; "
      "end$$;"
      "create trigger fail before insert on item for each row execute function fail()",
      sqlstate);
  sql(f.at_source, "insert into item (id) select generate_series(1, 20)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item"), "20");
  cr_assert_str_eq(ask(f.at_target, "select last_value from tries"), "25");
  cr_assert_str_eq(refused_changes(&f), "");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.receipt where outcome = 'refused'"), "0");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.trouble"), "0");
  fixture_end(&f);
}

Test(refusal, a_serialization_failure_is_tried_again_and_counts_for_nothing) {
  fail_ten_times("refusal_40001", "40001");
}

Test(refusal, a_deadlock_is_tried_again_and_counts_for_nothing) {
  fail_ten_times("refusal_40p01", "40P01");
}

/* One among sixty; it comes in several lanes' batches, and the others arrive before it is given up. */
Test(refusal, a_row_that_always_meets_a_serialization_failure_is_listed_and_its_neighbours_arrive) {
  struct fixture f;
  refused_begin(&f, "refusal_always_40001", "retries=1", NULL);
  sql(f.at_target, "create function fail() returns trigger language plpgsql as $$begin "
                   "  if new.id = 13 then raise 'no quota' using errcode = '40001'; end if; "
                   "  return new; "
                   "end$$;"
                   "create trigger fail before insert on item for each row execute function fail()");
  sql(f.at_source, "insert into item (id) select generate_series(1, 60)");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until_empty(&f, 20);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item"), "59");
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(concat_ws(' ', key, state, sqlstate, message), ', ') from rowrelay.errors"),
      "13 error 40001 no quota");
  sql(f.at_source, "insert into item (id) values (61)");
  wait_until(f.at_target, "60", 10, "select count(*) from item");
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

/* ---- park ------------------------------------------------------------------------------------------------------ */

Test(refusal, parked_changes_let_later_ones_of_their_key_go_on) {
  struct fixture f;
  begin_append(&f, "refusal_park", NULL);
  sql(f.at_source, "insert into item (id, price) values (1, 1), (2, 2)");
  sql(f.at_source, "update item set price = -5 where id = 1");
  sql(f.at_source, "update item set price = 6 where id = 1; update item set price = 7 where id = 2");
  refused_deliver(&f);
  cr_assert_str_eq(prices_of(&f, 1), "1 6");
  cr_assert_str_eq(prices_of(&f, 2), "2 7");
  cr_assert_str_eq(refused_changes(&f), "w 1 update error");
  sql(f.at_source, "update item set price = 8 where id = 1");
  refused_deliver(&f);
  cr_assert_str_eq(prices_of(&f, 1), "1 6 8");
  cr_assert_str_eq(refused_changes(&f), "w 1 update error");
  fixture_end(&f);
}

Test(refusal, in_a_mirror_a_newer_row_makes_the_refused_one_moot) {
  struct fixture f;
  refused_begin(&f, "refusal_moot", NULL, NULL);
  sql(f.at_source, "insert into item (id, price) values (1, -1), (2, -2), (3, -3), (4, -4)");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "w 1 insert error, w 2 insert error, w 3 insert error, w 4 insert error");
  sql(f.at_source, "update item set price = 10 where id = 1; delete from item where id = 2; update item set price = "
                   "-30 where id = 3");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "w 3 insert error, w 4 insert error, w 3 update error");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, ' ', price), ', ') from item"), "1 10");
  fixture_end(&f);
}

Test(refusal, in_a_mirror_a_newer_row_of_the_same_batch_makes_the_refused_one_moot) {
  struct fixture f;
  refused_begin(&f, "refusal_moot_at_once", NULL, NULL);
  sql(f.at_source, "insert into item (id, price) values (1, 1), (2, 1), (3, 1)");
  refused_deliver(&f);
  /* Changes of a row collapse into one, so the first must be separated from the third because of the second. */
  sql(f.at_source, "update item set price = -5 where id = 1; update item set price = -7 where id = 2;"
                   "update item set price = 6 where id = 1; update item set price = 8 where id = 3");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(price::text, ' ' order by id) from item"), "6 1 8");
  cr_assert_str_eq(refused_changes(&f), "w 2 update error");
  cr_assert_str_eq(
      ask(f.at_source, "select sum(cardinality(change_ids)) from rowrelay.receipt where outcome = 'refused'"), "2");
  sql(f.at_target, "alter table item drop constraint item_price_check");
  rowrelay_ok(&f, "retry", "--all", NULL);
  refused_deliver(&f);
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

Test(refusal, in_a_mirror_a_truncate_makes_what_was_refused_before_moot) {
  struct fixture f;
  refused_begin(&f, "refusal_truncate", NULL, NULL);
  sql(f.at_source, "insert into item (id, price) values (1, -1), (2, 2)");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "w 1 insert error");
  sql(f.at_source, "truncate item");
  sql(f.at_source, "insert into item (id, price) values (3, -3)");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "w 3 insert error");
  fixture_end(&f);
}

/* ---- block ----------------------------------------------------------------------------------------------------- */

Test(refusal, blocked_changes_wait_and_a_retry_brings_all_in_order) {
  struct fixture f;
  begin_append(&f, "refusal_block", "on_error=block");
  sql(f.at_source, "insert into item (id, price) values (1, 1), (2, 2)");
  sql(f.at_source, "update item set price = -5 where id = 1");
  sql(f.at_source, "update item set price = 6 where id = 1; update item set price = 7 where id = 2");
  refused_deliver(&f);
  sql(f.at_source,
      "update item set price = 8 where id = 1; update item set price = 9 where id = 2; delete from item where id = 1");
  refused_deliver(&f);
  cr_assert_str_eq(prices_of(&f, 1), "1");
  cr_assert_str_eq(prices_of(&f, 2), "2 7 9");
  cr_assert_str_eq(refused_changes(&f), "w 1 update error, w 1 update blocked, w 1 update blocked, w 1 delete blocked");
  cr_assert_str_eq(ask(f.at_source, "select message from rowrelay.errors where state = 'blocked' limit 1"),
                   "an older change of this row was refused");
  cr_assert_str_eq(ask(f.at_source, "select concat(errors, ' ', blocked) from rowrelay.status"), "1 3");

  /* As long as the cause is there, all stays as it is. */
  cr_assert_str_eq(rowrelay_ok(&f, "retry", "--all", NULL), "4 queued again\n");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "w 1 update error, w 1 update blocked, w 1 update blocked, w 1 delete blocked");
  sql(f.at_source, "insert into item (id, price) values (1, 11)");
  sql(f.at_target, "alter table item_changes drop constraint not_negative");
  rowrelay_ok(&f, "retry", "--all", NULL);
  refused_deliver(&f);
  cr_assert_str_eq(prices_of(&f, 1), "1 -5 6 8 delete 11");
  cr_assert_str_eq(refused_changes(&f), "");
  fixture_end(&f);
}

Test(refusal, a_retry_of_the_refused_change_alone_brings_along_what_waits_behind_it) {
  struct fixture f;
  begin_append(&f, "refusal_behind", "on_error=block");
  sql(f.at_source, "insert into item (id, price) values (1, -1), (2, -2); update item set price = 3");
  refused_deliver(&f);
  sql(f.at_target, "alter table item_changes drop constraint not_negative");
  const char *id = ask(f.at_source, "select change_id from rowrelay.errors where key = '1' and state = 'error'");
  cr_assert_str_eq(rowrelay_ok(&f, "retry", id, NULL), "2 queued again\n");
  refused_deliver(&f);
  cr_assert_str_eq(prices_of(&f, 1), "-1 3");
  cr_assert_str_eq(prices_of(&f, 2), "");
  cr_assert_str_eq(refused_changes(&f), "w 2 insert error, w 2 update blocked");
  fixture_end(&f);
}

Test(refusal, a_blocked_change_alone_cannot_overtake_the_refused_one) {
  struct fixture f;
  begin_append(&f, "refusal_overtake", "on_error=block");
  sql(f.at_source, "insert into item (id, price) values (1, -1); update item set price = 3 where id = 1");
  refused_deliver(&f);
  const char *id = ask(f.at_source, "select change_id from rowrelay.errors where state = 'blocked'");
  cr_assert_str_eq(rowrelay_ok(&f, "retry", id, NULL), "1 queued again\n");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "w 1 insert error, w 1 update blocked");
  cr_assert_str_eq(prices_of(&f, 1), "");
  fixture_end(&f);
}

Test(refusal, skip_lets_what_is_blocked_go_on) {
  struct fixture f;
  begin_append(&f, "refusal_skip", "on_error=block");
  sql(f.at_source, "insert into item (id, price) values (1, 1)");
  sql(f.at_source, "update item set price = -5 where id = 1; update item set price = 6 where id = 1;"
                   "update item set price = -7 where id = 1; update item set price = 8 where id = 1");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "w 1 update error, w 1 update blocked, w 1 update blocked, w 1 update blocked");
  cr_assert_str_eq(rowrelay_ok(&f, "skip", "--all", NULL), "1 discarded\n");
  refused_deliver(&f);
  cr_assert_str_eq(prices_of(&f, 1), "1 6");
  cr_assert_str_eq(refused_changes(&f), "w 1 update error, w 1 update blocked");
  rowrelay_ok(&f, "skip", ask(f.at_source, "select change_id from rowrelay.errors where state = 'error'"), NULL);
  refused_deliver(&f);
  cr_assert_str_eq(prices_of(&f, 1), "1 6 8");
  cr_assert_str_eq(refused_changes(&f), "");
  /* The log records what was discarded. */
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.history where key = '1'"), "5");
  fixture_end(&f);
}

/* ---- halt ------------------------------------------------------------------------------------------------------ */

Test(refusal, a_halted_target_says_why_and_goes_on_when_somebody_resumes_it) {
  struct fixture f;
  begin_append(&f, "refusal_halt", "on_error=halt");
  sql(f.at_source, "insert into item (id, price) values (1, 1)");
  sql(f.at_source, "update item set price = -5 where id = 1; update item set price = 6 where id = 1");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_source, "halted", 10, "select state from rowrelay.status");
  const char *id = ask(f.at_source, "select change_id from rowrelay.errors");
  char expected[200];
  snprintf(expected, sizeof expected, "change %s of public.item was refused: retry or skip it, then resume", id);
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.status"), expected);

  /* No change of any row is delivered there. */
  sql(f.at_source, "insert into item (id, price) values (2, 2)");
  sleep_seconds(1.5);
  cr_assert_str_eq(prices_of(&f, 2), "");
  cr_assert_str_eq(prices_of(&f, 1), "1");
  cr_assert_str_eq(ask(f.at_source, "select backlog from rowrelay.status"), "2");
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "run", "--until-empty", NULL), 1);
  cr_assert_not_null(strstr(errors, "target w is not running"), "%s", errors);
  cr_assert_not_null(strstr(errors, expected), "%s", errors);

  sql(f.at_target, "alter table item_changes drop constraint not_negative");
  rowrelay_ok(&f, "retry", "--all", NULL);
  sleep_seconds(0.3);
  cr_assert_str_eq(prices_of(&f, 1), "1");
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  wait_until_empty(&f, 5);
  cr_assert_str_eq(prices_of(&f, 1), "1 -5 6");
  cr_assert_str_eq(prices_of(&f, 2), "2");
  cr_assert_str_eq(ask(f.at_source, "select concat(state, ' ', errors, ' ', note) from rowrelay.status"), "running 0 ");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(refusal, a_halted_target_can_be_resumed_after_a_skip) {
  struct fixture f;
  begin_append(&f, "refusal_halt_skip", "on_error=halt");
  sql(f.at_source, "insert into item (id, price) values (1, -1); update item set price = 2 where id = 1");
  cr_assert_eq(rowrelay(&f, NULL, NULL, "run", "--until-empty", NULL), 1);
  cr_assert_str_eq(ask(f.at_source, "select state from rowrelay.status"), "halted");
  rowrelay_ok(&f, "skip", "--all", NULL);
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  refused_deliver(&f);
  cr_assert_str_eq(prices_of(&f, 1), "2");
  fixture_end(&f);
}

/* ---- retry and skip -------------------------------------------------------------------------------------------- */

Test(refusal, a_retry_reaches_processes_that_are_long_past_that_change) {
  struct fixture f;
  refused_begin(&f, "refusal_past", NULL, NULL);
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "insert into item (id, price) values (-1, -1), (-2, -2)");
  sql(f.at_source, "insert into item (id) select generate_series(1, 3000)");
  wait_until_empty(&f, 20);
  /* Their floors rise, and are stored at the latest when they leave. */
  sql(f.at_source, "insert into item (id) select generate_series(3001, 6000)");
  wait_until_empty(&f, 20);
  sleep_seconds(0.5);
  sql(f.at_target, "alter table item drop constraint item_price_check");
  const char *id = ask(f.at_source, "select change_id from rowrelay.errors where key = '-1'");
  cr_assert_str_eq(rowrelay_ok(&f, "retry", id, NULL), "1 queued again\n");
  wait_until(f.at_target, "-1", 5, "select price from item where id = -1");
  sleep_seconds(3); /* workers look once a second by themselves, and their floors rise again */
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  cr_assert(ask_number(f.at_source, "select floor from rowrelay.floor") > 5000);
  rowrelay_ok(&f, "retry", "--all", NULL);
  cr_assert(ask_number(f.at_source, "select floor from rowrelay.floor") < 5000);
  refused_deliver(&f);
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

Test(refusal, a_floor_that_is_stored_during_a_retry_does_not_hide_the_change) {
  struct fixture f;
  refused_begin(&f, "refusal_floor", NULL, NULL);
  sql(f.at_source, "insert into item (id, price) values (-1, -1)");
  sql(f.at_source, "insert into item (id) select generate_series(1, 3000)");
  refused_deliver(&f);
  sql(f.at_target, "alter table item drop constraint item_price_check");
  pid_t process = fixture_run(&f, NULL, NULL);
  sql(f.at_source, "insert into item (id) select generate_series(3001, 3100)");
  wait_until_empty(&f, 10);
  sleep_seconds(1); /* it is idle, and its floors are high */
  sql(f.at_source, "begin; select rowrelay.retry()");
  /* It stores its floors when it leaves; that waits for the retry. */
  kill(process, SIGTERM);
  sleep_seconds(1);
  sql(f.at_source, "commit");
  cr_assert_eq(wait_process(process, 5), 0);
  cr_assert(ask_number(f.at_source, "select floor from rowrelay.floor") < 3000);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_target, "select price from item where id = -1"), "-1");
  fixture_end(&f);
}

Test(refusal, attempts_are_counted_from_when_it_was_queued) {
  struct fixture f;
  refused_begin(&f, "refusal_attempts", "retries=2", NULL);
  sql(f.at_source, "insert into item (id, price) values (1, -1)");
  refused_deliver(&f);
  cr_assert_str_eq(ask(f.at_source, "select attempts from rowrelay.errors"), "3");
  rowrelay_ok(&f, "target", "set", "w", "--option", "retries=0", NULL);
  rowrelay_ok(&f, "retry", "--all", NULL);
  refused_deliver(&f);
  cr_assert_str_eq(ask(f.at_source, "select attempts from rowrelay.errors"), "1");
  fixture_end(&f);
}

Test(refusal, retry_and_skip_take_ids_or_all_and_one_target_or_every) {
  struct fixture f;
  refused_begin(&f, "refusal_ids", "retries=0", NULL);
  sql(f.at_target, "create table other (like item including all)");
  rowrelay_ok(&f, "target", "add", "v", f.target_url, "--option", "retries=0", NULL);
  rowrelay_ok(&f, "route", "item", "v", "--into", "other", NULL);
  sql(f.at_source, "insert into item (id, price) select n, -n from generate_series(1, 4) as n");
  refused_deliver(&f);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.errors"), 8);
  const char *one = ask(f.at_source, "select min(change_id) from rowrelay.errors");
  const char *two = ask(f.at_source, "select min(change_id) + 1 from rowrelay.errors");

  cr_assert_str_eq(rowrelay_ok(&f, "skip", one, "--target", "v", NULL), "1 discarded\n");
  cr_assert_str_eq(rowrelay_ok(&f, "skip", one, two, NULL), "3 discarded\n");
  cr_assert_str_eq(refused_changes(&f), "w 3 insert error, v 3 insert error, w 4 insert error, v 4 insert error");
  cr_assert_str_eq(rowrelay_ok(&f, "skip", "--all", "--target", "v", NULL), "2 discarded\n");
  cr_assert_str_eq(refused_changes(&f), "w 3 insert error, w 4 insert error");
  cr_assert_eq(rowrelay(&f, NULL, NULL, "retry", one, NULL), 1);
  cr_assert_str_eq(rowrelay_ok(&f, "retry", "--all", "--target", "v", NULL), "0 queued again\n");
  cr_assert_str_eq(rowrelay_ok(&f, "retry", "--all", "--target", "w", NULL), "2 queued again\n");
  cr_assert_str_eq(refused_changes(&f), "");
  sql(f.at_target, "alter table item drop constraint item_price_check");
  refused_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from item"), "3 4");
  cr_assert_str_eq(ask(f.at_target, "select count(*) from other"), "0");

  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "retry", NULL), 2);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "retry", "--all", "5", NULL), 2);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "skip", "five", NULL), 2);
  cr_assert_not_null(strstr(errors, "five"), "%s", errors);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "skip", "--all", "--target", "nobody", NULL), 2);
  cr_assert_not_null(strstr(errors, "target \"nobody\" does not exist"), "%s", errors);
  fixture_end(&f);
}

/* ---- values that name what the target lacks ---------------------------------------------------------------------- */

Test(refusal, value_that_names_a_missing_object_is_refused_alone) {
  struct fixture f;
  fixture_begin(&f, "refusal_named");
  sql(f.at_source, "create table here_only (); create function here_only() returns int language sql as 'select 1'; "
                   "create table item (id int primary key, t regclass, f regprocedure, r regtype, s regnamespace); "
                   "create type only_type as (a int); create schema only_schema");
  sql(f.at_target, "create table item (id int primary key, t regclass, f regprocedure, r regtype, s regnamespace)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", "retries=0", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item (id, t) values (1, 'pg_class'), (2, 'here_only'), (3, 'pg_type');"
                   "insert into item (id, f) values (4, 'here_only()'), (5, 'now()');"
                   "insert into item (id, r) values (6, 'only_type'), (7, 'int');"
                   "insert into item (id, s) values (8, 'only_schema'), (9, 'pg_catalog')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from item"), "1 3 5 7 9");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(key, ' ' order by key) from rowrelay.errors"), "2 4 6 8");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.hold"), "0");
  sql(f.at_target, "create table here_only ()");
  rowrelay_ok(&f, "retry", "--all", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_source, "select string_agg(key, ' ' order by key) from rowrelay.errors"), "4 6 8");
  /* A table that a trigger there wants concerns each row. */
  sql(f.at_target, "create function wants() returns trigger language plpgsql as $$ begin "
                   "perform from missing_table; return new; end $$; "
                   "create trigger wants before insert on item for each row execute function wants()");
  sql(f.at_source, "insert into item (id) values (20), (21)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.hold"), "1");
  fixture_end(&f);
}
