#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

#ifdef __x86_64__
#define FAKETIME_TRIPLET "x86_64-linux-gnu"
#else
#define FAKETIME_TRIPLET "aarch64-linux-gnu"
#endif

/* A table that is appended to "w" under leases of `seconds`. */
static void begin(struct fixture *f, const char *name, const char *options) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, v int)");
  sql(f->at_source,
      "select rowrelay.add_target('w', '%s', '{\"mode\": \"append\"}'::jsonb || '%s'); "
      "select rowrelay.capture_table('item'); select rowrelay.route('item', 'w', create_table => true)",
      f->target_url, options);
  sql(f->at_source, "insert into item values (1, 0)");
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

/* Blocks writes at the target until release(). */
static PGconn *hold_target(struct fixture *f) {
  PGconn *holder = connect_to(f->target, NULL);
  sql(holder, "begin; lock table item_changes in exclusive mode");
  return holder;
}

static void release(PGconn *holder) {
  sql(holder, "commit");
  PQfinish(holder);
}

static void wait_until_pushing(struct fixture *f) {
  wait_until(f->at_target, "1", 20,
             "select count(*) from pg_locks where relation = 'item_changes'::regclass and not granted");
}

static const char *arrived(struct fixture *f) {
  return ask(f->at_target, "select string_agg(concat(op, new_row ->> 'v'), ' ' order by position) from item_changes");
}

