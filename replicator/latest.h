/*
 * latest: of several changes of one row, which is the last. A target that holds rows as they are needs no other.
 */
#ifndef ROWRELAY_LATEST_H
#define ROWRELAY_LATEST_H

#include "batch.h"

/*
 * Sets is_last[i] for each of the changes; all of them must have keys that are exact. Takes time in proportion to their
 * number.
 */
MUST_CHECK bool latest_mark(const struct change *const *changes, size_t count, bool *is_last, struct error *error);

#endif
