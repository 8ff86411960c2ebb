/*
 * What a crash forgets, and a copy that is put back. At the source, a commit that nobody waits for, and numbers that a
 * sequence gave out since the last one that somebody did wait for, may be gone afterwards; a process that lives through
 * it remembers them. At the target, what was delivered must not be forgotten at all.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

/* Nothing reaches the log on disk by itself. */
#define FORGETFUL                                                                                                      \
  "wal_writer_delay=10s wal_writer_flush_after=100MB bgwriter_lru_maxpages=0 autovacuum=off "                          \
  "max_prepared_transactions=4"

static void begin(struct fixture *f, const char *name, const char *option) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text); create table note (what text)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, "--option", option, NULL);
  rowrelay_ok(f, "capture", "item", "note", "--to", "w", "--create", NULL);
  sql(f->at_source,
      "insert into item select n, 'old' from generate_series(1, 200) as n; insert into note values ('old')");
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

static void check_equal(struct fixture *f) {
  same_rows(f, "item", "item", "id");
  same_rows(f, "note", "note", "what");
}

static void crash(struct fixture *f) {
  PQfinish(f->at_source);
  restart_server("source", "immediate");
  f->at_source = connect_to(f->source, NULL);
}

/* Connects to a server that restarts by itself. */
static void reconnect(struct fixture *f) {
  PQfinish(f->at_source);
  f->at_source = NULL;
  for (int attempt = 0; f->at_source == NULL; attempt++) {
    cr_assert(attempt < 200, "the server does not come back");
    sleep_seconds(0.1);
    PGconn *connection = PQconnectdb(f->source);
    if (PQstatus(connection) == CONNECTION_OK)
      f->at_source = connection;
    else
      PQfinish(connection);
  }
}

Test(crash, changes_whose_ids_were_seen_before_the_crash_are_delivered) {
  struct fixture f;
  own_server("source", FORGETFUL);
  begin(&f, "crash_ids", "batch_rows=2000");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "update item set name = 'before' where id = 1");
  wait_until_empty(&f, 10);
  sleep_seconds(1);
  /* Ids that no commit makes last, as those of a transaction that rolls back; on a fresh page of the log. */
  sql(f.at_source, "select pg_switch_wal()");
  sql(f.at_source, "begin; select nextval('rowrelay.change_id') from generate_series(1, 500); rollback");
  int64_t seen = ask_number(f.at_source, "select rowrelay.last_change_id()");
  sleep_seconds(2.5); /* by now all is known to be settled up to there */
  crash(&f);
  wait_until_says(process, "the server crashed", 20); /* and has skipped ids by now */
  int64_t left = ask_number(f.at_source, "select rowrelay.last_change_id() - last_value from rowrelay.ids_skipped");
  cr_assert(left < seen - 100, "the crash has forgotten nothing: %lld is left of %lld", (long long)left,
            (long long)seen);

  sql(f.at_source, "update item set name = 'after' where id < 100; insert into note values ('after')");
  wait_until_empty(&f, 10);
  check_equal(&f);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/*
 * Has changes delivered that the server has in memory only, and forgets: the process that would write them is killed
 * before they are settled, because that waits for the disk. `stopped` is a process that does not come back yet, or 0.
 */
static void lose_changes(struct fixture *f, pid_t stopped) {
  PGconn *holder = connect_to(f->source, NULL);
  sql(f->at_source, "checkpoint");
  sql(holder, "begin; lock table rowrelay.receipt in exclusive mode");
  pid_t writer = (pid_t)ask_number(f->at_source, "select pid from pg_stat_activity where backend_type = 'walwriter'");
  cr_assert(writer > 0 && kill(writer, SIGSTOP) == 0);
  sql(f->at_source, "select nextval('rowrelay.claim_token') from generate_series(1, 100000)");
  sql(f->at_source, "update item set name = 'lost'");
  wait_until(f->at_target, "200", 10, "select count(*) from item where name = 'lost'");
  wait_until(f->at_target, "t", 10, "select to_regclass('item_changes') is not null");
  wait_until(f->at_target, "200", 10, "select count(*) from item_changes where new_row ->> 'name' = 'lost'");
  cr_assert(stopped == 0 || kill(stopped, SIGSTOP) == 0);
  cr_assert(kill(writer, SIGKILL) == 0);
  reconnect(f);
  PQfinish(holder);
  cr_assert_eq(ask_number(f->at_source, "select count(*) from item where name = 'lost'"), 0, "nothing was forgotten");
}

