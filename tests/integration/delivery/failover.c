/* The source fails over to a standby: processes find it by themselves, and what was committed there arrives. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "arrival.h"
#include "fixture.h"
#include "proxy.h"
#include "writers.h"

#define KEYS 200
#define HOT 10

static const char *standby_conninfo;

/* A source with a standby, and a conninfo that names both. */
static void begin(struct fixture *f, const char *name) {
  own_server("source", "max_connections=100");
  standby_conninfo = own_standby();
  PGconn *standby = connect_to(standby_conninfo, NULL);
  fixture_begin(f, name);
  char primary[256];
  snprintf(primary, sizeof primary, "%s", PQhost(f->at_source));
  snprintf(f->source, sizeof f->source,
           "host=%s,%s port=5432,5432 user=postgres dbname=%s target_session_attrs=read-write", PQhost(standby),
           primary, f->name);
  PQfinish(standby);
  writers_make_tables(f->at_source);
  rowrelay_ok(f, "target", "add", "a", f->target_url, "--option", "mode=append", NULL);
  rowrelay_ok(f, "target", "add", "m", f->target_url, NULL);
  rowrelay_ok(f, "capture", "stock", "ledger", "--to", "a", NULL);
  rowrelay_ok(f, "route", "stock", "m", "--create", NULL);
  rowrelay_ok(f, "route", "ledger", "m", "--create", NULL);
  writers_fill_tables(f->at_source, KEYS);
}

Test(failover, a_standby_without_its_primary_is_told_of_and_how_to_find_both) {
  struct fixture f;
  own_server("source", "max_connections=100");
  const char *standby = own_standby();
  fixture_begin(&f, "failover_standby");
  snprintf(f.source, sizeof f.source, "%.400s dbname=%s", standby, f.name);
  PGconn *there = connect_to(standby, "dbname=postgres");
  wait_until(there, "1", 10, "select count(*) from pg_database where datname = '%s'", f.name);
  PQfinish(there);
  PGconn *reading = connect_to(f.source, NULL);
  wait_until(reading, "t", 10, "select to_regnamespace('rowrelay') is not null");
  PQfinish(reading);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until_says(process, "target_session_attrs=read-write", 10);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/* As a machine that is switched off: libpq alone would wait for it until its time limit, and then begin with it again.
 */
Test(failover, a_server_that_says_nothing_is_passed_over) {
  struct fixture f;
  struct proxy proxy;
  const char *errors;
  fixture_begin(&f, "failover_silent");
  proxy_begin(&proxy, f.at_source);
  proxy_hold(&proxy);
  snprintf(f.source, sizeof f.source, "host=%s,%s port=5432,%s user=postgres dbname=%s connect_timeout=2", proxy.dir,
           PQhost(f.at_source), PQport(f.at_source), f.name);
  double since = seconds_now();
  rowrelay_ok(&f, "status", NULL);
  cr_expect(seconds_now() - since < 20, "it took %.1f s", seconds_now() - since);
  snprintf(f.source, sizeof f.source, "host=%s,/nowhere,%s user=postgres dbname=%s connect_timeout=2", proxy.dir,
           proxy.dir, f.name);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "status", NULL), 1);
  cr_expect(strstr(errors, "does not answer either") != NULL, "%s", errors);
  proxy_let_go(&proxy);
  proxy_end(&proxy);
  fixture_end(&f);
}

/* Listens at port 5432 of this address and never says anything. */
static int listen_in_silence(const char *address) {
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(5432)};
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  cr_assert_eq(inet_pton(AF_INET, address, &here.sin_addr), 1);
  cr_assert(bind(listener, (const struct sockaddr *)&here, sizeof here) == 0 && listen(listener, 64) == 0);
  return listener;
}

/* As a name does whose IPv6 leads nowhere. In a mount namespace of its own, names are what the test wants them to be.
 */
