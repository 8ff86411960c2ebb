/*
 * worker: one thread that delivers to one target: claim, push, settle, repeat. Only here queue and target meet; a
 * worker has its own connection to each.
 */
#ifndef ROWRELAY_DELIVERY_WORKER_H
#define ROWRELAY_DELIVERY_WORKER_H

#include <pthread.h>

#include "delivery/worker_pool.h"
#include "source/horizon.h"

struct worker {
  const char *conninfo;  /* of the source; borrowed, as are the next four */
  const char *instance;  /* id of this process */
  const char *source_id; /* of rowrelay.source, when the process began */
  struct worker_pool *pool;
  struct horizon *horizon;
  pthread_t thread;
};

/*
 * Starts `wanted` workers of a pool, each like `like`, or as many as there can be threads: returns how many, and why
 * not all. The array must stay where it is until worker_join() has returned for each.
 */
MUST_CHECK int worker_start(struct worker *workers, int wanted, struct worker like, struct error *error);
/* Waits until it has stopped; see worker_pool_leave(). */
void worker_join(struct worker *worker);

#endif
