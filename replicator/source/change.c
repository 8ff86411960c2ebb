#include "source/change.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/span.h"
#include "postgres/result.h"
#include "queries.h"

/* For how many changes room is kept between batches. */
#define MOST_KEPT 4096

_Static_assert(TAKEN_EXPANSION - TAKEN_ID == LOGGED_EXPANSION, "the log's part has the same columns in both");
_Static_assert((int)TAKEN_BYTES == ROW_BYTES, "and the queue's");

bool change_is_keyless(const struct change *change) {
  bool has_row = change->operation != OPERATION_TRUNCATE && change->operation != OPERATION_BARRIER;
  return change->route->keyless || (has_row && change->key == NULL);
}

bool change_is_of_any_row(const struct change *change) {
  return change->has_hash && change->hash == 0;
}

void batch_init(struct batch *batch) {
  *batch = (struct batch){.count = 0};
}

void batch_clear(struct batch *batch) {
  if (batch->capacity > MOST_KEPT) {
    free(batch->changes);
    batch->changes = NULL;
    batch->capacity = 0;
  }
  if (batch->logged != batch->rows)
    PQclear(batch->logged);
  PQclear(batch->rows);
  batch->rows = NULL;
  batch->logged = NULL;
  batch->count = 0;
  batch->lane_count = 0;
  batch->hold_count = 0;
}

void batch_release(struct batch *batch) {
  batch_clear(batch);
  free(batch->changes);
  free(batch->lanes);
  free(batch->holds);
  batch_init(batch);
}

/* Written by triggers, which checked it; what anybody else has put there goes into no header. */
static const char *traceparent_of(const char *text) {
  struct span_id id;
  return text != NULL && span_read_parent(text, &id) ? text : NULL;
}

bool batch_read(struct batch *batch, PGresult *rows, PGresult *logged, const struct routes *routes,
                struct error *error) {
  /* Where both are one, the log's part stands behind the queue's. */
  int from = logged == rows ? TAKEN_ID : LOGGED_ID;
  batch->read_at = clock_microseconds();
  batch->rows = rows;
  batch->logged = logged;
  size_t count = (size_t)PQntuples(rows);
  if (count > batch->capacity) {
    struct change *grown = realloc(batch->changes, count * sizeof *grown);
    if (grown == NULL)
      return error_set(error, FAILURE_RETRY, "out of memory");
    batch->changes = grown;
    batch->capacity = count;
  }
  for (int row = 0; row < (int)count; row++) {
    struct change *change = &batch->changes[row];
    *change = (struct change){
        .id = result_bigint(rows, row, ROW_CHANGE_ID),
        .lane = result_int(rows, row, ROW_LANE),
        .day = PQgetvalue(rows, row, ROW_DAY),
        .bytes = result_bigint(rows, row, ROW_BYTES),
        .capture = result_int(logged, row, from + LOGGED_CAPTURE),
        .operation = (enum operation)PQgetvalue(logged, row, from + LOGGED_OPERATION)[0],
        .key = result_text(logged, row, from + LOGGED_KEY),
        .old_row = result_text(logged, row, from + LOGGED_OLD_ROW),
        .new_row = result_text(logged, row, from + LOGGED_NEW_ROW),
        .text_columns = result_text(logged, row, from + LOGGED_TEXT_COLUMNS),
        .problem = result_text(logged, row, from + LOGGED_PROBLEM),
        .captured_at = result_text(logged, row, from + LOGGED_CAPTURED_AT),
        .txid = result_text(logged, row, from + LOGGED_TXID),
        .actor = result_text(logged, row, from + LOGGED_ACTOR),
        .traceparent = traceparent_of(result_text(logged, row, from + LOGGED_TRACEPARENT)),
        .path = result_text(logged, row, from + LOGGED_PATH),
        .age = PQgetisnull(logged, row, from + LOGGED_AGE) ? -1 : result_bigint(logged, row, from + LOGGED_AGE),
        .expansion = result_text(logged, row, from + LOGGED_EXPANSION),
    };
    if (PQgetisnull(logged, row, from + LOGGED_ID))
      return error_set(error, FAILURE_FATAL, "change %lld is queued but missing from the log (partition of %s)",
                       (long long)change->id, change->day);
    change->route = routes_find(routes, change->capture);
    if (change->route == NULL)
      return error_set(error, FAILURE_RETRY, "change %lld belongs to a table that is not routed to this target",
                       (long long)change->id);
  }
  batch->count = count;
  return true;
}

bool change_same_row(const struct change *a, const struct change *b) {
  if (a->capture != b->capture)
    return false;
  if (a->key == NULL || b->key == NULL)
    return a->key == b->key;
  if (a->has_hash)
    return a->hash == b->hash;
  return strcmp(a->key, b->key) == 0;
}
