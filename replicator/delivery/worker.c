#include "delivery/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "common/text.h"
#include "delivery/breaker.h"
#include "delivery/document.h"
#include "delivery/retry.h"
#include "delivery/work.h"
#include "postgres/number.h"
#include "queries.h"
#include "queue/claim.h"
#include "queue/hold.h"
#include "queue/lease.h"
#include "queue/settle.h"
#include "source/source.h"
#include "targets/target.h"

/* Milliseconds. */
#define SLOW_LOOK 1000         /* how long to wait for a wake-up before looking all the same */
#define BUSY_LOOK 200          /* the same when others hold the lanes: they may die, and nobody would ring */
#define HOLD_INTERVAL 500      /* between looks whether it is time to try what is held */
#define AGAIN_PAUSE 50         /* before what went back to the queue is claimed again */
#define SOURCE_TIMEOUT 60000   /* for what is asked of the source at once */
#define SOURCE_FIRST_PAUSE 100 /* before the first reconnection; doubles up to */
#define SOURCE_LONGEST_PAUSE 5000

/* ---- the source ------------------------------------------------------------------------------------------------ */

static void lose_source(struct work *work, const struct error *error) {
  if (error->kind != FAILURE_STOP && work->source_failures == 0)
    log_failure(LOG_LEVEL_WARNING, error, "target %s: source", work->worker->duty->name);
  work->source_failures++;
  if (work->source != NULL) {
    floor_forget(&work->worker->duty->floor);
    horizon_forget(work->worker->horizon);
  }
  /* A target in the source's own database goes with the connection. */
  target_close(work->target);
  work->target = NULL;
  document_release(&work->document);
  batch_clear(&work->batch);
  source_close(work->source);
  work->source = NULL;
  work->breaker.source = NULL;
  breaker_leave(&work->breaker);
  work->has_settings = false;
}

static bool wait_for_source(struct work *work) {
  int64_t pause = SOURCE_FIRST_PAUSE;
  for (int i = 1; i < work->source_failures && pause < SOURCE_LONGEST_PAUSE; i++)
    pause *= 2;
  return duty_pause(work->worker->duty, pause / 2 + random() % pause);
}

static bool load_settings(struct work *work, struct error *error) {
  struct number target = number(work->worker->duty->target);
  PGresult *replies[3] = {NULL};
  struct pgconn *connection = source_connection(work->source);
  pgconn_pipeline_begin(connection);
  pgconn_pipeline_add(connection, &QUERY_target_settings, VALUES(NULL));
  pgconn_pipeline_add(connection, &QUERY_target_routes, VALUES(target.text, NULL));
  pgconn_pipeline_add(connection, &QUERY_document_definition, VALUES(target.text));
  if (!pgconn_pipeline_run(connection, replies, 3, error)) {
    for (size_t i = 0; i < 3; i++)
      PQclear(replies[i]);
    return false;
  }
  bool found = false;
  bool ok = true;
  for (int row = 0; ok && !found && row < PQntuples(replies[0]); row++) {
    struct settings settings;
    ok = settings_read(&settings, replies[0], row, error);
    found = ok && settings.target == work->worker->duty->target;
    if (found)
      work->settings = settings;
  }
  PQclear(replies[0]);
  ok = routes_read(&work->routes, replies[1], error) && ok;
  work->routes.document = found && work->settings.document;
  if (work->routes.document)
    ok = document_read(&work->document, replies[2], work->worker->duty->target, work->source, error) && ok;
  else
    PQclear(replies[2]);
  ok = ok && (found || error_set(error, FAILURE_STOP, "target %s was dropped", work->worker->duty->name));
  ok = ok && target_find_kind(work->settings.url, &work->kind, error);
  ok = ok && floor_start(&work->worker->duty->floor, work->settings.version, work->settings.lanes, work->settings.floor,
                         error);
  /* A source that does not hear of us for longer than a batch can take ends the claim itself. */
  char timeout[96];
  snprintf(timeout, sizeof timeout, "set idle_in_transaction_session_timeout to %s",
           number(10 * work->settings.push_timeout + SOURCE_TIMEOUT).text);
  ok = ok && source_script(work->source, timeout, error);
  /* Its URL, options or tables may be others now. */
  target_close(work->target);
  work->target = NULL;
  work->has_settings = ok;
  return ok;
}

