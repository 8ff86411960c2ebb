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

/* Array literals of all lanes that a target has, which are 2 * 1024 + 1 at most, and of their floors of up to 19
 * digits. */
#define ARRAY_LIMIT ((size_t)64 * 1024)
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
    if (row < *waiting && result_int(reply, row, WAITING_LANE) == lane) {
      int64_t first_id = result_bigint(reply, row, WAITING_FIRST_ID);
      if (first_id <= settled)
        settled = first_id - 1;
      if (result_bool(reply, row, WAITING_LOCKED)) {
        batch->lanes[batch->lane_count++] = lane;
        if (result_int(reply, row, WAITING_FAILURES) > batch->receipt.failures)
          batch->receipt.failures = result_int(reply, row, WAITING_FAILURES);
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

static bool lock_lanes(const struct claim *claim, struct batch *batch, struct starts *starts, enum claimed *claimed,
                       struct error *error) {
  const struct settings *settings = claim->settings;
  struct pgconn *connection = source_connection(claim->source);
  if (!floor_write(claim->floor, settings->version, NULL, 0, starts)) {
    *claimed = CLAIMED_OUTDATED;
    return true;
  }
  PGresult *replies[3];
  pgconn_pipeline_begin(connection);
  pgconn_pipeline_add(connection, &BEGIN, NO_VALUES);
  pgconn_pipeline_add(connection, &QUERY_target_version, VALUES(number(settings->target).text));
  pgconn_pipeline_add(connection, &QUERY_claim_lanes,
                      VALUES(starts->lanes.data, starts->floors.data, number(fair_share(claim)).text,
                             number(settings->lanes.live).text, claim->late_first ? "true" : "false",
                             settings->leased ? "true" : "false"));
  bool ok = pgconn_pipeline_run(connection, replies, 3, error);
  if (ok && (PQntuples(replies[1]) == 0 || result_int(replies[1], 0, 0) != settings->version)) {
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
  batch->receipt.token = result_bigint(reply, 0, TOKEN_NUMBER);
  snprintf(batch->receipt.claimed_at, sizeof batch->receipt.claimed_at, "%s", PQgetvalue(reply, 0, TOKEN_CLAIMED_AT));
  return holds_read(batch, PQgetvalue(reply, 0, TOKEN_HOLDS), error);
}

/* The id up to which the lane of barriers was seen empty; 0 when the floor has another version by now. */
static int64_t barriers_floor(const struct claim *claim) {
  int64_t id;
  return floor_read(claim->floor, claim->settings->version, claim->settings->lanes.first, &id) ? id : 0;
}

/* Takes the oldest rows out of the queue; *rows is the caller's to PQclear. */
static bool take_rows(const struct claim *claim, struct batch *batch, const struct starts *starts, PGresult **rows,
                      struct error *error) {
  const struct settings *settings = claim->settings;
  struct pgconn *connection = source_connection(claim->source);
  bool late = lane_is_late(settings->lanes, batch->lanes[0]);
  int rows_each = claim->batch_rows / (int)batch->lane_count;
  int64_t bytes = late && settings->batch_bytes > LATE_BYTES ? LATE_BYTES : settings->batch_bytes;
  for (int i = 0; i < batch->receipt.failures; i++)
    rows_each /= 4; /* so that what kills processes is alone in the end */
  PGresult *replies[2];
  pgconn_pipeline_begin(connection);
  pgconn_pipeline_add(connection, &QUERY_claim_token, VALUES(number(settings->target).text));
  pgconn_pipeline_add(connection, settings->leased ? &QUERY_claim_rows_leased : &QUERY_claim_rows,
                      VALUES(number(settings->target).text, starts->lanes.data, starts->floors.data,
                             number(rows_each > 0 ? rows_each : 1).text, number(bytes).text,
                             number(settings->version).text, number(barriers_floor(claim)).text));
  bool ok = pgconn_pipeline_run(connection, replies, 2, error);
  ok = ok && read_token(replies[0], batch, error);
  if (ok && PQntuples(replies[1]) > 0)
    batch->first_id = result_bigint(replies[1], 0, ROW_CHANGE_ID);
  PQclear(replies[0]);
  *rows = replies[1];
  return ok;
}

/* What is read of the log. */
enum reading { READ_TXIDS, READ_CHANGES };

/* What it says of queued rows. */
struct logged {
  PGresult *rows;    /* one for each of them */
  bool has_refusals; /* the target has refused some change */
};

/* Reads of the log what belongs to queued rows; logged->rows is the caller's to PQclear. */
static bool read_log(const struct claim *claim, enum reading reading, const PGresult *rows, struct logged *logged,
                     struct error *error) {
  /* One plan for all days would have to look into every partition there is. */
  static const struct query PLAN_FOR_DAYS = {.name = NULL, .text = "set local plan_cache_mode to force_custom_plan"};
  const struct settings *settings = claim->settings;
  const char *aged = metrics_wants_delays() ? "true" : "false";
  const struct query changes = QUERY_ONCE(QUERY_claim_changes);
  const struct query documents = QUERY_ONCE(QUERY_claim_documents);
  const struct query txids = QUERY_ONCE(QUERY_claim_txids);
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
    buffer_add_format(&ids, "%c%s", separator, PQgetvalue(rows, row, ROW_CHANGE_ID));
    buffer_add_format(&lanes, "%c%s", separator, PQgetvalue(rows, row, ROW_LANE));
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
    logged->has_refusals = ok && result_bool(replies[2], 0, 0);
  }
  PQclear(replies[0]);
  PQclear(replies[2]);
  logged->rows = replies[1];
  buffer_release(&ids);
  buffer_release(&lanes);
  buffer_release(&days);
  buffer_release(&distinct);
  return ok;
}

/* ---- rows that are chosen one by one --------------------------------------------------------------------------- */

/* Columns of claim_txids.sql */

/* Rows that were read of the queue. */
struct candidates {
  const PGresult *rows;
  bool *chosen; /* for each of them; at first none is */
};

/* Chooses whole transactions, see transactions.h. */
static bool choose_transactions(const struct claim *claim, const struct candidates *candidates, struct error *error) {
  const struct settings *settings = claim->settings;
  const PGresult *rows = candidates->rows;
  int count = PQntuples(rows);
  int64_t bytes = 0;
  for (int row = 0; row < count; row++)
    bytes += result_bigint(rows, row, ROW_BYTES);
  /* Of every transaction all is there, and all of it fits. */
  if (count == 1 || (count <= claim->batch_rows && bytes <= settings->batch_bytes)) {
    memset(candidates->chosen, true, (size_t)count * sizeof *candidates->chosen);
    return true;
  }
  struct logged logged = {.rows = NULL};
  struct queued *queued = calloc((size_t)count + 1, sizeof *queued);
  if (queued == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  bool ok = read_log(claim, READ_TXIDS, rows, &logged, error);
  for (int row = 0; ok && row < count; row++)
    queued[row] = (struct queued){.txid = result_bigint(logged.rows, row, MADE_TXID),
                                  .bytes = result_bigint(rows, row, ROW_BYTES)};
  struct transactions_limit most = {.rows = (size_t)claim->batch_rows, .bytes = settings->batch_bytes};
  ok = ok && transactions_choose(queued, (size_t)count, most, candidates->chosen, error);
  free(queued);
  PQclear(logged.rows);
  return ok;
}

/*
 * The same of the lane of barriers: those that follow one another without anything in between, in any lane. A truncate
 * goes alone, because of a whole table it says more than a row's change does.
 */
static bool choose_barriers(const struct claim *claim, const struct candidates *candidates, struct error *error) {
  const PGresult *rows = candidates->rows;
  int count = PQntuples(rows);
  int64_t bytes = 0;
  struct logged logged = {.rows = NULL};
  candidates->chosen[0] = count > 0;
  if (count < 2)
    return true;
  bool ok = read_log(claim, READ_TXIDS, rows, &logged, error);
  for (int row = 0; ok && row < count; row++) {
    const char *operation = PQgetvalue(logged.rows, row, MADE_OPERATION);
    bytes += result_bigint(rows, row, ROW_BYTES);
    if (row > 0 && (*operation == OPERATION_TRUNCATE || bytes > claim->settings->batch_bytes))
      break;
    candidates->chosen[row] = true;
    if (*operation == OPERATION_TRUNCATE)
      break;
  }
  PQclear(logged.rows);
  return ok;
}

/* Takes the candidates that are chosen out of a lane of the queue; *rows is the caller's to PQclear. */
static bool take_chosen(const struct claim *claim, int lane, const struct candidates *candidates, PGresult **rows,
                        struct error *error) {
  struct buffer ids;
  char lanes[32];
  snprintf(lanes, sizeof lanes, "{%d}", lane);
  buffer_init(&ids, ROWS_LIMIT);
  buffer_add_string(&ids, "{");
  for (int row = 0; row < PQntuples(candidates->rows); row++)
    if (candidates->chosen[row])
      buffer_add_format(&ids, "%s%s", ids.length > 1 ? "," : "", PQgetvalue(candidates->rows, row, ROW_CHANGE_ID));
  buffer_add_string(&ids, "}");
  bool ok = buffer_ok(&ids, "the list of changes", error) &&
            pgconn_run(source_connection(claim->source), &QUERY_claim_chosen, VALUES(lanes, ids.data), rows, error);
  buffer_release(&ids);
  return ok;
}

/* How rows of one lane are chosen: which of those that a query gives. */
struct choice {
  const struct query *query;
  struct values values;
  bool (*choose)(const struct claim *claim, const struct candidates *candidates, struct error *error);
};

/* Takes what is chosen, which stands in one lane; else as take_rows(). */
static bool take_by_choice(const struct claim *claim, struct batch *batch, const struct choice *choice, PGresult **rows,
                           struct error *error) {
  struct pgconn *connection = source_connection(claim->source);
  struct candidates candidates = {.chosen = NULL};
  PGresult *replies[2];
  pgconn_pipeline_begin(connection);
  pgconn_pipeline_add(connection, &QUERY_claim_token, VALUES(number(claim->settings->target).text));
  pgconn_pipeline_add(connection, choice->query, choice->values);
  bool ok = pgconn_pipeline_run(connection, replies, 2, error);
  ok = ok && read_token(replies[0], batch, error);
  if (!ok)
    goto done;
  int count = PQntuples(replies[1]);
  if (count > 0)
    batch->first_id = result_bigint(replies[1], 0, ROW_CHANGE_ID);
  if (claim->settings->leased) { /* it stays in the queue */
    *rows = replies[1];
    replies[1] = NULL;
    goto done;
  }
  candidates.rows = replies[1];
  candidates.chosen = calloc((size_t)count + 1, sizeof *candidates.chosen);
  if (candidates.chosen == NULL) {
    ok = error_set(error, FAILURE_RETRY, "out of memory");
    goto done;
  }
  ok = choice->choose(claim, &candidates, error) && take_chosen(claim, batch->lanes[0], &candidates, rows, error);

done:
  free(candidates.chosen);
  PQclear(replies[0]);
  PQclear(replies[1]);
  return ok;
}

/* The same as take_rows() for a target's only lane. */
static bool take_transactions(const struct claim *claim, struct batch *batch, const struct starts *starts,
                              PGresult **rows, struct error *error) {
  const struct settings *settings = claim->settings;
  struct number target = number(settings->target);
  struct number most = number(2 * claim->batch_rows + ROWS_AHEAD);
  struct number version = number(settings->version);
  struct choice choice = {
      .query = &QUERY_claim_queued,
      .values = VALUES(target.text, starts->lanes.data, starts->floors.data, most.text, version.text),
      .choose = choose_transactions,
  };
  return take_by_choice(claim, batch, &choice, rows, error);
}

/* The same for the lane of barriers; `starts` are those of the whole target. */
static bool take_barriers(const struct claim *claim, struct batch *batch, const struct starts *starts, PGresult **rows,
                          struct error *error) {
  const struct settings *settings = claim->settings;
  struct number target = number(settings->target);
  struct number most = number(settings->leased || settings->document ? 1 : claim->batch_rows);
  struct number version = number(settings->version);
  struct choice choice = {
      .query = &QUERY_claim_barriers,
      .values = VALUES(target.text, starts->lanes.data, starts->floors.data, most.text, version.text,
                       settings->leased ? "true" : "false"),
      .choose = choose_barriers,
  };
  return take_by_choice(claim, batch, &choice, rows, error);
}

/* ---------------------------------------------------------------------------------------------------------------- */

static bool take_changes(const struct claim *claim, struct batch *batch, struct starts *starts, enum claimed *claimed,
                         struct error *error) {
  bool barriers = lane_is_of_barriers(batch->lanes[0]);
  bool only_lane = !claim->settings->leased && claim->settings->lanes.count == 2;
  if (!floor_write(claim->floor, claim->settings->version, barriers ? NULL : batch->lanes, batch->lane_count, starts)) {
    *claimed = CLAIMED_OUTDATED;
    return true;
  }
  PGresult *rows = NULL;
  struct logged logged = {.rows = NULL};
  if (!(barriers ? take_barriers : only_lane ? take_transactions : take_rows)(claim, batch, starts, &rows, error)) {
    PQclear(rows);
    return false;
  }
  if (PQntuples(rows) == 0) {
    /* Somebody has emptied the lanes between our two statements. */
    *claimed = CLAIMED_BUSY;
    PQclear(rows);
    return true;
  }
  if (!read_log(claim, READ_CHANGES, rows, &logged, error)) {
    PQclear(rows);
    PQclear(logged.rows);
    return false;
  }
  batch->receipt.has_refusals = logged.has_refusals;
  if (!batch_read(batch, rows, logged.rows, claim->routes, error) || !row_identity_read(claim->source, batch, error))
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
  struct starts starts;
  starts_init(&starts, ARRAY_LIMIT);
  bool ok = lock_lanes(claim, batch, &starts, claimed, error);
  if (ok && *claimed == CLAIMED_SOME)
    ok = take_changes(claim, batch, &starts, claimed, error);
  if (!ok || *claimed != CLAIMED_SOME)
    pgconn_rollback(source_connection(claim->source));
  starts_release(&starts);
  return ok;
}
