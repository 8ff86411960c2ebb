/* Source or target are unavailable for a while: it is logged, nothing is lost, and nobody has to do anything. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "receiver.h"

static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text); create table note (what text)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  rowrelay_ok(f, "capture", "item", "note", "--to", "w", "--create", NULL);
  sql(f->at_source,
      "insert into item select n, 'old' from generate_series(1, 20) as n; insert into note values ('old')");
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

static void write_rows(struct fixture *f, const char *name) {
  sql(f->at_source, "update item set name = '%s'; insert into note values ('%s'), ('twice'), ('twice')", name, name);
}

static void check_equal(struct fixture *f) {
  same_rows(f, "item", "item", "id");
  same_rows(f, "note", "note", "what");
}

static void connect_again(struct fixture *f) {
  PQfinish(f->at_source);
  PQfinish(f->at_target);
  f->at_source = connect_to(f->source, NULL);
  f->at_target = connect_to(f->target, NULL);
}

static void check_is_well(struct fixture *f) {
  write_rows(f, "well");
  wait_until_empty(f, 10);
  check_equal(f);
  wait_until(f->at_source, "running", 5, "select state from rowrelay.status");
  cr_expect(strcmp(ask(f->at_source, "select note from rowrelay.status"), "") == 0, "%s",
            ask(f->at_source, "select note from rowrelay.status"));
  cr_expect(ask_number(f->at_source, "select count(*) from rowrelay.errors") == 0);
}

Test(outage, a_target_that_is_away_is_told_of_and_waited_for) {
  struct fixture f;
  own_server("target", NULL);
  begin(&f, "away");
  pid_t processes[] = {fixture_run(&f, "--workers", "2", NULL), fixture_run(&f, "--workers", "2", NULL)};
  check_is_well(&f);
  for (int i = 0; i < 2; i++) {
    PQfinish(f.at_target);
    stop_server("target", i == 0 ? "fast" : "immediate");
    write_rows(&f, "away");
    wait_until(f.at_source, "failing", 10, "select state from rowrelay.status");
    const char *note = ask(f.at_source, "select note from rowrelay.status");
    cr_expect(strstr(note, "since 2") != NULL &&
                  (strstr(note, "PGSQL") != NULL || strstr(note, "closed the connection") != NULL ||
                   strstr(note, "terminating connection") != NULL),
              "%s", note);
    cr_expect(ask_number(f.at_source, "select backlog from rowrelay.status") == 23);
    cr_expect(strstr(rowrelay_ok(&f, "status", NULL), "failing") != NULL);
    sleep_seconds(0.5);
    write_rows(&f, "still");
    start_server("target");
    f.at_target = connect_to(f.target, NULL);
    wait_until_empty(&f, 15);
    check_equal(&f);
    check_is_well(&f);
  }
  for (int i = 0; i < 2; i++)
    cr_assert(stop_process(processes[i], SIGTERM) == 0);
  fixture_end(&f);
}

/* Its database becomes what it was when its copy was made, as when a standby that lagged takes over. */
static void put_lagged_in_place(struct fixture *f, PGconn *server) {
  sql(server, "alter database %s with allow_connections false", f->name);
  sql(server, "select pg_terminate_backend(pid) from pg_stat_activity where datname = '%s'", f->name);
  wait_until(server, "0", 10, "select count(*) from pg_stat_activity where datname = '%s'", f->name);
  sql(server, "alter database %s rename to %s_gone", f->name, f->name);
  sql(server, "alter database %s_lagged rename to %s", f->name, f->name);
}

static void begin_lagged(struct fixture *f, const char *name, PGconn **server) {
  begin(f, name);
  *server = connect_to(f->target, "dbname=postgres");
  PQfinish(f->at_target);
  sql(*server, "create database %s_lagged template %s", f->name, f->name);
}

static void end_lagged(struct fixture *f, PGconn *server) {
  sql(server, "drop database %s_gone", f->name);
  PQfinish(server);
  fixture_end(f);
}

