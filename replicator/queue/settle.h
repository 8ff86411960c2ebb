/*
 * settle: ends a claim. What was delivered has left the queue for good, what was refused becomes an error, the rest
 * goes back; then the transaction that claim_take() opened is committed.
 */
#ifndef ROWRELAY_QUEUE_SETTLE_H
#define ROWRELAY_QUEUE_SETTLE_H

#include "queue/claim.h"
#include "queue/outcome.h"

struct settlement {
  const struct claim *claim;
  const struct outcomes *outcomes;
  const char *instance; /* id of this process */
  bool keeps_state;     /* the target holds rows as they are, so that a newer change makes an older refused one moot */
};

/* On an error the transaction is rolled back: everything is queued as before, and may be delivered again. */
MUST_CHECK bool settle(const struct settlement *settlement, struct error *error);

/*
 * Decides, before anything is pushed, the fate of changes that are not to be: those that could not be captured, those
 * of rows that are blocked, and barriers, which have done all they are for when they are claimed.
 */
MUST_CHECK bool settle_beforehand(const struct claim *claim, struct outcomes *outcomes, struct error *error);

/*
 * Two rows that exchange a unique value, or a row that refers to another, may meet in the wrong order when their lanes
 * are served at different speeds. As long as the target has older changes to come, such a refusal is not final.
 */
MUST_CHECK bool settle_is_final(const struct claim *claim, const struct change *change, const struct error *why,
                                bool *final, struct error *error);

#endif
