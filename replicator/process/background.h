/*
 * chore: a thread of a running process for work that may take long, which has a connection of its own to the source
 * while it works. It sleeps until it is woken; what it is told while it works is done afterwards.
 */
#ifndef ROWRELAY_PROCESS_BACKGROUND_H
#define ROWRELAY_PROCESS_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "source/source.h"

struct chore;

/* What is to be done. It logs what fails by itself: the next time is soon. */
typedef void chore_work(struct chore *chore, struct source *source);

struct chore {
  const char *name;     /* for the log; borrowed */
  const char *conninfo; /* of the source; borrowed */
  chore_work *work;
  void *context; /* for `work` */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  bool started;
  bool wanted;
  bool busy;
  bool leaving;
};

void chore_init(struct chore *chore, const char *name, const char *conninfo, chore_work *work, void *context);
/* Has it leave, in the middle of a statement, too: another process begins that anew. */
void chore_leave(struct chore *chore);
/* The same, and waits for it. */
void chore_release(struct chore *chore);

/* The first time it starts the thread. */
MUST_CHECK bool chore_wake(struct chore *chore, struct error *error);
/* Whether it works, or is about to. */
bool chore_is_busy(struct chore *chore);

/* For `work`: whether it is time to leave; a pause, which that ends; and how to log what failed. */
bool chore_is_leaving(struct chore *chore);
void chore_rest(struct chore *chore, int64_t milliseconds);
void chore_tell_failure(const struct error *error, const char *what);

#endif
