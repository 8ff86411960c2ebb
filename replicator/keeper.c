#include "keeper.h"

#include <string.h>

#include "log.h"
#include "queries.h"
#include "reply.h"

/* For one statement. Milliseconds. */
#define QUERY_DEADLINE 600000

/* Columns of prune.sql. */
enum { COLUMN_DAY, COLUMN_OUTCOME, COLUMN_NOTE, COLUMN_IS_NEWS, COLUMN_AGAIN };

void keeper_init(struct keeper *keeper, const char *conninfo) {
  *keeper = (struct keeper){.conninfo = conninfo};
  pthread_mutex_init(&keeper->lock, NULL);
  pthread_cond_init(&keeper->changed, NULL);
}

static bool is_leaving(struct keeper *keeper) {
  pthread_mutex_lock(&keeper->lock);
  bool leaving = keeper->leaving;
  pthread_mutex_unlock(&keeper->lock);
  return leaving;
}

/* Waits until there is something to do; false when it is time to leave. */
static bool wait_for_work(struct keeper *keeper) {
  pthread_mutex_lock(&keeper->lock);
  while (!keeper->leaving && !keeper->wanted)
    pthread_cond_wait(&keeper->changed, &keeper->lock);
  keeper->wanted = false;
  bool stays = !keeper->leaving;
  pthread_mutex_unlock(&keeper->lock);
  return stays;
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

static bool drop_empty_days(struct keeper *keeper, struct source *source, struct error *error) {
  int dropped = 1;
  while (dropped > 0 && !is_leaving(keeper)) {
    PGresult *reply = NULL;
    if (!source_run(source, &QUERY_drop_empty_days, NO_VALUES, &reply, error))
      return false;
    dropped = reply_int(reply, 0, 0);
    PQclear(reply);
  }
  return true;
}

static void work(struct keeper *keeper) {
  struct error error;
  struct source *source = NULL;
  bool again = true;
  bool ok = source_open_for_work(&source, keeper->conninfo, &error);
  while (ok && again && !is_leaving(keeper))
    ok = prune_once(source, &again, &error);
  ok = ok && drop_empty_days(keeper, source, &error);
  source_close(source);
  if (!ok)
    log_failure(LOG_LEVEL_WARNING, &error, "dropping old changes");
}

static void *work_until_told(void *argument) {
  struct keeper *keeper = argument;
  while (wait_for_work(keeper))
    work(keeper);
  return NULL;
}

static bool wake(struct keeper *keeper, struct error *error) {
  pthread_mutex_lock(&keeper->lock);
  keeper->wanted = true;
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
  if (!source_run(source, &QUERY_prune_is_due, NO_VALUES, &reply, error))
    return false;
  bool due = reply_bool(reply, 0, 0);
  PQclear(reply);
  return !due || wake(keeper, error);
}

void keeper_release(struct keeper *keeper) {
  pthread_mutex_lock(&keeper->lock);
  keeper->leaving = true;
  pthread_cond_broadcast(&keeper->changed);
  pthread_mutex_unlock(&keeper->lock);
  if (keeper->started)
    pthread_join(keeper->thread, NULL);
  pthread_cond_destroy(&keeper->changed);
  pthread_mutex_destroy(&keeper->lock);
}
