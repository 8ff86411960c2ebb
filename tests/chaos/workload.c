#include "workload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dice.h"

#define LIST_KEYS 40
#define ACCOUNTS 12
#define CHURN_KEYS 60
#define NEST_KEYS 50

#define TOKENS 1024 /* bytes of a transaction's tokens */
#define ON_TIME 5.0 /* seconds after which a row is late where nobody else writes and nothing fails */

struct writer {
  const struct stage *stage;
  struct dice dice;
  PGconn *connection;
  FILE *history;
  FILE *times;
  double began; /* the first step of the transaction at hand; 0: there was none */
  int number;
  int count;           /* of tokens so far */
  char tokens[TOKENS]; /* of the transaction at hand */
};

void workload_create(const struct stage *stage) {
  char path[512];
  char command[512];
  char psql[512];
  PGconn *connection = stage_connect(stage, "source", "postgres");
  sql(connection, "create database work");
  PQfinish(connection);
  snprintf(path, sizeof path, "%s/tests/chaos/workload.sql", stage->root);
  snprintf(command, sizeof command, "host=%s/source port=5432 user=postgres dbname=work", stage->dir);
  snprintf(psql, sizeof psql, "%s/source/bin/psql", stage->dir);
  if (run_program(stage, "workload", (const char *const[]){psql, "-qXf", path, "-vON_ERROR_STOP=1", command, NULL}) !=
      0)
    give_up("workload.sql failed: see workload.log");
}