Test(outage, a_target_that_lost_what_it_had_is_told_of) {
  struct fixture f;
  PGconn *server;
  begin_lagged(&f, "outage_lost", &server);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  sql(f.at_source, "update item set name = 'lost'");
  wait_until_empty(&f, 10);
  put_lagged_in_place(&f, server);
  sql(f.at_source, "insert into item values (21, 'new')");
  wait_until_says(process, "the server has lost what it had", 20);
  wait_until_empty(&f, 20);
  f.at_target = connect_to(f.target, NULL);
  cr_expect(ask_number(f.at_target, "select count(*) from item where name = 'old'") == 20);
  wait_until(f.at_source, "t", 10,
             "select note like '%%rowrelay verify w --repair%%' from rowrelay.status where target = 'w'");
  /* It ends with a pause as little as with a halt. */
  rowrelay_ok(&f, "target", "pause", "w", NULL);
  cr_expect(strstr(rowrelay_ok(&f, "status", NULL), "rowrelay verify w --repair") != NULL);
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  cr_expect(strstr(rowrelay_ok(&f, "status", NULL), "rowrelay verify w --repair") != NULL);
  /* The commands that it names. */
  cr_expect(rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL) == 3);
  wait_until_empty(&f, 10);
  cr_expect(ask_number(f.at_target, "select count(*) from item where name = 'old'") == 0);
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  cr_expect_str_eq(ask(f.at_source, "select note from rowrelay.status where target = 'w'"), "");
  cr_assert(stop_process(process, SIGTERM) == 0);
  end_lagged(&f, server);
}

/* Another table's target, another worker or lane is the first to push there again, and a target was dropped. */
Test(outage, that_a_target_lost_what_it_had_is_not_hidden_by_what_is_pushed_first) {
  struct fixture f;
  PGconn *server;
  begin_lagged(&f, "outage_hidden", &server);
  rowrelay_ok(&f, "target", "add", "gone", "file:/dev/null", NULL);
  rowrelay_ok(&f, "target", "drop", "gone", NULL);
  sql(f.at_source, "create table other (id int primary key)");
  rowrelay_ok(&f, "target", "add", "v", ask(f.at_source, "select url from rowrelay.targets where name = 'w'"), NULL);
  rowrelay_ok(&f, "capture", "other", "--to", "v", "--create", NULL);
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "update item set name = 'lost'");
  wait_until_empty(&f, 10);
  put_lagged_in_place(&f, server);
  sql(f.at_source, "insert into other select generate_series(1, 50)");
  wait_until_empty(&f, 20);
  sql(f.at_source, "insert into item select i, 'new' from generate_series(21, 40) i");
  wait_until_empty(&f, 20);
  wait_until(f.at_source, "t", 10,
             "select note like '%%rowrelay verify w --repair%%' from rowrelay.status where target = 'w'");
  wait_until(f.at_source, "", 10, "select note from rowrelay.status where target = 'v'");
  cr_assert(stop_process(process, SIGTERM) == 0);
  f.at_target = connect_to(f.target, NULL);
  end_lagged(&f, server);
}

/* Nothing runs while the target is restored, so nobody who delivered there is left to compare. */
static void begin_restored(struct fixture *f, const char *name, PGconn **server) {
  begin_lagged(f, name, server);
  write_rows(f, "lost");
  rowrelay_ok(f, "run", "--workers", "2", "--until-empty", NULL);
  put_lagged_in_place(f, *server);
}

static const char *note_of(struct fixture *f, const char *target) {
  return ask(f->at_source, "select note from rowrelay.status where target = '%s'", target);
}

Test(outage, target_restored_while_nothing_ran_is_noted_at_the_next_start) {
  struct fixture f;
  PGconn *server;
  begin_restored(&f, "restored_stopped", &server);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  f.at_target = connect_to(f.target, NULL);
  cr_assert_eq(ask_number(f.at_target, "select count(*) from item where name = 'old'"), 20, "nothing was pending");
  cr_expect_not_null(strstr(note_of(&f, "w"), "the server has lost what it had"), "%s", note_of(&f, "w"));
  cr_expect_not_null(strstr(note_of(&f, "w"), "rowrelay verify w --repair"), "%s", note_of(&f, "w"));
  cr_expect(rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL) == 3);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  /* No comparison repairs a table without a key. */
  cr_expect_null(strstr(note_of(&f, "w"), "lost what it had"), "%s", note_of(&f, "w"));
  cr_expect_not_null(strstr(note_of(&f, "w"), "public.note lacks changes"), "%s", note_of(&f, "w"));
  sql(f.at_target, "truncate note");
  rowrelay_ok(&f, "backfill", "note", "--to", "w", NULL);
  check_equal(&f);
  cr_expect_str_eq(note_of(&f, "w"), "");
  write_rows(&f, "well");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  check_equal(&f);
  cr_expect_str_eq(note_of(&f, "w"), "");
  end_lagged(&f, server);
}

