/*
 * settle: ends a claim. Delivered changes leave the queue, refused ones become errors, the rest goes back; then the
 * transaction that claim_take() opened is committed.
 */
#ifndef ROWRELAY_QUEUE_SETTLE_H
#define ROWRELAY_QUEUE_SETTLE_H

#include "queue/claim.h"
#include "queue/outcome.h"

struct settlement {
  const struct claim *claim;
  const struct outcomes *outcomes;
  const struct outcomes *pushed; /* the same, or those of the documents that were built */
  const char *instance;          /* id of this process */
};

/* On an error the transaction is rolled back: everything is queued as before, and may be delivered again. */
MUST_CHECK bool settle(const struct settlement *settlement, struct error *error);

/*
 * Decides, before the push, the outcome of changes that are not pushed: those that could not be captured, those of
 * blocked rows, and barriers, whose purpose is fulfilled once they are claimed.
 */
MUST_CHECK bool settle_beforehand(const struct claim *claim, struct outcomes *outcomes, struct error *error);

struct refused {
  const struct change *change;
  const struct error *why;
};

/*
 * Two rows that exchange a unique value, or a row that refers to another, may arrive in the wrong order when their
 * lanes progress at different speeds. While older changes are still to come, such a refusal is not final.
 */
MUST_CHECK bool settle_is_final(const struct claim *claim, const struct batch *batch, const struct refused *refused,
                                bool *final, struct error *error);

#endif
