/*
 * receipts: the permanent record of a batch. Changes with the same result share a receipt, so a batch mostly has one.
 */
#ifndef ROWRELAY_QUEUE_RECEIPTS_H
#define ROWRELAY_QUEUE_RECEIPTS_H

#include "common/buffer.h"
#include "queue/outcome.h"

struct receipts {
  struct receipt *parts; /* owned */
  size_t count;
};

/* Groups the delivered and refused changes. To be released even if it fails. */
MUST_CHECK bool receipts_collect(struct receipts *receipts, const struct outcomes *outcomes, struct error *error);
void receipts_release(struct receipts *receipts);

/* Appends [{"outcome", "answer", "attempts", "ids", "first_id", "last_id"}]. */
void receipts_add_json(const struct receipts *receipts, struct buffer *list);

#endif
