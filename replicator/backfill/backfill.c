#include "backfill/backfill.h"

#include <stdio.h>
#include <string.h>

#include "backfill/copy.h"
#include "common/clock.h"
#include "common/text.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"

/* Rows of one step. */
#define ROWS_AT_FIRST 100
#define MOST_ROWS 10000
/* Below this a step's time says more about the machine than about its rows. */
#define FEW_ROWS 20

/* Milliseconds. */
#define HELD_GOAL 30   /* for which rows are locked */
#define HELD_LIMIT 250 /* a step that takes longer is undone; not that of a single row, which may be huge */
#define ALONE_LIMIT 600000
#define DEADLINE 30000 /* of a call; longer for a single row */
#define ALONE_DEADLINE 660000
#define WAIT_PAUSE 200  /* before looking again whether what it waits for has ended */
#define LOCKED_PAUSE 10 /* before trying rows again of which one was locked; longer when that was the only one */
#define LONGEST_LOCKED_PAUSE 500
/* Times that a row is found locked, before it is worth telling who has it. */
#define PATIENCE 3

void backfill_init(struct backfill *backfill, struct source *source, const char *conninfo, int id) {
  *backfill = (struct backfill){.id = id, .source = source, .conninfo = conninfo, .rows = ROWS_AT_FIRST};
}

/* Runs a query that takes the backfill's number. */
static bool ask(struct backfill *backfill, const struct query *query, PGresult **reply, struct error *error) {
  struct pgconn *connection = source_connection(backfill->source);
  pgconn_set_deadline(connection, DEADLINE);
  bool ok = source_run(backfill->source, query, VALUES(number(backfill->id).text), reply, error);
  pgconn_set_deadline(connection, 0);
  return ok;
}

bool backfill_take(struct backfill *backfill, bool *taken, struct error *error) {
  PGresult *reply = NULL;
  if (!ask(backfill, &QUERY_backfill_take, &reply, error))
    return false;
  *taken = result_bool(reply, 0, 0);
  PQclear(reply);
  return true;
}

bool backfill_unlock(struct backfill *backfill, struct error *error) {
  return ask(backfill, &QUERY_backfill_unlock, NULL, error);
}

/* ---- what came of a step --------------------------------------------------------------------------------------- */

static int between(int least, int64_t value, int most) {
  return value < least ? least : value > most ? most : (int)value;
}

/* Chooses the number of rows so that the next step holds locks as long as it should. */
static void adapt(struct backfill *backfill, const PGresult *reply) {
  int64_t held = result_bigint(reply, 0, STEP_HELD);
  backfill->refused = 0;
  if (backfill->rows < FEW_ROWS) {
    backfill->rows *= 2;
    return;
  }
  int64_t wanted = backfill->rows * (int64_t)HELD_GOAL / (held > 0 ? held : 1);
  backfill->rows = between(FEW_ROWS, between(backfill->rows / 4, wanted, backfill->rows * 2), MOST_ROWS);
}

/* How long to wait so that no more rows go by in a second than may. */
static int64_t pace(struct backfill *backfill, const PGresult *reply) {
  if (PQgetisnull(reply, 0, STEP_RATE)) {
    backfill->paced_at = 0;
    return 0;
  }
  int64_t rate = result_bigint(reply, 0, STEP_RATE);
  int64_t now = clock_now();
  if (backfill->paced_at == 0) {
    backfill->paced_at = now;
    backfill->paced_rows = 0;
  }
  backfill->rows = between(1, backfill->rows, between(1, rate / 10, MOST_ROWS));
  backfill->paced_rows += result_bigint(reply, 0, STEP_PASSED);
  int64_t due = backfill->paced_at + backfill->paced_rows * 1000 / rate;
  /* Time that was lost is not made up for. */
  if (due < now) {
    backfill->paced_at = now;
    backfill->paced_rows = 0;
    return 0;
  }
  return due - now;
}

static void read_progress(const PGresult *reply, struct backfill_progress *progress) {
  *progress = (struct backfill_progress){.outcome = BACKFILL_CANCELLED, .note = "it is gone"};
  if (PQntuples(reply) == 0 || strcmp(PQgetvalue(reply, 0, STEP_OUTCOME), "gone") == 0)
    return;
  const char *outcome = PQgetvalue(reply, 0, STEP_OUTCOME);
  if (strcmp(outcome, "progress") == 0)
    progress->outcome = BACKFILL_PROGRESS;
  else if (strcmp(outcome, "waits") == 0)
    progress->outcome = BACKFILL_WAITS;
  else if (strcmp(outcome, "done") == 0)
    progress->outcome = BACKFILL_DONE;
  if (!PQgetisnull(reply, 0, STEP_QUEUED)) {
    progress->queued = result_bigint(reply, 0, STEP_QUEUED);
    progress->read = result_bigint(reply, 0, STEP_READ);
    progress->estimated = result_bigint(reply, 0, STEP_ESTIMATED);
  }
  const char *note = result_text(reply, 0, STEP_NOTE);
  text_print(progress->note, sizeof progress->note, "%s", note != NULL ? note : "");
  progress->pause = progress->outcome == BACKFILL_WAITS ? WAIT_PAUSE : 0;
}

