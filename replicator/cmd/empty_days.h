/* empty_days: drops the partitions of days whose changes have been dropped. */
#ifndef ROWRELAY_CMD_EMPTY_DAYS_H
#define ROWRELAY_CMD_EMPTY_DAYS_H

#include <stdint.h>

#include "common/error.h"
#include "source/source.h"

/*
 * Tries until clock_now() is `until`. If it fails, running processes drop them later, so that is a message and no
 * error.
 */
MUST_CHECK bool empty_days_drop(struct source *source, int64_t until, struct error *error);

#endif