Test(failover, an_address_that_says_nothing_is_passed_over_for_the_next_of_the_same_name) {
  struct fixture f;
  if (geteuid() != 0 || system("unshare --mount true 2>/dev/null") != 0)
    cr_skip_test("this is for root, who may mount");
  unsigned int net = (unsigned int)getpid();
  char silent[2][32];
  char heard[64];
  char line[2048];
  snprintf(silent[0], sizeof silent[0], "127.%u.%u.1", 1 + net / 250 % 250, 1 + net % 250);
  snprintf(silent[1], sizeof silent[1], "127.%u.%u.3", 1 + net / 250 % 250, 1 + net % 250);
  snprintf(heard, sizeof heard, "listen_addresses=127.%u.%u.2", 1 + net / 250 % 250, 1 + net % 250);
  own_server("source", heard);
  int listeners[] = {listen_in_silence(silent[0]), listen_in_silence(silent[1])};
  fixture_begin(&f, "failover_addresses");
  const char *dir = getenv("ROWRELAY_TEST_SOURCE_DIR");
  snprintf(line, sizeof line,
           "printf '%%s two.test\\n' %s %s %s > %s/hosts && unshare --mount sh -c 'mount --bind %s/hosts /etc/hosts && "
           "exec timeout 60 %s -d \"host=two.test user=postgres dbname=%s connect_timeout=2\" status'",
           silent[0], strchr(heard, '=') + 1, silent[1], dir, dir, getenv("ROWRELAY_BIN"), f.name);
  cr_expect_eq(system(line), 0, "%s", line);
  close(listeners[0]);
  close(listeners[1]);
  fixture_end(&f);
}

/* The fixture's own connection too is to the primary of now. */
static void connect_again(struct fixture *f) {
  PQfinish(f->at_source);
  f->at_source = connect_to(f->source, NULL);
}

static void check_mirror(struct fixture *f) {
  same_rows(f, "stock", "stock", "id");
  same_rows(f, "ledger", "ledger", "what, n");
  cr_expect(ask_number(f->at_source, "select count(*) from rowrelay.errors") == 0);
}

Test(failover, what_the_standby_has_arrives_once_and_in_order_and_processes_find_it_by_themselves) {
  struct fixture f;
  struct writers writers;
  begin(&f, "failover");
  /* Nobody sees a commit, and nobody is told of it, before the standby has it. */
  sql(f.at_source, "alter system set synchronous_standby_names = '*'");
  sql(f.at_source, "select pg_reload_conf()");
  sql(f.at_source, "alter database \"%s\" set rowrelay.standbys = 'synchronous'", f.name);
  wait_until(f.at_source, "sync", 10, "select sync_state from pg_stat_replication");
  pid_t processes[] = {fixture_run(&f, "--workers", "3", NULL), fixture_run(&f, "--workers", "3", NULL)};
  for (int i = 0; i < 2; i++)
    wait_until_says(processes[i], "delivers from", 20);
  writers_start(&writers, f.source, 4, 3000, HOT, KEYS);
  wait_until(f.at_source, "t", 30, "select count(*) > 600 from rowrelay.change");
  fail_over();
  connect_again(&f);
  int64_t then = ask_number(f.at_source, "select count(*) from rowrelay.change");
  writers_finish(&writers, 90);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.change") > then, "nobody has written since");
  for (int i = 0; i < 2; i++)
    wait_until_says(processes[i], "source: connected again", 20);
  wait_until_empty(&f, 60);
  arrival_is_in_order(&f, "stock_changes");
  arrival_is_complete(&f, "stock", "stock_changes");
  arrival_is_complete(&f, "ledger", "ledger_changes");
  check_mirror(&f);
  for (int i = 0; i < 2; i++)
    cr_assert(stop_process(processes[i], SIGTERM) == 0);
  fixture_end(&f);
}

static void write_notes(struct fixture *f, const char *note, int count) {
  for (int i = 1; i <= count; i++)
    sql(f->at_source, "update stock set note = '%s %d' where id = %d; insert into ledger values ('%s', %d)", note, i,
        i % KEYS + 1, note, i);
}

