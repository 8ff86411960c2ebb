#include "delivery/round.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "delivery/deliver.h"
#include "postgres/number.h"
#include "queries.h"
#include "queue/hold.h"

/* Milliseconds. */
#define POLL_INTERVAL 1000     /* how long to wait for a wake-up before polling anyway */
#define BUSY_POLL_INTERVAL 200 /* the same when others hold the lanes: they may die without a wake-up */
#define HOLD_INTERVAL 500      /* between checks whether held tables are due for a try */

/*
 * A later change of a row stands for its earlier ones in the same batch, and a large batch costs less for each row. So
 * batches grow with what waits, from this number of rows up to option batch_rows, as long as one of them takes no more
 * than this part of push_timeout: a slow target shall not be asked for more than it can do in that time.
 */
#define FIRST_ROWS 2000
#define PART_OF_TIMEOUT 10

/*
 * A claim, a push and a settle cost both servers the same for one row as for a hundred. So where small batches follow
 * one another, each begins so many milliseconds after the one before: it finds more, and writers have the processor
 * meanwhile.
 */
#define SMALL_BATCH 100 /* rows */
#define GATHER_INTERVAL 5
#define SHORT_BACKLOG 1000 /* changes; barriers may make small batches of a longer one */

/* Each step goes on to the next, or ends the round. */
struct round {
  struct work *work;
  int64_t began;  /* clock_now() */
  int batch_rows; /* to be claimed at most */
  bool stay;      /* when it has ended: whether to go on */
};

static bool end_round(struct round *round, bool stay) {
  round->stay = stay;
  return false;
}

static bool end_without_source(struct round *round, const struct error *error) {
  work_lose_source(round->work, error);
  return end_round(round, error->kind != FAILURE_STOP && work_wait_for_source(round->work));
}

static bool read_settings(struct round *round) {
  struct work *work = round->work;
  struct error error;
  if (work->has_settings || work_load_settings(work, &error))
    return true;
  if (error.kind != FAILURE_STOP)
    return end_without_source(round, &error);
  log_message(LOG_LEVEL_INFO, "%s", error.message);
  return end_round(round, false);
}

/* A target with one lane is promised whole transactions of up to batch_rows. */
static int rows_to_claim(const struct work *work) {
  int most = work->settings->batch_rows;
  int rows = work->batch_rows > FIRST_ROWS ? work->batch_rows : FIRST_ROWS;
  return rows < most && !settings_keep_transactions(work->settings) ? rows : most;
}

/* The settings of a stopped target, or one that may not be tried yet, are read again now and then. */
static bool may_try_target(struct round *round) {
  struct work *work = round->work;
  struct error error;
  round->batch_rows = rows_to_claim(work);
  if (!work->settings->running) {
    work->has_settings = false;
    return end_round(round, worker_pool_wait(work->worker->pool, round->began, POLL_INTERVAL));
  }
  if (!work->settings->failing)
    return true;
  int64_t wait;
  bool may;
  if (!breaker_may_try(&work->breaker, &may, &wait, &error))
    return end_without_source(round, &error);
  if (!may) {
    work->has_settings = false;
    return end_round(round, wait == 0 || worker_pool_wait(work->worker->pool, round->began, wait));
  }
  /* Probes with one change of one lane; with a single lane, with a whole transaction. */
  if (work->settings->lanes.live > 1)
    round->batch_rows = 1;
  return true;
}

static bool release_holds(struct round *round) {
  struct work *work = round->work;
  struct error error;
  if (!work->settings->holds || clock_now() < work->holds_due)
    return true;
  work->holds_due = clock_now() + HOLD_INTERVAL;
  return hold_release(work->source, work->settings->target, &error) || end_without_source(round, &error);
}

/* How many rows the next batch may have, after one of `count` that took so many milliseconds. */
static int next_rows(const struct claim *claim, size_t count, int64_t took) {
  if (took > claim->settings->push_timeout / PART_OF_TIMEOUT)
    return claim->batch_rows / 2;
  return count >= (size_t)claim->batch_rows / 2 ? 2 * claim->batch_rows : claim->batch_rows;
}

/* After a batch that began at `began`. False when it is time to stop. */
static bool gather(struct work *work, const struct claim *claim, size_t count, int64_t began) {
  bool is_small = count < SMALL_BATCH && count < (size_t)claim->batch_rows / 2 &&
                  work->batch.first_id > claim->horizon - SHORT_BACKLOG;
  int64_t left = began + GATHER_INTERVAL - clock_now();
  bool stay = !is_small || !work->was_small || left <= 0 || worker_pool_pause(work->worker->pool, left);
  work->was_small = is_small;
  return stay;
}

