/*
 * work: what a worker has in hand while it runs: its connection to the source, the target as it was set and opened, a
 * batch. And what it tells others when one of the two fails.
 */
#ifndef ROWRELAY_DELIVERY_WORK_H
#define ROWRELAY_DELIVERY_WORK_H

#include "delivery/breaker.h"
#include "delivery/document.h"
#include "delivery/worker.h"
#include "queue/keep.h"
#include "targets/target.h"

/* Only the worker's own thread sees it. */
struct work {
  struct worker *worker;
  struct source *source; /* NULL: not connected */
  int source_failures;
  bool has_settings;         /* as far as is known, they are still what the source says */
  struct settings *settings; /* owned; NULL: they were never read */
  struct routes routes;
  const struct target_kind *kind;
  struct target *target;  /* NULL: not open */
  struct keep keep;       /* only while a batch is delivered */
  int64_t delivery_began; /* clock_now() */
  struct breaker breaker;
  bool late_first;   /* work that live changes overtake has its turn */
  bool has_failed;   /* in the last attempt; settings and routes were read since */
  int64_t holds_due; /* clock_now() when to look whether it is time to try what is held */
  struct batch batch;
  struct document document; /* only if the target is one; then */
  struct stale stale;       /* the documents of the batch are what is pushed */
};

/* Milliseconds for what is asked of the source at once. */
#define WORK_SOURCE_TIMEOUT 60000

/* Reads settings, routes and a document's definition; forgets what was opened with others. FAILURE_STOP: it is dropped.
 */
MUST_CHECK bool work_load_settings(struct work *work, struct error *error);

/* Closes all that hangs on the source's connection. */
void work_lose_source(struct work *work, const struct error *error);
/* A pause that grows with each failure. False when it is time to leave. */
bool work_wait_for_source(struct work *work);

/* Opens the target unless it is open. */
MUST_CHECK bool work_open_target(struct work *work, struct error *error);
void work_close_target(struct work *work);

/* Tells everybody that the target cannot be delivered to, and why. */
void work_report_failure(struct work *work, const struct error *error);
/* The same where the target is not known to fail: the breaker alone is opened. */
void work_open_breaker(struct work *work, const struct error *why);
/* Takes back what work_report_failure() told, here and for all processes. */
void work_report_success(struct work *work);
/* The target wants no more: it stops until a person lets it go on. */
void work_halt_target(struct work *work, const struct error *error);

#endif
