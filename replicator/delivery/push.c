#include "delivery/push.h"

#include "common/clock.h"
#include "common/metrics.h"
#include "common/shell.h"
#include "delivery/ending.h"
#include "delivery/trace.h"
#include "postgres/number.h"
#include "postgres/sqlstate.h"
#include "queries.h"
#include "queue/settle.h"

#define RETRY_TIME 300000 /* ms after which a claim's refused changes are not tried again: its transaction is open */

/* For struct push, and before each push: somebody else may be pushing what comes after this. */
static bool still_ours(void *context, struct error *error) {
  struct work *work = context;
  return keep_claim(&work->keep, error);
}

/* Reads the routes anew in the middle of a batch: a column, or a table, may have come or gone since. */
static bool refresh_routes(struct work *work, struct error *error) {
  PGresult *reply = NULL;
  pgconn_set_deadline(source_connection(work->source), WORK_SOURCE_TIMEOUT);
  bool ok = source_run(work->source, &QUERY_target_routes, VALUES(number(work->settings->target).text, NULL), &reply,
                       error) &&
            routes_read(&work->routes, reply, error);
  for (size_t i = 0; ok && i < work->batch.count; i++) {
    struct change *change = &work->batch.changes[i];
    change->route = routes_find(&work->routes, change->capture);
    if (change->route == NULL)
      ok = error_set(error, FAILURE_RETRY, "change %lld belongs to a table that is not routed to this target",
                     (long long)change->id);
  }
  work->has_settings = work->has_settings && ok; /* other references to them */
  work->keep.source_lost = !ok && !pgconn_alive(source_connection(work->source));
  return ok;
}

/*
 * A push took longer than it may. Where the target takes one of nothing, the changes are at fault: they are split, and
 * what is too much by itself is refused. What may have arrived must not be pushed again where that is at most once.
 */
static bool blame_for_delay(struct work *work, const struct push *push, struct error *error) {
  struct push nothing = *push;
  struct error ignored;
  nothing.count = 0;
  work_close_target(work);
  if (work->settings->at_most_once || !still_ours(work, &ignored) || !work_open_target(work, &ignored) ||
      !target_push(work->target, &nothing, &ignored)) {
    error->kind = FAILURE_RETRY;
    return false;
  }
  error_set(error, FAILURE_REFUSED, "the push took longer than push_timeout (%d s), although the target works",
            (int)(work->settings->push_timeout / 1000));
  struct shell_word name;
  error_hint(error, "run: rowrelay target set %s --option push_timeout=SECONDS",
             shell_quote(&name, work->settings->name));
  return false;
}

/* The target may have refused a table because the route to it was out of date. */
static bool push_to_target(struct work *work, struct push *push, struct error *error) {
  bool ok = target_push(work->target, push, error);
  if (!ok && error->kind == FAILURE_LATE)
    return blame_for_delay(work, push, error);
  if (ok || error->kind != FAILURE_TABLE || push->routes_are_new || sqlstate_is_lock_wait(error->sqlstate))
    return ok;
  if (!refresh_routes(work, error))
    return false;
  for (size_t i = 0; i < push->count; i++)
    verdict_clear(&push->verdicts[i]);
  work->has_failed = push->routes_are_new = true;
  if (!still_ours(work, error))
    return false;
  ok = target_push(work->target, push, error);
  return !ok && error->kind == FAILURE_LATE ? blame_for_delay(work, push, error) : ok;
}

/*
 * The lanes whose fences a push passes: those of its claim, and for a barrier all, so that nothing older is let through
 * behind it, of a claim that was given up without a push. `all` has room for them.
 */
static const int *fenced_lanes(const struct work *work, const struct batch *batch, int *all, size_t *count) {
  *count = batch->lane_count;
  if (batch->lane_count != 1 || !lane_is_of_barriers(batch->lanes[0]))
    return batch->lanes;
  *count = (size_t)work->settings->lanes.count;
  for (size_t i = 0; i < *count; i++)
    all[i] = work->settings->lanes.first + (int)i;
  return all;
}

/* A push of nothing as yet, for a claim. */
static struct push push_of(struct work *work, const struct batch *batch, int *all_lanes) {
  size_t lane_count;
  const int *lanes = fenced_lanes(work, batch, all_lanes, &lane_count);
  return (struct push){.lanes = lanes,
                       .lane_count = lane_count,
                       .token = batch->receipt.token,
                       .first_id = work->batch.first_id,
                       .routes_are_new = work->has_failed,
                       .target = work->settings->name,
                       .still_ours = still_ours,
                       .claimer = work};
}