static bool deliver_claimed(struct work *work, const struct claim *claim) {
  struct worker_pool *pool = work->worker->pool;
  size_t count = work->batch.count;
  int64_t began = clock_now();
  work->late_first = !work->late_first;
  backlog_claimed(pool->backlog, work->batch.first_id, claim->horizon);
  /* After a large batch there may be more in other lanes. */
  if (count >= (size_t)claim->batch_rows / 2)
    worker_pool_wake(pool, 1);
  atomic_fetch_add(&pool->meter->busy, 1);
  bool stay = deliver(work, claim);
  work->batch_rows = next_rows(claim, count, clock_now() - began);
  atomic_fetch_sub(&pool->meter->busy, 1);
  if (work->source != NULL) {
    work->source_failures = 0;
    return stay && gather(work, claim, count, began);
  }
  /* An unsettled batch will be delivered again: at once after a lost connection, then with pauses. */
  return stay && (work->source_failures <= 1 || work_wait_for_source(work));
}

static bool has_confirmed(struct work *work) {
  PGresult *confirmed = NULL;
  struct error error;
  bool has = source_run(work->source, &QUERY_confirmed_claims, VALUES(number(work->settings->target).text), &confirmed,
                        &error) &&
             !PQgetisnull(confirmed, 0, 0);
  PQclear(confirmed);
  return has;
}

/* Only a target that must have something: opening one makes what is missing there. If it cannot be asked now, it is
 * when there is something to push. */
static void look_once(struct work *work) {
  struct error error;
  if (work->kind->looks_at_start && !atomic_exchange(&work->worker->pool->has_looked, true) && has_confirmed(work) &&
      !work_open_target(work, &error))
    log_failure(LOG_LEVEL_DEBUG, &error, "target %s: cannot be looked at yet", work->settings->name);
}

/* Waits after a claim that got nothing. */
static bool wait_for_more(struct round *round, enum claimed claimed) {
  struct work *work = round->work;
  work->was_small = false;
  look_once(work);
  switch (claimed) {
  case CLAIMED_OUTDATED:
    work->has_settings = false;
    return true;
  case CLAIMED_BUSY:
    /* Others have the late lanes that are ready; there may be live ones. */
    if (!work->late_first)
      return worker_pool_wait(work->worker->pool, round->began, BUSY_POLL_INTERVAL);
    work->late_first = false;
    return true;
  default:
    return worker_pool_wait(work->worker->pool, round->began, POLL_INTERVAL);
  }
}

static bool claim_and_deliver(struct round *round) {
  struct work *work = round->work;
  struct worker_pool *pool = work->worker->pool;
  struct error error;
  /* Whoever probes a failing target is alone. */
  int workers = work->settings->failing ? work->settings->lanes.live : atomic_load(&pool->workers_everywhere);
  struct claim claim = {.source = work->source,
                        .instance = work->worker->instance,
                        .settings = work->settings,
                        .batch_rows = round->batch_rows,
                        .routes = &work->routes,
                        .floor = &pool->floor,
                        .days = &work->days,
                        .horizon = atomic_load(&work->worker->horizon->id),
                        .workers = workers,
                        .late_first = work->late_first,
                        .with_details =
                            work->kind->wants_details(work->settings) || settings_keep_transactions(work->settings)};
  enum claimed claimed = CLAIMED_NONE;
  if (!claim_take(&claim, &work->batch, &claimed, &error)) {
    if (error.kind != FAILURE_RETRY && error.kind != FAILURE_STOP)
      work_open_breaker(work, &error);
    return end_without_source(round, &error);
  }
  if (claimed == CLAIMED_SOME)
    return end_round(round, deliver_claimed(work, &claim));
  /* A failure that was reported after another worker had delivered the same changes; or these were discarded. */
  if (claimed == CLAIMED_NONE && work->breaker.probing)
    work_report_success(work);
  work->source_failures = 0;
  return end_round(round, wait_for_more(round, claimed));
}

bool round_poll(struct work *work) {
  struct round round = {.work = work, .began = clock_now()};
  pgconn_set_deadline(source_connection(work->source), WORK_SOURCE_TIMEOUT);
  if (read_settings(&round) && may_try_target(&round) && release_holds(&round))
    (void)claim_and_deliver(&round);
  breaker_leave(&work->breaker);
  return round.stay;
}
