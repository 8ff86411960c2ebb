/*
 * keep: a claim while its batch is pushed, whether it is an open transaction or a lease.
 */
#ifndef ROWRELAY_QUEUE_KEEP_H
#define ROWRELAY_QUEUE_KEEP_H

#include "queue/claim.h"

struct keep {
  const struct claim *claim; /* borrowed */
  const struct batch *batch; /* borrowed */
  int64_t heard;             /* clock_now() when the source last heard from this claim */
  int64_t leased_until;      /* end of the lease; clock_now(); 0: renew it */
  bool source_lost;
};

/* To be called right after the claim was taken. */
void keep_begin(struct keep *keep, const struct claim *claim, const struct batch *batch);

/*
 * To be called before each push, and during a long one: keeps the connection active, or renews the lease. If the source
 * is lost, so are the lanes, and source_lost is set. FAILURE_FENCED: others have the lanes.
 */
MUST_CHECK bool keep_claim(struct keep *keep, struct error *error);

/* Whether another session waits for the lanes, which should not have to wait for retries. */
MUST_CHECK bool keep_is_awaited(const struct keep *keep);

/*
 * Whether the source is known to have given a number so large, to a later claim or to whatever else shuts out earlier
 * ones, such as the copy of a table.
 */
MUST_CHECK bool keep_knows(const struct keep *keep, int64_t token);

/* Settles nothing: the batch is queued as before. */
void keep_give_back(const struct keep *keep);

#endif
