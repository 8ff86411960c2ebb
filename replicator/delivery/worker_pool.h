/*
 * worker_pool: what the workers of one target in this process share: the signal that there may be work, whether the
 * target is failing, their settings and their floors.
 *
 * A worker that finds nothing waits here. It is woken by the doorbell, by another worker that sees more work than it
 * can do alone, or by its own poll once a second.
 */
#ifndef ROWRELAY_DELIVERY_WORKER_POOL_H
#define ROWRELAY_DELIVERY_WORKER_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/metrics.h"
#include "common/wake.h"
#include "delivery/backlog.h"
#include "queue/floor.h"

struct worker_pool {
  int target;
  struct meter *meter;
  const char *name; /* of the target; borrowed from the meter */
  struct floor floor;
  _Atomic bool has_looked;        /* a worker has asked the target, or tried to, what it has lost */
  _Atomic int workers_everywhere; /* of all live processes together */
  struct backlog *backlog;        /* of all targets; borrowed */

  pthread_mutex_t lock;
  pthread_cond_t changed;
  int wakes;          /* how many waiting workers are to poll */
  int workers;        /* started and not yet ended */
  int waiting;        /* of them, waiting for work */
  int64_t polled_at;  /* when the last poll that found nothing began; clock_now() */
  int64_t moved_at;   /* when a worker last finished a batch; clock_now() */
  bool failing;       /* the last push of this process failed */
  bool is_told;       /* it was logged that it fails, and so is that it works again */
  int64_t logged_at;  /* when that was last logged; clock_now() */
  char failure[1024]; /* the message that was logged */
  bool leaving;
  const struct wake *idle; /* who waits for it is woken when the last worker begins to wait; borrowed */
};

/* `meter` is that of the target's name; `backlog` outlives the pool. */
void worker_pool_init(struct worker_pool *pool, int target, struct meter *meter, struct backlog *backlog,
                      const struct wake *idle);
void worker_pool_release(struct worker_pool *pool);

/* Wakes `count` waiting workers; a wake-up that no worker waits for is kept for the next. */
void worker_pool_wake(struct worker_pool *pool, int count);
/* Tells all workers to stop. */
void worker_pool_leave(struct worker_pool *pool);
/* A worker has stopped. */
void worker_pool_left(struct worker_pool *pool);
/* Whether all workers have stopped, because the target was dropped. */
bool worker_pool_is_deserted(struct worker_pool *pool);

/*
 * Waits until there may be work, or `milliseconds` are over. `polled_at` is when the poll that found nothing began.
 * False when it is time to stop.
 */
MUST_CHECK bool worker_pool_wait(struct worker_pool *pool, int64_t polled_at, int64_t milliseconds);

/* Sleeps; false when it is time to stop. */
MUST_CHECK bool worker_pool_pause(struct worker_pool *pool, int64_t milliseconds);

/*
 * Whether workers have nothing to do: all of them wait, or some wait while the others are busy with a long batch; and
 * the last poll that found nothing began after `since`.
 */
bool worker_pool_is_idle(struct worker_pool *pool, int64_t since);

/* A worker begins a round. False when it is time to stop. */
MUST_CHECK bool worker_pool_enter(struct worker_pool *pool);

/* A push succeeded, or failed because of the target; true when that is to be logged. */
bool worker_pool_succeeded(struct worker_pool *pool);
bool worker_pool_failed(struct worker_pool *pool, const char *message);
/* Whether the last push of this process failed because of the target. */
bool worker_pool_is_failing(struct worker_pool *pool);

#endif
