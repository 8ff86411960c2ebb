/*
 * horizon: the largest change id of which it is certain that no transaction can still commit it or a smaller one.
 *
 * Ids are assigned while the writer's transaction runs, so a smaller id may appear after a larger one. Waiting for all
 * transactions of that time to end would do, but one forgotten session would hold everything back. The
 * transactions that matter are those that hold RowExclusiveLock on rowrelay.change: a trigger takes the lock before the
 * number, and PostgreSQL keeps it to the transaction's end (prepared transactions included). So: take the last id,
 * then the list of lock holders; when all of them have ended, that id is the horizon.
 *
 * A claim may rely on a horizon that was known before its snapshot was taken.
 */
#ifndef ROWRELAY_SOURCE_HORIZON_H
#define ROWRELAY_SOURCE_HORIZON_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/error.h"
#include "source/source.h"

struct horizon {
  _Atomic int64_t id; /* any thread may read it */
  atomic_bool forgotten;
  /* the rest belongs to the thread that advances it */
  int64_t candidate;
  char *writers; /* who may still commit the candidate or less; an array literal, NULL at first */
};

void horizon_init(struct horizon *horizon);
void horizon_release(struct horizon *horizon);

/*
 * To be called by any thread that has lost the source: it may have crashed, and may assign uncommitted ids again. Also,
 * prepared transactions are listed under another name after a restart.
 */
void horizon_forget(struct horizon *horizon);

/*
 * Moves the horizon by what a look has found: `last_id` was the last id, then `writers` (taken over; an array literal)
 * were writing, and `remain` says whether any of horizon->writers is among them. A look during which the source was
 * lost, by whichever thread, counts for nothing.
 */
void horizon_learn(struct horizon *horizon, int64_t last_id, char *writers, bool remain);

/* Checks which writers are left, and advances the horizon if possible. */
MUST_CHECK bool horizon_advance(struct horizon *horizon, struct source *source, struct error *error);

/* Lists the present writers, as a text that the caller frees; and tells whether all of such a list have ended. */
MUST_CHECK bool horizon_mark(struct source *source, char **writers, struct error *error);
MUST_CHECK bool horizon_passed(struct source *source, const char *writers, bool *passed, struct error *error);

#endif