static int64_t last_id(struct fixture *f) {
  return ask_number(f->at_source, "select rowrelay.last_change_id()");
}

static int64_t arrived(struct fixture *f, const char *name) {
  return ask_number(f->at_target, "select count(*) from item_changes where new_row ->> 'name' = '%s'", name);
}

static pid_t begin_losing(struct fixture *f, const char *name) {
  own_server("source", FORGETFUL " synchronous_commit=off");
  begin(f, name, "batch_rows=2000");
  rowrelay_ok(f, "target", "add", "a", f->target_url, "--option", "mode=append", NULL);
  rowrelay_ok(f, "route", "item", "a", NULL);
  return fixture_run(f, "--workers", "2", NULL);
}

static void check_kept(struct fixture *f) {
  wait_until_empty(f, 20);
  cr_assert_eq(arrived(f, "lost"), 200);
  cr_assert_eq(arrived(f, "kept"), 150);
  cr_assert_eq(ask_number(f->at_target, "select count(*) from item where name = 'kept'"), 150);
}

/* Ids that were given out before the crash would be taken for what was delivered under them. */
Test(crash, what_comes_after_changes_that_the_crash_forgot_is_not_taken_for_them) {
  struct fixture f;
  pid_t process = begin_losing(&f, "crash_forgotten");
  lose_changes(&f, 0);
  wait_until_says(process, "the server crashed", 20);
  sql(f.at_source, "update item set name = 'kept' where id <= 150");
  check_kept(&f);
  cr_assert(stop_process(process, SIGTERM) == 0);

  /* Once for each crash. */
  int64_t last = last_id(&f);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_eq(last_id(&f), last);
  fixture_end(&f);
}

