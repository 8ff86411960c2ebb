#include "process/maintenance.h"

#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"

/* For one statement. Milliseconds. */
#define QUERY_DEADLINE 600000

/* Attempts to drop empty partitions. */
#define MOST_TRIES 5
/* Pause after sealing, in times of its duration: sealing takes a third of one of the server's processors. */
#define SEAL_REST 2

/* The index of the history: pause when all is in it, and the same while a backlog is delivered, which needs the source
 * more. Milliseconds. */
#define INDEX_INTERVAL 1000
#define BEHIND_INDEX_INTERVAL 10000
/* Changes in a piece: some 50 ms. */
#define INDEX_ROWS 10000
/* Pause after a full piece, in times of its duration: indexing takes a fifth of one of the server's processors. */
#define INDEX_REST 4
/* After a failed attempt to connect, of whatever thread, others come first for so many milliseconds: longer than
 * between two calls of maintenance_tend(). */
#define REFUSED_PAUSE 30000
/* For one piece, in milliseconds; longer than it waits for a lock there, so that the error tells of the lock. */
#define INDEX_DEADLINE 60000

/* ---- maintenance ----------------------------------------------------------------------------------------------- */

static void maintain(struct background *task, struct source *source) {
  struct maintenance *maintenance = task->context;
  struct error error;
  PGresult *reply = NULL;
  pgconn_set_deadline(source_connection(source), QUERY_DEADLINE);
  if (!source_run(source, &QUERY_maintain, NO_VALUES, &reply, &error)) {
    background_tell_failure(task, &error, task->name);
    return;
  }
  for (int row = 0; row < PQntuples(reply); row++)
    log_message(LOG_LEVEL_INFO, "%s", PQgetvalue(reply, row, 0));
  PQclear(reply);
  atomic_store(&maintenance->maintained, true);
}

/* ---- the log --------------------------------------------------------------------------------------------------- */

static bool seal_days(struct background *task, struct source *source, struct error *error) {
  int made = 1;
  while (made > 0 && !background_is_leaving(task)) {
    int64_t began = clock_now();
    PGresult *reply = NULL;
    pgconn_set_deadline(source_connection(source), QUERY_DEADLINE);
    if (!source_run(source, &QUERY_seal_next, NO_VALUES, &reply, error))
      return false;
    made = result_int(reply, 0, 0);
    PQclear(reply);
    if (made > 0)
      background_rest(task, SEAL_REST * (clock_now() - began));
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
    *again = *again || result_bool(days, row, PRUNE_AGAIN);
    if (result_bool(days, row, PRUNE_IS_NEWS))
      log_message(strcmp(PQgetvalue(days, row, PRUNE_OUTCOME), "kept") == 0 ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO,
                  "changes of day %s: %s: %s", PQgetvalue(days, row, PRUNE_DAY), PQgetvalue(days, row, PRUNE_OUTCOME),
                  PQgetvalue(days, row, PRUNE_NOTE));
  }
  PQclear(days);
  return true;
}

/* Under load it takes some attempts to find a moment without long transactions. */
static bool drop_empty_days(struct background *task, struct source *source, struct error *error) {
  int dropped = 1;
  for (int tries = 0; dropped != 0 && tries < MOST_TRIES && !background_is_leaving(task); tries += dropped < 0) {
    PGresult *reply = NULL;
    if (!source_run(source, &QUERY_drop_empty_days, NO_VALUES, &reply, error))
      return false;
    dropped = result_int(reply, 0, 0);
    PQclear(reply);
  }
  return true;
}

