/*
 * The server's clock: the log's partitions change at midnight, and the clock may be set. Nobody who writes may notice,
 * and what is captured is in order of ids, whatever the times say.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"
#include "past.h"

#if defined(__x86_64__)
#define FAKETIME_TRIPLET "x86_64-linux-gnu"
#else
#define FAKETIME_TRIPLET "aarch64-linux-gnu"
#endif
static const char LIBRARY[] = "/usr/lib/" FAKETIME_TRIPLET "/faketime/libfaketimeMT.so.1";

#define WRITERS 8
#define HOUR 3600
#define DAY 86400

static char clock_file[] = "/tmp/rowrelay-clock-XXXXXX";

/* Sets the server's clock to so many seconds before or after the coming midnight (UTC), that of this test's first call.
 */
static void set_clock(long seconds) {
  static long midnight;
  long now = (long)time(NULL);
  if (midnight == 0)
    midnight = now / DAY * DAY + DAY;
  char part[sizeof clock_file + 1];
  snprintf(part, sizeof part, "%s+", clock_file);
  FILE *file = fopen(part, "w");
  cr_assert(file != NULL && fprintf(file, "%+ld\n", midnight + seconds - now) > 0 && fclose(file) == 0);
  cr_assert(chmod(part, 0644) == 0 && rename(part, clock_file) == 0);
}

static void remove_clock(void) {
  unlink(clock_file);
}

/* The source is a server of its own, whose clock is ours. */
static void begin(struct fixture *f, const char *name, long seconds) {
  /* a sanitizer wants to be the first library */
  if (access(LIBRARY, R_OK) != 0 || getenv("ASAN_OPTIONS") != NULL)
    cr_skip_test("libfaketime is not installed, or a sanitizer is");
  int fd = mkstemp(clock_file);
  cr_assert(fd >= 0 && fchmod(fd, 0644) == 0);
  close(fd);
  atexit(remove_clock);
  set_clock(seconds);
  setenv("LD_PRELOAD", LIBRARY, 1);
  setenv("FAKETIME_TIMESTAMP_FILE", clock_file, 1);
  setenv("FAKETIME_NO_CACHE", "1", 1);
  setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1", 1);
  own_server("source", NULL);
  unsetenv("LD_PRELOAD");
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, n int)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", "--create", NULL);
}

/* As running processes do it every 20 seconds. */
static void maintain(struct fixture *f) {
  sql(f->at_source, "delete from rowrelay.job; select rowrelay.maintain()");
}

static void begin_writers(struct fixture *f, PGconn *writers[WRITERS]) {
  sql(f->at_source,
      "drop table if exists stop; create table stop ();"
      "create or replace procedure work(who int) language plpgsql as $$ declare k int; begin "
      "  select count(*) into k from item where id / 1000000 = who; "
      "  while not exists (select from stop) loop "
      "    k := k + 1; insert into item values (who * 1000000 + k, 0); commit; "
      "    update item set n = item.n + 1 where id in (who * 1000000 + k, who * 1000000 + k - 1); commit; "
      "  end loop; end $$");
  for (int i = 0; i < WRITERS; i++) {
    writers[i] = connect_to(f->source, NULL);
    start(writers[i], "call work(%d)", i + 1);
  }
}

/* Fails the test if one of them had an error. */
static void finish_writers(struct fixture *f, PGconn *writers[WRITERS]) {
  sql(f->at_source, "insert into stop default values");
  for (int i = 0; i < WRITERS; i++) {
    finish(writers[i]);
    PQfinish(writers[i]);
  }
}

/* Each change is there, and each key's last change is what its row is now. */
static void log_is_right(struct fixture *f) {
  cr_assert_str_eq(ask(f->at_source,
                       "select count(*) from item full join "
                       "  (select key::int as id, (array_agg((new_row ->> 'n')::int order by c.id desc))[1] as n, "
                       "          count(*) filter (where op = 'u') as updates from rowrelay.change c group by key) as "
                       "log using (id) "
                       "where (item.n, item.n) is distinct from (log.n, log.updates)"),
                   "0");
}

static bool has_days_before(struct fixture *f, const char *day) {
  return ask_number(f->at_source, "select count(*) from rowrelay.partition_days() where day < '%s'", day) > 0;
}

