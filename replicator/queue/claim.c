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
#include "queue/taken.h"
#include "queue/transactions.h"
#include "source/row_identity.h"

/* Array literals of all lanes that a target has, which are 2 * 1024 + 1 at most, and of their floors of up to 19
 * digits. */
#define ARRAY_LIMIT ((size_t)64 * 1024)
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

static void take_both_lanes(const struct settings *settings, struct batch *batch) {
  batch->lanes[0] = settings->lanes.first;
  batch->lanes[1] = settings->lanes.first + 1;
  batch->lane_count = 2;
}

/*
 * Reads the reply to claim_lanes.sql or claim_only_lane.sql: the floors rise, and the batch gets the lanes that were
 * locked. *waiting is how many lanes have work.
 */
static bool read_lanes(const struct claim *claim, const PGresult *reply, struct batch *batch, int *waiting,
                       struct error *error) {
  *waiting = PQntuples(reply);
  free(batch->lanes);
  batch->lane_count = 0;
  batch->receipt.failures = 0;
  batch->first_elsewhere = INT64_MAX;
  batch->lanes = calloc((size_t)*waiting + 2, sizeof *batch->lanes);
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
      } else if (first_id < batch->first_elsewhere) {
        batch->first_elsewhere = first_id;
      }
      row++;
    }
    floor_raise(claim->floor, claim->settings->version, lane, settled);
  }
  /* An only lane is locked together with that of its barriers, where something waits in either. */
  if (settings_keep_transactions(claim->settings) && batch->lane_count > 0)
    take_both_lanes(claim->settings, batch);
  /* Where a process has died, less is tried at once; the lanes that are left out are free again with the commit. */
  for (int i = 0; i < batch->receipt.failures && batch->lane_count > 1; i++)
    batch->lane_count = (batch->lane_count + 3) / 4;
  return true;
}

static bool read_holds(const PGresult *reply, struct batch *batch, struct error *error) {
  snprintf(batch->receipt.claimed_at, sizeof batch->receipt.claimed_at, "%s", PQgetvalue(reply, 0, HELD_CLAIMED_AT));
  return holds_read(batch, PQgetvalue(reply, 0, HELD_HOLDS), error);
}

static void read_token(const PGresult *reply, struct batch *batch) {
  batch->receipt.token = result_bigint(reply, 0, TOKEN_NUMBER);
}

static void note_first(const PGresult *rows, struct batch *batch) {
  if (PQntuples(rows) > 0)
    batch->first_id = result_bigint(rows, 0, ROW_CHANGE_ID);
}

/* Whether one statement tells which rows of the locked lanes are claimed. */
static bool takes_at_once(const struct claim *claim) {
  return !claim->settings->leased && !settings_keep_transactions(claim->settings);
}

/* Adds to the open pipeline what takes the oldest rows of the lanes that it locks. */
static void add_rows(const struct claim *claim, struct pgconn *connection, const struct starts *starts) {
  const struct settings *settings = claim->settings;
  pgconn_pipeline_add(connection, &QUERY_claim_holds, VALUES(number(settings->target).text));
  pgconn_pipeline_add(connection, settings->document ? &QUERY_claim_rows : &claim->days->query,
                      VALUES(number(settings->target).text, starts->lanes.data, starts->floors.data,
                             number(claim->batch_rows).text, number(settings->batch_bytes).text,
                             number(settings->version).text, number(claim->horizon).text,
                             number(settings->lanes.live).text, number(LATE_BYTES).text,
                             claim->with_details ? "true" : "false", metrics_wants_delays() ? "true" : "false"));
  pgconn_pipeline_add(connection, &QUERY_claim_token, NO_VALUES);
  pgconn_pipeline_add(connection, &QUERY_claim_refusals, VALUES(number(settings->target).text));
}

/* Replies to what locks lanes, and takes rows from them. */
enum { BEGUN_REPLY, VERSION_REPLY, LANES_REPLY, HOLDS_REPLY, ROWS_REPLY, TOKEN_REPLY, REFUSALS_REPLY, REPLY_COUNT };

/* A claim under way. */
struct taking {
  struct starts starts;
  struct taken taken;
  enum claimed claimed; /* as far as known */
};

