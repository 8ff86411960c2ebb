#include "process/backfiller.h"

#include <string.h>

#include "backfill/backfill.h"
#include "common/clock.h"
#include "common/interrupt.h"
#include "common/log.h"
#include "common/text.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"

/* Milliseconds. */
#define TURN 1000          /* at one backfill, before it is the next one's turn */
#define WAIT_PAUSE 200     /* when all of them wait for something */
#define FAILURE_PAUSE 1000 /* when the source is away */
#define QUERY_DEADLINE 30000
#define STEP_PATIENCE 1000 /* with a step, when it is time to leave */

void backfiller_init(struct backfiller *backfiller, const char *conninfo, const char *targets) {
  *backfiller = (struct backfiller){.conninfo = conninfo, .targets = targets};
  pthread_mutex_init(&backfiller->lock, NULL);
  clock_init_condition(&backfiller->changed);
}

/* ---- waiting --------------------------------------------------------------------------------------------------- */

/* Sleeps; false when it is time to leave. */
static bool pause_for(struct backfiller *backfiller, int64_t milliseconds) {
  int64_t until = clock_now() + milliseconds;
  pthread_mutex_lock(&backfiller->lock);
  while (!backfiller->leaving && clock_now() < until)
    clock_wait(&backfiller->changed, &backfiller->lock, until);
  bool stays = !backfiller->leaving;
  pthread_mutex_unlock(&backfiller->lock);
  return stays;
}

/* Waits until there may be something to do; false when it is time to leave. */
static bool wait_for_work(struct backfiller *backfiller) {
  pthread_mutex_lock(&backfiller->lock);
  while (!backfiller->leaving && !backfiller->wanted)
    pthread_cond_wait(&backfiller->changed, &backfiller->lock);
  backfiller->wanted = false;
  bool stays = !backfiller->leaving;
  pthread_mutex_unlock(&backfiller->lock);
  return stays;
}

static bool has_no_time(void *context) {
  struct backfiller *backfiller = context;
  pthread_mutex_lock(&backfiller->lock);
  bool over = backfiller->leaving && clock_now() - backfiller->told_at > STEP_PATIENCE;
  pthread_mutex_unlock(&backfiller->lock);
  return over;
}

/* ---- one backfill ---------------------------------------------------------------------------------------------- */

static void tell(const char *name, const struct backfill_progress *progress) {
  if (progress->outcome == BACKFILL_DONE)
    log_message(LOG_LEVEL_INFO, "backfill of %s: done, %lld row%s %s", name, (long long)progress->queued,
                text_plural(progress->queued), progress->copied ? "copied" : "queued");
  else if (progress->outcome == BACKFILL_CANCELLED)
    log_message(LOG_LEVEL_WARNING, "backfill of %s: cancelled: %s", name, progress->note);
}

/* One round, in which each backfill has its turn. */
struct round {
  struct backfiller *backfiller;
  struct source *source;
  int count;  /* how many were not finished */
  bool moved; /* some step got anywhere */
};

/* Steps until its turn is over. */
static bool take_turn(struct round *round, struct backfill *backfill, const char *name, struct error *error) {
  int64_t end = clock_now() + TURN;
  struct backfill_progress progress = {.outcome = BACKFILL_PROGRESS};
  while (clock_now() < end) {
    if (!backfill_step(backfill, &progress, error))
      return false;
    round->moved = round->moved || progress.outcome != BACKFILL_WAITS;
    tell(name, &progress);
    if (progress.outcome == BACKFILL_DONE || progress.outcome == BACKFILL_CANCELLED ||
        (progress.outcome == BACKFILL_WAITS && progress.pause >= WAIT_PAUSE) ||
        !pause_for(round->backfiller, progress.pause))
      break;
  }
  return true;
}

/*
 * A failure of the backfill itself ends no other: it is noted, for people to read, and told of where that is new. False
 * when the connection is lost.
 */
static bool note_failure(const struct round *round, int id, const char *name, struct error *error) {
  struct pgconn *connection = source_connection(round->source);
  if (error->kind == FAILURE_STOP || !pgconn_alive(connection))
    return false;
  char note[sizeof error->message + sizeof error->hint];
  struct error fitted = *error;
  PGresult *reply = NULL;
  pgconn_fit_error(connection, &fitted);
  text_print(note, sizeof note, "%s%s%s", fitted.message, fitted.hint[0] != '\0' ? " -- " : "", fitted.hint);
  pgconn_set_deadline(connection, QUERY_DEADLINE);
  if (!source_run(round->source, &QUERY_backfill_failed, VALUES(number(id).text, note), &reply, &fitted)) {
    *error = fitted;
    return false;
  }
  bool is_new = PQntuples(reply) > 0 && result_bool(reply, 0, 0);
  log_failure(is_new ? LOG_LEVEL_WARNING : LOG_LEVEL_DEBUG, error, "backfill of %s", name);
  PQclear(reply);
  return true;
}

