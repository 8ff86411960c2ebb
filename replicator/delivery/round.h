/*
 * round: one poll for work: checks whether the target may be tried, claims a batch, and delivers it.
 */
#ifndef ROWRELAY_DELIVERY_ROUND_H
#define ROWRELAY_DELIVERY_ROUND_H

#include "delivery/work.h"

/* Waits where there is nothing to do. False when it is time to leave. */
bool round_poll(struct work *work);

#endif
