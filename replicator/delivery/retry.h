/*
 * retry: brings a batch to its target, and finds out what becomes of each change.
 *
 * Most of the time that is one push. When the target refuses something, the batch is halved until the change is alone;
 * its neighbours go on. A refused change is tried again after them (the row that it collided with may have moved), up
 * to `retries` times with a growing pause, and all the while later changes of its row wait, so that order holds. After
 * that the refusal is final, unless others that are still to come may make it good: then the change goes back to the
 * queue, and what stands behind it does too.
 *
 * Where the target is well, and only its place for a table is not (FAILURE_TABLE), all changes of that table are held,
 * and the others are pushed without them.
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
  bool at_most_once; /* what was refused, alone or with others, is not pushed again */
  /*
   * Pushes some of the batch's changes, in their order: all of them are delivered, or none, but for those of which
   * verdicts[i] says something else. They come without any.
   */
  bool (*push)(void *context, const struct change *const *changes, size_t count, struct verdict *verdicts,
               struct error *error);
  /* Whether the batch may still be held back by what is tried again; if not, the tries are used up. */
  bool (*may_retry)(void *context);
  /* Waits before a retry; false when there is no time for more. */
  bool (*pause)(void *context, int64_t milliseconds);
  /* Whether a change whose tries are used up counts as refused. */
  bool (*is_final)(void *context, const struct change *change, const struct error *why, bool *final,
                   struct error *error);
  void *context;
};

/*
 * Pushes everything whose outcome is OUTCOME_RETURNED. False when a push failed for another reason than the data; what
 * had been delivered by then is told by the outcomes all the same.
 */
MUST_CHECK bool retry_push(const struct retry *retry, struct error *error);

#endif
