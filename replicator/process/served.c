#include "process/served.h"

#include <stdlib.h>

#include "common/log.h"
#include "common/metrics.h"

struct served_target *served_start(const struct settings *settings, const struct serving *serving,
                                   struct error *error) {
  struct served_target *target = calloc(1, sizeof *target);
  struct worker *workers = calloc((size_t)serving->workers, sizeof *workers);
  struct meter *meter = meter_of(settings->name);
  if (target == NULL || workers == NULL || meter == NULL) {
    free(workers);
    free(target);
    error_set(error, FAILURE_FATAL, "out of memory");
    return NULL;
  }
  target->workers = workers;
  worker_pool_init(&target->pool, settings->target, meter, serving->backlog, serving->idle);
  struct worker worker = serving->worker;
  worker.pool = &target->pool;
  target->count = worker_start(workers, serving->workers, worker, error);
  if (target->count == 0) {
    served_free(target);
    return NULL;
  }
  log_about(settings->name, NULL);
  log_message(LOG_LEVEL_INFO, "target %s: %d worker%s", settings->name, target->count, target->count == 1 ? "" : "s");
  log_about(NULL, NULL);
  return target;
}

void served_join(struct served_target *target) {
  for (int n = 0; n < target->count; n++)
    worker_join(&target->workers[n]);
}

void served_free(struct served_target *target) {
  worker_pool_release(&target->pool);
  free(target->workers);
  free(target);
}
