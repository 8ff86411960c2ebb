/* From commit to visible in the target: a process that sleeps is woken at once. Without a bell that takes up to a
 * second. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

#define ROUNDS 12

/* Between the milliseconds that it takes and the half second that it would take on average by looking now and then. */
#define SHORT 0.15

static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", "--create", NULL);
  sql(f->at_source, "insert into item values (1, 'old')");
  rowrelay_ok(f, "run", "--until-empty", NULL);
  cr_assert(ask_number(f->at_source, "select last_value from rowrelay.doorbell") == 0, "who leaves disarms");
}

static double until_visible(struct fixture *f, int id) {
  double since = seconds_now();
  while (ask_number(f->at_target, "select count(*) from item where id = %d", id) == 0) {
    cr_assert(seconds_now() - since < 40, "row %d does not arrive", id);
    sleep_seconds(0.001);
  }
  return seconds_now() - since;
}

static int by_size(const void *a, const void *b) {
  double left = *(const double *)a;
  double right = *(const double *)b;
  return (left > right) - (left < right);
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_size);
  return values[count / 2];
}

static int64_t armed_for(struct fixture *f) {
  return ask_number(f->at_source, "select last_value from rowrelay.doorbell");
}

static void wait_until_armed(struct fixture *f) {
  wait_until(f->at_source, "t", 10, "select last_value > 0 from rowrelay.doorbell");
}

/*
 * Commits one row after another, `pause` seconds apart or up to that, and asks that the median of what it took is less
 * than `limit`. A busy machine has up to three tries: a process that only polls is slow in each of them.
 */
static void arrives_within(struct fixture *f, double limit, double pause, bool at_random) {
  static int id = 1000;
  double took[ROUNDS];
  double best = limit;
  for (int go = 0; go < 3 && best >= limit; go++) {
    for (int i = 0; i < ROUNDS; i++) {
      sleep_seconds(at_random ? pause * (double)random() / RAND_MAX : pause);
      sql(f->at_source, "insert into item values (%d, 'new')", ++id);
      took[i] = until_visible(f, id);
    }
    best = median(took, ROUNDS);
  }
  cr_assert(best < limit, "%.3f s", best);
}

