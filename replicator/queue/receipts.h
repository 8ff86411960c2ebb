/*
 * receipts: what is to be remembered of a batch for good. Changes of which the same is to be said share a receipt, so
 * there is mostly one for a batch.
 */
#ifndef ROWRELAY_QUEUE_RECEIPTS_H
#define ROWRELAY_QUEUE_RECEIPTS_H

#include "common/buffer.h"
#include "queue/outcome.h"

struct receipts {
  struct receipt *parts; /* owned */
  size_t count;
};

/* Sorts the changes of a delivery that were delivered or refused. To be released also when it fails. */
MUST_CHECK bool receipts_collect(struct receipts *receipts, const struct outcomes *outcomes, struct error *error);
void receipts_release(struct receipts *receipts);

/* Appends [{"outcome", "answer", "attempts", "ids", "first_id", "last_id"}]. */
void receipts_add_json(const struct receipts *receipts, struct buffer *list);

#endif