/* Begins, locks lanes, and takes rows from them, if takes_at_once(). */
static bool lock_lanes(const struct claim *claim, struct batch *batch, struct taking *taking, struct error *error) {
  struct starts *starts = &taking->starts;
  const struct settings *settings = claim->settings;
  struct pgconn *connection = source_connection(claim->source);
  PGresult *replies[REPLY_COUNT] = {NULL};
  bool at_once = takes_at_once(claim);
  if (!floor_write(claim->floor, settings->version, NULL, 0, starts)) {
    taking->claimed = CLAIMED_OUTDATED;
    return true;
  }
  if (!starts_ok(starts, error))
    return false;
  pgconn_pipeline_begin(connection);
  pgconn_pipeline_add(connection, &BEGIN, NO_VALUES);
  pgconn_pipeline_add(connection, &QUERY_target_version, VALUES(number(settings->target).text));
  if (settings_keep_transactions(settings))
    pgconn_pipeline_add(connection, &QUERY_claim_only_lane, VALUES(starts->lanes.data, starts->floors.data));
  else
    pgconn_pipeline_add(connection, &QUERY_claim_lanes,
                        VALUES(starts->lanes.data, starts->floors.data, number(fair_share(claim)).text,
                               number(settings->lanes.live).text, claim->late_first ? "true" : "false",
                               settings->leased ? "true" : "false"));
  if (at_once)
    add_rows(claim, connection, starts);
  bool ok = pgconn_pipeline_run(connection, replies, REPLY_COUNT, error);
  if (ok && (PQntuples(replies[VERSION_REPLY]) == 0 || result_int(replies[VERSION_REPLY], 0, 0) != settings->version)) {
    taking->claimed = CLAIMED_OUTDATED;
  } else if (ok) {
    int waiting;
    ok = read_lanes(claim, replies[LANES_REPLY], batch, &waiting, error);
    taking->claimed = batch->lane_count > 0 ? CLAIMED_SOME : waiting > 0 ? CLAIMED_BUSY : CLAIMED_NONE;
  }
  if (ok && at_once && taking->claimed == CLAIMED_SOME && !lane_is_of_barriers(batch->lanes[0])) {
    ok = read_holds(replies[HOLDS_REPLY], batch, error);
    read_token(replies[TOKEN_REPLY], batch);
    taking->taken.rows = taking->taken.logged = replies[ROWS_REPLY];
    note_first(taking->taken.rows, batch);
    taking->taken.has_refusals = result_bool(replies[REFUSALS_REPLY], 0, 0);
    replies[ROWS_REPLY] = NULL;
  }
  for (size_t i = 0; i < REPLY_COUNT; i++)
    PQclear(replies[i]);
  return ok;
}

/* The id up to which the lane of barriers was seen empty; 0 when the floor has another version by now. */
static int64_t barriers_floor(const struct claim *claim) {
  int64_t id;
  return floor_read(claim->floor, claim->settings->version, claim->settings->lanes.first, &id) ? id : 0;
}

struct candidates;

/* Which rows of locked lanes are read, and which of those are chosen. */
struct choice {
  const struct query *query;
  struct values values;
  /* NULL: all */
  bool (*choose)(const struct claim *claim, const struct candidates *candidates, struct error *error);
};

/* Reads rows of locked lanes, and what goes with them: what the target cannot take, and the claim's number. *rows is
 * the caller's to PQclear, also on failure. */
static bool read_queue(const struct claim *claim, struct batch *batch, const struct choice *choice, PGresult **rows,
                       struct error *error) {
  struct pgconn *connection = source_connection(claim->source);
  PGresult *replies[3] = {NULL};
  pgconn_pipeline_begin(connection);
  pgconn_pipeline_add(connection, &QUERY_claim_holds, VALUES(number(claim->settings->target).text));
  pgconn_pipeline_add(connection, choice->query, choice->values);
  pgconn_pipeline_add(connection, &QUERY_claim_token, NO_VALUES);
  bool ok = pgconn_pipeline_run(connection, replies, 3, error);
  *rows = replies[1];
  if (ok) {
    ok = read_holds(replies[0], batch, error);
    read_token(replies[2], batch);
    note_first(*rows, batch);
  }
  PQclear(replies[0]);
  PQclear(replies[2]);
  return ok;
}

/* Reads the oldest rows of leased lanes, which stay in the queue. */
static bool take_leased(const struct claim *claim, struct batch *batch, const struct starts *starts,
                        struct taken *taken, struct error *error) {
  const struct settings *settings = claim->settings;
  bool late = lane_is_late(settings->lanes, batch->lanes[0]);
  int rows_each = claim->batch_rows / (int)batch->lane_count;
  int64_t bytes = late && settings->batch_bytes > LATE_BYTES ? LATE_BYTES : settings->batch_bytes;
  for (int i = 0; i < batch->receipt.failures; i++)
    rows_each /= 4; /* so that what kills processes is alone in the end */
  struct number target = number(settings->target);
  struct number most = number(rows_each > 0 ? rows_each : 1);
  struct number most_bytes = number(bytes);
  struct number version = number(settings->version);
  struct number no_barriers_up_to = number(barriers_floor(claim));
  const struct choice oldest = {
      .query = &QUERY_claim_rows_leased,
      .values = VALUES(target.text, starts->lanes.data, starts->floors.data, most.text, most_bytes.text, version.text,
                       no_barriers_up_to.text),
  };
  return read_queue(claim, batch, &oldest, &taken->rows, error);
}

