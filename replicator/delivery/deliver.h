/*
 * deliver: one claimed batch is brought to its target and settled.
 */
#ifndef ROWRELAY_DELIVERY_DELIVER_H
#define ROWRELAY_DELIVERY_DELIVER_H

#include "delivery/work.h"

/* The work's batch is empty afterwards. False when it is time to leave. */
bool deliver(struct work *work, const struct claim *claim);

#endif
