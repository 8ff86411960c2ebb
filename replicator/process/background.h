/*
 * background: a thread of a running process for work that may take long, which has a connection of its own to the
 * source while it works. It sleeps until it is woken; what it is told while it works is done afterwards.
 */
#ifndef ROWRELAY_PROCESS_BACKGROUND_H
#define ROWRELAY_PROCESS_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "source/source.h"

struct background;

/* What is to be done. It logs what fails by itself: the next time is soon. */
typedef void background_work(struct background *task, struct source *source);

struct background {
  const char *name;     /* for the log; borrowed */
  const char *conninfo; /* of the source; borrowed */
  background_work *work;
  void *context; /* for `work` */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  bool started;
  bool wanted;
  bool busy;
  bool leaving;
};

void background_init(struct background *task, const char *name, const char *conninfo, background_work *work,
                     void *context);
/* Has it leave, in the middle of a statement, too: another process begins that anew. */
void background_leave(struct background *task);
/* The same, and waits for it. */
void background_release(struct background *task);

/* The first time it starts the thread. */
MUST_CHECK bool background_wake(struct background *task, struct error *error);
/* Whether it works, or is about to. */
bool background_is_busy(struct background *task);

/* For `work`: whether it is time to leave; a pause, which that ends; and how to log what failed. */
bool background_is_leaving(struct background *task);
void background_rest(struct background *task, int64_t milliseconds);
void background_tell_failure(const struct error *error, const char *what);

#endif
