/* empty_days: what is left of days whose changes have been dropped. */
#ifndef ROWRELAY_CMD_EMPTY_DAYS_H
#define ROWRELAY_CMD_EMPTY_DAYS_H

#include <stdint.h>

#include "common/error.h"
#include "source/source.h"

/*
 * Takes their empty partitions away, and tries until clock_now() is `until`. Running processes do it later where that
 * is not possible now, so it is only said.
 */
MUST_CHECK bool empty_days_drop(struct source *source, int64_t until, struct error *error);

#endif
