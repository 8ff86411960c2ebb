/*
 * doorbell: how a process that has nothing to do learns of new changes at once, at no cost to the writers while there
 * is plenty to do.
 *
 * NOTIFY takes a lock that makes all commits of the cluster go one by one. So writers notify only while the bell is
 * armed, that is, while somebody sleeps. To sleep, in this order:
 *
 *   1. arm the bell;
 *   2. list who is writing: those may have looked at the bell before it was armed, and will not ring;
 *   3. look for work once more, and again in short steps, until all of that list have ended;
 *   4. look once more, and sleep until it rings.
 *
 * Whoever is woken disarms it. Under load nobody sleeps, so nobody notifies. A bell rings for some thousand changes
 * only after it was armed, so one that a dead process left armed falls silent by itself; and a process that sleeps
 * looks now and then whether it has fallen silent, because another may have disarmed it in the very moment in which it
 * was armed. Workers also look by themselves once a second, for what is behind a proxy that does not pass notifications
 * on.
 *
 * On a server that allows prepared transactions writers never ring, because PostgreSQL refuses to prepare a transaction
 * that has notified. There, idle workers look for work many times a second.
 */
#ifndef ROWRELAY_PROCESS_DOORBELL_H
#define ROWRELAY_PROCESS_DOORBELL_H

#include <stdint.h>

#include "common/error.h"
#include "source/source.h"

struct doorbell {
  int processes; /* how many there are: the more, the less often each of them looks while it is awake */
  bool can_ring; /* the server's writers do, when it is armed */
  enum { DOORBELL_AWAKE, DOORBELL_ARMED, DOORBELL_ASLEEP } state;
  int64_t value;     /* the last change id for which it rings */
  int64_t may_arm;   /* not before then; times are clock_now() */
  int64_t next_step; /* when to look again, or asleep whether the bell is still armed */
  int64_t step;      /* milliseconds between looks while armed */
  char *writers;     /* who may not have seen it armed */
};

void doorbell_init(struct doorbell *doorbell);
void doorbell_release(struct doorbell *doorbell);

/* Begins to hear it on this connection; what was armed through another one counts no more. */
MUST_CHECK bool doorbell_listen(struct doorbell *doorbell, struct source *source, struct error *error);

/* It rang, or nobody listens any more. */
MUST_CHECK bool doorbell_disarm(struct doorbell *doorbell, struct source *source, struct error *error);

/*
 * To be called again and again while some worker has nothing to do. *poll tells whether idle workers are to look for
 * work now; *wait is lowered to the milliseconds after which this is to be called again at the latest.
 */
MUST_CHECK bool doorbell_tend(struct doorbell *doorbell, struct source *source, bool *poll, int64_t *wait,
                              struct error *error);

#endif