/* ---- rows that are chosen one by one --------------------------------------------------------------------------- */

/* Rows that were read of the queue. */
struct candidates {
  PGresult *rows;
  bool *chosen; /* for each of them; at first none is */
};

/* Whether all of the candidates are one batch: of every transaction all is there, and all of it fits. */
static bool is_one_batch(const struct claim *claim, const PGresult *rows) {
  int count = PQntuples(rows);
  int64_t bytes = 0;
  for (int row = 0; row < count; row++) {
    bytes += result_bigint(rows, row, ROW_BYTES);
    if (count > 1 && lane_is_of_barriers(result_int(rows, row, ROW_LANE)))
      return false;
  }
  return count == 1 || (count <= claim->batch_rows && bytes <= claim->settings->batch_bytes);
}

static enum stands stands_of(int lane, const char *operation) {
  if (*operation == OPERATION_TRUNCATE)
    return STANDS_ALONE;
  /* A row that changes lanes is a barrier, too; but there is only one lane. */
  return lane_is_of_barriers(lane) && *operation == OPERATION_BARRIER ? STANDS_WITH_ITS_KIND : STANDS_WITH_ROWS;
}

/* Chooses whole transactions, see transactions.h. */
static bool choose_transactions(const struct claim *claim, const struct candidates *candidates, struct error *error) {
  const PGresult *rows = candidates->rows;
  int count = PQntuples(rows);
  if (is_one_batch(claim, rows)) {
    memset(candidates->chosen, true, (size_t)count * sizeof *candidates->chosen);
    return true;
  }
  struct taken looked_at = {.rows = candidates->rows};
  struct queued *queued = calloc((size_t)count + 1, sizeof *queued);
  if (queued == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  bool ok = taken_read_log(&looked_at, claim, READ_TXIDS, error);
  for (int row = 0; ok && row < count; row++)
    queued[row] = (struct queued){
        .txid = result_bigint(looked_at.logged, row, MADE_TXID),
        .bytes = result_bigint(rows, row, ROW_BYTES),
        .stands = stands_of(result_int(rows, row, ROW_LANE), PQgetvalue(looked_at.logged, row, MADE_OPERATION)),
    };
  struct transactions_limit most = {.rows = (size_t)claim->batch_rows, .bytes = claim->settings->batch_bytes};
  ok = ok && transactions_choose(queued, (size_t)count, most, candidates->chosen, error);
  free(queued);
  PQclear(looked_at.logged);
  return ok;
}

/*
 * Chooses of the lane of barriers, where there are others: those that follow one another without anything in between,
 * in any lane. A truncate goes alone, because of a whole table it says more than a row's change does.
 */
static bool choose_barriers(const struct claim *claim, const struct candidates *candidates, struct error *error) {
  const PGresult *rows = candidates->rows;
  int count = PQntuples(rows);
  int64_t bytes = 0;
  struct taken looked_at = {.rows = candidates->rows};
  candidates->chosen[0] = count > 0;
  if (count < 2)
    return true;
  bool ok = taken_read_log(&looked_at, claim, READ_TXIDS, error);
  for (int row = 0; ok && row < count; row++) {
    const char *operation = PQgetvalue(looked_at.logged, row, MADE_OPERATION);
    bytes += result_bigint(rows, row, ROW_BYTES);
    if (row > 0 && (*operation == OPERATION_TRUNCATE || bytes > claim->settings->batch_bytes))
      break;
    candidates->chosen[row] = true;
    if (*operation == OPERATION_TRUNCATE)
      break;
  }
  PQclear(looked_at.logged);
  return ok;
}

/* Takes the candidates that are chosen out of the queue; *rows is the caller's to PQclear. */
static bool take_chosen(const struct claim *claim, const struct batch *batch, const struct candidates *candidates,
                        PGresult **rows, struct error *error) {
  struct buffer ids;
  char lanes[32]; /* that of barriers, the only lane, or both */
  snprintf(lanes, sizeof lanes, "{%d,%d}", batch->lanes[0], batch->lanes[batch->lane_count - 1]);
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

/* Takes what is chosen. */
static bool take_by_choice(const struct claim *claim, struct batch *batch, const struct choice *choice,
                           struct taken *taken, struct error *error) {
  if (claim->settings->leased) /* it stays in the queue */
    return read_queue(claim, batch, choice, &taken->rows, error);
  struct candidates candidates = {.chosen = NULL};
  bool ok = read_queue(claim, batch, choice, &candidates.rows, error);
  if (!ok)
    goto done;
  candidates.chosen = calloc((size_t)PQntuples(candidates.rows) + 1, sizeof *candidates.chosen);
  if (candidates.chosen == NULL) {
    ok = error_set(error, FAILURE_RETRY, "out of memory");
    goto done;
  }
  ok = choice->choose(claim, &candidates, error) && take_chosen(claim, batch, &candidates, &taken->rows, error);

done:
  free(candidates.chosen);
  PQclear(candidates.rows);
  return ok;
}

/* Takes rows of a target's only lane, and of its lane of barriers. */
static bool take_transactions(const struct claim *claim, struct batch *batch, const struct starts *starts,
                              struct taken *taken, struct error *error) {
  const struct settings *settings = claim->settings;
  struct number target = number(settings->target);
  struct number most = number(2 * claim->batch_rows + ROWS_AHEAD);
  struct number version = number(settings->version);
  struct choice choice = {
      .query = &QUERY_claim_queued,
      .values = VALUES(target.text, starts->lanes.data, starts->floors.data, most.text, version.text),
      .choose = choose_transactions,
  };
  return take_by_choice(claim, batch, &choice, taken, error);
}

/* The same for the lane of barriers where there are other lanes; `starts` are those of the whole target. */
static bool take_barriers(const struct claim *claim, struct batch *batch, const struct starts *starts,
                          struct taken *taken, struct error *error) {
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
  return take_by_choice(claim, batch, &choice, taken, error);
}

/* ---------------------------------------------------------------------------------------------------------------- */

/* Takes rows of the locked lanes, as the second statement of claims that do not take them at once. */
static bool take_rows(const struct claim *claim, struct batch *batch, struct taking *taking, struct error *error) {
  struct starts *starts = &taking->starts;
  struct taken *taken = &taking->taken;
  bool only_lane = settings_keep_transactions(claim->settings);
  bool barriers = !only_lane && lane_is_of_barriers(batch->lanes[0]);
  if (!floor_write(claim->floor, claim->settings->version, barriers ? NULL : batch->lanes, batch->lane_count, starts)) {
    taking->claimed = CLAIMED_OUTDATED;
    return true;
  }
  if (!starts_ok(starts, error))
    return false;
  if (only_lane)
    return take_transactions(claim, batch, starts, taken, error);
  return barriers ? take_barriers(claim, batch, starts, taken, error) : take_leased(claim, batch, starts, taken, error);
}

/* Reads the changes of the rows, unless they came with them. */
static bool read_changes(const struct claim *claim, struct taken *taken, struct error *error) {
  if (taken->logged != NULL && taken_is_complete(taken))
    return true;
  if (taken->logged != NULL && !claim->settings->document)
    day_query_learn(claim->days, source_connection(claim->source), taken->rows);
  return taken_read_log(taken, claim, READ_CHANGES, error);
}

/* Fills the batch with what was taken, which is then the batch's. */
static bool fill_batch(const struct claim *claim, struct batch *batch, struct taking *taking, struct error *error) {
  struct taken *taken = &taking->taken;
  if (PQntuples(taken->rows) == 0) {
    /* Somebody has emptied the lanes between our two statements. */
    taking->claimed = CLAIMED_BUSY;
    return true;
  }
  if (!read_changes(claim, taken, error))
    return false;
  batch->receipt.has_refusals = taken->has_refusals;
  struct taken given = *taken;
  *taken = (struct taken){.rows = NULL};
  if (!batch_read(batch, given.rows, given.logged, claim->routes, error) ||
      !row_identity_read(claim->source, batch, error))
    return false;
  bool held = true;
  if (claim->settings->leased && !lease_take(claim, batch, &held, error))
    return false;
  if (!held) {
    taking->claimed = CLAIMED_BUSY;
    batch_clear(batch);
  }
  return true;
}

bool claim_take(const struct claim *claim, struct batch *batch, enum claimed *claimed, struct error *error) {
  struct taking taking = {.claimed = CLAIMED_NONE};
  starts_init(&taking.starts, ARRAY_LIMIT);
  bool ok = lock_lanes(claim, batch, &taking, error);
  if (ok && taking.claimed == CLAIMED_SOME && taking.taken.rows == NULL)
    ok = take_rows(claim, batch, &taking, error);
  if (ok && taking.claimed == CLAIMED_SOME)
    ok = fill_batch(claim, batch, &taking, error);
  if (!ok || taking.claimed != CLAIMED_SOME)
    pgconn_rollback(source_connection(claim->source));
  *claimed = taking.claimed;
  taken_release(&taking.taken);
  starts_release(&taking.starts);
  return ok;
}