bool push_part(void *context, const struct change *const *changes, size_t count, struct verdict *verdicts,
               struct error *error) {
  struct work *work = context;
  int64_t began = clock_microseconds();
  if (!still_ours(work, error))
    return false;
  const struct batch *batch = work->settings->document ? &work->stale.batch : &work->batch;
  int all_lanes[LANES_OF_A_TARGET];
  struct push push = push_of(work, batch, all_lanes);
  char traceparent[TRACE_PARENT_SIZE];
  trace_parent(work, traceparent);
  push.traceparent = traceparent;
  push.changes = changes;
  push.count = count;
  push.verdicts = verdicts;
  bool ok;
  if (work->settings->document) {
    pgconn_set_deadline(source_connection(work->source), WORK_SOURCE_TIMEOUT);
    struct builder builder = {
        .document = &work->document, .source = work->source, .settings = work->settings, .target = work->target};
    ok = document_push(&builder, &push, error);
    /* A document is a target by itself, and its table is all it has. */
    for (size_t i = 0; !ok && error->kind == FAILURE_TABLE && i < count; i++)
      if (verdicts[i].kind == VERDICT_HELD)
        verdict_clear(&verdicts[i]);
    if (!ok && error->kind == FAILURE_TABLE)
      error->kind = FAILURE_FATAL;
    if (!ok && error->kind == FAILURE_LATE)
      blame_for_delay(work, &push, error);
    work->keep.source_lost = !ok && !pgconn_alive(source_connection(work->source));
  } else {
    ok = push_to_target(work, &push, error);
  }
  if (!ok)
    error->kind = ending_cause(error->kind, contention_is(error),
                               contention_most(&work->contention, work->batch.lanes, work->batch.lane_count));
  histogram_add(&work->worker->pool->meter->pushes, clock_microseconds() - began, 1);
  trace_push(work, began, count, ok ? NULL : error);
  return ok;
}

bool push_may_retry(void *context) {
  const struct work *work = context;
  return work->settings->leased || clock_now() - work->delivery_began < RETRY_TIME;
}

bool push_pause(void *context, int64_t milliseconds) {
  struct work *work = context;
  return worker_pool_pause(work->worker->pool, milliseconds) && !keep_is_awaited(&work->keep);
}

bool push_is_final(void *context, const struct change *change, const struct error *why, bool *final,
                   struct error *error) {
  struct work *work = context;
  *final = true; /* a document is built from present rows, whichever changes are still to come */
  if (work->settings->document)
    return true;
  pgconn_set_deadline(source_connection(work->source), WORK_SOURCE_TIMEOUT);
  const struct refused refused = {.change = change, .why = why};
  if (settle_is_final(work->keep.claim, &work->batch, &refused, final, error))
    return true;
  work->keep.source_lost = true;
  return false;
}

/*
 * Set aside, to come again at some time, and without a key, so that it may be stored twice; or a barrier of no row:
 * what comes after it may go another way than what an earlier claim may still be pushing.
 */
static bool is_to_recall(const struct outcomes *outcomes, size_t index) {
  const struct change *change = &outcomes->batch->changes[index];
  enum outcome outcome = outcomes->fates[index].outcome;
  bool is_set_aside = outcome == OUTCOME_HELD || outcome == OUTCOME_BLOCKED || outcome == OUTCOME_REFUSED;
  return (is_set_aside && change_is_keyless(change)) ||
         (outcome == OUTCOME_DELIVERED && change->operation == OPERATION_BARRIER);
}

static bool recall(struct work *work, struct outcomes *outcomes, size_t count, struct error *error) {
  const struct change **changes = calloc(count, sizeof(struct change *));
  struct verdict *verdicts = calloc(count, sizeof *verdicts);
  size_t *indexes = calloc(count, sizeof *indexes);
  bool ok = false;
  if (changes == NULL || verdicts == NULL || indexes == NULL) {
    error_set(error, FAILURE_RETRY, "out of memory");
    goto done;
  }
  int all_lanes[LANES_OF_A_TARGET];
  struct push push = push_of(work, outcomes->batch, all_lanes);
  push.changes = changes;
  push.verdicts = verdicts;
  for (size_t i = 0; i < outcomes->fate_count; i++) {
    if (!is_to_recall(outcomes, i))
      continue;
    indexes[push.count] = i;
    changes[push.count++] = &outcomes->batch->changes[i];
  }
  ok = still_ours(work, error) && target_recall(work->target, &push, error);
  for (size_t i = 0; ok && i < count; i++)
    if (verdicts[i].kind == VERDICT_DELIVERED) {
      outcomes_deliver(outcomes, indexes[i], verdicts[i].answer);
      outcomes->fates[indexes[i]].unfound = verdicts[i].unfound;
    }

done:
  free(indexes);
  free(verdicts);
  free(changes);
  return ok;
}

bool push_recall(struct work *work, struct outcomes *outcomes, bool tried, struct error *error) {
  size_t count = 0;
  for (size_t i = 0; !work->settings->document && i < outcomes->fate_count; i++)
    count += is_to_recall(outcomes, i);
  if (count == 0)
    return tried;
  if (tried && recall(work, outcomes, count, error))
    return true;
  for (size_t i = 0; i < outcomes->fate_count; i++)
    if (is_to_recall(outcomes, i))
      outcomes_decide(outcomes, i, OUTCOME_RETURNED, NULL);
  return false;
}