/* ---- the target ------------------------------------------------------------------------------------------------ */

/* Tells everybody why nothing is delivered. */
static void open_breaker(struct work *work, const struct error *why) {
  struct error error;
  if (!breaker_open(&work->breaker, why, &error))
    log_failure(LOG_LEVEL_WARNING, &error, "target %s: its failure could not be noted", work->worker->duty->name);
}

/* Two transactions met at the target, and it chose this one to begin anew: nothing is wrong. */
static bool is_momentary(const struct error *error) {
  return strlen(error->sqlstate) == 5 && strncmp(error->sqlstate, "40", 2) == 0;
}

/* Tells everybody that the target cannot be delivered to. */
static void report_failure(struct work *work, const struct error *error) {
  target_close(work->target);
  work->target = NULL;
  /* What it takes may have changed at the source, too: a column, a URL. */
  work->has_settings = false;
  work->has_failed = true;
  atomic_fetch_add(&work->worker->duty->meter->failures, 1);
  if (duty_failed(work->worker->duty, error->message))
    log_failure(LOG_LEVEL_WARNING, error, "target %s", work->settings.name);
  open_breaker(work, error);
}

/* The target wants no more: it stops until a person lets it go on. */
static void halt_target(struct work *work, const struct error *error) {
  char reason[1200];
  struct error failed;
  letters_print(reason, sizeof reason, "%s: set another URL, or resume it", error->message);
  log_failure(LOG_LEVEL_ERROR, error, "target %s: halted", work->settings.name);
  if (!source_run(work->source, &QUERY_target_halt, VALUES(number(work->settings.target).text, reason), NULL, &failed))
    log_failure(LOG_LEVEL_WARNING, &failed, "target %s: that could not be noted", work->settings.name);
  work->has_settings = false;
}

/* Takes back what report_failure() told, here and for all processes. */
static void report_success(struct work *work) {
  work->has_failed = false;
  if (duty_succeeded(work->worker->duty))
    log_message(LOG_LEVEL_INFO, "target %s: delivers again", work->settings.name);
  struct error ignored;
  if (!work->settings.failing)
    return;
  work->settings.failing = false;
  if (!breaker_close(&work->breaker, &ignored))
    log_failure(LOG_LEVEL_WARNING, &ignored, "target %s: its recovery could not be noted", work->settings.name);
}

/* ---- one batch ------------------------------------------------------------------------------------------------- */

/* What was settled, for those who watch. Of documents, `pushed` are those that were built, and the batch what led to
 * them. */
static void measure_batch(const struct work *work, const struct delivery *pushed, int64_t began) {
  struct meter *meter = work->worker->duty->meter;
  int64_t now = clock_microseconds();
  histogram_add(&meter->batches, now - began, 1);
  atomic_fetch_add(&meter->delivered, delivery_count(pushed, OUTCOME_DELIVERED));
  atomic_fetch_add(&meter->refused, delivery_count(pushed, OUTCOME_REFUSED));
  for (size_t i = 0; metrics_wants_delays() && i < work->batch.count; i++)
    if (work->batch.changes[i].age >= 0 && (work->settings.document || pushed->fates[i].outcome == OUTCOME_DELIVERED))
      histogram_add(&meter->delays, work->batch.changes[i].age + now - work->batch.read_at, 1);
}

/* Settles what has been decided. False when the lanes or the source were lost. */
static bool settle_batch(struct work *work, const struct claim *claim, struct delivery *delivery) {
  struct error error;
  struct settlement settlement = {.claim = claim,
                                  .delivery = delivery,
                                  .instance = work->worker->instance,
                                  .keeps_state = work->kind->keeps_state(&work->settings)};
  pgconn_set_deadline(source_connection(work->source), SOURCE_TIMEOUT);
  if (settle(&settlement, &error))
    return true;
  if (error.kind == FAILURE_FENCED) {
    log_failure(LOG_LEVEL_WARNING, &error, "target %s: a batch was let go", work->settings.name);
    lease_give_back(claim, &work->batch);
    return false;
  }
  /* The source is there and does not take it: all are to wait, or each would bring the batch again and again. */
  if (error.kind != FAILURE_RETRY && error.kind != FAILURE_STOP && pgconn_alive(source_connection(work->source))) {
    pgconn_rollback(source_connection(work->source));
    open_breaker(work, &error);
  }
  lose_source(work, &error);
  return false;
}