Test(doorbell, a_commit_wakes_a_process_that_sleeps) {
  struct fixture f;
  begin(&f, "doorbell");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until_armed(&f);
  arrives_within(&f, SHORT, 0.4, false);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

Test(doorbell, a_commit_shortly_after_another_does_not_wait_either) {
  struct fixture f;
  begin(&f, "doorbell_again");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until_armed(&f);
  arrives_within(&f, SHORT / 2, 0.2, true);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

Test(doorbell, it_rings_for_all_processes_that_sleep) {
  struct fixture f;
  begin(&f, "doorbell_all");
  pid_t processes[] = {fixture_run(&f, "--workers", "1", NULL), fixture_run(&f, "--workers", "1", NULL)};
  wait_until_armed(&f);
  arrives_within(&f, SHORT, 0.3, true);
  /* The remaining process still has an armed bell. */
  cr_assert(stop_process(processes[0], SIGKILL) == 128 + SIGKILL);
  arrives_within(&f, SHORT, 0.3, true);
  cr_assert(stop_process(processes[1], SIGTERM) == 0);
  fixture_end(&f);
}

/* It may have been armed just before the only worker found work by itself; nobody arms it while that one is busy. */
static void ring_until_disarmed(struct fixture *f) {
  for (int i = 0; i < 25 && (i == 0 || armed_for(f) != 0); i++) {
    sql(f->at_source, "update item set name = 'busy %d' where id = 1", i);
    for (int n = 0; n < 40 && armed_for(f) != 0; n++)
      sleep_seconds(0.005);
  }
}

Test(doorbell, a_writer_that_looked_at_the_bell_before_it_was_armed_is_not_overheard) {
  struct fixture f;
  begin(&f, "doorbell_gap");
  PGconn *holder = connect_to(f.target, NULL);
  PGconn *writer = connect_to(f.source, NULL);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  double least = 40;
  for (int i = 0; i < 6; i++) {
    wait_until_armed(&f);
    /* While its only worker is at work, the process has no use for a bell. */
    sql(holder, "begin; select from item where id = 1 for update");
    ring_until_disarmed(&f);
    sql(writer, "begin; insert into item values (%d, 'new')", 100 + i);
    cr_assert(armed_for(&f) == 0);
    sql(holder, "commit");
    wait_until_armed(&f);
    sleep_seconds(0.3 + 0.05 * i);
    sql(writer, "commit");
    double took = until_visible(&f, 100 + i);
    least = took < least ? took : least;
  }
  /* It looks every quarter of a second as long as such a writer is open; who looks each second needs 0.45 s or more. */
  cr_assert(least < 0.35, "%.3f s", least);
  cr_assert(stop_process(process, SIGTERM) == 0);
  PQfinish(holder);
  PQfinish(writer);
  fixture_end(&f);
}

Test(doorbell, a_bell_that_fell_silent_is_armed_again) {
  struct fixture f;
  begin(&f, "doorbell_silent");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until_armed(&f);
  sleep_seconds(0.3);
  /* Another process disarms it at the moment in which this one arms it. */
  sql(f.at_source, "select setval('rowrelay.doorbell', 0)");
  wait_until_armed(&f);
  arrives_within(&f, SHORT, 0.1, false);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/* Whether somebody who listens was notified of what has been committed by now. */
static bool heard(PGconn *listener) {
  sql(listener, "select");
  bool any = false;
  for (PGnotify *notification; (notification = PQnotifies(listener)) != NULL; PQfreemem(notification))
    any = true;
  return any;
}

Test(doorbell, a_bell_that_a_dead_process_left_armed_falls_silent) {
  struct fixture f;
  begin(&f, "doorbell_left");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until_armed(&f);
  sleep_seconds(0.2);
  cr_assert(stop_process(process, SIGKILL) == 128 + SIGKILL);
  PGconn *listener = connect_to(f.source, NULL);
  sql(listener, "listen rowrelay_doorbell");
  sql(f.at_source, "update item set name = 'rings'");
  cr_assert(heard(listener));
  sql(f.at_source, "insert into item select n, 'many' from generate_series(10000, 22000) as n");
  cr_assert(heard(listener));
  sql(f.at_source, "update item set name = 'does not ring' where id = 1");
  cr_assert(!heard(listener));
  PQfinish(listener);
  fixture_end(&f);
}

/* A transaction that has executed NOTIFY cannot be prepared. */
Test(doorbell, a_writer_may_prepare_its_transaction_while_a_process_sleeps) {
  struct fixture f;
  own_server("source", "max_prepared_transactions=4");
  begin(&f, "doorbell_prepare");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  sleep_seconds(1);
  double best = 1;
  for (int id = 2; id < 5 && best > 0.7; id++) {
    sql(f.at_source, "begin; insert into item values (%d, 'prepared'); prepare transaction 'test_doorbell'", id);
    sleep_seconds(0.5);
    sql(f.at_source, "commit prepared 'test_doorbell'");
    double took = until_visible(&f, id);
    best = took < best ? took : best;
  }
  cr_assert(best < 0.7, "%.3f s", best);
  arrives_within(&f, SHORT, 0.3, true);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/* Somebody else's session, in another database, that listens and stays in a transaction. */
Test(doorbell, full_notification_queue_fails_no_writer) {
  struct fixture f;
  PGconn *shared = connect_to(getenv("ROWRELAY_TEST_SOURCE"), NULL);
  bool can_fill = PQserverVersion(shared) >= 170000;
  PQfinish(shared);
  if (!can_fill)
    cr_skip_test("before PostgreSQL 17 the queue takes gigabytes to fill");
  own_server("source", "max_notify_queue_pages=64");
  begin(&f, "doorbell_full");
  PGconn *stranger = connect_to(f.source, "dbname=postgres");
  sql(stranger, "listen strange");
  sql(stranger, "begin; select 1");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until_armed(&f);
  PGconn *other = connect_to(f.source, "dbname=postgres");
  bool is_full = false;
  for (int i = 0; i < 200 && !is_full; i++) {
    char notify[64];
    snprintf(notify, sizeof notify, "select pg_notify('strange', repeat('x', 7000) || %d)", i);
    PGresult *reply = PQexec(other, notify);
    is_full = PQresultStatus(reply) == PGRES_FATAL_ERROR;
    PQclear(reply);
  }
  cr_assert(is_full);
  cr_assert(armed_for(&f) > 0);
  sql(f.at_source, "insert into item values (2, 'full')");
  until_visible(&f, 2);
  cr_expect(strstr(rowrelay_ok(&f, "status", NULL), "queue of notifications fills up") != NULL);
  const char *findings;
  rowrelay(&f, &findings, NULL, "doctor", NULL);
  cr_expect(strstr(findings, "queue of notifications is") != NULL, "%s", findings);
  sql(stranger, "commit");
  wait_until_armed(&f);
  arrives_within(&f, SHORT, 0.4, false);
  cr_expect(strstr(rowrelay_ok(&f, "status", NULL), "queue of notifications") == NULL);
  cr_assert(stop_process(process, SIGTERM) == 0);
  PQfinish(other);
  PQfinish(stranger);
  fixture_end(&f);
}
