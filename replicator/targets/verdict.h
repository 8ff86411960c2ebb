/*
 * verdict: what a push says of one of its changes, where it can say more than of all together.
 */
#ifndef ROWRELAY_TARGETS_VERDICT_H
#define ROWRELAY_TARGETS_VERDICT_H

#include "common/error.h"

/* Room for what a target says of a change that it has. */
#define VERDICT_ANSWER_SIZE 40

enum verdict_kind {
  VERDICT_NONE,      /* as the push as a whole */
  VERDICT_DELIVERED, /* whatever became of the others */
  VERDICT_REFUSED,
  VERDICT_HELD, /* the target cannot take its table now: neither this nor any other change of it */
  VERDICT_LATER /* there was no time for it: it goes back to the queue, and so do all later changes of its row */
};

struct verdict {
  enum verdict_kind kind;
  struct error *why;                /* on the heap, of a refusal; NULL: as the push */
  char answer[VERDICT_ANSWER_SIZE]; /* for the receipt; "": nothing */
};

/* Says that a change was refused; `why` is copied. */
void verdict_refuse(struct verdict *verdict, const struct error *why);

/* Makes it say nothing. */
void verdict_clear(struct verdict *verdict);

/* Notes what the target said of a change, unless something was noted already; cut off where there is no more room. */
void verdict_answer(struct verdict *verdict, const char *answer);

#endif