/* Applications are back before the processes. */
Test(crash, what_is_written_before_a_process_comes_is_not_taken_for_what_the_crash_forgot) {
  struct fixture f;
  pid_t process = begin_losing(&f, "crash_first");
  lose_changes(&f, process);
  sql(f.at_source, "update item set name = 'kept' where id <= 150");
  cr_assert(kill(process, SIGCONT) == 0);
  check_kept(&f);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/* ---- copies of a server's files --------------------------------------------------------------------------------- */

static void stop_source(struct fixture *f, const char *mode) {
  PQfinish(f->at_source);
  f->at_source = NULL;
  stop_server("source", mode);
}

static void start_source(struct fixture *f) {
  start_server("source");
  f->at_source = connect_to(f->source, NULL);
}

/* Of a server that is stopped. */
static void copy_source(void) {
  in_source_directory("cp -a data copy");
}

static void put_copy_back(void) {
  in_source_directory("rm -rf data && cp -a copy data");
}

static bool delivers_and_says(struct fixture *f, const char *words) {
  const char *log;
  cr_assert_eq(rowrelay(f, NULL, &log, "run", "--until-empty", NULL), 0, "%s", log);
  return strstr(log, words) != NULL;
}

static void change_and_deliver(struct fixture *f, const char *name, int64_t rows) {
  sql(f->at_source, "update item set name = '%s' where id <= %d; insert into note values ('%s')", name, (int)rows,
      name);
  rowrelay_ok(f, "run", "--until-empty", NULL);
  cr_assert_eq(arrived(f, name), rows, "%s", name);
  cr_assert_eq(ask_number(f->at_target, "select count(*) from note where what = '%s'", name), 1, "%s", name);
}

static void begin_with_append(struct fixture *f, const char *name) {
  own_server("source", FORGETFUL);
  begin(f, name, "batch_rows=2000");
  rowrelay_ok(f, "target", "add", "a", f->target_url, "--option", "mode=append", NULL);
  rowrelay_ok(f, "route", "item", "a", NULL);
  change_and_deliver(f, "known", 10);
}

Test(crash, what_is_left_of_a_crash_can_be_restored_twice_and_all_that_is_written_afterwards_arrives) {
  struct fixture f;
  begin_with_append(&f, "crash_twice");
  stop_source(&f, "immediate");
  copy_source();
  static const char *const TIMES[] = {"first", "second", "third"};
  int64_t last = 0;
  for (int i = 0; i < 3; i++) {
    start_source(&f);
    cr_expect(delivers_and_says(&f, "the server crashed"));
    cr_expect(last_id(&f) > last);
    change_and_deliver(&f, TIMES[i], 150);
    last = last_id(&f);
    stop_source(&f, "immediate");
    put_copy_back();
  }
  start_source(&f);
  fixture_end(&f);
}

/* Nothing in it tells that it is not the server as it was stopped. */
Test(crash, a_copy_of_a_stopped_server_can_be_put_back_and_all_that_is_written_afterwards_arrives) {
  struct fixture f;
  begin_with_append(&f, "crash_copy");
  stop_source(&f, "fast");
  copy_source();
  start_source(&f);
  cr_expect(delivers_and_says(&f, "info: source: the server was restarted"));
  change_and_deliver(&f, "lost", 150);
  int64_t lost = last_id(&f);
  stop_source(&f, "fast");
  put_copy_back();
  start_source(&f);
  cr_expect(delivers_and_says(&f, "info: source: the server was restarted"));
  cr_expect(last_id(&f) > lost);
  change_and_deliver(&f, "kept", 150);
  fixture_end(&f);
}

Test(crash, a_copy_from_before_anything_was_delivered_can_be_put_back_too) {
  struct fixture f;
  own_server("source", FORGETFUL);
  fixture_begin(&f, "crash_early_copy");
  sql(f.at_source, "create table item (id int primary key, name text); create table note (what text)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "target", "add", "a", f.target_url, "--option", "mode=append", NULL);
  rowrelay_ok(&f, "capture", "item", "note", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "route", "item", "a", NULL);
  sql(f.at_source, "insert into item select n, 'old' from generate_series(1, 200) as n");
  /* The server goes on as it is. */
  sql(f.at_source, "checkpoint");
  in_source_directory("{ cp -a data copy; rm copy/postmaster.pid; }"); /* files for a moment may be gone */
  change_and_deliver(&f, "lost", 150);
  stop_source(&f, "fast");
  put_copy_back();
  start_source(&f);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  change_and_deliver(&f, "kept", 150);
  fixture_end(&f);
}

/* As a dump that is restored beside it, or in its place. */
Test(crash, another_copy_of_the_database_on_the_same_server_goes_on_with_ids_of_its_own) {
  struct fixture f;
  begin_with_append(&f, "crash_database");
  PQfinish(f.at_source);
  PGconn *server = connect_to(f.source, "dbname=postgres");
  sql(server, "create database another_copy template %s", f.name);
  PQfinish(server);
  f.at_source = connect_to(f.source, NULL);
  PGconn *copy = connect_to(f.source, "dbname=another_copy");
  change_and_deliver(&f, "here", 150);
  cr_expect_str_eq(ask(copy, "select is_alarm from rowrelay.skip_lost_ids(is_here => true)"), "t");
  cr_expect(ask_number(copy, "select rowrelay.last_change_id()") > last_id(&f));
  PQfinish(copy);
  sql(f.at_source, "drop database another_copy");
  fixture_end(&f);
}

/* What was queued when it was made has been delivered since; a row without a key would be there twice. */
Test(crash, a_restored_database_does_not_bring_rows_without_a_key_twice) {
  struct fixture f;
  fixture_begin(&f, "crash_restored");
  sql(f.at_source, "create table item (id int primary key, name text); create table note (what text)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "note", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item values (1, 'a'); insert into note values ('before')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "update item set name = 'b'; insert into note values ('queued'), ('queued')");
  PQfinish(f.at_source);
  PGconn *server = connect_to(f.source, "dbname=postgres");
  sql(server, "create database restored_copy template %s", f.name);
  PQfinish(server);
  f.at_source = connect_to(f.source, NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_eq(ask_number(f.at_target, "select count(*) from note"), 3);

  struct fixture restored = f;
  static char conninfo[600];
  snprintf(conninfo, sizeof conninfo, "%s dbname=restored_copy", f.source);
  memcpy(restored.source, conninfo, sizeof restored.source);
  restored.at_source = connect_to(restored.source, NULL);
  rowrelay_ok(&restored, "resume", "--here", NULL);
  rowrelay_ok(&restored, "run", "--until-empty", NULL);
  cr_expect_eq(ask_number(f.at_target, "select count(*) from note"), 3);
  cr_expect_str_eq(ask(f.at_target, "select name from item"), "b");
  cr_expect_eq(ask_number(restored.at_source, "select count(*) from rowrelay.errors"), 2);
  /* a delete of such a row must not pass it */
  sql(restored.at_source, "insert into note values ('after')");
  rowrelay_ok(&restored, "run", "--until-empty", NULL);
  cr_expect_eq(ask_number(f.at_target, "select count(*) from note where what = 'after'"), 0);
  sql(restored.at_source, "select rowrelay.skip('w', array(select change_id from rowrelay.errors where message not "
                          "like '%%older change%%'))");
  rowrelay_ok(&restored, "run", "--until-empty", NULL);
  cr_expect_eq(ask_number(f.at_target, "select count(*) from note where what = 'after'"), 1);
  PQfinish(restored.at_source);
  sql(f.at_source, "drop database restored_copy");
  fixture_end(&f);
}

/* One that never knew the time, or a standby's that is behind. */
Test(crash, two_that_go_on_from_the_same_data_give_out_different_ids_also_where_the_clock_is_wrong) {
  struct fixture f;
  fixture_begin(&f, "crash_clock");
  int64_t ids[8];
  for (int i = 0; i < 8; i++) {
    sql(f.at_source,
        "select setval('rowrelay.change_id', 4000000000000000), setval('rowrelay.claim_token', 4000000000000000), "
        "setval('rowrelay.server_run', 1); update rowrelay.source set server[5] = 'another'");
    ids[i] = ask_number(f.at_source, "select goes_on_after from rowrelay.skip_lost_ids()");
    cr_assert(ids[i] >= 4000000000000000 + 1000000000 && ids[i] == last_id(&f));
    cr_assert(ask_number(f.at_source, "select last_value from rowrelay.claim_token") >= 4000000000000000 + 1000000000);
    for (int k = 0; k < i; k++)
      cr_assert(ids[i] != ids[k]);
  }
  fixture_end(&f);
}

Test(crash, a_server_whose_statistics_are_reset_has_not_crashed) {
  struct fixture f;
  begin_with_append(&f, "crash_statistics");
  int64_t last = last_id(&f);
  sql(f.at_source, "select pg_stat_reset_shared('bgwriter')");
  sql(f.at_source, "select pg_stat_reset_shared('archiver')");
  sql(f.at_source, "select pg_stat_reset_slru(null)");
  cr_expect(!delivers_and_says(&f, "source: the server"));
  cr_expect(last_id(&f) == last);
  fixture_end(&f);
}

/* How a number is written depends on the session; which run of the server this is does not. */
Test(crash, a_session_with_other_settings_is_on_the_same_server) {
  struct fixture f;
  fixture_begin(&f, "crash_settings");
  sql(f.at_source, "create table item (id int primary key, name text)");
  rowrelay_ok(&f, "capture", "item", NULL);
  static const char *const SETTINGS[] = {"extra_float_digits=-15",  "extra_float_digits=0",    "extra_float_digits=3",
                                         "timezone=Asia/Kathmandu", "datestyle=SQL,DMY",       "bytea_output=escape",
                                         "search_path=nowhere",     "quote_all_identifiers=on"};
  for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++) {
    char options[96];
    snprintf(options, sizeof options, "options='-c %s'", SETTINGS[i]);
    PGconn *writer = connect_to(f.source, options);
    sql(writer, "insert into public.item values (%d, 'a')", (int)i);
    cr_expect_eq(ask_number(f.at_source, "select rowrelay.last_change_id()"), (int64_t)i + 1, "%s", SETTINGS[i]);
    PQfinish(writer);
  }
  fixture_end(&f);
}

/* The first of them moves the ids on, for all. Nobody waits for its transaction, nor fails because another one moves
 * them. */
Test(crash, writers_that_come_at_once_go_on_behind_what_may_be_lost_without_waiting_for_each_other) {
  struct fixture f;
  fixture_begin(&f, "crash_writers");
  sql(f.at_source, "create table item (id int primary key, name text)");
  rowrelay_ok(&f, "capture", "item", NULL);
  sql(f.at_source, "insert into item select n, 'a' from generate_series(1, 5) as n");
  sql(f.at_source, "select setval('rowrelay.server_run', 1)");
  PGconn *holder = connect_to(f.source, NULL);
  sql(holder, "begin; select from rowrelay.mutex where name = 'change_id' for update");
  PGconn *writers[8];
  for (int i = 0; i < 8; i++) {
    writers[i] = connect_to(f.source, NULL);
    char statement[96];
    snprintf(statement, sizeof statement, "set lock_timeout = '20ms'; begin; insert into item values (%d, 'a')", 6 + i);
    cr_assert(PQsendQuery(writers[i], statement) == 1);
  }
  wait_until(f.at_source, "8", 10, "select count(*) from pg_locks where not granted");
  sleep_seconds(0.2); /* no lock_timeout ends it */
  sql(holder, "rollback");
  for (int i = 0; i < 8; i++) {
    for (PGresult *result; (result = PQgetResult(writers[i])) != NULL; PQclear(result))
      cr_expect(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(writers[i]));
    cr_expect(ask_number(writers[i], "select max(id) from rowrelay.change") > 1000000000);
  }
  for (int i = 0; i < 8; i++) {
    sql(writers[i], "commit");
    PQfinish(writers[i]);
  }
  cr_expect_eq(ask_number(f.at_source, "select rowrelay.last_change_id() - last_value from rowrelay.ids_skipped"), 13);
  cr_expect_eq(ask_number(f.at_source, "select count(*) from rowrelay.change where id > 1000000000"), 8);
  PQfinish(holder);
  fixture_end(&f);
}

/* It waits for the first one, and finds nothing left to do. */
Test(crash, only_one_of_several_processes_that_come_at_once_moves_the_ids_on) {
  struct fixture f;
  fixture_begin(&f, "crash_at_once");
  sql(f.at_source, "select setval('rowrelay.server_run', 1); update rowrelay.source set server[5] = 'another'");
  PGconn *second = connect_to(f.source, NULL);
  sql(f.at_source, "begin");
  int64_t first = ask_number(f.at_source, "select goes_on_after from rowrelay.skip_lost_ids()");
  cr_assert(PQsendQuery(second, "select goes_on_after from rowrelay.skip_lost_ids()") == 1);
  sleep_seconds(0.3);
  sql(f.at_source, "commit");
  PGresult *result = PQgetResult(second);
  cr_assert(PQresultStatus(result) == PGRES_TUPLES_OK && PQgetisnull(result, 0, 0));
  PQclear(result);
  PQfinish(second);
  cr_assert_eq(last_id(&f), first);
  cr_assert_eq(ask_number(f.at_source, "select last_value from rowrelay.ids_skipped"), first);
  fixture_end(&f);
}

Test(crash, a_prepared_transaction_that_outlives_the_crash_is_delivered) {
  struct fixture f;
  own_server("source", FORGETFUL);
  begin(&f, "crash_prepared", "batch_rows=2000");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "begin; update item set name = 'prepared' where id = 1; insert into note values ('prepared');"
                   "prepare transaction 'test_crash'");
  sql(f.at_source, "update item set name = 'before' where id between 50 and 90");
  wait_until_empty(&f, 10);
  sleep_seconds(2.5);
  crash(&f);
  for (int i = 0; i < 5; i++) {
    sql(f.at_source, "update item set name = 'after %d' where id between 50 and 90", i);
    sleep_seconds(0.5);
  }
  wait_until_empty(&f, 10);
  sleep_seconds(1);
  sql(f.at_source, "commit prepared 'test_crash'");
  wait_until(f.at_target, "prepared", 5, "select name from item where id = 1");
  wait_until_empty(&f, 10);
  check_equal(&f);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/* A killed session restarts the server without a new postmaster, and gives the prepared transaction another name. */
Test(crash, a_backfill_goes_on_waiting_for_a_prepared_transaction_after_a_session_was_killed) {
  struct fixture f;
  own_server("source", "max_prepared_transactions=4");
  fixture_begin(&f, "crash_backfill");
  sql(f.at_source, "create table item (id int primary key, name text)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", NULL);
  sql(f.at_source, "insert into item select n, 'old' from generate_series(1, 200) as n");
  sql(f.at_source, "begin; insert into item values (1000, 'prepared'); prepare transaction 'test_backfill'");
  rowrelay_ok(&f, "route", "item", "w", "--create", NULL);
  pid_t process = fixture_run(&f, NULL, NULL);
  sql(f.at_source, "select rowrelay.backfill('item', 'w'); update rowrelay.backfill set way = 'pieces'");
  wait_until(f.at_source, "t", 20, "select coalesce(note ~ 'a prepared transaction', false) from rowrelay.backfill");
  PGconn *victim = connect_to(f.source, NULL);
  cr_assert(kill(PQbackendPID(victim), SIGKILL) == 0);
  PQfinish(victim);
  sleep_seconds(1);
  reconnect(&f);
  sleep_seconds(3);
  cr_assert_str_eq(ask(f.at_source, "select state from rowrelay.backfill"), "waiting");
  sql(f.at_source, "commit prepared 'test_backfill'");
  wait_until(f.at_source, "done", 30, "select state from rowrelay.backfill");
  wait_until_empty(&f, 10);
  same_rows(&f, "item", "item", "id");
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

Test(crash, rows_without_a_key_are_not_doubled_when_the_crash_forgets_that_they_were_settled) {
  struct fixture f;
  own_server("source", FORGETFUL);
  begin(&f, "crash_settled", "batch_rows=1");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  sql(f.at_source, "insert into note select 'same' from generate_series(1, 6)");
  wait_until(f.at_target, "6", 10, "select count(*) from note where what = 'same'");
  wait_until_empty(&f, 10);
  crash(&f);
  sleep_seconds(1.5);
  wait_until_empty(&f, 10);
  check_equal(&f);
  sql(f.at_source, "delete from note where ctid in (select ctid from note limit 2); insert into note values ('after')");
  wait_until_empty(&f, 10);
  check_equal(&f);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

Test(crash, a_target_that_does_not_wait_for_its_disk_keeps_what_was_delivered_through_a_crash) {
  struct fixture f;
  own_server("target", FORGETFUL " synchronous_commit=off");
  begin(&f, "crash_target", "batch_rows=50");
  sql(f.at_target, "select pg_switch_wal()");
  sql(f.at_source, "update item set name = 'delivered' where id < 20; insert into note values ('delivered')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  PQfinish(f.at_target);
  restart_server("target", "immediate");
  f.at_target = connect_to(f.target, NULL);
  check_equal(&f);
  fixture_end(&f);
}
