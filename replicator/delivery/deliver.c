#include "delivery/deliver.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/metrics.h"
#include "delivery/ending.h"
#include "delivery/push.h"
#include "delivery/refusal_log.h"
#include "delivery/retry.h"
#include "delivery/trace.h"
#include "postgres/number.h"
#include "queries.h"
#include "queue/lease.h"
#include "queue/settle.h"

#define AGAIN_PAUSE 50 /* before changes that went back to the queue are claimed again; milliseconds */

/* How a batch of changes, or of documents, is prepared for pushing, and settled. */
struct material {
  bool (*prepare)(struct work *work, struct outcomes *outcomes, struct error *error);
  /* Settles what has been decided. False when the lanes or the source were lost. */
  bool (*settle)(struct work *work, struct outcomes *outcomes);
};

/* Changes of one table come in a row, mostly. */
static void measure_tables(struct meter *meter, const struct outcomes *pushed) {
  const struct route *route = NULL;
  struct table_meter *table = NULL;
  for (size_t i = 0; i < pushed->batch->count; i++) {
    enum outcome outcome = pushed->fates[i].outcome;
    if (outcome != OUTCOME_DELIVERED && outcome != OUTCOME_REFUSED)
      continue;
    if (pushed->batch->changes[i].route != route) {
      route = pushed->batch->changes[i].route;
      table = route != NULL ? meter_of_table(meter, route->relation) : NULL;
    }
    if (table != NULL)
      atomic_fetch_add_explicit(outcome == OUTCOME_DELIVERED ? &table->delivered : &table->refused, 1,
                                memory_order_relaxed);
  }
}

/* Records metrics of a settled batch. For documents, `pushed` are those built, and the batch the changes behind them.
 */
static void measure_batch(const struct work *work, const struct outcomes *pushed, int64_t began) {
  struct meter *meter = work->worker->pool->meter;
  int64_t now = clock_microseconds();
  histogram_add(&meter->batches, now - began, 1);
  atomic_fetch_add(&meter->delivered, outcomes_count(pushed, OUTCOME_DELIVERED));
  atomic_fetch_add(&meter->refused, outcomes_count(pushed, OUTCOME_REFUSED));
  for (size_t i = 0; metrics_wants_delays() && i < work->batch.count; i++)
    if (work->batch.changes[i].age >= 0 && (work->settings->document || pushed->fates[i].outcome == OUTCOME_DELIVERED))
      histogram_add(&meter->delays, work->batch.changes[i].age + now - work->batch.read_at, 1);
  if (!work->settings->document)
    measure_tables(meter, pushed);
}

static bool changes_settle(struct work *work, struct outcomes *outcomes) {
  struct error error;
  struct settlement settlement = {
      .claim = work->keep.claim, .outcomes = outcomes, .pushed = outcomes, .instance = work->worker->instance};
  pgconn_set_deadline(source_connection(work->source), WORK_SOURCE_TIMEOUT);
  if (settle(&settlement, &error))
    return true;
  if (error.kind == FAILURE_FENCED) {
    log_failure(LOG_LEVEL_WARNING, &error, "target %s: batch released", work->settings->name);
    keep_give_back(&work->keep);
    return false;
  }
  /* The source works but refuses the settlement: all workers wait, or each would push the batch again and again. */
  if (error.kind != FAILURE_RETRY && error.kind != FAILURE_STOP && pgconn_alive(source_connection(work->source))) {
    pgconn_rollback(source_connection(work->source));
    work_open_breaker(work, &error);
  }
  work_lose_source(work, &error);
  return false;
}

/* Logs a held table once, when its changes begin to wait. */
static void log_held(const struct work *work, const struct outcomes *outcomes) {
  for (size_t i = 0; i < outcomes->batch->count; i++) {
    const struct fate *fate = &outcomes->fates[i];
    bool is_known = false;
    for (size_t n = 0; n < outcomes->batch->hold_count; n++)
      is_known = is_known || outcomes->batch->holds[n].capture == outcomes->batch->changes[i].capture;
    if (fate->outcome != OUTCOME_HELD || fate->why == NULL || is_known)
      continue;
    const char *table = outcomes->batch->changes[i].route->relation;
    log_about(work->worker->pool->name, table);
    log_failure(LOG_LEVEL_WARNING, fate->why, "target %s: changes of %s wait; other tables go on", work->settings->name,
                table);
  }
  log_about(work->worker->pool->name, NULL);
}

