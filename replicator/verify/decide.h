/*
 * decide: of rows that looked different, which are.
 *
 * Both sides are live, so a row may look different because a change of it is on its way. To know better, in this order:
 *
 *   1. take a snapshot of the source, and the last change id that was given out;
 *   2. see what is queued for the target up to that id: all other changes that the snapshot sees have arrived;
 *   3. read the rows at the target;
 *   4. read them at the source, and in the same statement look into the log for changes that the snapshot does not see.
 *
 * A row of which there is no such change has not changed since 1; if none is queued either, the target has had all its
 * changes by 3, and if it differs, it is different. The others are looked at again in the same way, until they stand
 * still for a moment. A writer that keeps its transaction open for long is not waited for.
 *
 * Which changes make a document another one is for queries to say. So documents are built twice: before the first step,
 * and in the place of the fourth. In between all that is queued has to be delivered, and what that has led to. Where
 * both times the same was built, that is what the target should have.
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
  struct source *control;          /* the source, for what is written there; only where `repair` */
  const struct settings *settings; /* of the target, or of the document */
  struct report *report;
  int64_t patience; /* milliseconds to wait for the queue, and for a row to stand still */
  bool repair;      /* queue again what is different */
  int64_t until;    /* when the patience with the suspects at hand ends (clock_now()) */
  char waits[16];   /* what the target is doing while changes of undecided rows wait for it, such as paused; else "" */
  struct horizon horizon;
  struct keys suspects; /* what looked different: a JSON array for each key, or the hash of a row without one */
  struct keys repairs;  /* keys as the log has them, to be queued */
};

void decider_init(struct decider *decider);
void decider_release(struct decider *decider);

/* Decides on all suspects, which are of that table, reports the differences, and has no suspects any more. */
MUST_CHECK bool decider_decide(struct decider *decider, const struct plan *plan, struct error *error);

/* The table is given up, and with it what is suspected there. */
void decider_forget(struct decider *decider);

/* Queues again what was found to differ in that table; not earlier, because what is queued has to be looked through. */
MUST_CHECK bool decider_repair(struct decider *decider, const struct plan *plan, struct error *error);

#endif
