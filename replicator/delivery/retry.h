/*
 * retry: pushes a batch to its target, and determines the outcome of each change.
 *
 * Most of the time that is one push. When the target refuses something, the batch is halved until the change is alone;
 * its neighbours go on. Where transactions are to arrive as a whole, they are told apart first. A refused change is
 * tried again after them (the row that it collided with may have moved), up to `retries` times with a growing pause,
 * while later changes of its row wait, to keep their order. After that the refusal is final, unless changes still to
 * come may resolve it: then the change goes back to the queue, with those that wait behind it.
 *
 * If the target works but cannot take one table (FAILURE_TABLE), all changes of that table are held, and the others are
 * pushed without them.
 */
#ifndef ROWRELAY_DELIVERY_RETRY_H
#define ROWRELAY_DELIVERY_RETRY_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "queue/outcome.h"
#include "targets/verdict.h"

struct retry {
  struct outcomes *outcomes; /* borrowed, of the batch */
  int retries;
  bool at_most_once;       /* what was refused, alone or with others, is not pushed again */
  bool whole_transactions; /* changes tell their txid; no transaction is divided because another was refused */
  /*
   * Pushes some of the batch's changes, in their order: all of them are delivered, or none, but for those of which
   * verdicts[i] says something else. They come without any.
   */
  bool (*push)(void *context, const struct change *const *changes, size_t count, struct verdict *verdicts,
               struct error *error);
  /* Whether there is still time for retries. */
  bool (*may_retry)(void *context);
  /* Waits before a retry; false if there is no time for one. */
  bool (*pause)(void *context, int64_t milliseconds);
  /* Whether the refusal of a change without retries left is final. */
  bool (*is_final)(void *context, const struct change *change, const struct error *why, bool *final,
                   struct error *error);
  void *context;
};

/*
 * Pushes everything whose outcome is OUTCOME_RETURNED. False if a push failed for another reason than the data; the
 * outcomes tell what had been delivered by then.
 */
MUST_CHECK bool retry_push(const struct retry *retry, struct error *error);

#endif
