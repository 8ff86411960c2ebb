#include "queue/claim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/metrics.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"
#include "queue/hold.h"
#include "queue/lease.h"
#include "queue/transactions.h"
#include "source/row_identity.h"

/* Room for 1024 lanes and their floors as array literals. */
#define ARRAY_LIMIT ((size_t)32 * 1024)
/* For the ids and days of what is looked at for a batch, which has 100,000 rows at most. */
#define ROWS_LIMIT ((size_t)8 * 1024 * 1024)
/* How far to look for the end of transactions: so many rows, and twice those of a batch. */
#define ROWS_AHEAD 1000

/*
 * Of late lanes: keys of documents, some thousand of them. With all that waits in a lane a key that is there many times
 * is built once; with too much of it the lane's live changes would wait for long.
 */
#define LATE_BYTES 16384

static const struct query BEGIN = {.name = NULL, .text = "begin"};

/* How many lanes one worker takes, so that all who serve the target find some. */
static int fair_share(const struct claim *claim) {
  int workers = claim->workers > 0 ? claim->workers : 1;
  return (claim->settings->lanes.live + workers - 1) / workers;
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
  batch->receipt.failures = 0;
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
      if (reply_bool(reply, row, 2)) {
        batch->lanes[batch->lane_count++] = lane;
        if (reply_int(reply, row, 3) > batch->receipt.failures)
          batch->receipt.failures = reply_int(reply, row, 3);
      }
      row++;
    }
    floor_raise(claim->floor, claim->settings->version, lane, settled);
  }
  /* Where a process has died, less is tried at once; the lanes that are left out are free again with the commit. */
  for (int i = 0; i < batch->receipt.failures && batch->lane_count > 1; i++)
    batch->lane_count = (batch->lane_count + 3) / 4;
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
                      VALUES(lanes->data, floors->data, number(fair_share(claim)).text,
                             number(settings->lanes.live).text, claim->late_first ? "true" : "false",
                             settings->leased ? "true" : "false"));
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

static bool read_token(const PGresult *reply, struct batch *batch, struct error *error) {
  batch->receipt.token = reply_bigint(reply, 0, 0);
  snprintf(batch->receipt.claimed_at, sizeof batch->receipt.claimed_at, "%s", PQgetvalue(reply, 0, 1));
  return holds_read(batch, PQgetvalue(reply, 0, 2), error);
}

/* The id up to which the lane of barriers was seen empty; 0 when the floor has another version by now. */
static int64_t barriers_floor(const struct claim *claim) {
  int64_t id;
  return floor_read(claim->floor, claim->settings->version, claim->settings->lanes.first, &id) ? id : 0;
}

/* Takes the oldest rows out of the queue; *rows is the caller's to PQclear. */
static bool take_rows(const struct claim *claim, struct batch *batch, const struct buffer *lanes,
                      const struct buffer *floors, PGresult **rows, struct error *error) {
  const struct settings *settings = claim->settings;
  struct pgconn *connection = source_connection(claim->source);
  bool late = lane_is_late(settings->lanes, batch->lanes[0]);
  int rows_each = settings->batch_rows / (int)batch->lane_count;
  int64_t bytes = late && settings->batch_bytes > LATE_BYTES ? LATE_BYTES : settings->batch_bytes;
  for (int i = 0; i < batch->receipt.failures; i++)
    rows_each /= 4; /* so that what kills processes is alone in the end */
  PGresult *replies[2];
  pgconn_pipeline_begin(connection);
  pgconn_pipeline_add(connection, &QUERY_claim_token, VALUES(number(settings->target).text));
  pgconn_pipeline_add(connection, settings->leased ? &QUERY_claim_rows_leased : &QUERY_claim_rows,
                      VALUES(number(settings->target).text, lanes->data, floors->data,
                             number(rows_each > 0 ? rows_each : 1).text, number(bytes).text,
                             number(settings->version).text, number(barriers_floor(claim)).text));
  bool ok = pgconn_pipeline_run(connection, replies, 2, error);
  ok = ok && read_token(replies[0], batch, error);
  if (ok && PQntuples(replies[1]) > 0)
    batch->first_id = reply_bigint(replies[1], 0, 0);
  PQclear(replies[0]);
  *rows = replies[1];
  return ok;
}

