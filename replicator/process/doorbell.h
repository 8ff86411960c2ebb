/*
 * doorbell: tells idle processes of new changes at once, at no cost to writers under load.
 *
 * NOTIFY takes a lock that serializes all commits of the cluster. So writers notify only while the bell is armed, that
 * is, while a process sleeps. To go to sleep, a process does this, in this order:
 *
 *   1. arm the bell;
 *   2. list the present writers: they may have read the bell before it was armed, and will not ring;
 *   3. poll for work, again and again, until all of them have ended;
 *   4. poll once more, and sleep until it rings.
 *
 * A process that is woken disarms it. Under load none sleeps, and where others write much, one that has nothing to do
 * looks now and then, and seldom arms it; so hardly any writer notifies. A bell rings only for some
 * thousand changes after it was armed, so one that a dead process left armed falls silent by itself; and a sleeping
 * process checks now and then that it is still armed, because another may have disarmed it just when it was armed.
 * Workers also poll once a second, in case a proxy does not pass notifications on.
 *
 * On a server that allows prepared transactions writers never ring, because PostgreSQL refuses to prepare a transaction
 * that has notified. There, idle workers poll many times a second.
 */
#ifndef ROWRELAY_PROCESS_DOORBELL_H
#define ROWRELAY_PROCESS_DOORBELL_H

#include <stdint.h>

#include "common/error.h"
#include "source/source.h"

struct doorbell {
  int processes; /* of all: the more, the less often each of them polls while it is awake */
  bool can_ring; /* the server's writers ring when it is armed */
  enum { DOORBELL_AWAKE, DOORBELL_ARMED, DOORBELL_ASLEEP } state;
  int64_t value;    /* the last change id for which it rings */
  int64_t interval; /* milliseconds between being woken and arming again: the more often it rings, the longer */
  int64_t may_arm;  /* not before then; times are clock_now() */
  int64_t armed_at;
  int64_t next_step; /* when to poll again, or while asleep, when to check that it is still armed */
  int64_t step;      /* milliseconds between polls while armed */
  char *writers;     /* who may not have seen it armed */
};

void doorbell_init(struct doorbell *doorbell);
void doorbell_release(struct doorbell *doorbell);

/* Listens on this connection; forgets what was armed through another one. */
MUST_CHECK bool doorbell_listen(struct doorbell *doorbell, struct source *source, struct error *error);

/* It rang, or this process stops listening. */
MUST_CHECK bool doorbell_disarm(struct doorbell *doorbell, struct source *source, struct error *error);

/*
 * To be called again and again while some worker has nothing to do. *poll tells whether idle workers are to poll
 * now; *wait is lowered to the milliseconds until this must be called again.
 */
MUST_CHECK bool doorbell_tend(struct doorbell *doorbell, struct source *source, bool *poll, int64_t *wait,
                              struct error *error);

#endif
