/* Behind a connection pooler: where each connection has a session, all works; where it has not, it is said, and nothing
 * is left in sessions that others use. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "served.h"
#include "writers.h"

#define KEYS 60
#define HOT 5

struct pooled {
  struct fixture f;      /* its statements go to the servers */
  struct fixture behind; /* whose processes reach the source through the pooler */
  struct served pooler;
};

static void source_is(struct pooled *p, const char *database) {
  snprintf(p->behind.source, sizeof p->behind.source, "host=%s port=6432 user=postgres dbname=%s", p->pooler.address,
           database);
}

/* As a URL for `target add`; valid until the next call. */
static const char *target_url(struct pooled *p, const char *database) {
  static char url[512];
  snprintf(url, sizeof url, "postgresql:///%s?host=%s&port=6432&user=postgres", database, p->pooler.address);
  return url;
}

static void begin(struct pooled *p, const char *name) {
  fixture_begin(&p->f, name);
  setenv("ROWRELAY_TEST_DATABASE", p->f.name, 1);
  served_begin(&p->pooler, "pgbouncer.sh", false);
  p->behind = p->f;
  source_is(p, "source");
  writers_make_tables(p->f.at_source);
  writers_fill_tables(p->f.at_source, KEYS);
}

static void check_equal(struct pooled *p) {
  same_rows(&p->f, "stock", "stock", "id");
  same_rows(&p->f, "ledger", "ledger", "what");
  cr_expect(ask_number(p->f.at_source, "select count(*) from rowrelay.errors") == 0);
}

Test(pooler, with_a_session_for_each_connection_all_works) {
  struct pooled p;
  begin(&p, "pooler_session");
  rowrelay_ok(&p.behind, "init", NULL);
  rowrelay_ok(&p.behind, "target", "add", "w", target_url(&p, "target"), NULL);
  rowrelay_ok(&p.behind, "capture", "stock", "ledger", "--to", "w", "--create", NULL);
  rowrelay_ok(&p.behind, "backfill", "stock", "ledger", "--to", "w", NULL);
  check_equal(&p);

  pid_t processes[] = {fixture_run(&p.behind, "--workers", "2", NULL), fixture_run(&p.behind, "--workers", "2", NULL)};
  for (int i = 0; i < 2; i++)
    wait_until_says(processes[i], "delivers from", 20);
  struct writers writers;
  writers_start(&writers, p.f.source, 3, 600, HOT, KEYS);
  wait_until(p.f.at_source, "t", 20, "select count(*) > 200 from rowrelay.change");
  stop_process(processes[0], SIGKILL);
  served_control(&p.pooler, "stop");
  wait_until_says(processes[1], "source: unavailable, trying again", 10);
  served_control(&p.pooler, "start");
  writers_finish(&writers, 60);
  wait_until_says(processes[1], "connected again", 10);
  wait_until_empty(&p.f, 30);
  check_equal(&p);
  rowrelay_ok(&p.behind, "verify", "w", NULL);

  /* LISTEN works: without it a change waits for up to a second. */
  double best = 10;
  for (int i = 0; i < 8; i++) {
    wait_until(p.f.at_source, "t", 10, "select last_value > 0 from rowrelay.doorbell");
    sleep_seconds(0.4);
    double since = seconds_now();
    sql(p.f.at_source, "insert into ledger values ('bell %d', 1)", i);
    wait_until(p.f.at_target, "1", 10, "select count(*) from ledger where what = 'bell %d'", i);
    double took = seconds_now() - since;
    best = took < best ? took : best;
  }
  cr_expect(best < 0.15, "%.3f s", best);
  cr_assert(stop_process(processes[1], SIGTERM) == 0);
  fixture_end(&p.f);
}

/* What a client of the pool meets in its sessions, beside what PgBouncer and these tests set. */
static const char SETTINGS[] =
    "select string_agg(concat(name, '=', setting), ' ' order by name) from pg_settings "
    "where source = 'session' and name not in ('application_name', 'client_min_messages', 'deadlock_timeout')";

static void check_untouched(const char *conninfo, const char *own_database) {
  PGconn *direct = connect_to(own_database, NULL);
  PGconn *clients[4];
  for (int i = 0; i < 4; i++) {
    clients[i] = connect_to(conninfo, NULL);
    sql(clients[i], "begin");
    cr_expect_str_eq(ask(clients[i], SETTINGS), "");
    cr_expect_str_eq(ask(clients[i], "select count(*) from pg_listening_channels()"), "0");
    cr_expect_str_eq(ask(clients[i], "select count(*) from pg_prepared_statements"), "0");
  }
  for (int i = 0; i < 4; i++) {
    sql(clients[i], "rollback");
    PQfinish(clients[i]);
  }
  cr_expect_str_eq(ask(direct, "select count(*) from pg_locks where locktype = 'advisory' "
                               "and database = (select oid from pg_database where datname = current_database())"),
                   "0");
  PQfinish(direct);
}