/* What is read of the log. */
enum reading { READ_TXIDS, READ_CHANGES };

/*
 * Reads of the log what belongs to queued rows, and whether the target has refused any; *logged is the caller's to
 * PQclear.
 */
static bool read_log(const struct claim *claim, enum reading reading, const PGresult *rows, bool *has_refusals,
                     PGresult **logged, struct error *error) {
  /* One plan for all days would have to look into every partition there is. */
  static const struct query PLAN_FOR_DAYS = {.name = NULL, .text = "set local plan_cache_mode to force_custom_plan"};
  const struct settings *settings = claim->settings;
  const char *aged = metrics_wants_delays() ? "true" : "false";
  const struct query changes = {.name = NULL, .text = QUERY_claim_changes.text};
  const struct query documents = {.name = NULL, .text = QUERY_claim_documents.text};
  const struct query txids = {.name = NULL, .text = QUERY_claim_txids.text};
  struct pgconn *connection = source_connection(claim->source);
  struct buffer ids;
  struct buffer lanes;
  struct buffer days;
  struct buffer distinct;
  PGresult *replies[3] = {NULL, NULL, NULL};
  buffer_init(&ids, ROWS_LIMIT);
  buffer_init(&lanes, ROWS_LIMIT);
  buffer_init(&days, ROWS_LIMIT);
  buffer_init(&distinct, ROWS_LIMIT);
  for (int row = 0; row < PQntuples(rows); row++) {
    const char *day = PQgetvalue(rows, row, ROW_DAY);
    char separator = row == 0 ? '{' : ',';
    buffer_add_format(&ids, "%c%s", separator, PQgetvalue(rows, row, 0));
    buffer_add_format(&lanes, "%c%s", separator, PQgetvalue(rows, row, 1));
    buffer_add_format(&days, "%c%s", separator, day);
    /* In order of ids they are nearly in order of days. */
    if (row == 0 || strcmp(day, PQgetvalue(rows, row - 1, ROW_DAY)) != 0)
      buffer_add_format(&distinct, "%c%s", separator, day);
  }
  buffer_add_string(&ids, "}");
  buffer_add_string(&lanes, "}");
  buffer_add_string(&days, "}");
  buffer_add_string(&distinct, "}");
  bool ok = buffer_ok(&ids, "the list of changes", error) && buffer_ok(&lanes, "the list of lanes", error) &&
            buffer_ok(&days, "the list of days", error) && buffer_ok(&distinct, "the list of days", error);
  if (ok) {
    pgconn_pipeline_begin(connection);
    pgconn_pipeline_add(connection, &PLAN_FOR_DAYS, NO_VALUES);
    if (reading == READ_TXIDS)
      pgconn_pipeline_add(connection, &txids, VALUES(ids.data, days.data, distinct.data));
    else if (settings->document)
      pgconn_pipeline_add(connection, &documents,
                          VALUES(ids.data, days.data, distinct.data, lanes.data, number(settings->target).text,
                                 number(settings->lanes.live).text, aged));
    else
      pgconn_pipeline_add(connection, &changes,
                          VALUES(ids.data, days.data, distinct.data, claim->with_details ? "true" : "false", aged));
    pgconn_pipeline_add(connection, &QUERY_claim_refusals, VALUES(number(settings->target).text));
    ok = pgconn_pipeline_run(connection, replies, 3, error);
    *has_refusals = ok && reply_bool(replies[2], 0, 0);
  }
  PQclear(replies[0]);
  PQclear(replies[2]);
  *logged = replies[1];
  buffer_release(&ids);
  buffer_release(&lanes);
  buffer_release(&days);
  buffer_release(&distinct);
  return ok;
}

