/*
 * delivery: brings a batch to its target, and finds out what becomes of each change.
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
#include "source/change.h"
#include "source/settings.h"

enum outcome {
  OUTCOME_RETURNED, /* not tried, or not for good: it goes back to the queue */
  OUTCOME_DELIVERED,
  OUTCOME_REFUSED,
  OUTCOME_BLOCKED, /* waits behind a refused change of its row */
  OUTCOME_HELD     /* waits until the target can take its table; see hold.h */
};

/* Room for a target's words in a receipt. They are of a few kinds, because each kind has a receipt of its own. */
#define ANSWER_SIZE 40

/* What a push says of one of its changes, where it can say more than of all together. */
enum verdict_kind {
  VERDICT_NONE,      /* as the push as a whole */
  VERDICT_DELIVERED, /* whatever became of the others */
  VERDICT_REFUSED,
  VERDICT_HELD, /* the target cannot take its table now: neither this nor any other change of it */
  VERDICT_LATER /* there was no time for it: it goes back to the queue, and so do all later changes of its row */
};

struct verdict {
  enum verdict_kind kind;
  struct error *why;        /* on the heap, of a refusal; NULL: as the push */
  char answer[ANSWER_SIZE]; /* what the target said of a change that it has, for the receipt; "": nothing */
};

/* Says that a change was refused; `why` is copied. */
void verdict_refuse(struct verdict *verdict, const struct error *why);

/* Makes it say nothing. */
void verdict_clear(struct verdict *verdict);

/* Notes what the target said of a change, unless something was noted already; cut off where there is no more room. */
void verdict_answer(struct verdict *verdict, const char *answer);

/* What became of the change with the same index in the batch. */
struct fate {
  enum outcome outcome;
  int attempts;
  bool waits;        /* only during the delivery: refused, or behind one that was, and to be tried again */
  bool goes_back;    /* the same: returned for good */
  bool unknown;      /* it was pushed, and there was no answer: it may have arrived */
  struct error *why; /* the target's words, on the heap; NULL unless it was refused, or why its table is held */
  char answer[ANSWER_SIZE];
};

struct delivery {
  const struct batch *batch;
  enum on_error on_error;
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
  bool some_go_back;  /* set by the delivery itself */
  struct fate *fates; /* owned, one for each change of the batch */
  size_t fate_count;  /* that outlives the batch's changes */
};

/* Prepares; the other members are for the caller to fill in first. All fates are OUTCOME_RETURNED then. */
MUST_CHECK bool delivery_begin(struct delivery *delivery, struct error *error);
void delivery_release(struct delivery *delivery);

/* Settles the fate of change `index` without a push. `why` is copied; NULL is allowed. */
void delivery_decide(struct delivery *delivery, size_t index, enum outcome outcome, const struct error *why);

/*
 * Pushes everything whose fate is OUTCOME_RETURNED. False when a push failed for another reason than the data; what had
 * been delivered by then is told by the fates all the same.
 */
MUST_CHECK bool delivery_run(struct delivery *delivery, struct error *error);

/* How many changes have that outcome. */
size_t delivery_count(const struct delivery *delivery, enum outcome outcome);

#endif
