/* How a process ends: after one signal, after two, or because there is nothing left to do. */
#include <criterion/criterion.h>
#include <signal.h>

#include "fixture.h"

static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text); create table note (what text)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  rowrelay_ok(f, "capture", "item", "note", "--to", "w", "--create", NULL);
  sql(f->at_source, "insert into item values (1, 'old'), (2, 'old'); insert into note values ('old')");
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

static void check_equal(struct fixture *f) {
  same_rows(f, "item", "item", "id");
  same_rows(f, "note", "note", "what");
}

static void wait_until_held(struct fixture *f, const char *count) {
  wait_until(f->at_target, count, 10,
             "select count(distinct l.pid) from pg_locks l join pg_stat_activity a on a.pid = l.pid "
             "where not l.granted and a.datname = current_database()");
}

/* Starts a process, and holds its push of row 1 and of a row without a key until `holder` commits. */
static pid_t run_and_hold(struct fixture *f, PGconn *holder) {
  pid_t process = fixture_run(f, "--workers", "1", NULL);
  sql(holder, "begin; lock table item, note in share mode");
  sql(f->at_source,
      "begin; update item set name = 'in flight' where id = 1; insert into note values ('in flight'); commit");
  wait_until_held(f, "1");
  return process;
}

Test(leave, the_first_sigterm_lets_the_batch_in_flight_finish) {
  struct fixture f;
  begin(&f, "leave_first");
  PGconn *holder = connect_to(f.target, NULL);
  pid_t process = run_and_hold(&f, holder);
  sql(f.at_source, "update item set name = 'too late' where id = 2");
  kill(process, SIGTERM);
  cr_assert(still_runs(process, 0.7), "it has left its batch");
  sql(holder, "commit");
  cr_assert(wait_process(process, 5) == 0);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.queue") == 1,
            "it is settled, and no more was begun");
  cr_expect(ask_number(f.at_target, "select count(*) from item where name = 'in flight'") == 1);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.instance") == 0);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  check_equal(&f);
  PQfinish(holder);
  fixture_end(&f);
}

Test(leave, the_second_sigterm_leaves_at_once_and_nothing_is_lost_or_doubled) {
  struct fixture f;
  begin(&f, "leave_second");
  PGconn *holder = connect_to(f.target, NULL);
  pid_t process = run_and_hold(&f, holder);
  kill(process, SIGTERM);
  cr_assert(still_runs(process, 0.3));
  double since = seconds_now();
  kill(process, SIGTERM);
  cr_assert(wait_process(process, 5) == 0);
  cr_expect(seconds_now() - since < 5, "it took %.1f s", seconds_now() - since);
  wait_until(f.at_source, "2", 5, "select count(*) from rowrelay.queue");
  /* The target cancels what it was sent, and does not write it later. */
  wait_until_held(&f, "0");
  sql(holder, "commit");
  cr_assert_eq(ask_number(f.at_target, "select count(*) from note where what = 'in flight'"), 0);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  check_equal(&f);
  PQfinish(holder);
  fixture_end(&f);
}

Test(leave, a_killed_process_leaves_its_claim_to_others_and_nothing_is_doubled) {
  struct fixture f;
  begin(&f, "leave_killed");
  PGconn *holder = connect_to(f.target, NULL);
  pid_t process = run_and_hold(&f, holder);
  pid_t other = fixture_run(&f, "--workers", "2", NULL);
  sleep_seconds(0.5);
  cr_assert(stop_process(process, SIGKILL) == 128 + SIGKILL);
  wait_until_held(&f, "2"); /* what was sent, and what is sent again */
  sql(holder, "commit");
  wait_until_empty(&f, 10);
  check_equal(&f);
  cr_assert(stop_process(other, SIGTERM) == 0);
  PQfinish(holder);
  fixture_end(&f);
}

/* A machine that is busy may take its time now and then; a process that waits for something takes it each time. */
static void leaves_at_once(struct fixture *f, int signal) {
  double quickest = 10;
  for (int i = 0; i < 4 && quickest > 0.5; i++) {
    pid_t process = fixture_run(f, "--workers", "4", NULL);
    wait_until_says(process, "target w: 4 workers", 10);
    sleep_seconds(0.7);
    double since = seconds_now();
    cr_assert(stop_process(process, signal) == 0);
    double took = seconds_now() - since;
    quickest = took < quickest ? took : quickest;
  }
  cr_expect(quickest < 0.5, "it took %.1f s", quickest);
}

Test(leave, a_process_with_nothing_to_do_leaves_at_once) {
  struct fixture f;
  begin(&f, "leave_idle");
  static const int signals[] = {SIGTERM, SIGINT};
  for (int i = 0; i < 2; i++)
    leaves_at_once(&f, signals[i]);
  fixture_end(&f);
}

Test(leave, a_process_whose_target_is_away_leaves_at_once) {
  struct fixture f;
  begin(&f, "leave_failing");
  rowrelay_ok(&f, "target", "set", "w", "--url", "postgresql:///nowhere?host=/nowhere", NULL);
  sql(f.at_source, "update item set name = 'waits'");
  pid_t process = fixture_run(&f, "--workers", "4", NULL);
  wait_until(f.at_source, "failing", 10, "select state from rowrelay.status");
  cr_assert(stop_process(process, SIGTERM) == 0);
  leaves_at_once(&f, SIGTERM);
  fixture_end(&f);
}

Test(leave, until_empty_ends_when_nothing_is_pending_and_waits_for_what_another_process_holds) {
  struct fixture f;
  begin(&f, "leave_empty");
  PGconn *holder = connect_to(f.target, NULL);
  cr_assert(wait_process(fixture_run(&f, "--until-empty", NULL), 10) == 0, "there is nothing to do");
  pid_t process = run_and_hold(&f, holder);
  sql(f.at_source, "update item set name = 'other' where id = 2");
  pid_t waiting = fixture_run(&f, "--until-empty", "--workers", "2", NULL);
  cr_assert(still_runs(waiting, 1.5), "it did not wait");
  sql(holder, "commit");
  cr_assert(wait_process(waiting, 10) == 0);
  check_equal(&f);
  cr_assert(stop_process(process, SIGTERM) == 0);

  process = run_and_hold(&f, holder);
  waiting = fixture_run(&f, "--until-empty", NULL);
  cr_assert(still_runs(waiting, 0.7), "it did not wait");
  cr_assert(stop_process(process, SIGKILL) == 128 + SIGKILL);
  sql(holder, "commit");
  cr_assert(wait_process(waiting, 10) == 0, "it takes over from the dead");
  check_equal(&f);
  PQfinish(holder);
  fixture_end(&f);
}

Test(leave, until_empty_does_not_wait_for_ever_for_a_target_that_is_paused) {
  struct fixture f;
  begin(&f, "leave_paused");
  sql(f.at_source, "update item set name = 'waits'");
  rowrelay_ok(&f, "target", "pause", "w", NULL);
  cr_assert(wait_process(fixture_run(&f, "--until-empty", NULL), 10) == 1);
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  check_equal(&f);
  fixture_end(&f);
}
