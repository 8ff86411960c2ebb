#include "claim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "queries.h"
#include "reply.h"

/* Room for 1024 lanes and their floors as array literals. */
#define ARRAY_LIMIT ((size_t)32 * 1024)
/* For the ids and days of a batch, of 100,000 rows at most. */
#define ROWS_LIMIT ((size_t)4 * 1024 * 1024)

static const struct query BEGIN = {.name = NULL, .text = "begin"};

/* How many lanes one worker takes, so that all who serve the target find some. */
static int fair_share(const struct claim *claim) {
  int workers = claim->workers > 0 ? claim->workers : 1;
  return (claim->settings->lanes.count - 1 + workers - 1) / workers;
}

/*
 * Reads the reply to claim_lanes.sql: the floors rise, and the batch gets the lanes that were locked. *waiting is how
 * many lanes have work.
 */
static bool read_lanes(const struct claim *claim, const PGresult *reply, struct batch *batch, int *waiting,
                       struct error *error) {
  *waiting = PQntuples(reply);
  free(batch->lanes);
  batch->lane_count = 0;
  batch->lanes = calloc((size_t)*waiting + 1, sizeof *batch->lanes);
  if (batch->lanes == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  int row = 0;
  for (int i = 0; i < claim->settings->lanes.count; i++) {
    int lane = claim->settings->lanes.first + i;
    int64_t settled = claim->horizon;
    if (row < *waiting && reply_int(reply, row, 0) == lane) {
      int64_t first_id = reply_bigint(reply, row, 1);
      if (first_id <= settled)
        settled = first_id - 1;
      if (reply_bool(reply, row, 2))
        batch->lanes[batch->lane_count++] = lane;
      row++;
    }
    floor_raise(claim->floor, claim->settings->version, lane, settled);
  }
  return true;
}

static bool lock_lanes(const struct claim *claim, struct batch *batch, struct buffer *lanes, struct buffer *floors,
                       enum claimed *claimed, struct error *error) {
  const struct settings *settings = claim->settings;
  struct pgconn *connection = source_connection(claim->source);
  if (!floor_write(claim->floor, settings->version, NULL, 0, lanes, floors)) {
    *claimed = CLAIMED_OUTDATED;
    return true;
  }
  PGresult *replies[3];
  pgconn_pipeline_begin(connection);
  pgconn_pipeline_add(connection, &BEGIN, NO_VALUES);
  pgconn_pipeline_add(connection, &QUERY_target_version, VALUES(number(settings->target).text));
  pgconn_pipeline_add(connection, &QUERY_claim_lanes,
                      VALUES(lanes->data, floors->data, number(fair_share(claim)).text));
  bool ok = pgconn_pipeline_run(connection, replies, 3, error);
  if (ok && (PQntuples(replies[1]) == 0 || reply_int(replies[1], 0, 0) != settings->version)) {
    *claimed = CLAIMED_OUTDATED;
  } else if (ok) {
    int waiting;
    ok = read_lanes(claim, replies[2], batch, &waiting, error);
    *claimed = batch->lane_count > 0 ? CLAIMED_SOME : waiting > 0 ? CLAIMED_BUSY : CLAIMED_NONE;
  }
  for (size_t i = 0; i < 3; i++)
    PQclear(replies[i]);
  return ok;
}

/* Takes rows out of the queue; *rows is the caller's to PQclear. */
static bool take_rows(const struct claim *claim, struct batch *batch, const struct buffer *lanes,
                      const struct buffer *floors, PGresult **rows, struct error *error) {
  const struct settings *settings = claim->settings;
  struct pgconn *connection = source_connection(claim->source);
  bool barrier = lane_is_of_barriers(batch->lanes[0]);
  int rows_each = barrier ? 1 : settings->batch_rows / (int)batch->lane_count;
  PGresult *replies[2];
  pgconn_pipeline_begin(connection);
  pgconn_pipeline_add(connection, &QUERY_claim_token, VALUES(number(settings->target).text));
  pgconn_pipeline_add(connection, &QUERY_claim_rows,
                      VALUES(number(settings->target).text, lanes->data, floors->data,
                             number(rows_each > 0 ? rows_each : 1).text, number(settings->batch_bytes).text,
                             number(settings->version).text));
  bool ok = pgconn_pipeline_run(connection, replies, 2, error);
  if (ok) {
    batch->receipt.token = reply_bigint(replies[0], 0, 0);
    snprintf(batch->receipt.claimed_at, sizeof batch->receipt.claimed_at, "%s", PQgetvalue(replies[0], 0, 1));
    batch->receipt.has_refusals = reply_bool(replies[0], 0, 2);
  }
  PQclear(replies[0]);
  *rows = replies[1];
  return ok;
}

/* Reads the changes of rows that were taken; *logged is the caller's to PQclear. */
static bool read_log(const struct claim *claim, const PGresult *rows, PGresult **logged, struct error *error) {
  /* One plan for all days would have to look into every partition there is. */
  static const struct query PLAN_FOR_DAYS = {.name = NULL, .text = "set local plan_cache_mode to force_custom_plan"};
  static const struct query PLAN_AS_BEFORE = {.name = NULL, .text = "set local plan_cache_mode to force_generic_plan"};
  const struct query changes = {.name = NULL, .text = QUERY_claim_changes.text};
  struct pgconn *connection = source_connection(claim->source);
  struct buffer ids;
  struct buffer days;
  struct buffer distinct;
  PGresult *replies[3] = {NULL, NULL, NULL};
  buffer_init(&ids, ROWS_LIMIT);
  buffer_init(&days, ROWS_LIMIT);
  buffer_init(&distinct, ROWS_LIMIT);
  for (int row = 0; row < PQntuples(rows); row++) {
    const char *day = PQgetvalue(rows, row, 2);
    char separator = row == 0 ? '{' : ',';
    buffer_add_format(&ids, "%c%s", separator, PQgetvalue(rows, row, 0));
    buffer_add_format(&days, "%c%s", separator, day);
    /* In order of ids they are nearly in order of days. */
    if (row == 0 || strcmp(day, PQgetvalue(rows, row - 1, 2)) != 0)
      buffer_add_format(&distinct, "%c%s", separator, day);
  }
  buffer_add_string(&ids, "}");
  buffer_add_string(&days, "}");
  buffer_add_string(&distinct, "}");
  bool ok = buffer_ok(&ids, "the list of changes", error) && buffer_ok(&days, "the list of days", error) &&
            buffer_ok(&distinct, "the list of days", error);
  if (ok) {
    pgconn_pipeline_begin(connection);
    pgconn_pipeline_add(connection, &PLAN_FOR_DAYS, NO_VALUES);
    pgconn_pipeline_add(connection, &changes,
                        VALUES(ids.data, days.data, distinct.data, claim->with_details ? "true" : "false"));
    pgconn_pipeline_add(connection, &PLAN_AS_BEFORE, NO_VALUES);
    ok = pgconn_pipeline_run(connection, replies, 3, error);
  }
  PQclear(replies[0]);
  PQclear(replies[2]);
  *logged = replies[1];
  buffer_release(&ids);
  buffer_release(&days);
  buffer_release(&distinct);
  return ok;
}

static bool take_changes(const struct claim *claim, struct batch *batch, struct buffer *lanes, struct buffer *floors,
                         enum claimed *claimed, struct error *error) {
  if (!floor_write(claim->floor, claim->settings->version, batch->lanes, batch->lane_count, lanes, floors)) {
    *claimed = CLAIMED_OUTDATED;
    return true;
  }
  PGresult *rows = NULL;
  PGresult *logged = NULL;
  if (!take_rows(claim, batch, lanes, floors, &rows, error)) {
    PQclear(rows);
    return false;
  }
  if (PQntuples(rows) == 0) {
    /* Somebody has emptied the lanes between our two statements. */
    *claimed = CLAIMED_BUSY;
    PQclear(rows);
    return true;
  }
  if (!read_log(claim, rows, &logged, error)) {
    PQclear(rows);
    PQclear(logged);
    return false;
  }
  return batch_read(batch, rows, logged, claim->routes, error);
}

bool claim_take(const struct claim *claim, struct batch *batch, enum claimed *claimed, struct error *error) {
  struct buffer lanes;
  struct buffer floors;
  buffer_init(&lanes, ARRAY_LIMIT);
  buffer_init(&floors, ARRAY_LIMIT);
  bool ok = lock_lanes(claim, batch, &lanes, &floors, claimed, error);
  if (ok && *claimed == CLAIMED_SOME)
    ok = take_changes(claim, batch, &lanes, &floors, claimed, error);
  if (!ok || *claimed != CLAIMED_SOME)
    pgconn_rollback(source_connection(claim->source));
  buffer_release(&lanes);
  buffer_release(&floors);
  return ok;
}
