/*
 * row_order: finds which of several changes of a row is the last, and which follows which. A target that holds current
 * rows needs only the last; one that gets every change gets them one after the other.
 */
#ifndef ROWRELAY_TARGETS_ROW_ORDER_H
#define ROWRELAY_TARGETS_ROW_ORDER_H

#include "source/change.h"

/*
 * Sets is_last[i] for each of the changes, which must all have exact keys. Takes linear time.
 */
MUST_CHECK bool row_order_mark(const struct change *const *changes, size_t count, bool *is_last, struct error *error);

/* No change. */
#define LATEST_NONE SIZE_MAX

/* Sets next[i] to the next change of the row of changes[i], LATEST_NONE for its last. Takes linear time. */
MUST_CHECK bool row_order_chain(const struct change *const *changes, size_t count, size_t *next, struct error *error);

/* Remembers that what comes after a change of its row has to wait for it; `next` is as row_order_chain() sets it. */
void row_order_let_wait(const size_t *next, size_t index, bool *waits);

#endif
