#include "keeper.h"

#include <string.h>

#include "clock.h"
#include "interrupt.h"
#include "log.h"
#include "queries.h"
#include "reply.h"

/* For one statement. Milliseconds. */
#define QUERY_DEADLINE 600000

/* To drop empty partitions. */
#define MOST_TRIES 5
/* Sealing takes a third of one of the server's processors. */
#define SEAL_REST 2

/* Columns of keeper_is_due.sql. */
enum { COLUMN_SEAL, COLUMN_PRUNE };

/* Columns of prune.sql. */
enum { COLUMN_DAY, COLUMN_OUTCOME, COLUMN_NOTE, COLUMN_IS_NEWS, COLUMN_AGAIN };

void keeper_init(struct keeper *keeper, const char *conninfo) {
  *keeper = (struct keeper){.conninfo = conninfo};
  pthread_mutex_init(&keeper->lock, NULL);
  clock_init_condition(&keeper->changed);
}

static bool is_leaving(void *context) {
  struct keeper *keeper = context;
  pthread_mutex_lock(&keeper->lock);
  bool leaving = keeper->leaving;
  pthread_mutex_unlock(&keeper->lock);
  return leaving;
}

static void rest(struct keeper *keeper, int64_t milliseconds) {
  int64_t until = clock_now() + milliseconds;
  pthread_mutex_lock(&keeper->lock);
  while (!keeper->leaving && clock_now() < until)
    clock_wait(&keeper->changed, &keeper->lock, until);
  pthread_mutex_unlock(&keeper->lock);
}

/* Waits until there is something to do; *prunes is whether to drop changes too. False when it is time to leave. */
static bool wait_for_work(struct keeper *keeper, bool *prunes) {
  pthread_mutex_lock(&keeper->lock);
  while (!keeper->leaving && !keeper->wanted)
    pthread_cond_wait(&keeper->changed, &keeper->lock);
  *prunes = keeper->prunes;
  keeper->wanted = keeper->prunes = false;
  bool stays = !keeper->leaving;
  pthread_mutex_unlock(&keeper->lock);
  return stays;
}

static bool seal_days(struct keeper *keeper, struct source *source, struct error *error) {
  int made = 1;
  while (made > 0 && !is_leaving(keeper)) {
    int64_t began = clock_now();
    PGresult *reply = NULL;
    pgconn_set_deadline(source_connection(source), QUERY_DEADLINE);
    if (!source_run(source, &QUERY_seal_next, NO_VALUES, &reply, error))
      return false;
    made = reply_int(reply, 0, 0);
    PQclear(reply);
    if (made > 0)
      rest(keeper, SEAL_REST * (clock_now() - began));
  }
  return true;
}

/* One day, or a piece of one. */
static bool prune_once(struct source *source, bool *again, struct error *error) {
  PGresult *days = NULL;
  *again = false;
  pgconn_set_deadline(source_connection(source), QUERY_DEADLINE);
  if (!source_run(source, &QUERY_prune, NO_VALUES, &days, error))
    return false;
  for (int row = 0; row < PQntuples(days); row++) {
    *again = *again || reply_bool(days, row, COLUMN_AGAIN);
    if (reply_bool(days, row, COLUMN_IS_NEWS))
      log_message(strcmp(PQgetvalue(days, row, COLUMN_OUTCOME), "kept") == 0 ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO,
                  "changes of day %s: %s: %s", PQgetvalue(days, row, COLUMN_DAY), PQgetvalue(days, row, COLUMN_OUTCOME),
                  PQgetvalue(days, row, COLUMN_NOTE));
  }
  PQclear(days);
  return true;
}

/* Under load it takes some tries to meet a moment in which nobody is long at anything. */
static bool drop_empty_days(struct keeper *keeper, struct source *source, struct error *error) {
  int dropped = 1;
  for (int tries = 0; dropped != 0 && tries < MOST_TRIES && !is_leaving(keeper); tries += dropped < 0) {
    PGresult *reply = NULL;
    if (!source_run(source, &QUERY_drop_empty_days, NO_VALUES, &reply, error))
      return false;
    dropped = reply_int(reply, 0, 0);
    PQclear(reply);
  }
  return true;
}

static bool index_closed_days(struct keeper *keeper, struct source *source, struct error *error) {
  bool again = true;
  while (again && !is_leaving(keeper)) {
    PGresult *done = NULL;
    if (!source_run(source, &QUERY_index_closed_days, NO_VALUES, &done, error))
      return false;
    again = PQntuples(done) > 0;
    if (again)
      log_message(LOG_LEVEL_INFO, "%s", PQgetvalue(done, 0, 0));
    PQclear(done);
  }
  return true;
}

static bool drop_old_changes(struct keeper *keeper, struct source *source, struct error *error) {
  bool again = true;
  while (again && !is_leaving(keeper))
    if (!prune_once(source, &again, error))
      return false;
  return drop_empty_days(keeper, source, error);
}

static void tell_failure(const struct error *error, const char *what) {
  if (error->kind != FAILURE_STOP)
    log_failure(LOG_LEVEL_WARNING, error, "%s", what);
}

static void work(struct keeper *keeper, bool prunes) {
  struct error error;
  struct source *source = NULL;
  if (!source_open_for_work(&source, keeper->conninfo, &error)) {
    tell_failure(&error, "keeping the log");
    return;
  }
  if (!seal_days(keeper, source, &error))
    tell_failure(&error, "sealing the log");
  if (prunes && !is_leaving(keeper) && !drop_old_changes(keeper, source, &error))
    tell_failure(&error, "dropping old changes");
  if (prunes && !is_leaving(keeper) && !index_closed_days(keeper, source, &error))
    tell_failure(&error, "indexing the log");
  pgconn_cancel(source_connection(source));
  source_close(source);
}

static void *work_until_told(void *argument) {
  struct keeper *keeper = argument;
  bool prunes;
  interrupt_set_for_thread(is_leaving, keeper);
  while (wait_for_work(keeper, &prunes))
    work(keeper, prunes);
  return NULL;
}

static bool wake(struct keeper *keeper, bool prunes, struct error *error) {
  pthread_mutex_lock(&keeper->lock);
  keeper->wanted = true;
  keeper->prunes = keeper->prunes || prunes;
  pthread_cond_broadcast(&keeper->changed);
  pthread_mutex_unlock(&keeper->lock);
  if (keeper->started)
    return true;
  int failed = pthread_create(&keeper->thread, NULL, work_until_told, keeper);
  keeper->started = failed == 0;
  return failed == 0 || error_set(error, FAILURE_FATAL, "cannot start a thread: %s", strerror(failed));
}

bool keeper_tend(struct keeper *keeper, struct source *source, struct error *error) {
  PGresult *reply = NULL;
  if (!source_run(source, &QUERY_keeper_is_due, NO_VALUES, &reply, error))
    return false;
  bool seals = reply_bool(reply, 0, COLUMN_SEAL);
  bool prunes = reply_bool(reply, 0, COLUMN_PRUNE);
  PQclear(reply);
  return (!seals && !prunes) || wake(keeper, prunes, error);
}

void keeper_leave(struct keeper *keeper) {
  pthread_mutex_lock(&keeper->lock);
  keeper->leaving = true;
  pthread_cond_broadcast(&keeper->changed);
  pthread_mutex_unlock(&keeper->lock);
}

void keeper_release(struct keeper *keeper) {
  keeper_leave(keeper);
  if (keeper->started)
    pthread_join(keeper->thread, NULL);
  pthread_cond_destroy(&keeper->changed);
  pthread_mutex_destroy(&keeper->lock);
}
