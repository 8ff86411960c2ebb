/*
 * backfiller: the thread of a running process that is at backfills which nobody else is at: those that were asked for
 * from psql, or whose command has ended. It has a connection of its own while there are any.
 */
#ifndef ROWRELAY_PROCESS_BACKFILLER_H
#define ROWRELAY_PROCESS_BACKFILLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct backfiller {
  const char *conninfo; /* of the source; borrowed */
  const char *targets;  /* array literal of the targets that the process serves, NULL: all; borrowed */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  bool started;
  bool wanted; /* there may be something to do */
  bool leaving;
  int64_t told_at; /* to leave; clock_now() */
};

void backfiller_init(struct backfiller *backfiller, const char *conninfo, const char *targets);
/* Has it leave after its step, or in the middle of one that takes long: another process goes on. */
void backfiller_leave(struct backfiller *backfiller);
/* The same, and waits for it. */
void backfiller_release(struct backfiller *backfiller);

/* There are backfills that are not finished. Starts the thread when it is the first time. */
MUST_CHECK bool backfiller_wake(struct backfiller *backfiller, struct error *error);

#endif