/*
 * Documents have been pushed: records the results, and settles all claimed changes. False when the source was lost.
 */
static bool documents_settle(struct work *work, struct outcomes *outcomes) {
  struct error error;
  struct outcomes claimed;
  pgconn_set_deadline(source_connection(work->source), WORK_SOURCE_TIMEOUT);
  bool ok = outcomes_begin(&claimed, &work->batch, work->settings->on_error, &error) &&
            document_queue_more(&work->document, work->source, &work->stale, &error) &&
            document_note(&work->document, work->source, outcomes, work->settings->on_error == ON_ERROR_HALT, &error);
  for (size_t i = 0; ok && i < work->batch.count; i++)
    outcomes_decide(&claimed, i, OUTCOME_DELIVERED, NULL);
  struct settlement settlement = {
      .claim = work->keep.claim, .outcomes = &claimed, .pushed = outcomes, .instance = work->worker->instance};
  ok = ok && settle(&settlement, &error);
  outcomes_release(&claimed);
  if (!ok && pgconn_alive(source_connection(work->source)) && error.kind != FAILURE_RETRY) {
    pgconn_rollback(source_connection(work->source));
    work_report_failure(work, &error); /* a --from query fails */
  } else if (!ok) {
    work_lose_source(work, &error);
  }
  return ok;
}

/* Whether these changes arrived is unknown: they are not sent again automatically. */
static void refuse_unknown(struct outcomes *outcomes, const struct error *error) {
  for (size_t i = 0; i < outcomes->batch->count; i++)
    if (outcomes->fates[i].unknown)
      outcomes_decide(outcomes, i, OUTCOME_REFUSED, error);
}

static bool changes_prepare(struct work *work, struct outcomes *outcomes, struct error *error) {
  if (!outcomes_begin(outcomes, &work->batch, work->settings->on_error, error))
    return false;
  outcomes->keeps_state = target_keeps_state(work->kind, work->settings);
  return work_open_target(work, error) && settle_beforehand(work->keep.claim, outcomes, error);
}

static bool documents_prepare(struct work *work, struct outcomes *outcomes, struct error *error) {
  return work_open_target(work, error) && document_collect(work->settings, &work->batch, &work->stale, error) &&
         outcomes_begin(outcomes, &work->stale.batch, work->settings->on_error, error);
}

static const struct material CHANGES = {changes_prepare, changes_settle};
static const struct material DOCUMENTS = {documents_prepare, documents_settle};

static struct ending decide(const struct work *work, const struct outcomes *outcomes, bool ok,
                            const struct error *error) {
  struct pushed pushed = {.documents = work->settings->document,
                          .at_most_once = work->settings->at_most_once,
                          .failing = work->settings->failing,
                          .source_lost = work->keep.source_lost,
                          .began = outcomes->fates != NULL,
                          .ok = ok,
                          .why = error->kind,
                          .is_momentary = !ok && contention_is(error),
                          .fenced = work->fenced};
  if (pushed.began) {
    pushed.delivered = outcomes_count(outcomes, OUTCOME_DELIVERED);
    pushed.refused = outcomes_count(outcomes, OUTCOME_REFUSED);
    pushed.held = outcomes_count(outcomes, OUTCOME_HELD);
    pushed.returned = outcomes_count(outcomes, OUTCOME_RETURNED);
    for (size_t i = 0; i < outcomes->fate_count; i++)
      pushed.unknown += outcomes->fates[i].unknown;
  }
  return ending_of(&pushed);
}

/* Who holds its lanes has the latest claim, so the target must know claims of another database. */
static void halt_for_a_copy(struct work *work) {
  struct error error;
  work->fenced = 0;
  error_set(&error, FAILURE_GONE, "a copy of the source delivers to it, too, so it refuses what this one claims");
  work_halt_target(work, &error, "end the copy's processes, then run");
  if (!source_run(work->source, &QUERY_target_lost,
                  VALUES(number(work->settings->target).text, "a copy of the source had delivered to it, too", NULL),
                  NULL, &error))
    log_failure(LOG_LEVEL_WARNING, &error, "target %s: what it may lack could not be noted", work->settings->name);
}

