/*
 * lease: a claim that outlives its transaction, for slow targets (option claim=lease). Its lanes are marked as taken
 * until some time by the source's clock, under an id that only this claim knows, and the transaction is committed; so
 * nothing holds back vacuum while the batch is pushed. No other process claims from these lanes before the lease
 * expires. A settlement requires that the id is still there: one that comes too late settles nothing.
 *
 * When a process dies, its lanes wait until the lease expires. The next claim of these lanes is smaller, and smaller
 * still when that process dies as well, until the change that kills processes is alone, and is refused.
 *
 * With option guarantee=at-most-once the batch is recorded as refused before it is pushed; what arrives is then removed
 * from there. So nothing is ever sent a second time automatically.
 */
#ifndef ROWRELAY_QUEUE_LEASE_H
#define ROWRELAY_QUEUE_LEASE_H

#include "queue/claim.h"

/*
 * Leases the lanes of a batch that was read in the open transaction, and commits it. *taken is false, and the
 * transaction still open, if another process has just leased one of them.
 */
MUST_CHECK bool lease_take(const struct claim *claim, struct batch *batch, bool *taken, struct error *error);

/* To be called before each push, and during a long one. FAILURE_FENCED: others have the lanes. */
MUST_CHECK bool lease_renew(const struct claim *claim, const struct batch *batch, struct error *error);

/* Begins the transaction that settles, if the lanes are still held, and releases them in it. FAILURE_FENCED as above.
 */
MUST_CHECK bool lease_begin_settling(const struct claim *claim, const struct batch *batch, struct error *error);

/* Releases the lanes at once without settling. If that fails, they wait until the lease expires. */
void lease_give_back(const struct claim *claim, const struct batch *batch);

/* Whether another session waits for the leases to end, which should not have to wait for retries. */
MUST_CHECK bool lease_is_awaited(const struct claim *claim, const struct batch *batch);

/* Whether to refuse the only change, because processes died each time they delivered it alone. */
bool lease_is_deadly(const struct claim *claim, const struct batch *batch);

#endif