static void log_refused(const struct work *work, const struct delivery *delivery) {
  size_t refused = delivery_count(delivery, OUTCOME_REFUSED);
  for (size_t i = 0; refused > 0 && i < delivery->batch->count; i++) {
    const struct fate *fate = &delivery->fates[i];
    const struct change *change = &delivery->batch->changes[i];
    if (fate->outcome != OUTCOME_REFUSED || fate->why == NULL)
      continue;
    if (refused == 1)
      log_failure(LOG_LEVEL_WARNING, fate->why, "target %s: refused change %lld of %s", work->settings.name,
                  (long long)change->id, change->route->relation);
    else
      log_failure(LOG_LEVEL_WARNING, fate->why, "target %s: refused %zu changes, the first is %lld of %s",
                  work->settings.name, refused, (long long)change->id, change->route->relation);
    return;
  }
}

/* A table that the target cannot take is told of when it begins to wait. */
static void log_held(const struct work *work, const struct delivery *delivery) {
  for (size_t i = 0; i < delivery->batch->count; i++) {
    const struct fate *fate = &delivery->fates[i];
    bool is_known = false;
    for (size_t n = 0; n < delivery->batch->hold_count; n++)
      is_known = is_known || delivery->batch->holds[n].capture == delivery->batch->changes[i].capture;
    if (fate->outcome == OUTCOME_HELD && fate->why != NULL && !is_known)
      log_failure(LOG_LEVEL_WARNING, fate->why, "target %s: changes of %s wait, others go on", work->settings.name,
                  delivery->batch->changes[i].route->relation);
  }
}

/*
 * Documents have been pushed: what became of them is noted, and the claimed changes are settled, all of them. False
 * when the source was lost.
 */
static bool settle_documents(struct work *work, const struct claim *claim, const struct delivery *delivery) {
  struct error error;
  struct delivery claimed = {.batch = &work->batch};
  pgconn_set_deadline(source_connection(work->source), SOURCE_TIMEOUT);
  bool ok = delivery_begin(&claimed, &error) &&
            document_queue_more(&work->document, work->source, &work->stale, &error) &&
            document_note(&work->document, work->source, delivery, work->settings.on_error == ON_ERROR_HALT, &error);
  for (size_t i = 0; ok && i < work->batch.count; i++)
    delivery_decide(&claimed, i, OUTCOME_DELIVERED, NULL);
  struct settlement settlement = {.claim = claim, .delivery = &claimed, .instance = work->worker->instance};
  ok = ok && settle(&settlement, &error);
  delivery_release(&claimed);
  if (!ok && pgconn_alive(source_connection(work->source)) && error.kind != FAILURE_RETRY) {
    pgconn_rollback(source_connection(work->source));
    report_failure(work, &error); /* a query that leads to documents cannot be run any more */
  } else if (!ok) {
    lose_source(work, &error);
  }
  return ok;
}

/* Nothing of the batch is settled: it is queued as before. */
static void let_go(struct work *work, const struct claim *claim) {
  pgconn_set_deadline(source_connection(work->source), SOURCE_TIMEOUT);
  if (work->settings.leased)
    lease_give_back(claim, &work->batch);
  else
    pgconn_rollback(source_connection(work->source));
}

/* Nobody knows whether it arrived: it is not sent again by itself. */
static void give_up_unknown(struct delivery *delivery, const struct error *error) {
  for (size_t i = 0; i < delivery->batch->count; i++)
    if (delivery->fates[i].unknown)
      delivery_decide(delivery, i, OUTCOME_REFUSED, error);
}

/*
 * What follows from a batch that was settled, or let go (`undone`); `ok`: all of it was tried, else `error` says why
 * not. False when it is time to leave.
 */
static bool conclude(struct work *work, const struct delivery *delivery, bool ok, bool undone,
                     const struct error *error) {
  if (ok) {
    bool documents = work->settings.document;
    size_t tried = delivery_count(delivery, OUTCOME_DELIVERED) + delivery_count(delivery, OUTCOME_REFUSED);
    log_refused(work, delivery);
    log_held(work, delivery);
    /* That nothing was tried says nothing of the target. */
    if (documents || tried > 0 || !work->settings.failing)
      report_success(work);
    if (work->batch.hold_count > 0)
      work->holds_due = 0;
    /* Everything went back, because it has to wait for others: give them a moment. */
    bool in_vain = undone || (!documents && tried + delivery_count(delivery, OUTCOME_HELD) == 0);
    return !in_vain || duty_pause(work->worker->duty, AGAIN_PAUSE);
  }
  if (is_momentary(error))
    return duty_pause(work->worker->duty, random() % AGAIN_PAUSE);
  if (error->kind == FAILURE_STOP)
    return false;
  if (error->kind == FAILURE_GONE)
    halt_target(work, error);
  else
    report_failure(work, error);
  return true;
}