/* False when it is time to leave. */
static bool go_on(struct work *work, enum sequel sequel, const struct error *error) {
  switch (sequel) {
  case SEQUEL_GO_ON:
    return true;
  case SEQUEL_PAUSE:
    return worker_pool_pause(work->worker->pool, AGAIN_PAUSE);
  case SEQUEL_RANDOM_PAUSE:
    return worker_pool_pause(work->worker->pool, random() % AGAIN_PAUSE);
  case SEQUEL_FAILURE:
    work_report_failure(work, error);
    return true;
  case SEQUEL_HALT:
    if (error->kind == FAILURE_FENCED)
      halt_for_a_copy(work);
    else
      work_halt_target(work, error, "set another URL, or run");
    return true;
  case SEQUEL_LEAVE:
    break;
  }
  return false;
}

/* Does what was decided; see ending.h. */
static bool end(struct work *work, struct outcomes *outcomes, const struct ending *ending, const struct error *error) {
  const struct material *material = work->settings->document ? &DOCUMENTS : &CHANGES;
  int64_t settling = clock_microseconds();
  if (ending->end == BATCH_LOST) {
    trace_end(work, settling, outcomes, error);
    work_lose_source(work, error);
    return true;
  }
  if (ending->end == BATCH_GIVE_BACK && error->kind == FAILURE_FENCED)
    log_failure(LOG_LEVEL_WARNING, error, "target %s: batch released", work->settings->name);
  if (ending->refuses_unknown)
    refuse_unknown(outcomes, error);
  bool is_settled = ending->end != BATCH_GIVE_BACK && material->settle(work, outcomes);
  if (ending->end == BATCH_GIVE_BACK)
    keep_give_back(&work->keep);
  trace_end(work, settling, outcomes, error);
  if (!is_settled && ending->end != BATCH_GIVE_BACK)
    return true;
  if (ending->counts)
    measure_batch(work, outcomes, work->batch.read_at);
  if (error->kind == FAILURE_NONE) {
    refusal_log(work->worker->pool->name, outcomes);
    log_held(work, outcomes);
    if (work->batch.hold_count > 0)
      work->holds_due = 0;
  }
  if (ending->shows_health)
    work_report_success(work);
  return go_on(work, ending->sequel, error);
}

/* What the program needs for each change besides its images. Bytes. */
#define BYTES_EACH 1000
#define LARGE_BATCH ((int64_t)4 * 1024 * 1024)

/* Whether so much was allocated for the batch that it should be given back to the system at once. */
static bool is_large(const struct batch *batch) {
  int64_t bytes = 0;
  for (size_t i = 0; i < batch->count; i++)
    bytes += batch->changes[i].bytes + BYTES_EACH;
  return bytes > LARGE_BATCH;
}

/*
 * Counts pushes in succession that were kept out by claims which the source does not know. Those that it does know of,
 * as of a table's copy, say nothing: what is claimed now comes after them. And a lease may expire again and again.
 */
static void count_fenced(struct work *work, bool ok, const struct error *error) {
  bool counts = !ok && error->kind == FAILURE_FENCED && !work->settings->leased &&
                (error->newer == 0 || !keep_knows(&work->keep, error->newer));
  work->fenced = counts ? work->fenced + 1 : 0;
}

bool deliver(struct work *work, const struct claim *claim) {
  struct error error;
  struct outcomes outcomes = {.fates = NULL};
  const struct material *material = work->settings->document ? &DOCUMENTS : &CHANGES;
  struct retry retry = {.outcomes = &outcomes,
                        .retries = work->settings->at_most_once ? 0 : work->settings->retries,
                        .at_most_once = work->settings->at_most_once,
                        .whole_transactions = settings_keep_transactions(work->settings),
                        .push = push_part,
                        .may_retry = push_may_retry,
                        .pause = push_pause,
                        .is_final = push_is_final,
                        .context = work};
  work->delivery_began = clock_now();
  trace_begin(work);
  keep_begin(&work->keep, claim, &work->batch);
  error_clear(&error);
  bool ok = material->prepare(work, &outcomes, &error) && retry_push(&retry, &error);
  ok = push_recall(work, &outcomes, ok, &error);
  if (ok)
    error_clear(&error); /* from attempts that were retried */
  count_fenced(work, ok, &error);
  struct ending ending = decide(work, &outcomes, ok, &error);
  contention_count(&work->contention, work->batch.lanes, work->batch.lane_count, !ok && contention_is(&error));
  bool was_large = is_large(&work->batch);
  bool stay = end(work, &outcomes, &ending, &error);
  outcomes_release(&outcomes);
  stale_release(&work->stale);
  batch_clear(&work->batch);
  if (was_large)
    memory_give_back();
  return stay;
}
