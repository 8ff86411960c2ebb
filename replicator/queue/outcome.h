/*
 * outcome: what becomes of each change of a batch. Delivering finds it out, settling writes it down.
 */
#ifndef ROWRELAY_QUEUE_OUTCOME_H
#define ROWRELAY_QUEUE_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "source/change.h"
#include "source/settings.h"

enum outcome {
  OUTCOME_RETURNED, /* not tried, or not for good: it goes back to the queue */
  OUTCOME_DELIVERED,
  OUTCOME_REFUSED,
  OUTCOME_BLOCKED, /* waits behind a refused change of its row */
  OUTCOME_HELD     /* waits until the target can take its table; see hold.h */
};

/* Room for a target's words in a receipt. They are of a few kinds, because each kind has a receipt of its own. */
#define OUTCOME_ANSWER_SIZE 40

struct fate {
  enum outcome outcome;
  int attempts;
  bool unknown;      /* it was pushed, and there was no answer: it may have arrived */
  struct error *why; /* the target's words, on the heap; NULL unless it was refused, or why its table is held */
  char answer[OUTCOME_ANSWER_SIZE];
};

struct outcomes {
  const struct batch *batch; /* borrowed */
  enum on_error on_error;
  struct fate *fates; /* owned, one for each change of the batch, with the same index */
  size_t fate_count;  /* that outlives the batch's changes */
};

/* All are OUTCOME_RETURNED then. To be released also when it fails. */
MUST_CHECK bool outcomes_begin(struct outcomes *outcomes, const struct batch *batch, enum on_error on_error,
                               struct error *error);
void outcomes_release(struct outcomes *outcomes);

/* Decides about change `index`. `why` is copied; NULL is allowed. */
void outcomes_decide(struct outcomes *outcomes, size_t index, enum outcome outcome, const struct error *why);

/* How many changes have that outcome. */
size_t outcomes_count(const struct outcomes *outcomes, enum outcome outcome);

#endif
