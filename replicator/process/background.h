/*
 * background: a thread of a running process for a task that may take long, with a connection of its own to the source
 * while it works. It sleeps until woken; if woken while it works, it works once more afterwards.
 */
#ifndef ROWRELAY_PROCESS_BACKGROUND_H
#define ROWRELAY_PROCESS_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "process/patience.h"
#include "source/source.h"

struct background;

/* The task. It logs its own failures, and is repeated soon. */
typedef void background_work(struct background *task, struct source *source);

struct background {
  const char *name;     /* for the log; borrowed */
  const char *conninfo; /* of the source; borrowed */
  background_work *work;
  void *context; /* for `work` */
  struct patience patience;
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
/* Tells it to stop, even within a statement: another process will repeat that. */
void background_leave(struct background *task);
/* The same, and waits until it has. */
void background_release(struct background *task);

/* Wakes the thread, and starts it the first time. */
MUST_CHECK bool background_wake(struct background *task, struct error *error);
/* Whether it works, or is about to. */
bool background_is_busy(struct background *task);

/* For `work`: whether to stop; a pause, which that ends; and how to log a failure, once in a while if it persists. */
bool background_is_leaving(struct background *task);
void background_rest(struct background *task, int64_t milliseconds);
void background_tell_failure(struct background *task, const struct error *error, const char *what);

#endif
