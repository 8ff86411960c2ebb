/*
 * work: the state of a worker: its connection to the source, the settings and handle of the target, and a batch; and
 * how it reports failures of source and target.
 */
#ifndef ROWRELAY_DELIVERY_WORK_H
#define ROWRELAY_DELIVERY_WORK_H

#include "common/span.h"
#include "delivery/breaker.h"
#include "delivery/contention.h"
#include "delivery/document.h"
#include "delivery/worker.h"
#include "queue/keep.h"
#include "targets/target.h"

/* Private to the worker's thread. */
struct work {
  struct worker *worker;
  struct source *source; /* NULL: not connected */
  int source_failures;
  bool has_settings;         /* as far as known, they are up to date */
  struct settings *settings; /* owned; NULL: they were never read */
  struct routes routes;
  const struct target_kind *kind;
  struct target *target;  /* NULL: not open */
  struct keep keep;       /* only while a batch is delivered */
  int64_t delivery_began; /* clock_now() */
  bool traced;            /* the batch at hand is */
  struct span trace;
  struct breaker breaker;
  struct contention contention;
  int batch_rows;    /* of the next batch at most, see round.c; never less than some thousand */
  bool was_small;    /* the last batch was, and nothing has been waited for since */
  int fenced;        /* pushes in succession that claims have kept out which the source has not given */
  bool late_first;   /* it is the turn of late lanes */
  bool has_failed;   /* the last attempt failed; settings and routes were read since */
  int64_t holds_due; /* when to check whether held tables are due for a try; clock_now() */
  struct day_query days;
  struct batch batch;
  struct document document; /* only if the target is one; then */
  struct stale stale;       /* the documents of the batch are what is pushed */
};

/* For one statement at the source. Milliseconds. */
#define WORK_SOURCE_TIMEOUT 60000

/* Reads settings, routes and a document's definition; forgets what was opened with others. FAILURE_STOP: it is dropped.
 */
MUST_CHECK bool work_load_settings(struct work *work, struct error *error);

/* Closes all that hangs on the source's connection. */
void work_lose_source(struct work *work, const struct error *error);
/* A pause that grows with each failure. False when it is time to stop. */
bool work_wait_for_source(struct work *work);

/* Opens the target unless it is open. */
MUST_CHECK bool work_open_target(struct work *work, struct error *error);
void work_close_target(struct work *work);

/* Records for all processes that the target fails, and why. */
void work_report_failure(struct work *work, const struct error *error);
/* Opens the breaker only, when the target is not known to fail. */
void work_open_breaker(struct work *work, const struct error *why);
/* Records for all processes that the target works again. */
void work_report_success(struct work *work);
/* Halts the target until a person resumes it; `remedy` is what to do before the command that resumes it. */
void work_halt_target(struct work *work, const struct error *error, const char *remedy);

#endif