Test(midnight, eight_writers_go_on_while_partitions_are_made_and_dropped) {
  struct fixture f;
  PGconn *writers[WRITERS];
  char yesterday[16];
  begin(&f, "midnight_writers", -HOUR);
  snprintf(yesterday, sizeof yesterday, "%s", ask(f.at_source, "select rowrelay.partition_day()"));
  sql(f.at_source, "insert into item select -n, 0 from generate_series(1, 100) as n; delete from item");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  past_move(f.at_source, 40);
  sql(f.at_source, "insert into item select -n, 0 from generate_series(1, 100) as n; delete from item");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  past_move(f.at_source, 41);
  past_close(f.at_source);
  set_clock(-4);
  PGconn *both_days = connect_to(f.source, NULL);
  sql(both_days, "begin; insert into item values (1, 0)");
  cr_assert_str_eq(ask(both_days, "select (now() at time zone 'UTC')::date"), yesterday);
  begin_writers(&f, writers);
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  double until = seconds_now() + 60;
  bool committed = false;
  while ((!committed || has_days_before(&f, yesterday)) && seconds_now() < until) {
    maintain(&f);
    sql(f.at_source, "select rowrelay.prune('30 days')");
    sql(f.at_source, "select rowrelay.drop_empty_days()");
    sleep_seconds(0.1);
    if (!committed && strcmp(ask(f.at_source, "select rowrelay.partition_day()"), yesterday) != 0) {
      sleep_seconds(1);
      sql(both_days, "insert into item values (2, 0); commit");
      committed = true;
    }
  }
  finish_writers(&f, writers);
  sql(f.at_source, "insert into item values (3, 0)");
  PQfinish(both_days);

  cr_assert(!has_days_before(&f, yesterday), "the old days are still there");
  cr_assert_str_eq(ask(f.at_source, "select count(distinct day) from rowrelay.change"), "2");
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg((day = '%s')::text, ' ' order by id) from rowrelay.change "
                       "where key in ('1', '2', '3')",
                       yesterday),
                   "true true false");
  cr_assert_str_eq(ask(f.at_source, "select max(day) - '%s' from rowrelay.partition_days()", yesterday), "15");
  log_is_right(&f);
  wait_until_empty(&f, 60);
  same_rows(&f, "item", "item", "id");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(midnight, a_clock_that_is_set_by_an_hour_changes_no_order_and_breaks_no_writer) {
  struct fixture f;
  PGconn *writers[WRITERS];
  /* A quarter past midnight; an hour earlier it is yesterday. */
  begin(&f, "midnight_clock", HOUR / 4);
  static const long CLOCKS[] = {-HOUR * 3 / 4, HOUR / 4, HOUR * 5 / 4, HOUR / 4};
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "insert into item values (1, 0)");
  begin_writers(&f, writers);
  for (size_t i = 0; i < sizeof CLOCKS / sizeof *CLOCKS; i++) {
    sql(f.at_source, "update item set n = n + 1 where id = 1");
    set_clock(CLOCKS[i]);
    maintain(&f);
    sleep_seconds(0.5);
  }
  sql(f.at_source, "update item set n = n + 1 where id = 1");
  finish_writers(&f, writers);
  cr_assert_str_eq(ask(f.at_source,
                       "select bool_or(went_back) from (select captured_at < lag(captured_at) over (order by id) - "
                       "interval '30 min' as went_back from rowrelay.change where key = '1') as c"),
                   "t", "the clock was not set");
  cr_assert_str_eq(
      ask(f.at_source,
          "select string_agg(new_row ->> 'n', ' ' order by change_id) from rowrelay.history where key = '1'"),
      "0 1 2 3 4 5");
  log_is_right(&f);
  wait_until_empty(&f, 60);
  same_rows(&f, "item", "item", "id");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* Days are closed and partitions made for a time that never was. */
Test(midnight, a_clock_that_goes_wrong_by_days_leaves_every_writer_a_partition) {
  struct fixture f;
  begin(&f, "midnight_wrong", 0);
  PGconn *old = connect_to(f.source, NULL);
  sql(old, "begin; insert into item values (1, 0)");
  static const int DAYS[] = {3, 60, 0, 30, -30, 90, 2};
  for (int i = 0; i < (int)(sizeof DAYS / sizeof *DAYS); i++) {
    PGconn *in_between = connect_to(f.source, NULL);
    sql(in_between, "begin; select now()");
    set_clock((long)DAYS[i] * DAY);
    sql(f.at_source, "insert into item values (%d, 0)", 10 * i + 100);
    maintain(&f);
    past_close(f.at_source);
    maintain(&f);
    sql(f.at_source, "insert into item values (%d, 0)", 10 * i + 101);
    sql(in_between, "insert into item values (%d, 0); commit", 10 * i + 102);
    PQfinish(in_between);
    if (i < 2)
      sql(old, "insert into item values (%d, 0)", 10 * i + 103);
    if (i == 1)
      sql(old, "commit");
    cr_assert_str_eq(ask(f.at_source,
                         "select count(*) from rowrelay.partition_days() where day = rowrelay.partition_day() "
                         "and day not in (select d.day from rowrelay.day d where closed_at is not null)"),
                     "1", "%d days", DAYS[i]);
  }
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.day where closed_at is not null") > 0);
  PQfinish(old);
  log_is_right(&f);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

/* Whatever was noted while it was ahead is no reason to wait until that time has come. */
Test(midnight, a_clock_that_was_400_days_ahead_once_holds_nothing_up_afterwards) {
  struct fixture f;
  begin(&f, "midnight_ahead", HOUR);
  char today[16];
  snprintf(today, sizeof today, "%s", ask(f.at_source, "select rowrelay.partition_day()"));
  sql(f.at_source, "insert into item values (1, 0)");
  set_clock(400L * DAY + HOUR);
  /* All that a process notes: partitions, closed days, its job and that it is alive, a target that fails. */
  sql(f.at_target, "drop table if exists item; revoke create on schema public from public");
  for (int i = 0; i < 2; i++) {
    maintain(&f);
    past_close(f.at_source);
    sql(f.at_source, "insert into item values (%d, 0)", 2 + i);
    set_clock((402L + 3 * i) * DAY + HOUR);
  }
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "t", 10, "select count(*) > 0 from rowrelay.instances where state = 'running'");
  stop_process(process, SIGKILL);
  sql(f.at_source, "insert into rowrelay.trouble (target, last_at, retry_at, message) "
                   "select id, now(), now() + interval '1 min', 'down' from rowrelay.target "
                   "on conflict (target) do update set last_at = excluded.last_at, retry_at = excluded.retry_at");
  maintain(&f);
  cr_assert_str_eq(ask(f.at_source, "select rowrelay.maintain_is_due()"), "f");
  set_clock(HOUR);

  cr_assert_str_eq(ask(f.at_source, "select state from rowrelay.status"), "not running");
  cr_assert_str_eq(ask(f.at_source, "select rowrelay.maintain_is_due()"), "t");
  sql(f.at_source, "select rowrelay.maintain()");
  cr_assert_str_eq(ask(f.at_source, "select rowrelay.maintain_is_due()"), "f");
  int64_t ahead = ask_number(f.at_source, "select rowrelay.partition_day() - '%s'::date", today);
  cr_assert(ahead >= 0 && ahead <= 16, "%lld days", (long long)ahead);
  sql(f.at_source, "insert into item values (10, 0)");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.day where closed_at is not null "
                                    "and day = rowrelay.partition_day()"),
                   "0");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.day where ends_at > now() + interval '3 days'"),
                   "0");
  log_is_right(&f);
  process = fixture_run(&f, NULL, NULL);
  wait_until_empty(&f, 20);
  same_rows(&f, "item", "item", "id");
  wait_until(f.at_source, "running", 10, "select state from rowrelay.status");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* Whoever wrote while it was ahead is not whom a day has to wait for that comes to an end later. */