Test(pooler, a_source_without_sessions_is_refused_before_anything_is_left_there) {
  struct pooled p;
  begin(&p, "pooler_transaction");
  rowrelay_ok(&p.f, "capture", "stock", NULL);
  source_is(&p, "source_transaction");
  /* Also while others use the pool, and sessions go from hand to hand. */
  for (int busy = 0; busy < 2; busy++) {
    struct writers writers;
    if (busy == 1)
      writers_start(&writers, p.behind.source, 4, 600, HOT, KEYS);
    for (int i = 0; i < 5; i++) {
      const char *errors;
      cr_assert(rowrelay(&p.behind, NULL, &errors, i == 0 ? "status" : "run", NULL) == 2);
      cr_expect(strstr(errors, "is a transaction pooler") != NULL, "%s", errors);
      cr_expect(strstr(errors, "pool_mode = session") != NULL, "%s", errors);
    }
    if (busy == 1)
      writers_finish(&writers, 60);
    check_untouched(p.behind.source, p.f.source);
  }
  source_is(&p, "source_statement");
  const char *errors;
  cr_assert(rowrelay(&p.behind, NULL, &errors, "status", NULL) == 1);
  cr_expect(strstr(errors, "pool_mode = session") != NULL, "%s", errors);
  fixture_end(&p.f);
}

Test(pooler, a_target_without_sessions_is_refused_and_delivered_to_when_it_has_them) {
  struct pooled p;
  begin(&p, "pooler_target");
  sql(p.f.at_source, "delete from stock; delete from ledger");
  rowrelay_ok(&p.f, "target", "add", "w", target_url(&p, "target_transaction"), NULL);
  rowrelay_ok(&p.f, "capture", "stock", "ledger", "--to", "w", "--create", NULL);
  pid_t process = fixture_run(&p.behind, "--workers", "2", NULL);
  writers_fill_tables(p.f.at_source, KEYS);
  wait_until(p.f.at_source, "failing", 20, "select state from rowrelay.status");
  const char *note = ask(p.f.at_source, "select note from rowrelay.status");
  cr_expect(strstr(note, "is a transaction pooler") != NULL, "%s", note);
  cr_expect(ask_number(p.f.at_target, "select count(*) from pg_namespace where nspname = 'rowrelay_target'") == 0);
  sql(p.f.at_source, "update stock set n = n + 1");
  rowrelay_ok(&p.f, "target", "set", "w", "--url", target_url(&p, "target"), NULL);
  wait_until_empty(&p.f, 30);
  check_equal(&p);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&p.f);
}

/*
 * Pgpool-II with load balancing asks the standby whatever only reads. It lags here: it has the rows that are gone at
 * the source, and those that the mirror still has.
 */
Test(pooler, reads_behind_pgpool_are_of_the_server_that_takes_writes) {
  struct fixture f;
  struct served pool;
  const char *said;
  own_server("source", "max_connections=100");
  const char *standby = own_standby();
  PGconn *reading = connect_to(standby, NULL);
  setenv("ROWRELAY_TEST_STANDBY_DIR", PQhost(reading), 1);
  fixture_begin(&f, "pooler_pgpool");
  sql(f.at_source, "create table item (id int primary key); insert into item select generate_series(1, 200)");
  served_begin(&pool, "pgpool.sh", false);
  struct fixture behind = f;
  snprintf(behind.source, sizeof behind.source, "host=%s port=6432 user=postgres dbname=%s", pool.address, f.name);
  rowrelay_ok(&behind, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&behind, "capture", "item", "--to", "w", "--create", NULL);
  rowrelay_ok(&behind, "backfill", "item", "--to", "w", NULL);
  rowrelay_ok(&behind, "run", "--until-empty", NULL);
  wait_until(f.at_source, "t", 20, "select replay_lsn >= pg_current_wal_lsn() from pg_stat_replication");
  sql(reading, "select pg_wal_replay_pause()");
  sql(f.at_source, "begin; set local rowrelay.skip = on; delete from item where id <= 100; commit");
  PGconn *balanced = connect_to(behind.source, NULL);
  cr_assert_str_eq(ask(balanced, "select count(*) from item"), "200", "it does not balance what it is asked");
  PQfinish(balanced);
  cr_expect_eq(rowrelay(&behind, &said, NULL, "verify", "w", NULL), 3, "%s", said);
  sql(f.at_source, "insert into item values (201)");
  cr_expect_not_null(strstr(rowrelay_ok(&behind, "log", "item", NULL), "201"));
  rowrelay_ok(&behind, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_target, "select count(*) from item where id = 201"), "1");
  sql(reading, "select pg_wal_replay_resume()");
  PQfinish(reading);
  fixture_end(&f);
}