static bool index_closed_days(struct background *task, struct source *source, struct error *error) {
  bool again = true;
  while (again && !background_is_leaving(task)) {
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

static bool drop_old_changes(struct background *task, struct source *source, struct error *error) {
  bool again = true;
  while (again && !background_is_leaving(task))
    if (!prune_once(source, &again, error))
      return false;
  return drop_empty_days(task, source, error);
}

static void keep_log(struct background *task, struct source *source) {
  struct maintenance *maintenance = task->context;
  struct error error;
  bool prunes = atomic_exchange(&maintenance->prunes, false);
  if (!seal_days(task, source, &error))
    background_tell_failure(task, &error, "sealing the log");
  if (prunes && !background_is_leaving(task) && !drop_old_changes(task, source, &error))
    background_tell_failure(task, &error, "dropping old changes");
  if (prunes && !background_is_leaving(task) && !index_closed_days(task, source, &error))
    background_tell_failure(task, &error, "indexing closed days");
}

/* ---- the index of the history ---------------------------------------------------------------------------------- */

/* *rest: how long to wait before the next piece. */
static bool index_piece(struct source *source, int64_t *rest, struct error *error) {
  PGresult *reply = NULL;
  int64_t began = clock_now();
  pgconn_set_deadline(source_connection(source), INDEX_DEADLINE);
  if (!source_run(source, &QUERY_tick, VALUES(number(INDEX_ROWS).text), &reply, error))
    return false;
  if (result_bigint(reply, 0, 0) >= INDEX_ROWS)
    *rest = INDEX_REST * (clock_now() - began);
  PQclear(reply);
  return true;
}

/* All others need a connection more. */
static bool is_in_the_way(int64_t connected_at, struct error *error) {
  if (!source_has_refused(connected_at))
    return false;
  error_set(error, FAILURE_RETRY, "the source refused another connection of this process, so this one is closed");
  return true;
}

/* A failure only makes it slower to find changes. */
static void index_history(struct background *task, struct source *source) {
  struct maintenance *maintenance = task->context;
  int64_t connected_at = clock_now();
  int64_t indexed_at = 0;
  struct error error;
  while (!background_is_leaving(task)) {
    int64_t rest = INDEX_INTERVAL;
    if (clock_now() - indexed_at >= BEHIND_INDEX_INTERVAL || !backlog_is_there(maintenance->backlog)) {
      bool ok = index_piece(source, &rest, &error);
      indexed_at = clock_now();
      atomic_store(&maintenance->indexed, true);
      if (!ok)
        background_tell_failure(task, &error, task->name);
    }
    if (is_in_the_way(connected_at, &error)) {
      background_tell_failure(task, &error, task->name);
      return;
    }
    if (!pgconn_alive(source_connection(source)))
      return;
    background_rest(task, rest);
  }
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

void maintenance_init(struct maintenance *maintenance, const char *conninfo, const struct backlog *backlog) {
  *maintenance = (struct maintenance){.backlog = backlog};
  background_init(&maintenance->tables, "maintenance", conninfo, maintain, maintenance);
  background_init(&maintenance->log, "log maintenance", conninfo, keep_log, maintenance);
  background_init(&maintenance->index, "history index", conninfo, index_history, maintenance);
}

bool maintenance_tend(struct maintenance *maintenance, struct source *source, struct error *error) {
  PGresult *reply = NULL;
  if (!background_is_busy(&maintenance->index) && !source_has_refused(clock_now() - REFUSED_PAUSE) &&
      !background_wake(&maintenance->index, error))
    return false;
  if (!source_run(source, &QUERY_maintenance_is_due, NO_VALUES, &reply, error))
    return false;
  bool maintains = result_bool(reply, 0, DUE_MAINTAIN);
  bool seals = result_bool(reply, 0, DUE_SEAL);
  bool prunes = result_bool(reply, 0, DUE_PRUNE);
  PQclear(reply);
  if (prunes)
    atomic_store(&maintenance->prunes, true);
  return (!maintains || background_wake(&maintenance->tables, error)) &&
         ((!seals && !prunes) || background_wake(&maintenance->log, error));
}

bool maintenance_is_needed(struct maintenance *maintenance) {
  return background_is_busy(&maintenance->tables) ||
         (!atomic_load(&maintenance->indexed) && background_is_busy(&maintenance->index));
}

bool maintenance_has_maintained(struct maintenance *maintenance) {
  return atomic_exchange(&maintenance->maintained, false);
}

void maintenance_leave(struct maintenance *maintenance) {
  background_leave(&maintenance->tables);
  background_leave(&maintenance->log);
  background_leave(&maintenance->index);
}

void maintenance_release(struct maintenance *maintenance) {
  maintenance_leave(maintenance);
  background_release(&maintenance->tables);
  background_release(&maintenance->log);
  background_release(&maintenance->index);
}