/* The batch is claimed: brings it to the target and settles it. False when it is time to leave. */
static bool deliver(struct work *work, const struct claim *claim) {
  struct error error;
  bool documents = work->settings.document;
  struct delivery delivery = {.batch = documents ? &work->stale.batch : &work->batch,
                              .on_error = work->settings.on_error,
                              .retries = work->settings.at_most_once ? 0 : work->settings.retries,
                              .at_most_once = work->settings.at_most_once,
                              .push = work_push,
                              .may_retry = work_may_retry,
                              .pause = work_pause,
                              .is_final = work_is_final,
                              .context = work};
  bool stay = true;
  work->claim = claim;
  work->delivery_began = work->source_heard = clock_now();
  work->leased_until = 0;
  work->source_lost = false;
  error_clear(&error);
  bool ok;
  if (documents)
    ok = work_open_target(work, &error) && document_collect(&work->settings, &work->batch, &work->stale, &error) &&
         delivery_begin(&delivery, &error);
  else
    ok = delivery_begin(&delivery, &error) && work_open_target(work, &error) &&
         settle_beforehand(claim, &delivery, &error);
  ok = ok && delivery_run(&delivery, &error);
  if (work->source_lost) {
    lose_source(work, &error);
  } else if (!ok && (error.kind == FAILURE_FENCED || (error.kind == FAILURE_STOP && !work->settings.at_most_once))) {
    let_go(work, claim);
    if (error.kind == FAILURE_FENCED)
      log_failure(LOG_LEVEL_WARNING, &error, "target %s: a batch was let go", work->settings.name);
    stay = error.kind != FAILURE_STOP;
  } else {
    if (!ok && work->settings.at_most_once && delivery.fates != NULL)
      give_up_unknown(&delivery, &error);
    size_t decided = 0;
    if (delivery.fates != NULL)
      decided = delivery_count(&delivery, OUTCOME_DELIVERED) + delivery_count(&delivery, OUTCOME_REFUSED) +
                delivery_count(&delivery, OUTCOME_HELD);
    bool settled = true;
    /* Documents are built again as a whole. */
    bool undone = documents ? !ok || delivery_count(&delivery, OUTCOME_RETURNED) > 0 : !ok && decided == 0;
    if (undone && (!work->settings.at_most_once || delivery.fates == NULL))
      let_go(work, claim);
    else
      settled = documents ? settle_documents(work, claim, &delivery) : settle_batch(work, claim, &delivery);
    if (settled && !undone)
      measure_batch(work, &delivery, work->batch.read_at);
    if (settled)
      stay = conclude(work, &delivery, ok, undone, &error);
  }
  delivery_release(&delivery);
  stale_release(&work->stale);
  batch_clear(&work->batch);
  return stay;
}

static bool deliver_claimed(struct work *work, const struct claim *claim) {
  struct duty *duty = work->worker->duty;
  work->late_first = !work->late_first;
  /* Where there is so much, there may be more in other lanes. */
  if (work->batch.count >= (size_t)work->settings.batch_rows / 2)
    duty_wake(duty, 1);
  atomic_fetch_add(&duty->meter->busy, 1);
  bool stay = deliver(work, claim);
  atomic_fetch_sub(&duty->meter->busy, 1);
  if (work->source != NULL)
    work->source_failures = 0;
  /* What could not be settled will be delivered again: at once where a connection was lost, then not too often. */
  else if (stay && work->source_failures > 1)
    stay = wait_for_source(work);
  return stay;
}

