/*
 * Who pauses, drops or redirects a target may rely on it that nothing is on its way there any more: what arrived later
 * would be older than what comes next.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "fixture.h"
#include "receiver.h"

/* A mirror that refuses value 2, which a process tries again and again. */
static pid_t begin_refused(struct fixture *f, const char *name, const char *option) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, v int)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, "--option", "retries=1000", "--option", option, NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", "--create", NULL);
  sql(f->at_source, "insert into item values (1, 1)");
  rowrelay_ok(f, "run", "--until-empty", NULL);
  pid_t process = fixture_run(f, "--workers", "1", NULL);
  sql(f->at_target, "alter table item add constraint two check (v <> 2)");
  sql(f->at_source, "update item set v = 2");
  wait_until(f->at_target, "t", 10,
             "select xact_rollback >= 3 from pg_stat_database where datname = current_database()");
  return process;
}

/* Nothing but the data keeps the retried change from arriving now. */
static void let_two_in(struct fixture *f) {
  sql(f->at_target, "alter table item drop constraint two");
}

static void check_soon(double since) {
  cr_expect(seconds_now() - since < 20, "it took %.1f s", seconds_now() - since);
}

static void drop_and_add_again(const char *name, const char *option) {
  struct fixture f;
  pid_t process = begin_refused(&f, name, option);
  double since = seconds_now();
  rowrelay_ok(&f, "target", "drop", "w", NULL);
  check_soon(since);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "route", "item", "w", NULL);
  sql(f.at_source, "update item set v = 3");
  wait_until(f.at_target, "3", 20, "select v from item");
  let_two_in(&f);
  sql(f.at_source, "insert into item values (2, 0)");
  wait_until(f.at_target, "2", 10, "select count(*) from item");
  sleep_seconds(1.5);
  cr_expect_str_eq(ask(f.at_target, "select v from item where id = 1"), "3");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(in_flight, what_a_dropped_target_was_refused_does_not_reach_its_successor) {
  drop_and_add_again("in_flight_drop", "claim=transaction");
}

Test(in_flight, nor_does_it_under_a_lease) {
  drop_and_add_again("in_flight_lease", "claim=lease");
}

Test(in_flight, a_paused_target_is_left_alone_and_gets_everything_afterwards) {
  struct fixture f;
  pid_t process = begin_refused(&f, "in_flight_pause", "claim=transaction");
  double since = seconds_now();
  rowrelay_ok(&f, "target", "pause", "w", NULL);
  check_soon(since);
  let_two_in(&f);
  sleep_seconds(1.5);
  cr_expect_str_eq(ask(f.at_target, "select v from item"), "1", "it was written to while it was paused");
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  wait_until(f.at_target, "2", 20, "select v from item");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* A webhook that takes two seconds for its first answer. */
static struct receiver *begin_slow(struct fixture *f, const char *name, const char *option) {
  struct receiver *receiver = receiver_begin();
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, v int)");
  rowrelay_ok(f, "target", "add", "w", receiver_url(receiver, "/"), "--option", option, NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", NULL);
  receiver_answer(receiver, NULL, 1, (struct answer){.status = 204, .delay = 2});
  sql(f->at_source,
      "insert into item values (1, 1); update item set v = 2; update item set v = 3; update item set v = 4");
  return receiver;
}

static void check_order(struct receiver *receiver, const char *expected) {
  char came[64] = "";
  for (int i = 0; i < receiver_count(receiver); i++) {
    const char *value = strstr(receiver_at(receiver, i)->body, "\"v\":");
    cr_assert(value != NULL && strlen(came) < sizeof came - 2);
    strncat(came, value + strlen("\"v\":"), 1);
  }
  cr_expect_str_eq(came, expected);
}

static void switch_while_pushing(const char *name, const char *before, const char *after) {
  struct fixture f;
  struct receiver *receiver = begin_slow(&f, name, before);
  pid_t first = fixture_run(&f, "--workers", "1", NULL);
  receiver_wait(receiver, 1, 10);
  rowrelay_ok(&f, "target", "set", "w", "--option", after, NULL);
  pid_t second = fixture_run(&f, "--workers", "1", NULL);
  wait_until_empty(&f, 20);
  sql(f.at_source, "update item set v = 5");
  wait_until_empty(&f, 20);
  receiver_wait(receiver, 5, 10);
  sleep_seconds(0.5);
  check_order(receiver, "12345");
  stop_process(first, SIGTERM);
  stop_process(second, SIGTERM);
  receiver_end(receiver);
  fixture_end(&f);
}

Test(in_flight, a_lease_counts_after_its_target_was_told_to_do_without) {
  switch_while_pushing("in_flight_claim", "claim=lease", "claim=transaction");
}

Test(in_flight, so_it_does_when_changes_may_be_sent_again_from_now_on) {
  switch_while_pushing("in_flight_once", "guarantee=at-most-once", "guarantee=at-least-once");
}

Test(in_flight, a_request_that_is_under_way_is_waited_for) {
  struct fixture f;
  struct receiver *receiver = begin_slow(&f, "in_flight_request", "claim=transaction");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  receiver_wait(receiver, 1, 10);
  rowrelay_ok(&f, "target", "pause", "w", NULL);
  int count = receiver_count(receiver);
  for (int i = 0; i < count; i++)
    cr_expect(receiver_at(receiver, i)->answered_at > 0, "request %d was under way", i);
  sleep_seconds(1);
  cr_expect_eq(receiver_count(receiver), count, "it was sent to while it was paused");
  stop_process(process, SIGTERM);
  receiver_end(receiver);
  fixture_end(&f);
}
