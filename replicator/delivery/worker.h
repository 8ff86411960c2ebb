/*
 * worker: one thread that brings one target's changes there: claim, push, settle, and again. It is the one place where
 * queue and target meet, and has a connection of its own to each.
 */
#ifndef ROWRELAY_DELIVERY_WORKER_H
#define ROWRELAY_DELIVERY_WORKER_H

#include <pthread.h>

#include "delivery/worker_pool.h"
#include "source/horizon.h"

struct worker {
  const char *conninfo; /* of the source; borrowed, as are the next three */
  const char *instance; /* id of this process */
  struct worker_pool *pool;
  struct horizon *horizon;
  pthread_t thread;
};

/* Starts the thread; the struct must stay where it is until worker_join() has returned. */
MUST_CHECK bool worker_start(struct worker *worker, struct error *error);
/* Waits until it has left; see worker_pool_leave(). */
void worker_join(struct worker *worker);

#endif