static bool look_once(struct work *work) {
  struct duty *duty = work->worker->duty;
  struct error error;
  int64_t began = clock_now();
  pgconn_set_deadline(source_connection(work->source), SOURCE_TIMEOUT);
  if (!work->has_settings && !load_settings(work, &error)) {
    if (error.kind == FAILURE_STOP) {
      log_message(LOG_LEVEL_INFO, "%s", error.message);
      return false;
    }
    lose_source(work, &error);
    return wait_for_source(work);
  }
  struct claim claim = {.source = work->source,
                        .instance = work->worker->instance,
                        .settings = &work->settings,
                        .routes = &work->routes,
                        .floor = &duty->floor,
                        .horizon = atomic_load(&work->worker->horizon->id),
                        .workers = atomic_load(&duty->workers_everywhere),
                        .late_first = work->late_first,
                        .with_details = work->kind->wants_details(&work->settings)};
  enum claimed claimed = CLAIMED_NONE;
  if (!work->settings.running) {
    work->has_settings = false;
    return duty_wait(duty, began, SLOW_LOOK);
  }
  struct settings careful;
  if (work->settings.failing) {
    int64_t wait;
    bool may;
    if (!breaker_may_try(&work->breaker, &may, &wait, &error)) {
      lose_source(work, &error);
      return error.kind != FAILURE_STOP && wait_for_source(work);
    }
    if (!may) {
      work->has_settings = false;
      return wait == 0 || duty_wait(duty, began, wait);
    }
    /* One change of one lane; but where transactions are to stay whole, a whole one. */
    careful = work->settings;
    if (work->settings.lanes.live > 1)
      careful.batch_rows = 1;
    claim.settings = &careful;
    claim.workers = work->settings.lanes.live;
  }
  if (work->settings.holds && clock_now() >= work->holds_due) {
    work->holds_due = clock_now() + HOLD_INTERVAL;
    if (!hold_release(work->source, work->settings.target, &error)) {
      lose_source(work, &error);
      return error.kind != FAILURE_STOP && wait_for_source(work);
    }
  }
  if (!claim_take(&claim, &work->batch, &claimed, &error)) {
    if (error.kind != FAILURE_RETRY && error.kind != FAILURE_STOP)
      open_breaker(work, &error);
    lose_source(work, &error);
    return error.kind != FAILURE_STOP && wait_for_source(work);
  }
  if (claimed != CLAIMED_SOME)
    work->source_failures = 0;
  switch (claimed) {
  case CLAIMED_SOME:
    return deliver_claimed(work, &claim);
  case CLAIMED_OUTDATED:
    work->has_settings = false;
    return true;
  case CLAIMED_BUSY:
    /* Others have the late lanes that are ready; there may be live ones. */
    if (work->late_first) {
      work->late_first = false;
      return true;
    }
    return duty_wait(duty, began, BUSY_LOOK);
  case CLAIMED_NONE:
    break;
  }
  return duty_wait(duty, began, SLOW_LOOK);
}

/* One look for work. False when it is time to leave. */
static bool look(struct work *work) {
  bool stay = look_once(work);
  breaker_leave(&work->breaker);
  return stay;
}

static void *work_until_told(void *argument) {
  struct worker *worker = argument;
  struct work *work = calloc(1, sizeof *work);
  if (work == NULL) {
    log_message(LOG_LEVEL_ERROR, "target %s: out of memory", worker->duty->name);
    duty_left(worker->duty);
    return NULL;
  }
  work->worker = worker;
  work->breaker.target = worker->duty->target;
  routes_init(&work->routes);
  batch_init(&work->batch);
  document_init(&work->document);
  stale_init(&work->stale);
  bool stay = true;
  while (stay && duty_enter(worker->duty)) {
    struct error error;
    if (work->source != NULL || source_open_for_work(&work->source, worker->conninfo, &error)) {
      work->breaker.source = work->source;
      stay = look(work);
    } else {
      lose_source(work, &error);
      stay = error.kind != FAILURE_STOP && wait_for_source(work);
    }
  }
  target_close(work->target);
  source_close(work->source);
  batch_release(&work->batch);
  document_release(&work->document);
  routes_release(&work->routes);
  free(work);
  atomic_fetch_sub(&worker->duty->meter->workers, 1);
  duty_left(worker->duty);
  return NULL;
}

bool worker_start(struct worker *worker, struct error *error) {
  int failed = pthread_create(&worker->thread, NULL, work_until_told, worker);
  return failed == 0 || error_set(error, FAILURE_FATAL, "cannot start a thread: %s", strerror(failed));
}

void worker_join(struct worker *worker) {
  pthread_join(worker->thread, NULL);
}
