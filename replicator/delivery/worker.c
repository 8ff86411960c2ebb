#include "delivery/worker.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/metrics.h"
#include "delivery/round.h"
#include "source/source.h"
#include "targets/target.h"

static void *work_until_told(void *argument) {
  struct worker *worker = argument;
  struct work *work = calloc(1, sizeof *work);
  log_about(worker->pool->name, NULL);
  if (work == NULL) {
    log_message(LOG_LEVEL_ERROR, "target %s: out of memory", worker->pool->name);
    atomic_fetch_sub(&worker->pool->meter->workers, 1);
    worker_pool_left(worker->pool);
    return NULL;
  }
  work->worker = worker;
  work->breaker.target = worker->pool->target;
  routes_init(&work->routes);
  day_query_init(&work->days);
  batch_init(&work->batch);
  document_init(&work->document);
  stale_init(&work->stale);
  bool stay = true;
  while (stay && worker_pool_enter(worker->pool)) {
    struct error error;
    if (work->source != NULL || source_open_for_work(&work->source, worker->conninfo, false, &error)) {
      work->breaker.source = work->source;
      stay = round_poll(work);
    } else {
      work_lose_source(work, &error);
      stay = error.kind != FAILURE_STOP && work_wait_for_source(work);
    }
  }
  target_close(work->target);
  source_close(work->source);
  day_query_release(&work->days);
  batch_release(&work->batch);
  document_release(&work->document);
  routes_release(&work->routes);
  settings_free(work->settings);
  free(work);
  atomic_fetch_sub(&worker->pool->meter->workers, 1);
  worker_pool_left(worker->pool);
  return NULL;
}

int worker_start(struct worker *workers, int wanted, struct worker like, struct error *error) {
  struct worker_pool *pool = like.pool;
  int started = 0;
  pool->workers = wanted;
  atomic_store(&pool->meter->workers, wanted);
  for (; started < wanted; started++) {
    workers[started] = like;
    int failed = pthread_create(&workers[started].thread, NULL, work_until_told, &workers[started]);
    if (failed != 0) {
      error_set(error, FAILURE_FATAL, "cannot start a thread: %s", strerror(failed));
      break;
    }
  }
  for (int missing = started; missing < wanted; missing++) {
    atomic_fetch_sub(&pool->meter->workers, 1);
    worker_pool_left(pool);
  }
  if (started > 0 && started < wanted)
    log_failure(LOG_LEVEL_WARNING, error, "target %s: only %d of %d workers", pool->name, started, wanted);
  return started;
}

void worker_join(struct worker *worker) {
  pthread_join(worker->thread, NULL);
}