static int64_t last_change(struct fixture *f) {
  return ask_number(f->at_source, "select last_value from rowrelay.change_id");
}

/* Sequences have moved on before the process says so. */
static void wait_until_says_again(pid_t process, const char *words, double seconds) {
  double until = give_up_at(seconds);
  const char *first;
  while ((first = strstr(process_log(process), words)) == NULL || strstr(first + 1, words) == NULL) {
    cr_assert(seconds_now() < until, "it has not said \"%s\" twice", words);
    sleep_seconds(0.01);
  }
}

/* The standby gets no more of what its primary does. */
static void cut_off_standby(struct fixture *f) {
  wait_until(f->at_source, "t", 10, "select replay_lsn >= pg_current_wal_lsn() from pg_stat_replication");
  PGconn *standby = connect_to(standby_conninfo, NULL);
  sql(standby, "alter system set primary_conninfo = ''");
  sql(standby, "select pg_reload_conf()");
  PQfinish(standby);
  wait_until(f->at_source, "0", 10, "select count(*) from pg_stat_replication");
}

/*
 * What the old primary had alone is gone from the source, and targets have it: under numbers that the standby would
 * give out again.
 */
Test(failover, what_the_lost_primary_had_alone_does_not_hide_what_is_written_after_it) {
  struct fixture f;
  begin(&f, "failover_late");
  rowrelay_ok(&f, "target", "add", "paused", "file:/dev/null", NULL);
  rowrelay_ok(&f, "target", "pause", "paused", NULL);
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until_empty(&f, 20);
  cut_off_standby(&f);
  write_notes(&f, "lost", 190);
  wait_until_empty(&f, 20);
  /* And two that go on from the same: it crashes and comes back, and then the standby takes over. */
  PQfinish(f.at_source);
  restart_server("source", "immediate");
  f.at_source = connect_to(f.source, NULL);
  wait_until_says(process, "the server crashed", 20);
  write_notes(&f, "lost", 150);
  wait_until_empty(&f, 20);
  int64_t lost = last_change(&f);
  fail_over();
  connect_again(&f);
  wait_until(f.at_source, "t", 20, "select rowrelay.last_change_id() > %lld", (long long)lost);
  wait_until_says_again(process, "failed over", 20);
  write_notes(&f, "kept", 150);
  wait_until_empty(&f, 30);
  static const char KEPT[] = "select count(*) from %s where new_row ->> '%s' like 'kept%%'";
  cr_expect(ask_number(f.at_target, KEPT, "stock_changes", "note") == 150);
  cr_expect(ask_number(f.at_target, KEPT, "ledger_changes", "what") == 150);
  arrival_is_in_order(&f, "stock_changes");
  /* A row that only the old primary had changed is found and repaired. */
  cr_expect(ask_number(f.at_target, "select count(*) from ledger where what = 'lost'") == 190 + 150);
  cr_expect(ask_number(f.at_source, "select count(*) from ledger where what = 'lost'") == 0);
  static const char NOTE[] = "may have lost changes that the target has -- rowrelay verify m --repair; then: ";
  cr_expect(strstr(rowrelay_ok(&f, "status", NULL), NOTE) != NULL);
  const char *said;
  (void)rowrelay(&f, &said, NULL, "doctor", NULL);
  cr_expect(strstr(said, NOTE) != NULL, "%s", said);
  cr_expect(rowrelay(&f, NULL, NULL, "verify", "m", "stock", "--repair", NULL) == 3);
  rowrelay_ok(&f, "replay", "a", "--since", "1 second", NULL);
  cr_expect(strstr(rowrelay_ok(&f, "status", NULL), "then: rowrelay target resume a") != NULL);
  rowrelay_ok(&f, "target", "resume", "m", NULL);
  cr_expect(strstr(rowrelay_ok(&f, "status", NULL), NOTE) == NULL);
  rowrelay_ok(&f, "target", "resume", "paused", NULL);
  cr_expect(strstr(rowrelay_ok(&f, "status", NULL), "then: rowrelay target resume paused") != NULL);
  wait_until_empty(&f, 20);
  same_rows(&f, "stock", "stock", "id");
  cr_expect(strstr(rowrelay_ok(&f, "log", "stock", "2", NULL), "kept 1") != NULL);
  wait_until(f.at_source, "t", 20, "select rowrelay.tick(100000, true) < 100000");
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/* The same before any process has found the standby: whoever writes there sees to it. */
Test(failover, what_is_written_before_a_process_comes_is_not_hidden_by_what_the_lost_primary_had) {
  struct fixture f;
  begin(&f, "failover_first");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cut_off_standby(&f);
  write_notes(&f, "lost", 190);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  int64_t lost = last_change(&f);
  fail_over();
  connect_again(&f);
  write_notes(&f, "kept", 60);
  cr_expect(last_change(&f) > lost + 1000000);
  PGconn *other = connect_to(f.source, NULL);
  sql(other,
      "begin; update stock set note = 'kept 61' where id = 62; insert into ledger values ('kept', 61); rollback");
  sql(other, "update stock set note = 'kept 61' where id = 62; insert into ledger values ('kept', 61)");
  PQfinish(other);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  static const char KEPT[] = "select count(*) from %s where new_row ->> '%s' like 'kept%%'";
  cr_expect(ask_number(f.at_target, KEPT, "stock_changes", "note") == 61);
  cr_expect(ask_number(f.at_target, KEPT, "ledger_changes", "what") == 61);
  cr_expect(ask_number(f.at_target, "select count(*) from stock where note like 'kept%%'") == 61);
  cr_expect(ask_number(f.at_target, "select count(*) from ledger where what = 'kept'") == 61);
  arrival_is_in_order(&f, "stock_changes");
  fixture_end(&f);
}

static long count_lines(const char *path, const char *words) {
  char command[256];
  char line[32] = "";
  snprintf(command, sizeof command, "grep -c '%s' %s", words, path);
  FILE *count = popen(command, "r");
  cr_assert(count != NULL && fgets(line, sizeof line, count) != NULL);
  pclose(count);
  return strtol(line, NULL, 10);
}

/* The standby has in its queue what its primary then delivers. */
Test(failover, what_the_standby_does_not_know_to_be_delivered_comes_neither_twice_nor_silently_not_at_all) {
  struct fixture f;
  begin(&f, "failover_forgotten");
  char path[128];
  snprintf(path, sizeof path, "file:/tmp/rowrelay-failover-%d", (int)getpid());
  rowrelay_ok(&f, "target", "add", "once", path, "--option", "guarantee=at-most-once", NULL);
  rowrelay_ok(&f, "route", "stock", "once", NULL);
  /* A table that the target cannot take yet; and commits wait for some standby, if not for that which takes over. */
  sql(f.at_source, "create table entry (what text)");
  sql(f.at_source, "alter system set synchronous_standby_names = '*'");
  sql(f.at_source, "select pg_reload_conf()");
  rowrelay_ok(&f, "capture", "entry", "--to", "m", NULL);
  sql(f.at_source, "insert into entry select 'held' from generate_series(1, 3)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "insert into ledger select 'queued', n from generate_series(1, 20) as n; delete from ledger where "
                   "what = 'item 1'; update stock set note = 'queued' where id <= 5");
  cut_off_standby(&f);
  sql(f.at_source, "alter system set synchronous_standby_names = ''");
  sql(f.at_source, "select pg_reload_conf()");
  sql(f.at_target, "create table entry (what text)");
  /* Two batches: the target forgets what was settled before the second. */
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  wait_until_empty(&f, 60);
  sql(f.at_source, "insert into ledger values ('lost', 1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  fail_over();
  connect_again(&f);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect(ask_number(f.at_target, "select count(*) from ledger where what = 'queued'") == 20);
  cr_expect(ask_number(f.at_source,
                       "select count(*) from rowrelay.errors where target = 'm' and relation = 'ledger'::regclass") ==
            26);
  cr_expect(ask_number(f.at_target, "select count(*) from entry") == 3);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.errors where relation = 'entry'::regclass") == 3);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.errors where target = 'once'") == 5);
  cr_expect(count_lines(path + strlen("file:"), "\"queued\"") == 5);
  cr_expect(strstr(rowrelay_ok(&f, "errors", "--target", "once", NULL), "the source failed over") != NULL);
  /* A person has compared, and knows that they arrived. */
  rowrelay_ok(&f, "skip", "--all", "--target", "m", NULL);
  rowrelay_ok(&f, "retry", "--all", "--target", "once", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect(count_lines(path + strlen("file:"), "\"queued\"") == 10);
  unlink(path + strlen("file:"));
  fixture_end(&f);
}

/* They were retried where the standby sees nothing of it. */
Test(failover, refused_changes_that_may_have_been_delivered_since_say_so) {
  struct fixture f;
  begin(&f, "failover_retried");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_target, "alter table ledger add constraint few check (n < 1000)");
  sql(f.at_source, "insert into ledger values ('refused', 1000), ('behind it', 1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(state, ' ' order by change_id) from rowrelay.errors"),
                   "error blocked");
  cut_off_standby(&f);
  sql(f.at_target, "alter table ledger drop constraint few");
  rowrelay_ok(&f, "retry", "--all", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert(ask_number(f.at_target, "select count(*) from ledger where what in ('refused', 'behind it')") == 2);
  fail_over();
  connect_again(&f);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_source,
                       "select count(*) from rowrelay.errors where detail ~ 'the source failed over.* since "
                       "it was refused: if it was retried in between, it may have been delivered'"),
                   "2");
  cr_expect(strstr(rowrelay_ok(&f, "errors", NULL), "it may have been delivered") != NULL);
  cr_expect(ask_number(f.at_target, "select count(*) from ledger where what in ('refused', 'behind it')") == 2);
  fixture_end(&f);
}

