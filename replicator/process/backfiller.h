/*
 * backfiller: the thread of a running process for backfills that no other session runs: those requested from psql, or
 * whose command was interrupted. It has a connection of its own while there are any.
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
  bool wanted; /* there may be work */
  bool leaving;
  int64_t told_at; /* when it was told to stop; clock_now() */
};

void backfiller_init(struct backfiller *backfiller, const char *conninfo, const char *targets);
/* Tells it to stop after its step, or within a long one: another process will continue. */
void backfiller_leave(struct backfiller *backfiller);
/* The same, and waits until it has. */
void backfiller_release(struct backfiller *backfiller);

/* Unfinished backfills exist: wakes the thread, and starts it the first time. */
MUST_CHECK bool backfiller_wake(struct backfiller *backfiller, struct error *error);

#endif