/* Though nothing has been delivered since in the lanes that lost a claim. */
Test(outage, loss_that_was_noted_is_not_noted_again_by_the_next_process) {
  struct fixture f;
  fixture_begin(&f, "outage_noted_once");
  sql(f.at_source, "create table item (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item select generate_series(1, 20)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_target, "delete from rowrelay_target.fence");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_not_null(strstr(note_of(&f, "w"), "lost what it had"), "%s", note_of(&f, "w"));
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(note_of(&f, "w"), "");
  fixture_end(&f);
}

Test(outage, document_in_a_target_restored_while_nothing_ran_is_noted) {
  struct fixture f;
  PGconn *server;
  begin(&f, "restored_document");
  sql(f.at_source, "create table part (id int primary key, name text); insert into part values (1, 'old')");
  rowrelay_ok(&f, "capture", "part", NULL);
  sql(f.at_source, "select rowrelay.add_document('d', 'w', 'id', 'select id, name from part where id = any ($1)', "
                   "'{part:id}', create_table => true, into_table => 'parts')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  server = connect_to(f.target, "dbname=postgres");
  PQfinish(f.at_target);
  sql(server, "create database %s_lagged template %s", f.name, f.name);
  sql(f.at_source, "update part set name = 'lost'");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(note_of(&f, "d"), "");
  put_lagged_in_place(&f, server);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  f.at_target = connect_to(f.target, NULL);
  cr_expect_not_null(strstr(note_of(&f, "d"), "rowrelay verify w --document d --repair"), "%s", note_of(&f, "d"));
  cr_expect_str_eq(note_of(&f, "w"), "", "it has all that was delivered to it");
  end_lagged(&f, server);
}

Test(outage, a_source_that_is_away_is_waited_for) {
  struct fixture f;
  own_server("source", NULL);
  begin(&f, "source_away");
  pid_t processes[] = {fixture_run(&f, "--workers", "2", NULL), fixture_run(&f, "--workers", "2", NULL)};
  check_is_well(&f);
  for (int i = 0; i < 2; i++) {
    write_rows(&f, "before");
    stop_server("source", i == 0 ? "fast" : "immediate");
    sleep_seconds(1);
    pid_t late = fixture_run(&f, "--workers", "1", NULL);
    sleep_seconds(1);
    start_server("source");
    connect_again(&f);
    write_rows(&f, "after");
    wait_until_empty(&f, 15);
    check_is_well(&f);
    wait_until(f.at_source, "3", 5, "select count(*) from rowrelay.instance");
    cr_assert(stop_process(late, SIGTERM) == 0);
  }
  for (int i = 0; i < 2; i++)
    cr_assert(stop_process(processes[i], SIGTERM) == 0);
  fixture_end(&f);
}

Test(outage, a_process_leaves_at_once_while_its_source_is_away) {
  struct fixture f;
  own_server("source", NULL);
  begin(&f, "source_gone");
  pid_t process = fixture_run(&f, "--workers", "4", NULL);
  check_is_well(&f);
  PQfinish(f.at_source);
  stop_server("source", "immediate");
  sleep_seconds(1);
  double since = seconds_now();
  cr_assert(stop_process(process, SIGTERM) == 0);
  cr_expect(seconds_now() - since < 5, "it took %.1f s", seconds_now() - since);
  start_server("source");
  f.at_source = connect_to(f.source, NULL);
  fixture_end(&f);
}

/* As it is for a moment during an upgrade, or until somebody gives a right back. */
Test(outage, a_source_that_does_not_do_what_it_is_asked_is_told_of_once_and_waited_for) {
  struct fixture f;
  begin(&f, "source_refuses");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  check_is_well(&f);
  sql(f.at_source, "alter function rowrelay.writers() rename to writers_away");
  wait_until_says(process, "rowrelay.writers() does not exist", 10);
  cr_assert(still_runs(process, 3));
  const char *said = strstr(process_log(process), "rowrelay.writers() does not exist");
  cr_expect_null(strstr(said + 1, "rowrelay.writers() does not exist"), "%s", said);
  cr_expect_neq(rowrelay(&f, NULL, NULL, "run", "--until-empty", NULL), 0);
  sql(f.at_source, "alter function rowrelay.writers_away() rename to writers");
  check_is_well(&f);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/* The one worker that tries the target again meanwhile has other things to do first. */
Test(outage, delivery_resumes_when_the_source_was_away_while_the_target_was) {
  struct fixture f;
  own_server("source", NULL);
  own_server("target", NULL);
  begin(&f, "both_away");
  pid_t process = fixture_run(&f, "--workers", "3", NULL);
  check_is_well(&f);
  PQfinish(f.at_target);
  stop_server("target", "fast");
  write_rows(&f, "away");
  wait_until(f.at_source, "failing", 10, "select state from rowrelay.status");
  for (int i = 0; i < 3; i++) {
    restart_server("source", i == 1 ? "fast" : "immediate");
    sleep_seconds(0.5);
  }
  start_server("target");
  f.at_target = connect_to(f.target, NULL);
  PQreset(f.at_source);
  wait_until_empty(&f, 20);
  check_equal(&f);
  check_is_well(&f);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

Test(outage, delivery_resumes_when_a_failing_target_is_given_another_address) {
  struct fixture f;
  begin(&f, "other_address");
  pid_t process = fixture_run(&f, "--workers", "3", NULL);
  for (int i = 0; i < 4; i++) {
    rowrelay_ok(&f, "target", "set", "w", "--url", "postgresql:///nowhere?host=/nowhere", NULL);
    write_rows(&f, "nowhere");
    wait_until(f.at_source, "failing", 10, "select state from rowrelay.status");
    sleep_seconds(0.1 * i);
    rowrelay_ok(&f, "target", "set", "w", "--url", f.target_url, NULL);
    wait_until_empty(&f, 10);
    check_equal(&f);
  }
  check_is_well(&f);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

Test(outage, what_fails_in_the_same_way_again_and_again_is_logged_once) {
  struct fixture f;
  fixture_begin(&f, "again");
  sql(f.at_source, "create table item (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", "http://127.0.0.1:1/", NULL); /* where nobody listens */
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "insert into item values (1)");
  wait_until(f.at_source, "t", 20, "select attempts >= 5 from rowrelay.trouble");
  int lines = 0;
  for (const char *said = process_log(process); (said = strstr(said, "no answer")) != NULL; said++)
    lines++;
  cr_assert_eq(lines, 1, "%s", process_log(process));
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/* ---- what was delivered cannot be noted ----------------------------------------------------------------------------
 */

static void check_not_sent_over_and_over(const char *name, const char *sqlstate, const char *state) {
  struct fixture f;
  fixture_begin(&f, name);
  struct receiver *receiver = receiver_begin();
  sql(f.at_source, "create table item (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", receiver_url(receiver, "/"), NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source,
      "create function fail() returns trigger language plpgsql as "
      "'begin raise exception ''no room'' using errcode = ''%s''; end';"
      "create trigger fail before insert on rowrelay.receipt for each row execute function fail()",
      sqlstate);
  sql(f.at_source, "insert into item values (1)");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until_says(process, "no room", 10);
  sleep_seconds(3);
  cr_expect(receiver_count(receiver) <= 12, "it was sent %d times", receiver_count(receiver));
  cr_expect_str_eq(ask(f.at_source, "select state from rowrelay.status"), state);
  sql(f.at_source, "drop trigger fail on rowrelay.receipt");
  wait_until_empty(&f, 20);
  wait_until(f.at_source, "running", 5, "select state from rowrelay.status");
  cr_expect(stop_process(process, SIGTERM) == 0);
  receiver_end(receiver);
  fixture_end(&f);
}

Test(outage, what_the_source_does_not_take_is_not_sent_over_and_over) {
  check_not_sent_over_and_over("outage_refusing_source", "P0001", "failing");
}

Test(outage, what_the_source_cannot_take_now_is_not_sent_over_and_over) {
  check_not_sent_over_and_over("outage_full_source", "53100", "running");
}

/* ---- what takes too long ------------------------------------------------------------------------------------------
 */

/* The target never finishes with row 500, whatever is pushed with it. */
static void refuse_alone(const char *name, const char *option) {
  struct fixture f;
  fixture_begin(&f, name);
  for (int i = 0; i < 2; i++)
    sql(i == 0 ? f.at_source : f.at_target,
        "create table item (id int primary key, n int); create table other (id int primary key)");
  sql(f.at_target,
      "create function stall() returns trigger language plpgsql as 'begin perform pg_sleep(1000); return new; end';"
      "create trigger stall before insert on item for each row when (new.id = 500) execute function stall()");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", "push_timeout=1", "--option", "retries=1", "--option",
              option, NULL);
  rowrelay_ok(&f, "capture", "item", "other", "--to", "w", NULL);
  sql(f.at_source, "insert into item select n, 0 from generate_series(1, 600) as n; insert into other values (1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(
      ask(f.at_source,
          "select string_agg(concat(key, ' ', state, ' ', attempts, ' ', message), ', ') from rowrelay.errors"),
      "500 error 2 the push took longer than push_timeout (1 s), although the target works");
  cr_assert_str_eq(ask(f.at_target, "select concat(count(*), ' ', (select count(*) from other)) from item"), "599 1");
  sql(f.at_target, "drop trigger stall on item");
  rowrelay_ok(&f, "retry", "--all", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

Test(outage, a_row_that_takes_longer_than_a_push_may_is_refused_alone_and_the_others_go_on) {
  refuse_alone("outage_slow_row", "lanes=64");
}

Test(outage, a_row_that_takes_longer_than_a_push_may_is_refused_alone_from_the_only_lane) {
  refuse_alone("outage_slow_lane", "lanes=1");
}

Test(outage, no_row_is_refused_because_the_target_hangs) {
  struct fixture f;
  begin(&f, "outage_hangs");
  rowrelay_ok(&f, "target", "set", "w", "--option", "push_timeout=1", "--option", "retries=0", NULL);
  PGconn *holder = connect_to(f.target, NULL);
  sql(holder, "begin; lock table rowrelay_target.fence");
  write_rows(&f, "new");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_source, "t", 20, "select attempts > 3 from rowrelay.trouble");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  sql(holder, "commit");
  wait_until_empty(&f, 40);
  check_equal(&f);
  cr_assert(stop_process(process, SIGTERM) == 0);
  PQfinish(holder);
  fixture_end(&f);
}

/* ---- a machine that says nothing any more ---------------------------------------------------------------------------
 */

/*
 * One that stands still, with an answer that it has not read, is like one that has died: only the server's end of the
 * connection can tell, and must, or its lanes are kept from everybody.
 */
Test(outage, a_process_that_does_not_read_what_it_asked_for_loses_its_lanes, .timeout = 400) {
  struct fixture f;
  char port[16];
  char settings[64];
  snprintf(port, sizeof port, "%d", 20000 + (int)(getpid() % 20000));
  snprintf(settings, sizeof settings, "port=%s", port);
  own_server("source", settings);
  begin(&f, "outage_unread");
  PGconn *other = connect_to(f.source, NULL);
  char there[sizeof f.source];
  memcpy(there, f.source, sizeof there);
  snprintf(f.source, sizeof f.source, "host=127.0.0.1 port=%s user=postgres dbname=%s", port, PQdb(f.at_source));
  pid_t still = fixture_run(&f, "--workers", "1", NULL);
  memcpy(f.source, there, sizeof there);
  sql(f.at_source, "update item set name = 'first'");
  wait_until_empty(&f, 10);
  sql(other, "begin; update item set name = repeat('x', 60000000) where id = 1; lock table rowrelay.queue");
  wait_until(
      f.at_source, "t", 10,
      "select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'rowrelay'");
  kill(still, SIGSTOP);
  sql(other, "commit");
  wait_until(
      f.at_source, "t", 20,
      "select count(*) > 0 from pg_stat_activity where wait_event = 'ClientWrite' and application_name = 'rowrelay'");
  double since = seconds_now();
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_target, "60000000", 45, "select length(name) from item where id = 1");
  fprintf(stderr, "its lanes were free after %.1f s\n", seconds_now() - since);
  kill(still, SIGCONT);
  cr_assert(stop_process(still, SIGTERM) == 0);
  cr_assert(stop_process(process, SIGTERM) == 0);
  check_equal(&f);
  PQfinish(other);
  fixture_end(&f);
}
