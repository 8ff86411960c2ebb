/*
 * breaker: the circuit breaker of a target, shared by all processes through the source. After a push has failed because
 * of the target, the source records when the target may be tried again: after a pause that doubles with each attempt.
 * Then a single worker probes it with one change; when that arrives, all go on at once.
 *
 * A target that fails and works in turn begins with short pauses each time, of up to a tenth of a second. Remembering
 * the pause beyond the success would need to know how well the target did since: a push that succeeds writes nothing
 * for the breaker, and without a count of these a target that fails one push in ten would be slowed like one that fails
 * all. A pause halved by the probe's success and doubled by the next failure stays as it is.
 */
#ifndef ROWRELAY_DELIVERY_BREAKER_H
#define ROWRELAY_DELIVERY_BREAKER_H

#include <stdint.h>

#include "source/source.h"

struct breaker {
  struct source *source; /* borrowed; NULL while there is no connection */
  int target;
  bool probing; /* this worker is the one that probes */
};

/* Records that the target failed. If that fails, only the log tells. */
MUST_CHECK bool breaker_open(struct breaker *breaker, const struct error *why, struct error *error);
/* Records that it works again. */
MUST_CHECK bool breaker_close(struct breaker *breaker, struct error *error);

/*
 * Whether this worker may try a target that failed; until breaker_leave() no other may. If not, *wait is in how many
 * milliseconds to ask again; 0: the target works again.
 */
MUST_CHECK bool breaker_may_try(struct breaker *breaker, bool *may, int64_t *wait, struct error *error);
/* How long to wait before asking again, where the next attempt is due in so many milliseconds; 0 or less: it is being
 * made.
 */
int64_t breaker_wait(int64_t due);
/* Lets another worker probe next, if it was this worker's turn. */
void breaker_leave(struct breaker *breaker);

#endif
