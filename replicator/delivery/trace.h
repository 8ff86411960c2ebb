/*
 * trace: what a trace of a batch consists of: the batch, each push of it, and its settlement. Nothing is done unless
 * spans are wanted (see span.h).
 */
#ifndef ROWRELAY_DELIVERY_TRACE_H
#define ROWRELAY_DELIVERY_TRACE_H

#include "delivery/work.h"
#include "queue/outcome.h"

/* A batch has been claimed. */
void trace_begin(struct work *work);
/* A push began at this time (clock_microseconds()), and is over. `error`: why it failed; NULL: it did not. */
void trace_push(struct work *work, int64_t began, size_t changes, const struct error *error);
/* What a request of the batch says of its trace, as W3C's header traceparent; "": it is not traced. */
void trace_parent(const struct work *work, char text[TRACE_PARENT_SIZE]);
/* The batch's end, of which the settlement began at this time (clock_microseconds()). `outcomes` may have no fates. */
void trace_end(struct work *work, int64_t settling, const struct outcomes *outcomes, const struct error *error);

#endif
