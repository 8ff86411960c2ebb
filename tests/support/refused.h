/*
 * refused: tables of which a target refuses changes, and what rowrelay says of those.
 */
#ifndef ROWRELAY_TESTS_REFUSED_H
#define ROWRELAY_TESTS_REFUSED_H

#include "fixture.h"

/*
 * Table item at the source, captured, routed to target w: to a mirror made by hand with stricter constraints,
 * or (with option mode=append) to item_changes. `options` are further words of target add; NULL for none.
 */
void refused_begin(struct fixture *fixture, const char *name, const char *option, const char *option2);
/* Delivers what can be delivered. */
void refused_deliver(struct fixture *fixture);
/* "TARGET KEY OPERATION STATE, ...", in the order of the changes. */
const char *refused_changes(struct fixture *fixture);

#endif
