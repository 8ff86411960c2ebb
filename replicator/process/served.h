/*
 * served: a target that the process serves, with its workers.
 */
#ifndef ROWRELAY_PROCESS_SERVED_H
#define ROWRELAY_PROCESS_SERVED_H

#include "common/wake.h"
#include "delivery/worker.h"
#include "source/settings.h"

/* Threads point to it, so it does not move. */
struct served_target {
  struct worker_pool pool;
  struct worker *workers;
  int count;
};

/* How targets are served. */
struct serving {
  int workers;             /* for each target */
  struct worker worker;    /* what they have in common, without a pool */
  struct backlog *backlog; /* borrowed, as is the next one */
  const struct wake *idle;
};

/* Starts workers; NULL with an error when none started. The caller joins them, then frees it. */
struct served_target *served_start(const struct settings *settings, const struct serving *serving, struct error *error);

/* Waits until all its workers have ended. */
void served_join(struct served_target *target);
void served_free(struct served_target *target);

#endif
