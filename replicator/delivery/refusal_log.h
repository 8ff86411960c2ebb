/*
 * refusal_log: tells of refused changes in the log, once in a while for each group: those of a target, of a table, with
 * the same kind of message (common/error_kind.h). `rowrelay errors` has each of them.
 */
#ifndef ROWRELAY_DELIVERY_REFUSAL_LOG_H
#define ROWRELAY_DELIVERY_REFUSAL_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "queue/outcome.h"

/* Tells of those of a settled batch. */
void refusal_log(const char *target, const struct outcomes *outcomes);

/*
 * Whether to tell at this time (clock_now()) that `count` more of a group were refused; the group by a hash. *untold is
 * how many were refused since it was told last, without these.
 */
bool refusal_log_is_to_tell(uint64_t group, size_t count, int64_t now, size_t *untold);

#endif