static bool prepare(const struct round *round, int id, const char *name, struct error *error) {
  struct backfill backfill;
  bool waits;
  backfill_init(&backfill, round->source, round->backfiller->conninfo, id);
  return backfill_prepare(&backfill, &waits, error) || note_failure(round, id, name, error);
}

/* In the middle of a step that takes long. */
static bool goes_on(void *context, const struct backfill_progress *progress) {
  (void)progress;
  return pause_for(context, 0);
}

static bool drive(struct round *round, int id, const char *name, struct error *error) {
  struct source *source = round->source;
  struct backfill backfill;
  bool taken = false;
  backfill_init(&backfill, source, round->backfiller->conninfo, id);
  backfill.tell = goes_on;
  backfill.context = round->backfiller;
  if (!backfill_take(&backfill, &taken, error))
    return false;
  if (!taken)
    return true;
  return (take_turn(round, &backfill, name, error) || note_failure(round, id, name, error)) &&
         backfill_unlock(&backfill, error);
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

static bool prepare_or_drive(struct round *round, const PGresult *reply, int row, bool prepares, struct error *error) {
  if (!result_bool(reply, row, UNFINISHED_IS_DUE))
    return true;
  int id = result_int(reply, row, UNFINISHED_ID);
  log_about(PQgetvalue(reply, row, UNFINISHED_TARGET), PQgetvalue(reply, row, UNFINISHED_RELATION));
  const char *name = PQgetvalue(reply, row, UNFINISHED_NAME);
  bool ok = prepares ? prepare(round, id, name, error) : drive(round, id, name, error);
  log_about(NULL, NULL);
  return ok;
}

static bool go_round(struct round *round, struct error *error) {
  struct backfiller *backfiller = round->backfiller;
  PGresult *reply = NULL;
  pgconn_set_deadline(source_connection(round->source), QUERY_DEADLINE);
  if (!source_run(round->source, &QUERY_backfill_unfinished, VALUES(backfiller->targets), &reply, error))
    return false;
  bool ok = true;
  round->count = PQntuples(reply);
  for (int row = 0; ok && row < round->count && pause_for(backfiller, 0); row++)
    ok = prepare_or_drive(round, reply, row, true, error);
  for (int row = 0; ok && row < round->count && pause_for(backfiller, 0); row++)
    ok = prepare_or_drive(round, reply, row, false, error);
  PQclear(reply);
  return ok;
}

/* While there are any. */
static void work(struct backfiller *backfiller) {
  struct error error;
  struct round round = {.backfiller = backfiller};
  bool ok = source_open_for_work(&round.source, backfiller->conninfo, false, &error);
  do {
    round.moved = false;
    ok = ok && go_round(&round, &error);
    if (!round.moved && !pause_for(backfiller, WAIT_PAUSE))
      break;
  } while (ok && round.count > 0 && pause_for(backfiller, 0));
  bool is_here = round.source != NULL && pgconn_alive(source_connection(round.source));
  if (round.source != NULL)
    pgconn_cancel(source_connection(round.source));
  source_close(round.source);
  if (!ok) {
    /* The supervisor tells that the source is away, and wakes us again. */
    log_failure(is_here && error.kind != FAILURE_STOP ? LOG_LEVEL_WARNING : LOG_LEVEL_DEBUG, &error, "backfills");
    (void)!pause_for(backfiller, FAILURE_PAUSE);
  }
}

static void *work_until_told(void *argument) {
  struct backfiller *backfiller = argument;
  interrupt_set_for_thread(has_no_time, backfiller);
  while (wait_for_work(backfiller))
    work(backfiller);
  return NULL;
}

bool backfiller_wake(struct backfiller *backfiller, struct error *error) {
  pthread_mutex_lock(&backfiller->lock);
  backfiller->wanted = true;
  pthread_cond_broadcast(&backfiller->changed);
  pthread_mutex_unlock(&backfiller->lock);
  if (backfiller->started)
    return true;
  int failed = pthread_create(&backfiller->thread, NULL, work_until_told, backfiller);
  backfiller->started = failed == 0;
  return failed == 0 || error_set(error, FAILURE_FATAL, "cannot start a thread: %s", strerror(failed));
}

void backfiller_leave(struct backfiller *backfiller) {
  pthread_mutex_lock(&backfiller->lock);
  if (!backfiller->leaving)
    backfiller->told_at = clock_now();
  backfiller->leaving = true;
  pthread_cond_broadcast(&backfiller->changed);
  pthread_mutex_unlock(&backfiller->lock);
}

void backfiller_release(struct backfiller *backfiller) {
  backfiller_leave(backfiller);
  if (backfiller->started)
    pthread_join(backfiller->thread, NULL);
  pthread_cond_destroy(&backfiller->changed);
  pthread_mutex_destroy(&backfiller->lock);
}
