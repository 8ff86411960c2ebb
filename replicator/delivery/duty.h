/*
 * duty: what the workers of one target in this process share: whether there may be work, whether the target is well,
 * and the settings and floors that go with it.
 *
 * A worker that finds nothing waits here. It is woken by the doorbell, by a fellow worker that sees more work than it
 * can do alone, or by its own slow look.
 */
#ifndef ROWRELAY_DELIVERY_DUTY_H
#define ROWRELAY_DELIVERY_DUTY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "queue/floor.h"

struct duty {
  int target;
  char name[128];
  struct meter *meter;
  struct floor floor;
  _Atomic int workers_everywhere; /* of all living processes together */

  pthread_mutex_t lock;
  pthread_cond_t changed;
  int wakes;          /* how many waiting workers are to look */
  int workers;        /* how many there are */
  int waiting;        /* how many of them wait for work */
  int64_t looked_at;  /* when the last look that found nothing began; clock_now() */
  int64_t moved_at;   /* when one of them last came back from a batch; clock_now() */
  bool failing;       /* the last push of this process failed */
  int64_t logged_at;  /* when the log said so; clock_now() */
  char failure[1024]; /* and what it said */
  bool leaving;
  int idle_fd; /* an eventfd that is written to when the last worker begins to wait */
};

void duty_init(struct duty *duty, int target, const char *name, int idle_fd);
void duty_release(struct duty *duty);

/* Lets `count` waiting workers look for work; what nobody waits for is kept for who comes next. */
void duty_wake(struct duty *duty, int count);
/* Tells all workers to leave. */
void duty_leave(struct duty *duty);
/* A worker leaves. */
void duty_left(struct duty *duty);
/* Whether all have left, because the target was dropped. */
bool duty_is_deserted(struct duty *duty);

/*
 * Waits until there may be work, or `milliseconds` are over. `looked_at` is when the look began that found nothing.
 * False when it is time to leave.
 */
MUST_CHECK bool duty_wait(struct duty *duty, int64_t looked_at, int64_t milliseconds);

/* Sleeps; false when it is time to leave. */
MUST_CHECK bool duty_pause(struct duty *duty, int64_t milliseconds);

/*
 * Whether workers have nothing to do: all of them wait, or some do while the others are long at one batch; and the last
 * look that found nothing began after `since`.
 */
bool duty_is_idle(struct duty *duty, int64_t since);

/* A worker is at the beginning of its round. False when it is time to leave. */
MUST_CHECK bool duty_enter(struct duty *duty);

/* A push succeeded, or failed for the target's fault; true when that is news for the log. */
bool duty_succeeded(struct duty *duty);
bool duty_failed(struct duty *duty, const char *message);
/* Whether the last push of this process failed for the target's fault. */
bool duty_is_failing(struct duty *duty);

#endif