/* A consumer that keeps what it reads behind `cursor` in table seen at the target. */
static void consume(struct fixture *f, char *cursor, size_t size) {
  const char *given = cursor;
  PGresult *rows = PQexecParams(f->at_source,
                                "select next_cursor, change_id, new_row ->> 'note' from "
                                "rowrelay.changes_since($1, 100000, '{stock}')",
                                1, NULL, &given, NULL, NULL, 0);
  cr_assert(PQresultStatus(rows) == PGRES_TUPLES_OK, "%s", PQerrorMessage(f->at_source));
  int last = PQntuples(rows) - 1;
  for (int row = 0; row < last; row++)
    sql(f->at_target, "insert into seen values (%s, '%s')", PQgetvalue(rows, row, 1), PQgetvalue(rows, row, 2));
  snprintf(cursor, size, "%s", PQgetvalue(rows, last, 0));
  PQclear(rows);
}

/* It has seen what the standby has not, under numbers of transactions that the standby gives out again. */
Test(failover, a_cursor_goes_on_at_the_standby_and_misses_nothing_that_is_there) {
  struct fixture f;
  char cursor[4096] = "";
  begin(&f, "failover_cursor");
  sql(f.at_target, "create table seen (id bigint, note text)");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until_empty(&f, 20);
  wait_until(f.at_source, "t", 20, "select rowrelay.tick(100000, true) < 100000");
  write_notes(&f, "both", 5);
  consume(&f, cursor, sizeof cursor);
  wait_until(f.at_source, "t", 10, "select replay_lsn >= pg_current_wal_lsn() from pg_stat_replication");
  PGconn *standby = connect_to(standby_conninfo, NULL);
  sql(standby, "alter system set primary_conninfo = ''");
  sql(standby, "select pg_reload_conf()");
  PQfinish(standby);
  wait_until(f.at_source, "0", 10, "select count(*) from pg_stat_replication");
  write_notes(&f, "lost", 60);
  consume(&f, cursor, sizeof cursor);
  stop_process(process, SIGKILL);
  fail_over();
  connect_again(&f);
  write_notes(&f, "kept", 100);
  consume(&f, cursor, sizeof cursor);
  cr_expect_str_eq(ask(f.at_target, "select count(*) from seen where note like 'kept%%'"), "100");
  cr_expect_str_eq(ask(f.at_target, "select count(*) from seen where note like 'lost%%'"), "60");
  cr_expect_str_eq(ask(f.at_target, "select count(*) <= 2 * 5 from seen where note like 'both%%'"), "t",
                   "only what came after the last tick comes again");
  write_notes(&f, "later", 3);
  consume(&f, cursor, sizeof cursor);
  cr_expect_str_eq(ask(f.at_target, "select count(*) from seen where note like 'later%%'"), "3");
  fixture_end(&f);
}

