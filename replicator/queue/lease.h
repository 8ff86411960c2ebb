/*
 * lease: a claim that outlives its transaction, for targets that are slow (option claim=lease). Its lanes are marked as
 * taken until some time by the source's clock, under an id that only this claim knows, and the transaction is
 * committed; so nothing holds vacuum back while the batch is pushed. Nobody else claims from these lanes before the
 * time is over. Whoever settles must still have the id there: a process that comes too late settles nothing.
 *
 * When a process dies, its lanes wait for the lease to end, and no longer. The next claim of these lanes is smaller,
 * and smaller still when it dies as well, until what kills processes is alone, and is refused.
 *
 * With option guarantee=at-most-once the batch leaves the queue before it is pushed, as refused; what arrives is then
 * taken off that list. So whatever happens, nothing is sent a second time by itself.
 */
#ifndef ROWRELAY_QUEUE_LEASE_H
#define ROWRELAY_QUEUE_LEASE_H

#include "queue/claim.h"

/*
 * Leases the lanes of a batch that was read in the open transaction, and commits it. *taken is false when somebody else
 * has leased one of them a moment ago; the transaction is open then.
 */
MUST_CHECK bool lease_take(const struct claim *claim, struct batch *batch, bool *taken, struct error *error);

/* To be called before each push, and during a long one. FAILURE_FENCED: others have the lanes. */
MUST_CHECK bool lease_renew(const struct claim *claim, const struct batch *batch, struct error *error);

/* Begins the transaction that settles, if the lanes are still held; lets go of them in it. FAILURE_FENCED as above. */
MUST_CHECK bool lease_begin_settling(const struct claim *claim, const struct batch *batch, struct error *error);

/* Lets go of the lanes at once; nothing was settled. If that fails, they wait for the lease to end. */
void lease_give_back(const struct claim *claim, const struct batch *batch);

/* Whether a change is to be refused, because processes died each time when it was alone. */
bool lease_is_deadly(const struct claim *claim, const struct batch *batch);

#endif
