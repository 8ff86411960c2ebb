/*
 * push: pushes a part of a worker's batch: the callbacks of retry.h. `context` is the struct work.
 */
#ifndef ROWRELAY_DELIVERY_PUSH_H
#define ROWRELAY_DELIVERY_PUSH_H

#include "delivery/work.h"

bool push_part(void *context, const struct change *const *changes, size_t count, struct verdict *verdicts,
               struct error *error);
bool push_may_retry(void *context);
bool push_pause(void *context, int64_t milliseconds);
bool push_is_final(void *context, const struct change *change, const struct error *why, bool *final,
                   struct error *error);

/*
 * To be called before outcomes are settled: asks the target about the changes that leave the queue without a push; see
 * recall() in target.h. `tried`: all pushes went as they should; else *error says why not, and such changes go back to
 * the queue. Gives whether this did so as well.
 */
bool push_recall(struct work *work, struct outcomes *outcomes, bool tried, struct error *error);

#endif