/* ---- rows that are chosen one by one --------------------------------------------------------------------------- */

/* Columns of claim_txids.sql */
enum { LOGGED_TXID, LOGGED_OPERATION };

/* Sets chosen[i] for each row that was read of the queue: whole transactions, see whole.h. */
static bool choose_transactions(const struct claim *claim, const PGresult *rows, bool *chosen, struct error *error) {
  const struct settings *settings = claim->settings;
  int count = PQntuples(rows);
  int64_t bytes = 0;
  for (int row = 0; row < count; row++)
    bytes += reply_bigint(rows, row, ROW_BYTES);
  /* Of every transaction all is there, and all of it fits. */
  if (count == 1 || (count <= settings->batch_rows && bytes <= settings->batch_bytes)) {
    memset(chosen, true, (size_t)count * sizeof *chosen);
    return true;
  }
  bool ignored;
  PGresult *txids = NULL;
  struct queued *queued = calloc((size_t)count + 1, sizeof *queued);
  if (queued == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  bool ok = read_log(claim, READ_TXIDS, rows, &ignored, &txids, error);
  for (int row = 0; ok && row < count; row++)
    queued[row] =
        (struct queued){.txid = reply_bigint(txids, row, LOGGED_TXID), .bytes = reply_bigint(rows, row, ROW_BYTES)};
  ok = ok && whole_choose(queued, (size_t)count, (size_t)settings->batch_rows, settings->batch_bytes, chosen, error);
  free(queued);
  PQclear(txids);
  return ok;
}

/*
 * The same of the lane of barriers: those that follow one another without anything in between, in any lane. A truncate
 * goes alone, because of a whole table it says more than a row's change does.
 */
static bool choose_barriers(const struct claim *claim, const PGresult *rows, bool *chosen, struct error *error) {
  int count = PQntuples(rows);
  int64_t bytes = 0;
  bool ignored;
  PGresult *logged = NULL;
  chosen[0] = count > 0;
  if (count < 2)
    return true;
  bool ok = read_log(claim, READ_TXIDS, rows, &ignored, &logged, error);
  for (int row = 0; ok && row < count; row++) {
    const char *operation = PQgetvalue(logged, row, LOGGED_OPERATION);
    bytes += reply_bigint(rows, row, ROW_BYTES);
    if (row > 0 && (*operation == OPERATION_TRUNCATE || bytes > claim->settings->batch_bytes))
      break;
    chosen[row] = true;
    if (*operation == OPERATION_TRUNCATE)
      break;
  }
  PQclear(logged);
  return ok;
}

/* Takes the rows of `queued` that are chosen out of the queue; *rows is the caller's to PQclear. */
static bool take_chosen(const struct claim *claim, const struct batch *batch, const PGresult *queued,
                        const bool *chosen, PGresult **rows, struct error *error) {
  struct buffer ids;
  char lane[32];
  snprintf(lane, sizeof lane, "{%d}", batch->lanes[0]);
  buffer_init(&ids, ROWS_LIMIT);
  buffer_add_string(&ids, "{");
  for (int row = 0; row < PQntuples(queued); row++)
    if (chosen[row])
      buffer_add_format(&ids, "%s%s", ids.length > 1 ? "," : "", PQgetvalue(queued, row, ROW_ID));
  buffer_add_string(&ids, "}");
  bool ok = buffer_ok(&ids, "the list of changes", error) &&
            pgconn_run(source_connection(claim->source), &QUERY_claim_chosen, VALUES(lane, ids.data), rows, error);
  buffer_release(&ids);
  return ok;
}

/* Takes what `choose` chooses of the rows that `query` gives, which stand in one lane; else as take_rows(). */
static bool take_by_choice(const struct claim *claim, struct batch *batch, const struct query *query,
                           struct values values,
                           bool (*choose)(const struct claim *, const PGresult *, bool *, struct error *),
                           PGresult **rows, struct error *error) {
  struct pgconn *connection = source_connection(claim->source);
  bool *chosen = NULL;
  PGresult *replies[2];
  pgconn_pipeline_begin(connection);
  pgconn_pipeline_add(connection, &QUERY_claim_token, VALUES(number(claim->settings->target).text));
  pgconn_pipeline_add(connection, query, values);
  bool ok = pgconn_pipeline_run(connection, replies, 2, error);
  ok = ok && read_token(replies[0], batch, error);
  if (!ok)
    goto done;
  int count = PQntuples(replies[1]);
  if (count > 0)
    batch->first_id = reply_bigint(replies[1], 0, ROW_ID);
  if (claim->settings->leased) { /* it stays in the queue */
    *rows = replies[1];
    replies[1] = NULL;
    goto done;
  }
  chosen = calloc((size_t)count + 1, sizeof *chosen);
  if (chosen == NULL) {
    ok = error_set(error, FAILURE_RETRY, "out of memory");
    goto done;
  }
  ok = choose(claim, replies[1], chosen, error) && take_chosen(claim, batch, replies[1], chosen, rows, error);

done:
  free(chosen);
  PQclear(replies[0]);
  PQclear(replies[1]);
  return ok;
}

/* The same as take_rows() for a target's only lane. */
static bool take_transactions(const struct claim *claim, struct batch *batch, const struct buffer *lanes,
                              const struct buffer *floors, PGresult **rows, struct error *error) {
  const struct settings *settings = claim->settings;
  return take_by_choice(claim, batch, &QUERY_claim_queued,
                        VALUES(number(settings->target).text, lanes->data, floors->data,
                               number(2 * settings->batch_rows + ROWS_AHEAD).text, number(settings->version).text),
                        choose_transactions, rows, error);
}

/* The same for the lane of barriers; lanes and floors are those of the whole target. */
static bool take_barriers(const struct claim *claim, struct batch *batch, const struct buffer *lanes,
                          const struct buffer *floors, PGresult **rows, struct error *error) {
  const struct settings *settings = claim->settings;
  int most = settings->leased || settings->document ? 1 : settings->batch_rows;
  return take_by_choice(claim, batch, &QUERY_claim_barriers,
                        VALUES(number(settings->target).text, lanes->data, floors->data, number(most).text,
                               number(settings->version).text, settings->leased ? "true" : "false"),
                        choose_barriers, rows, error);
}

/* ---------------------------------------------------------------------------------------------------------------- */

static bool take_changes(const struct claim *claim, struct batch *batch, struct buffer *lanes, struct buffer *floors,
                         enum claimed *claimed, struct error *error) {
  bool barriers = lane_is_of_barriers(batch->lanes[0]);
  bool only_lane = !claim->settings->leased && claim->settings->lanes.count == 2;
  if (!floor_write(claim->floor, claim->settings->version, barriers ? NULL : batch->lanes, batch->lane_count, lanes,
                   floors)) {
    *claimed = CLAIMED_OUTDATED;
    return true;
  }
  PGresult *rows = NULL;
  PGresult *logged = NULL;
  if (!(barriers    ? take_barriers
        : only_lane ? take_transactions
                    : take_rows)(claim, batch, lanes, floors, &rows, error)) {
    PQclear(rows);
    return false;
  }
  if (PQntuples(rows) == 0) {
    /* Somebody has emptied the lanes between our two statements. */
    *claimed = CLAIMED_BUSY;
    PQclear(rows);
    return true;
  }
  if (!read_log(claim, READ_CHANGES, rows, &batch->receipt.has_refusals, &logged, error)) {
    PQclear(rows);
    PQclear(logged);
    return false;
  }
  if (!batch_read(batch, rows, logged, claim->routes, error) || !identity_read(claim->source, batch, error))
    return false;
  bool taken = true;
  if (claim->settings->leased && !lease_take(claim, batch, &taken, error))
    return false;
  if (!taken) {
    *claimed = CLAIMED_BUSY;
    batch_clear(batch);
  }
  return true;
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
