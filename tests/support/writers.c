#include "writers.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

/* How often of 100 a key is one of those that all are after. */
#define HOT_PERCENT 70

int roll(struct dice *dice, int most) {
  return 1 + (int)((unsigned int)rand_r(&dice->state) % (unsigned int)most);
}

int roll_key(struct dice *dice, int hot, int keys) {
  return roll(dice, 100) <= HOT_PERCENT ? roll(dice, hot) : roll(dice, keys);
}

void writers_make_tables(PGconn *connection) {
  sql(connection,
      "create table stock (id int primary key, n bigint, note text); create table ledger (what text, n int)");
}

void writers_fill_tables(PGconn *connection, int keys) {
  sql(connection, "insert into stock select n, 0, 'new' from generate_series(1, %d) as n", keys);
  sql(connection, "insert into ledger select 'item ' || n %% 5, n %% 3 from generate_series(1, 30) as n");
}

static void write_statement(struct dice *dice, int hot, int keys, char *statement, size_t size) {
  int key = roll_key(dice, hot, keys);
  int kind = roll(dice, 100);
  if (kind <= 45)
    snprintf(statement, size, "update stock set n = n + 1, note = 'update ' || clock_timestamp() where id = %d", key);
  else if (kind <= 55)
    snprintf(statement, size, "delete from stock where id = %d", key);
  else if (kind <= 75)
    snprintf(statement, size,
             "insert into stock values (%d, 1, 'insert') "
             "on conflict (id) do update set n = stock.n + 1, note = 'upsert'",
             key);
  else if (kind <= 80)
    snprintf(statement, size, "update stock set id = -id, note = 'key' where id = %d", key);
  else if (kind <= 85)
    snprintf(statement, size, "update stock set id = -id, note = 'back' where id = -%d", key);
  else if (kind <= 90)
    snprintf(statement, size, "update stock set n = n + 10 where id between %d and %d", key, key + 4);
  else if (kind <= 95)
    snprintf(statement, size, "insert into ledger values ('item %d', %d)", roll(dice, 5), roll(dice, 3));
  else if (kind <= 98)
    snprintf(statement, size,
             "update ledger set n = %d where ctid = (select ctid from ledger where what = 'item %d' "
             "limit 1)",
             roll(dice, 3), roll(dice, 5));
  else
    snprintf(statement, size,
             "delete from ledger where ctid = (select ctid from ledger where what = 'item %d' limit 1)", roll(dice, 5));
}

static bool run(PGconn *connection, const char *statement) {
  PGresult *result = PQexec(connection, statement);
  ExecStatusType status = PQresultStatus(result);
  PQclear(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static void run_transaction(PGconn *connection, struct dice *dice, int hot, int keys, statement_writer *write) {
  char statement[2048];
  bool ok = run(connection, "begin");
  bool undo = false;
  for (int left = roll(dice, 4); ok && left > 0; left--) {
    if (roll(dice, 10) == 1) {
      ok = run(connection, "savepoint s");
      undo = true;
    }
    write(dice, hot, keys, statement, sizeof statement);
    ok = ok && run(connection, statement);
  }
  if (undo && roll(dice, 2) == 1)
    ok = run(connection, "rollback to s");
  if (!run(connection, ok && roll(dice, 6) > 1 ? "commit" : "rollback"))
    run(connection, "rollback");
}

static void ignore_notice(void *unused, const char *message) {
  (void)unused;
  (void)message;
}

static PGconn *connect_writer(const char *conninfo) {
  for (;;) {
    PGconn *connection = PQconnectdb(conninfo);
    PQsetNoticeProcessor(connection, ignore_notice, NULL);
    /* Writers that lock the same rows in another order find out soon. */
    if (PQstatus(connection) == CONNECTION_OK &&
        run(connection, "set deadlock_timeout to '50ms'; set client_min_messages to error"))
      return connection;
    PQfinish(connection);
    sleep_seconds(0.1);
  }
}

static void write_rows(const char *conninfo, unsigned int seed, int transactions, int hot, int keys,
                       statement_writer *write) {
  struct dice dice = {.state = seed};
  PGconn *connection = connect_writer(conninfo);
  for (int i = 0; i < transactions; i++) {
    run_transaction(connection, &dice, hot, keys, write);
    if (PQstatus(connection) != CONNECTION_OK) {
      PQfinish(connection);
      connection = connect_writer(conninfo);
    }
  }
  PQfinish(connection);
}

void writers_start(struct writers *writers, const char *conninfo, int count, int transactions, int hot, int keys) {
  writers_start_with(writers, conninfo, count, transactions, hot, keys, write_statement);
}

void writers_start_with(struct writers *writers, const char *conninfo, int count, int transactions, int hot, int keys,
                        statement_writer *write) {
  cr_assert(count <= MOST_WRITERS);
  pid_t parent = getpid();
  writers->count = count;
  for (int i = 0; i < count; i++) {
    pid_t process = fork();
    cr_assert(process >= 0);
    if (process == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() == parent)
        write_rows(conninfo, 4711 + (unsigned int)i, transactions / count, hot, keys, write);
      _exit(0);
    }
    writers->processes[i] = process;
  }
}

bool writers_are_done(struct writers *writers) {
  for (int i = 0; i < writers->count; i++) {
    int status = 0;
    if (writers->processes[i] == 0 || waitpid(writers->processes[i], &status, WNOHANG) == 0)
      continue;
    cr_assert(status == 0, "a writer ended with %d", status);
    writers->processes[i] = 0;
  }
  for (int i = 0; i < writers->count; i++)
    if (writers->processes[i] != 0)
      return false;
  return true;
}

void writers_finish(struct writers *writers, double seconds) {
  double until = give_up_at(seconds);
  while (!writers_are_done(writers)) {
    cr_assert(seconds_now() < until, "the writers are not done after %.0f s", seconds);
    sleep_seconds(0.02);
  }
}
