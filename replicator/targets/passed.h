/*
 * passed: finds which changes of a push have passed the table at the target to which they would go, because sources
 * feed each other in a ring: they are not delivered once more. See targets/origin.h.
 */
#ifndef ROWRELAY_TARGETS_PASSED_H
#define ROWRELAY_TARGETS_PASSED_H

#include "postgres/pgconn.h"
#include "targets/target.h"

struct passed {
  struct push rest; /* the push without them */
  size_t *indexes;  /* of the changes of the rest, in the push */
};

/* Whether it is worth a look: some changes have come from another source. */
bool passed_may_be(const struct push *push);

/*
 * Reads it at the target, and marks these changes as delivered. If the connection has a transaction, an error is in a
 * savepoint of the caller's. To be released even if it fails.
 */
MUST_CHECK bool passed_find(struct passed *passed, struct pgconn *connection, const struct push *push,
                            struct error *error);
/* Passes the verdicts on the rest on to the push. */
void passed_answer(struct passed *passed, const struct push *push);
void passed_release(struct passed *passed);

#endif
