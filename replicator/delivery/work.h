/*
 * work: what a worker has in hand while it runs, and how a part of its batch is brought to the target: the functions
 * that delivery.h asks for. `context` is the struct work.
 */
#ifndef ROWRELAY_DELIVERY_WORK_H
#define ROWRELAY_DELIVERY_WORK_H

#include "delivery/breaker.h"
#include "delivery/document.h"
#include "delivery/retry.h"
#include "delivery/worker.h"
#include "queue/claim.h"
#include "targets/target.h"

/* Only the worker's own thread sees it. */
struct work {
  struct worker *worker;
  struct source *source; /* NULL: not connected */
  int source_failures;
  bool has_settings;
  struct settings settings;
  struct routes routes;
  const struct target_kind *kind;
  struct target *target;     /* NULL: not open */
  const struct claim *claim; /* only while a batch is delivered */
  int64_t delivery_began;    /* clock_now(), as is */
  int64_t source_heard;      /* when the source was last told that the delivery goes on */
  int64_t leased_until;      /* so long nobody else gets the lanes of a lease */
  bool source_lost;          /* noticed in the middle of a delivery */
  struct breaker breaker;
  bool late_first;   /* work that live changes overtake has its turn */
  bool has_failed;   /* in the last attempt; settings and routes were read since */
  int64_t holds_due; /* clock_now() when to look whether it is time to try what is held */
  struct batch batch;
  struct document document; /* only if the target is one; then */
  struct stale stale;       /* the documents of the batch are what is pushed */
};

/* Opens the target unless it is open. */
MUST_CHECK bool work_open_target(struct work *work, struct error *error);

bool work_push(void *context, const struct change *const *changes, size_t count, struct verdict *verdicts,
               struct error *error);
bool work_may_retry(void *context);
bool work_pause(void *context, int64_t milliseconds);
bool work_is_final(void *context, const struct change *change, const struct error *why, bool *final,
                   struct error *error);

#endif