Test(midnight, a_day_that_is_open_again_waits_anew_when_it_is_past) {
  struct fixture f;
  begin(&f, "midnight_again", HOUR);
  PGconn *early = connect_to(f.source, NULL);
  PGconn *late = connect_to(f.source, NULL);
  sql(early, "begin; insert into item values (1, 0)");
  char day[16];
  snprintf(day, sizeof day, "%s", ask(f.at_source, "select rowrelay.partition_day()"));
  set_clock(2 * DAY + HOUR);
  maintain(&f);
  past_close(f.at_source);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.day where day = '%s' and closed_at is null", day),
                   "1");
  set_clock(HOUR);
  maintain(&f);
  cr_assert_str_eq(ask(f.at_source, "select rowrelay.partition_day()"), day);
  sql(early, "commit");
  sql(late, "begin; insert into item values (2, 0)");
  cr_assert_str_eq(ask(late, "select day from rowrelay.change where key = '2'"), day);
  set_clock(2 * DAY + HOUR);
  for (int i = 0; i < 3; i++) {
    maintain(&f);
    past_close(f.at_source);
    cr_assert_str_eq(
        ask(f.at_source, "select count(*) from rowrelay.day where day = '%s' and closed_at is not null", day), "0");
  }
  sql(late, "insert into item values (3, 0); commit");
  maintain(&f);
  past_close(f.at_source);
  cr_assert_str_eq(ask(f.at_source, "select last_id from rowrelay.day where day = '%s' and closed_at is not null", day),
                   "2");
  fixture_end(&f);
}

Test(midnight, a_day_waits_for_a_prepared_transaction_that_outlives_a_restart) {
  struct fixture f;
  own_server("source", "max_prepared_transactions=2");
  fixture_begin(&f, "midnight_prepared");
  sql(f.at_source, "create table item (id int primary key, n int); select rowrelay.capture_table('item')");
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; insert into item values (1, 0); prepare transaction 'away'");
  sql(f.at_source, "update rowrelay.source set open_from = open_from + 2, open_since = now() - interval '1 min'");
  char day[16];
  snprintf(day, sizeof day, "%s", ask(f.at_source, "select (now() at time zone 'UTC')::date"));
  sql(f.at_source, "select rowrelay.close_days()");
  cr_assert_str_eq(ask(f.at_source, "select cardinality(waits_for) from rowrelay.day where day = '%s'", day), "1");
  PQfinish(writer);
  PQfinish(f.at_source);
  restart_server("source", "fast");
  f.at_source = connect_to(f.source, NULL);
  for (int i = 0; i < 2; i++) {
    sql(f.at_source, "select rowrelay.close_days()");
    cr_assert_str_eq(ask(f.at_source, "select closed_at is null from rowrelay.day where day = '%s'", day), "t");
  }
  sql(f.at_source, "commit prepared 'away'");
  sql(f.at_source, "select rowrelay.close_days()");
  cr_assert_str_eq(ask(f.at_source, "select last_id from rowrelay.day where day = '%s' and closed_at is not null", day),
                   "1");
  fixture_end(&f);
}
