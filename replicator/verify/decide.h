/*
 * decide: finds out which of the rows that looked different really are.
 *
 * Both sides are live, so a row may look different because a change of it is in flight. To decide, in this order:
 *
 *   1. take a snapshot of the source, and the last assigned change id;
 *   2. see what is queued for the target up to that id: all other changes that the snapshot sees have arrived;
 *   3. read the rows at the target;
 *   4. read them at the source, and in the same statement search the log for changes that the snapshot does not see.
 *
 * A row without such a change has not changed since 1; if none of its changes is queued either, the target had them all
 * by 3, and a difference is real. The other rows are checked again in the same way, until they stay unchanged for a
 * moment. Writers with long transactions are not waited for.
 *
 * Only queries tell which changes affect a document. So documents are built twice: before step 1, and instead of
 * step 4. In between, everything queued must be delivered, with all that follows from it. Where both builds are equal,
 * that is what the target should have.
 */
#ifndef ROWRELAY_VERIFY_DECIDE_H
#define ROWRELAY_VERIFY_DECIDE_H

#include "source/horizon.h"
#include "verify/keys.h"
#include "verify/pair.h"
#include "verify/plan.h"
#include "verify/report.h"

/* Members down to `repair` are the caller's. */
struct decider {
  struct pair *pair;
  struct source *control;          /* the connection for writing at the source; only with `repair` */
  const struct settings *settings; /* of the target, or of the document */
  struct report *report;
  int64_t patience; /* milliseconds to wait, for all tables together, for the queue and for rows to stay unchanged */
  bool asked_to;    /* wait that long also where no process delivers to the target: one may be started */
  bool repair;      /* queue rows that differ again */
  int64_t spent;    /* milliseconds that ended without a decision, whichever table it was */
  int64_t until;    /* when the wait for these suspects ends; clock_now() */
  int64_t deserted_since; /* clock_now() since when no process has been seen to deliver there; 0: one does */
  char waits[16]; /* what the target is doing while changes of undecided rows wait for it, such as paused; else "" */
  struct horizon horizon;
  struct keys suspects; /* what looked different: a JSON array for each key, or the hash of a row without one */
  struct keys repairs;  /* keys as the log has them, to be queued */
};

void decider_init(struct decider *decider);
void decider_release(struct decider *decider);

/* Checks all suspects, which are of that table, reports the differences, and clears the suspects. */
MUST_CHECK bool decider_decide(struct decider *decider, const struct plan *plan, struct error *error);

/* The comparison of a table failed: forgets its suspects. */
void decider_forget(struct decider *decider);

/* Queues again the differing rows of that table; at its end, because the checks search the queue. */
MUST_CHECK bool decider_repair(struct decider *decider, const struct plan *plan, struct error *error);

#endif
