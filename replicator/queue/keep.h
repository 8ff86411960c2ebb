/*
 * keep: a claim while its batch is pushed, whether it is an open transaction or a lease.
 */
#ifndef ROWRELAY_QUEUE_KEEP_H
#define ROWRELAY_QUEUE_KEEP_H

#include "queue/claim.h"

struct keep {
  const struct claim *claim; /* borrowed */
  const struct batch *batch; /* borrowed */
  int64_t heard;             /* clock_now() when the source was last told that the delivery goes on */
  int64_t leased_until;      /* so long nobody else gets the lanes of a lease; 0: it is to be renewed */
  bool source_lost;
};

/* The claim was taken a moment ago. */
void keep_begin(struct keep *keep, const struct claim *claim, const struct batch *batch);

/*
 * To be called before each push, and during a long one: the source hears of us, or the lease is renewed. Whoever lost
 * the source has lost the lanes, too: source_lost is set. FAILURE_FENCED: others have the lanes.
 */
MUST_CHECK bool keep_claim(struct keep *keep, struct error *error);

/* Nothing of the batch is settled: it is queued as before. */
void keep_give_back(const struct keep *keep);

#endif
