/* The circuit breaker: a target that fails is tried by one process for all. */
#include <criterion/criterion.h>
#include <signal.h>

#include "fixture.h"
#include "receiver.h"

#define PROCESSES 8

Test(breaker, eight_processes_try_a_target_that_is_down_as_one_and_resume_at_once) {
  struct fixture f;
  fixture_begin(&f, "breaker_eight");
  struct receiver *receiver = receiver_begin();
  sql(f.at_source, "create table item (id int primary key, v int)");
  rowrelay_ok(&f, "target", "add", "w", receiver_url(receiver, "/"), NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  receiver_answer(receiver, NULL, 0, (struct answer){.status = 503});
  pid_t processes[PROCESSES];
  for (int i = 0; i < PROCESSES; i++)
    processes[i] = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "insert into item select n, 0 from generate_series(1, 400) as n");
  wait_until(f.at_source, "t", 20, "select count(*) = 1 and max(attempts) >= 4 from rowrelay.trouble");
  sleep_seconds(2);
  /* The first of them find out by themselves, and have some requests in flight; from then on it is one at a time. */
  int before = receiver_count(receiver);
  int64_t attempts = ask_number(f.at_source, "select attempts from rowrelay.trouble");
  sleep_seconds(6);
  int64_t more = ask_number(f.at_source, "select attempts from rowrelay.trouble") - attempts;
  cr_assert(more >= 1 && receiver_count(receiver) - before <= more + 1, "%d requests, %lld attempts",
            receiver_count(receiver) - before, (long long)more);
  cr_assert_str_eq(ask(f.at_source, "select state from rowrelay.status where target = 'w'"), "failing");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");

  receiver_recover(receiver);
  wait_until(f.at_source, "0", 60, "select count(*) from rowrelay.trouble");
  double from = seconds_now();
  wait_until_empty(&f, 20);
  cr_assert(seconds_now() - from < 15, "it took %f s", seconds_now() - from);
  receiver_load(receiver, f.at_source);
  cr_assert_str_eq(
      ask(f.at_source, "select count(distinct body::json -> 'data' ->> 'key') from request where status = 204"), "400");
  for (int i = 0; i < PROCESSES; i++)
    stop_process(processes[i], SIGTERM);
  fixture_end(&f);
  receiver_end(receiver);
}

/* The process that probes holds a lock that ends with it. */
Test(breaker, a_killed_prober_is_replaced) {
  struct fixture f;
  fixture_begin(&f, "breaker_killed");
  struct receiver *receiver = receiver_begin();
  sql(f.at_source, "create table item (id int primary key, v int)");
  rowrelay_ok(&f, "target", "add", "w", receiver_url(receiver, "/"), NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  receiver_answer(receiver, NULL, 1, (struct answer){.status = 500});
  receiver_answer(receiver, NULL, 1, (struct answer){.silent = true});
  sql(f.at_source, "insert into item values (1, 1)");
  pid_t first = fixture_run(&f, "--workers", "1", NULL);
  receiver_wait(receiver, 2, 20);
  pid_t second = fixture_run(&f, "--workers", "1", NULL);
  sleep_seconds(1);
  cr_assert_eq(receiver_count(receiver), 2);
  stop_process(first, SIGKILL);
  wait_until_empty(&f, 20);
  wait_until(f.at_source, "0", 5, "select count(*) from rowrelay.trouble");
  stop_process(second, SIGTERM);
  fixture_end(&f);
  receiver_end(receiver);
}

Test(breaker, it_waits_as_long_as_the_target_says) {
  struct fixture f;
  fixture_begin(&f, "breaker_after");
  struct receiver *receiver = receiver_begin();
  sql(f.at_source, "create table item (id int primary key, v int)");
  rowrelay_ok(&f, "target", "add", "w", receiver_url(receiver, "/"), NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  receiver_answer(receiver, NULL, 1, (struct answer){.status = 429, .headers = "Retry-After: 3\r\n"});
  sql(f.at_source, "insert into item values (1, 1)");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until_empty(&f, 20);
  double waited = receiver_at(receiver, 1)->came_at - receiver_at(receiver, 0)->came_at;
  cr_assert(waited >= 3 && waited < 6, "%f s", waited);
  stop_process(process, SIGTERM);
  fixture_end(&f);
  receiver_end(receiver);
}