Test(lease, nothing_holds_vacuum_back_while_a_batch_is_pushed) {
  struct fixture f;
  begin(&f, "lease_vacuum", "{\"claim\": \"lease\"}");
  PGconn *holder = hold_target(&f);
  sql(f.at_source, "update item set v = 1");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until_pushing(&f);
  wait_until(f.at_source, "0", 10,
             "select count(*) from pg_stat_activity where datname = current_database() and application_name = "
             "'rowrelay' and (state like 'idle in transaction%%' or backend_xid is not null)");
  cr_assert_str_eq(ask(f.at_source, "select status ->> 'w' from rowrelay.history order by change_id desc limit 1"),
                   "in-progress");
  release(holder);
  wait_until_empty(&f, 20);
  wait_until(f.at_source, "0", 10, "select count(*) from rowrelay.lease");
  cr_assert_str_eq(arrived(&f), "insert0 update1");
  cr_assert_str_eq(ask(f.at_source, "select status ->> 'w' from rowrelay.history order by change_id desc limit 1"),
                   "complete");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(lease, lanes_of_a_killed_process_wait_for_its_lease_and_no_longer) {
  struct fixture f;
  begin(&f, "lease_kill", "{\"claim\": \"lease\", \"lease\": 4, \"push_timeout\": 3}");
  PGconn *holder = hold_target(&f);
  sql(f.at_source, "update item set v = 1");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until_pushing(&f);
  stop_process(process, SIGKILL);
  sql(f.at_target,
      "select pg_terminate_backend(pid) from pg_locks where relation = 'item_changes'::regclass and not granted");
  release(holder);
  sql(f.at_source, "update item set v = 2");
  double left = strtod(
      ask(f.at_source, "select extract(epoch from max(lease_until) - clock_timestamp()) from rowrelay.lease"), NULL);
  cr_assert(left > 1, "%f", left);
  process = fixture_run(&f, "--workers", "1", NULL);
  sleep_seconds(left - 0.5);
  cr_assert_str_eq(arrived(&f), "insert0");
  double from = seconds_now();
  wait_until_empty(&f, 20);
  cr_assert(seconds_now() - from < 15, "it took %f s more", seconds_now() - from);
  cr_assert_str_eq(arrived(&f), "insert0 update1 update2");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* Runs a process whose clock is wrong by as much as `offset` says. */
static pid_t run_with_clock(struct fixture *f, const char *offset) {
  const char *library = "/usr/lib/" FAKETIME_TRIPLET "/faketime/libfaketimeMT.so.1";
  setenv("LD_PRELOAD", library, 1);
  setenv("FAKETIME", offset, 1);
  setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1", 1);
  pid_t process = fixture_run(f, "--workers", "1", NULL);
  unsetenv("LD_PRELOAD");
  unsetenv("FAKETIME");
  return process;
}

/* One goes an hour ahead, the other an hour behind; the source's clock is the one that counts. */
Test(lease, processes_whose_clocks_differ_by_hours_do_not_take_each_others_lanes) {
  struct fixture f;
  /* a sanitizer wants to be the first library */
  if (access("/usr/lib/" FAKETIME_TRIPLET "/faketime/libfaketimeMT.so.1", R_OK) != 0 || getenv("ASAN_OPTIONS") != NULL)
    cr_skip_test("libfaketime is not installed, or a sanitizer is");
  /* a push waits a tenth of push_timeout for a lock */
  begin(&f, "lease_clocks", "{\"claim\": \"lease\", \"lease\": 42, \"push_timeout\": 41}");
  PGconn *holder = hold_target(&f);
  sql(f.at_source, "update item set v = 1");
  pid_t first = run_with_clock(&f, "-1h");
  wait_until_pushing(&f);
  pid_t second = run_with_clock(&f, "+1h");
  sql(f.at_source, "update item set v = 2");
  sleep_seconds(1);
  cr_assert_str_eq(
      ask(f.at_target, "select count(*) from pg_locks where relation = 'item_changes'::regclass and not granted"), "1");
  stop_process(first, SIGKILL);
  sleep_seconds(0.5);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.lease where lease_until > clock_timestamp()") == 1);
  cr_assert_str_eq(
      ask(f.at_target,
          "select count(distinct pid) from pg_locks where relation = 'item_changes'::regclass and not granted"),
      "1");
  sql(f.at_target,
      "select pg_terminate_backend(pid) from pg_locks where relation = 'item_changes'::regclass and not granted");
  release(holder);
  wait_until_empty(&f, 60);
  cr_assert_str_eq(arrived(&f), "insert0 update1 update2");
  stop_process(second, SIGTERM);
  fixture_end(&f);
}

/* It hangs in the middle of its push, and its lease ends; meanwhile another one delivers. */
Test(lease, a_process_that_comes_too_late_settles_nothing) {
  struct fixture f;
  begin(&f, "lease_late", "{\"claim\": \"lease\"}");
  PGconn *holder = hold_target(&f);
  sql(f.at_source, "update item set v = 1");
  pid_t late = fixture_run(&f, "--workers", "1", NULL);
  wait_until_pushing(&f);
  kill(late, SIGSTOP);
  release(holder);
  sql(f.at_source, "update rowrelay.lease set lease_until = clock_timestamp()");
  pid_t other = fixture_run(&f, "--workers", "1", NULL);
  wait_until_empty(&f, 20);
  sql(f.at_source, "update item set v = 2");
  wait_until_empty(&f, 20);
  kill(late, SIGCONT);
  wait_until_says(late, "lease has expired", 10);
  sql(f.at_source, "update item set v = 3");
  wait_until_empty(&f, 20);
  cr_assert_str_eq(arrived(&f), "insert0 update1 update2 update3");
  stop_process(late, SIGTERM);
  stop_process(other, SIGTERM);
  fixture_end(&f);
}

Test(lease, what_kills_every_process_is_refused_alone) {
  struct fixture f;
  begin(&f, "lease_deadly",
        "{\"claim\": \"lease\", \"lease\": 3, \"push_timeout\": 2, \"lanes\": 4, \"retries\": 0, \"batch_rows\": 16}");
  sql(f.at_target,
      "create function hang() returns trigger language plpgsql as $$ begin if new.key = '7' then perform pg_sleep(60); "
      "end if; return new; end $$; create trigger hang before insert on item_changes for each row execute function "
      "hang()");
  sql(f.at_source, "insert into item select n, n from generate_series(2, 40) as n");
  for (int deaths = 0; deaths < 16 && ask_number(f.at_source, "select count(*) from rowrelay.errors") == 0; deaths++) {
    pid_t process = fixture_run(&f, "--workers", "1", NULL);
    double until = seconds_now() + 6;
    while (seconds_now() < until && ask_number(f.at_source, "select count(*) from rowrelay.errors") == 0 &&
           ask_number(
               f.at_target,
               "select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()") ==
               0)
      sleep_seconds(0.05);
    /* once the deadly one is refused, a kill would meet one that is tried alone because it was beside it */
    stop_process(process, ask_number(f.at_source, "select count(*) from rowrelay.errors") == 0 ? SIGKILL : SIGTERM);
    sql(f.at_target, "select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep' and datname "
                     "= current_database()");
  }
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', key, message) from rowrelay.errors"),
                   "7 1 processes died while delivering this change alone");
  sql(f.at_target, "drop trigger hang on item_changes");
  /* a busy machine may take longer than what was to kill quickly */
  rowrelay_ok(&f, "target", "set", "w", "--option", "lease=120", "--option", "push_timeout=60", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(distinct key, ' ' order by key) from item_changes"),
                   ask(f.at_source, "select string_agg(id::text, ' ' order by id::text) from item where id <> 7"));
  fixture_end(&f);
}

Test(lease, at_most_once_is_not_sent_again_after_a_kill) {
  struct fixture f;
  begin(&f, "lease_once", "{\"guarantee\": \"at-most-once\", \"lease\": 6, \"push_timeout\": 5}");
  PGconn *holder = hold_target(&f);
  sql(f.at_source, "update item set v = 1");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until_pushing(&f);
  cr_assert_str_eq(ask(f.at_source, "select status ->> 'w' from rowrelay.history order by change_id desc limit 1"),
                   "in-progress");
  stop_process(process, SIGKILL);
  sql(f.at_target,
      "select pg_terminate_backend(pid) from pg_locks where relation = 'item_changes'::regclass and not granted");
  release(holder);
  sql(f.at_source, "update item set v = 2");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(arrived(&f), "insert0 update2");
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', key, message) from rowrelay.errors"),
                   "1 it was sent, and nobody knows whether it arrived");
  /* a person may decide that */
  rowrelay_ok(&f, "retry", "--all", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(arrived(&f), "insert0 update2 update1");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  fixture_end(&f);
}

Test(lease, at_most_once_waits_for_a_target_that_cannot_be_reached) {
  struct fixture f;
  own_server("target", NULL);
  begin(&f, "lease_down", "{\"guarantee\": \"at-most-once\"}");
  stop_server("target", "fast");
  sql(f.at_source,
      "insert into item select n, n from generate_series(2, 50) as n; update item set v = 100 where id = 3");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_source, "t", 20, "select coalesce(max(attempts), 0) > 2 from rowrelay.trouble");
  wait_until(f.at_source, "50", 5, "select count(*) from rowrelay.queue");
  start_server("target");
  wait_until_empty(&f, 60);
  wait_until(f.at_source, "0", 10, "select count(*) from rowrelay.errors");
  PQreset(f.at_target);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item_changes"), "51");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(op, ' ' order by position) from item_changes where key = '3'"),
                   "insert update");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* As rows of such a table may be in any lane, what goes back must not wait for the lanes of others that do the same. */
