/*
 * outcome: the result of each change of a batch: delivery determines it, settlement records it.
 */
#ifndef ROWRELAY_QUEUE_OUTCOME_H
#define ROWRELAY_QUEUE_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "source/change.h"
#include "source/settings.h"

enum outcome {
  OUTCOME_RETURNED, /* not tried, or not finally decided: it goes back to the queue */
  OUTCOME_DELIVERED,
  OUTCOME_REFUSED,
  OUTCOME_BLOCKED, /* waits behind a refused change of its row */
  OUTCOME_HELD     /* waits until the target can take its table; see hold.h */
};

/* Size of a target's answer in a receipt. Few answers may differ, because each has a receipt of its own. */
#define OUTCOME_ANSWER_SIZE 40

struct fate {
  enum outcome outcome;
  int attempts;
  bool unknown;      /* it was pushed without an answer, and may have arrived */
  struct error *why; /* why it was refused, or its table is held; on the heap; else NULL */
  char answer[OUTCOME_ANSWER_SIZE];
  bool unfound; /* a row that its table was to have at the target was not there; see verdict.h */
};

struct outcomes {
  const struct batch *batch; /* borrowed */
  enum on_error on_error;
  bool keeps_state;   /* the target holds current rows, so that a newer change supersedes an older refused one */
  struct fate *fates; /* owned, one for each change of the batch, with the same index */
  size_t fate_count;  /* outlives the batch's changes */
};

/* Sets all to OUTCOME_RETURNED. To be released even if it fails. */
MUST_CHECK bool outcomes_begin(struct outcomes *outcomes, const struct batch *batch, enum on_error on_error,
                               struct error *error);
void outcomes_release(struct outcomes *outcomes);

/* Decides about change `index`. `why` is copied; NULL is allowed. */
void outcomes_decide(struct outcomes *outcomes, size_t index, enum outcome outcome, const struct error *why);

/* The target has change `index`; `answer` as in struct fate. */
void outcomes_deliver(struct outcomes *outcomes, size_t index, const char *answer);

/*
 * Whether a change waits until a refused one before it, of the same row, is retried or skipped. Where it cannot be told
 * which row a change is of, those of any row of its table wait; and where rows are told apart by all their values, a
 * mirror has to take every change in its place: a refused insert would come back after the row's deletion.
 */
bool outcomes_has_to_wait(const struct outcomes *outcomes, const struct change *change);

/* How many changes have that outcome. */
size_t outcomes_count(const struct outcomes *outcomes, enum outcome outcome);

#endif
