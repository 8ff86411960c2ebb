/*
 * keeper: the thread of a running process that seals days of the log that are closed, drops changes which have been
 * kept for long enough, and makes the indexes that people want of closed days, when it is this process's turn. It has a
 * connection of its own while it does.
 */
#ifndef ROWRELAY_KEEPER_H
#define ROWRELAY_KEEPER_H

#include <pthread.h>
#include <stdbool.h>

#include "error.h"
#include "source.h"

struct keeper {
  const char *conninfo; /* of the source; borrowed */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  bool started;
  bool wanted; /* there is something to do, */
  bool prunes; /* and dropping changes is part of it */
  bool leaving;
};

void keeper_init(struct keeper *keeper, const char *conninfo);
/* Has it leave, in the middle of a statement, too: another process begins that anew. */
void keeper_leave(struct keeper *keeper);
/* The same, and waits for it. */
void keeper_release(struct keeper *keeper);

/* Looks whether there is anything to do, and if so, lets the thread do it. To be called now and then. */
MUST_CHECK bool keeper_tend(struct keeper *keeper, struct source *source, struct error *error);

#endif