Test(lease, at_most_once_goes_back_at_once_where_rows_change_lanes) {
  struct fixture f;
  own_server("target", NULL);
  begin(&f, "lease_back", "{\"guarantee\": \"at-most-once\", \"lease\": 30, \"push_timeout\": 5, \"batch_rows\": 10}");
  rowrelay_ok(&f, "capture", "item", "--lane", "v", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  stop_server("target", "fast");
  sql(f.at_source, "insert into item select n, n from generate_series(2, 200) as n");
  pid_t process = fixture_run(&f, "--workers", "4", NULL);
  wait_until(f.at_source, "t", 20, "select coalesce(max(attempts), 0) > 1 from rowrelay.trouble");
  wait_until(f.at_source, "0", 10, "select count(*) from rowrelay.refusal");
  start_server("target");
  wait_until_empty(&f, 60);
  wait_until(f.at_source, "0", 10, "select count(*) from rowrelay.errors");
  PQreset(f.at_target);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item_changes"), "200");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* Truncates are barriers here as well. */
Test(lease, many_processes_keep_every_keys_order) {
  struct fixture f;
  begin(&f, "lease_order", "{\"claim\": \"lease\", \"batch_rows\": 50}");
  pid_t processes[3];
  for (int i = 0; i < 3; i++)
    processes[i] = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "insert into item select n, 0 from generate_series(2, 200) as n");
  for (int i = 0; i < 15; i++)
    sql(f.at_source, "update item set v = v + 1; %s",
        i == 7 ? "truncate item; insert into item select n, 50 from generate_series(1, 200) as n" : "");
  wait_until_empty(&f, 60);
  cr_assert_str_eq(
      ask(f.at_target,
          "select count(*) from (select change_id < lag(change_id) over (partition by key order by position) as back "
          "from item_changes where key is not null) as c where back"),
      "0");
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item_changes a, item_changes t where t.op = 'truncate' and "
                                    "(a.change_id < t.change_id) <> (a.position < t.position) and a.op <> 'truncate'"),
                   "0");
  for (int i = 0; i < 3; i++)
    stop_process(processes[i], SIGTERM);
  fixture_end(&f);
}

Test(lease, a_lease_that_a_push_may_outlast_is_refused) {
  struct fixture f;
  const char *errors;
  begin(&f, "lease_short", "{\"push_timeout\": 600}");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "target", "set", "w", "--option", "claim=lease", NULL), 2);
  cr_assert(strstr(errors, "lease must be longer than push_timeout (600), not 120") != NULL, "%s", errors);
  cr_assert_eq(rowrelay(&f, NULL, NULL, "target", "set", "w", "--option", "guarantee=at-most-once", NULL), 2);
  rowrelay_ok(&f, "target", "set", "w", "--option", "claim=lease", "--option", "lease=601", NULL);
  cr_assert_eq(rowrelay(&f, NULL, NULL, "target", "set", "w", "--option", "lease=600", NULL), 2);
  fixture_end(&f);
}
