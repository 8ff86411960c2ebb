/* time_gap: how far a server's clock is from this machine's. */
#ifndef ROWRELAY_DOCTOR_TIME_GAP_H
#define ROWRELAY_DOCTOR_TIME_GAP_H

#include <stdint.h>

#include "common/error.h"
#include "postgres/pgconn.h"

/* Microseconds at least: how long the answer took is not counted. */
MUST_CHECK bool time_gap(struct pgconn *connection, int64_t *gap, struct error *error);

#endif
