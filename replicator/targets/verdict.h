/*
 * verdict: the outcome of a push for one change, where it differs from that of the push as a whole.
 */
#ifndef ROWRELAY_TARGETS_VERDICT_H
#define ROWRELAY_TARGETS_VERDICT_H

#include "common/error.h"

/* Bytes for a target's answer about a change that it accepted. */
#define VERDICT_ANSWER_SIZE 40

enum verdict_kind {
  VERDICT_NONE,      /* the same as the push as a whole */
  VERDICT_DELIVERED, /* whatever the outcome of the others */
  VERDICT_REFUSED,
  VERDICT_HELD, /* the target cannot take its table now: neither this nor any other change of it */
  VERDICT_LATER /* there was no time for it: it goes back to the queue, and so do all later changes of its row */
};

struct verdict {
  enum verdict_kind kind;
  struct error *why;                /* on the heap, of a refusal; NULL: as the push */
  char answer[VERDICT_ANSWER_SIZE]; /* for the receipt; "": nothing */
  bool unfound; /* a row without a key that this change, or another of its table, changes or deletes was not there */
};

/* Records that a change was refused; `why` is copied. */
void verdict_refuse(struct verdict *verdict, const struct error *why);

/* Clears it. */
void verdict_clear(struct verdict *verdict);

/* Records a target's answer about a change, unless one is recorded already; it is cut if too long. */
void verdict_answer(struct verdict *verdict, const char *answer);

#endif