static void is_refused(struct fixture *f, const char *cursor) {
  cr_expect_str_eq(sql_fails(f->at_source, "select * from rowrelay.changes_since('%s')", cursor), "55000");
  cr_expect(strstr(PQerrorMessage(f->at_source), "it is not known how much of what this cursor has seen") != NULL, "%s",
            PQerrorMessage(f->at_source));
}

static void connect_to_source(struct fixture *f) {
  PQfinish(f->at_source);
  snprintf(f->source, sizeof f->source, "%.400s dbname=%s", getenv("ROWRELAY_TEST_SOURCE"), f->name);
  f->at_source = connect_to(f->source, NULL);
}

/*
 * Two that are promoted one after the other get timelines with the same number, and give out the same transactions'
 * numbers.
 */
Test(failover, a_cursor_of_a_primary_that_the_present_one_never_followed_is_refused) {
  struct fixture f;
  char at_first[4096] = "";
  char early[4096];
  char noted[4096];
  own_server("source", "max_connections=100");
  own_standby();
  own_standby();
  fixture_begin(&f, "failover_twice");
  writers_make_tables(f.at_source);
  sql(f.at_source, "select rowrelay.capture_table('stock'), rowrelay.capture_table('ledger')");
  writers_fill_tables(f.at_source, KEYS);
  sql(f.at_target, "create table seen (id bigint, note text)");
  sql(f.at_source, "select rowrelay.skip_lost_ids()"); /* as each process does first */
  write_notes(&f, "both", 5);
  sql(f.at_source, "select rowrelay.tick(100000, true)");
  consume(&f, at_first, sizeof at_first);
  wait_until(f.at_source, "t", 10,
             "select count(*) = 2 and bool_and(replay_lsn >= pg_current_wal_lsn()) from pg_stat_replication");

  fail_over();
  connect_to_source(&f);
  memcpy(early, at_first, sizeof early);
  write_notes(&f, "second", 10);
  consume(&f, early, sizeof early);
  sql(f.at_source, "select rowrelay.skip_lost_ids()");
  memcpy(noted, early, sizeof noted);
  write_notes(&f, "second", 3);
  consume(&f, noted, sizeof noted);
  cr_expect_str_eq(ask(f.at_target, "select count(*) from seen where note like 'second%%'"), "13",
                   "who was here before the first process goes on, and nothing comes twice");

  fail_over();
  connect_to_source(&f);
  write_notes(&f, "kept", 30); /* past the numbers that the cursors have seen */
  is_refused(&f, early);
  is_refused(&f, noted);
  sql(f.at_source, "select rowrelay.skip_lost_ids()");
  is_refused(&f, early);
  is_refused(&f, noted);
  consume(&f, at_first, sizeof at_first);
  cr_expect_str_eq(ask(f.at_target, "select count(*) from seen where note like 'kept%%'"), "30");
  fixture_end(&f);
}