void workload_begin(const struct stage *stage) {
  PGconn *connection = stage_connect(stage, "source", "work");
  sql(connection, "begin");
  sql(connection, "insert into work.team select g, 'team ' || g from generate_series(0, 6) g");
  sql(connection, "insert into work.bank select k, 1, 1000 from generate_series(1, %d) k", ACCOUNTS);
  sql(connection, "select work.note('bank', k::text, work.next('bank', k::text), 'i', 1, 'account' || k) "
                  "from work.bank order by k");
  sql(connection, "commit");
  PQfinish(connection);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static int hot_key(struct dice *dice, int keys) {
  return dice_chance(dice, 60) ? dice_roll(dice, 5) : dice_roll(dice, keys);
}

static void write_step(struct writer *writer, const char *token, char *text, size_t size) {
  struct dice *dice = &writer->dice;
  int what = dice_roll(dice, 100);
  if (what <= 28)
    snprintf(text, size, "select work.append(%d, '%s')", hot_key(dice, LIST_KEYS), token);
  else if (what <= 33)
    snprintf(text, size, "select work.move(%d, '%s')", hot_key(dice, LIST_KEYS), token);
  else if (what <= 48)
    snprintf(text, size, "select work.transfer(%d, %d, %d, '%s')", dice_roll(dice, ACCOUNTS), dice_roll(dice, ACCOUNTS),
             dice_roll(dice, 90), token);
  else if (what <= 63)
    snprintf(text, size, "select work.put(%d, '%s')", hot_key(dice, CHURN_KEYS), token);
  else if (what <= 72)
    snprintf(text, size, "select work.remove(%d, '%s')", hot_key(dice, CHURN_KEYS), token);
  else if (what <= 80)
    snprintf(text, size, "select work.rekey(%d, %d, '%s')", hot_key(dice, CHURN_KEYS), hot_key(dice, CHURN_KEYS),
             token);
  else if (what <= 90)
    snprintf(text, size, "select work.nest(%d, '%s')", hot_key(dice, NEST_KEYS), token);
  else if (what <= 94)
    snprintf(text, size, "select work.enter('%s')", token);
  else if (what <= 97)
    snprintf(text, size, "select work.strike('%s')", token);
  else
    snprintf(text, size, "select work.spare(%d, '%s')", dice_roll(dice, 20), token);
}

/* Runs a step, and notes its token if it has written. */
static bool step_with(struct writer *writer, const char *statement, const char *token) {
  if (writer->began == 0)
    writer->began = now();
  PGresult *result = PQexec(writer->connection, statement);
  bool ok = PQresultStatus(result) == PGRES_TUPLES_OK;
  if (ok && *PQgetvalue(result, 0, 0) == 't' && strlen(writer->tokens) + strlen(token) + 2 < TOKENS) {
    strcat(writer->tokens, " ");
    strcat(writer->tokens, token);
  }
  PQclear(result);
  return ok;
}

static bool step(struct writer *writer) {
  char token[40];
  char statement[200];
  snprintf(token, sizeof token, "w%d.%d", writer->number, ++writer->count);
  write_step(writer, token, statement, sizeof statement);
  return step_with(writer, statement, token);
}

/* ---- transactions ------------------------------------------------------------------------------------------------ */

static void note(struct writer *writer, const char *outcome) {
  if (writer->tokens[0] != '\0') {
    fprintf(writer->history, "%s%s\n", outcome, writer->tokens);
    fprintf(writer->times, "%.6f %.6f%s\n", writer->began, now(), writer->tokens);
  }
  fflush(writer->history);
  fflush(writer->times);
  writer->tokens[0] = '\0';
  writer->began = 0;
}

/* Ends a transaction with this statement, and notes what became of it. */
static void end(struct writer *writer, const char *statement) {
  PGresult *result = PQexec(writer->connection, statement);
  bool ok = PQresultStatus(result) == PGRES_COMMAND_OK && strcmp(PQcmdStatus(result), "ROLLBACK") != 0;
  PQclear(result);
  bool is_lost = PQstatus(writer->connection) != CONNECTION_OK;
  note(writer, ok ? "ok" : is_lost ? "unknown" : "failed");
}

static void undo(struct writer *writer) {
  try_sql(writer->connection, "rollback");
  note(writer, "failed");
}

static void run_plain(struct writer *writer) {
  bool ok = try_sql(writer->connection, "begin");
  for (int left = dice_roll(&writer->dice, 4); ok && left > 0; left--)
    ok = step(writer);
  if (ok && dice_chance(&writer->dice, 88))
    end(writer, "commit");
  else
    undo(writer);
}

static void run_savepoint(struct writer *writer) {
  char before[TOKENS];
  bool ok = try_sql(writer->connection, "begin") && step(writer) && try_sql(writer->connection, "savepoint s");
  strcpy(before, writer->tokens);
  bool is_good = ok && step(writer) && step(writer);
  if (ok && (!is_good || dice_chance(&writer->dice, 50))) {
    ok = try_sql(writer->connection, "rollback to s");
    strcpy(writer->tokens, before);
  } else if (ok && dice_chance(&writer->dice, 50)) {
    ok = try_sql(writer->connection, "release s");
  }
  if (ok && step(writer))
    end(writer, "commit");
  else
    undo(writer);
}

/* Others write and commit while this one is open. */
static void run_long(struct writer *writer) {
  bool ok = try_sql(writer->connection, "begin") && step(writer);
  pause_for(dice_seconds(&writer->dice, 0.02, dice_chance(&writer->dice, 25) ? 3 : 0.3));
  if (ok && step(writer))
    end(writer, "commit");
  else
    undo(writer);
}

static void run_prepared(struct writer *writer) {
  bool ok = try_sql(writer->connection, "begin") && step(writer) && step(writer);
  if (!ok || !try_sql(writer->connection, "prepare transaction 'w%d.%d'", writer->number, writer->count)) {
    /* Whether a lost one is prepared, nobody knows. */
    if (PQstatus(writer->connection) != CONNECTION_OK)
      note(writer, ok ? "unknown" : "failed");
    else
      undo(writer);
    return;
  }
  pause_for(dice_seconds(&writer->dice, 0, 0.5));
  if (dice_chance(&writer->dice, 80)) {
    /* Where that fails, somebody else has ended it, one way or the other. */
    bool is_done = try_sql(writer->connection, "commit prepared 'w%d.%d'", writer->number, writer->count);
    note(writer, is_done ? "ok" : "unknown");
  } else {
    bool is_undone = try_sql(writer->connection, "rollback prepared 'w%d.%d'", writer->number, writer->count);
    note(writer, is_undone ? "failed" : "unknown");
  }
}

static void run_single(struct writer *writer) {
  bool ok = step(writer);
  bool is_lost = PQstatus(writer->connection) != CONNECTION_OK;
  note(writer, ok ? "ok" : is_lost ? "unknown" : "failed");
}

static void run_truncate(struct writer *writer) {
  char token[40];
  char statement[100];
  snprintf(statement, sizeof statement, "select work.empty('w%d.%d')", writer->number, ++writer->count);
  snprintf(token, sizeof token, "w%d.%d.1", writer->number, writer->count); /* that of key 1 */
  if (!try_sql(writer->connection, "begin") || !step_with(writer, statement, token))
    undo(writer);
  else
    end(writer, "commit");
}

static void run_one(struct writer *writer) {
  int what = dice_roll(&writer->dice, 100);
  if (what <= 45)
    run_plain(writer);
  else if (what <= 60)
    run_savepoint(writer);
  else if (what <= 66)
    run_long(writer);
  else if (what <= 72)
    run_prepared(writer);
  else if (what <= 99 || !dice_chance(&writer->dice, 50))
    run_single(writer);
  else
    run_truncate(writer);
}

/* ---- writers ----------------------------------------------------------------------------------------------------- */

static void reconnect(struct writer *writer) {
  PQfinish(writer->connection);
  writer->connection = stage_connect(writer->stage, "source", "work");
  /* Who locks the same rows in another order finds out soon; a server that is going down is met again later. */
  (void)try_sql(writer->connection, "set deadlock_timeout to '50ms'; set lock_timeout to '2s'");
}

static _Noreturn void write_until_over(const struct stage *stage, int number) {
  char name[40];
  snprintf(name, sizeof name, "writer %d", number);
  struct writer writer = {.stage = stage, .number = number, .dice = dice_of(stage->seed, name)};
  snprintf(name, sizeof name, "acked.%d", number);
  writer.history = stage_file(stage, name, "w");
  snprintf(name, sizeof name, "times.%d", number);
  writer.times = stage_file(stage, name, "w");
  while (!atomic_load(&stage->shared->over)) {
    if (!atomic_load(&stage->shared->writing) || atomic_load(&stage->shared->resting) ||
        atomic_load(&stage->shared->lulls) > 0) {
      pause_for(0.02);
      continue;
    }
    if (writer.connection == NULL || PQstatus(writer.connection) != CONNECTION_OK)
      reconnect(&writer);
    run_one(&writer);
    pause_for(dice_seconds(&writer.dice, 0, 0.02));
  }
  fclose(writer.history);
  fclose(writer.times);
  exit(0);
}

void workload_start(const struct stage *stage) {
  for (int i = 0; i < WRITERS; i++)
    if (split() == 0)
      write_until_over(stage, i);
}

void workload_resolve(const struct stage *stage) {
  PGconn *connection = stage_connect(stage, "source", "work");
  PGresult *names = PQexec(connection, "select gid from pg_prepared_xacts where database = 'work' order by 1");
  for (int i = 0; i < PQntuples(names); i++)
    try_sql(connection, "%s prepared '%s'", i % 2 == 0 ? "commit" : "rollback", PQgetvalue(names, i, 0));
  PQclear(names);
  PQfinish(connection);
}

void workload_trickle(const struct stage *stage, double seconds) {
  FILE *history = stage_file(stage, "acked.trickle", "w");
  FILE *times = stage_file(stage, "times.trickle", "w");
  FILE *late = stage_file(stage, "late", "w");
  struct writer writer = {
      .stage = stage, .number = 99, .dice = dice_of(stage->seed, "trickle"), .history = history, .times = times};
  reconnect(&writer);
  PGconn *target = stage_connect(stage, "target", "m");
  for (double until = now() + seconds; now() < until;) {
    char token[40];
    char statement[100];
    int key = dice_roll(&writer.dice, LIST_KEYS);
    snprintf(token, sizeof token, "w99.%d", ++writer.count);
    snprintf(statement, sizeof statement, "select work.append(%d, '%s')", key, token);
    sql(writer.connection, "begin");
    (void)step_with(&writer, statement, token);
    pause_for(dice_seconds(&writer.dice, 0, 0.12));
    end(&writer, "commit");
    double committed = now();
    bool is_there = false;
    while (!is_there && now() < committed + ON_TIME) {
      is_there = ask(target, "select count(*) from work.list where k = %d and ' ' || v like '%% %s'", key, token) > 0;
      pause_for(0.005);
    }
    if (!is_there)
      fprintf(late, "m list %d %s\n", key, token);
    pause_for(dice_seconds(&writer.dice, 0, 0.15));
  }
  PQfinish(target);
  PQfinish(writer.connection);
  fclose(late);
  fclose(times);
  fclose(history);
}