/* Somebody is at one of the rows, or there were too many of them for the time there is. */
static bool is_in_the_way(const struct error *error) {
  static const char *const STATES[] = {"55P03" /* lock_not_available */,
                                       "57014" /* query_canceled: the time was over */, "40P01" /* deadlock_detected */,
                                       "40001" /* serialization_failure */};
  for (size_t i = 0; i < sizeof STATES / sizeof STATES[0]; i++)
    if (strcmp(error->sqlstate, STATES[i]) == 0)
      return true;
  return false;
}

/* Whether fewer rows may do. */
static bool try_fewer(struct backfill *backfill, struct backfill_progress *progress, const struct error *error) {
  bool in_the_way = is_in_the_way(error);
  if (!in_the_way && (backfill->rows == 1 || error->sqlstate[0] == '\0' ||
                      (strncmp(error->sqlstate, "22", 2) != 0 && strncmp(error->sqlstate, "53", 2) != 0 &&
                       strncmp(error->sqlstate, "54", 2) != 0 && strncmp(error->sqlstate, "XX", 2) != 0)))
    return false;
  bool was_alone = backfill->rows == 1;
  backfill->rows = between(1, backfill->rows / 4, MOST_ROWS);
  progress->outcome = BACKFILL_WAITS;
  progress->pause = in_the_way ? LOCKED_PAUSE : 0;
  progress->note[0] = '\0';
  if (was_alone) {
    backfill->refused++;
    progress->pause = between(0, (int64_t)LOCKED_PAUSE * 2 * backfill->refused, LONGEST_LOCKED_PAUSE);
  }
  return true;
}

/* Finds out, for people, who has locked a row for long. */
static bool note_holder(struct backfill *backfill, struct backfill_progress *progress, struct error *error) {
  PGresult *reply = NULL;
  if (!ask(backfill, &QUERY_backfill_holder, &reply, error))
    return false;
  if (PQntuples(reply) > 0)
    text_print(progress->note, sizeof progress->note, "%s", PQgetvalue(reply, 0, 0));
  PQclear(reply);
  return true;
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

static bool step_in_pieces(struct backfill *backfill, struct backfill_progress *progress, struct error *error) {
  static const struct query BEGIN = {.name = NULL, .text = "begin isolation level read committed read write"};
  static const struct query COMMIT = {.name = NULL, .text = "commit"};
  enum { BEGUN, LIMITED, STEPPED, COMMITTED, REPLIES };
  struct pgconn *connection = source_connection(backfill->source);
  PGresult *replies[REPLIES];
  pgconn_set_deadline(connection, backfill->rows == 1 ? ALONE_DEADLINE : DEADLINE);
  pgconn_pipeline_begin(connection);
  pgconn_pipeline_add(connection, &BEGIN, NO_VALUES);
  pgconn_pipeline_add(connection, &QUERY_backfill_limit,
                      VALUES(number(backfill->rows == 1 ? ALONE_LIMIT : HELD_LIMIT).text));
  pgconn_pipeline_add(connection, &QUERY_backfill_step, VALUES(number(backfill->id).text, number(backfill->rows).text));
  pgconn_pipeline_add(connection, &COMMIT, NO_VALUES);
  bool ok = pgconn_pipeline_run(connection, replies, REPLIES, error);
  pgconn_set_deadline(connection, 0);
  if (ok) {
    read_progress(replies[STEPPED], progress);
    if (progress->outcome == BACKFILL_PROGRESS) {
      adapt(backfill, replies[STEPPED]);
      progress->pause = pace(backfill, replies[STEPPED]);
    }
  } else {
    pgconn_rollback(connection);
    ok = pgconn_alive(connection) && try_fewer(backfill, progress, error) &&
         (backfill->refused < PATIENCE || note_holder(backfill, progress, error));
  }
  for (size_t i = 0; i < REPLIES; i++)
    PQclear(replies[i]);
  return ok;
}

bool backfill_step(struct backfill *backfill, struct backfill_progress *progress, struct error *error) {
  if (!backfill->in_pieces) {
    bool is_copy;
    if (!copy_step(backfill, progress, &is_copy, error))
      return false;
    if (is_copy)
      return true;
    backfill->in_pieces = true;
  }
  return step_in_pieces(backfill, progress, error);
}

bool backfill_prepare(struct backfill *backfill, bool *waits, struct error *error) {
  bool taken = false;
  *waits = false;
  if (!backfill_take(backfill, &taken, error))
    return false;
  if (!taken)
    return true;
  if (copy_prepare(backfill, waits, error))
    return backfill_unlock(backfill, error);
  struct error ignored;
  if (pgconn_alive(source_connection(backfill->source)))
    (void)!backfill_unlock(backfill, &ignored);
  return false;
}

bool backfill_watch(struct backfill *backfill, struct backfill_progress *progress, struct error *error) {
  PGresult *reply = NULL;
  if (!ask(backfill, &QUERY_backfill_progress, &reply, error))
    return false;
  read_progress(reply, progress);
  progress->copied = PQntuples(reply) > 0 && result_bool(reply, 0, STEP_COPIED);
  PQclear(reply);
  return true;
}
