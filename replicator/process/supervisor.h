/*
 * supervisor: a running process: it starts workers for each target, and does what is to be done once for all of them:
 * the doorbell, the horizon, the heartbeat, storing floors, and maintenance of the source.
 */
#ifndef ROWRELAY_PROCESS_SUPERVISOR_H
#define ROWRELAY_PROCESS_SUPERVISOR_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct supervisor_options {
  const char *conninfo;
  int workers;                /* for each target */
  const char *const *targets; /* names; NULL with a count of 0: all that there are and will be */
  size_t target_count;
  bool until_empty;   /* leave when nothing is pending */
  int64_t wait;       /* give up when the source, or with until_empty a target, fails for so many ms; 0: never */
  const char *listen; /* where others may ask how it is; NULL: nowhere */
};

/*
 * Runs until SIGTERM or SIGINT (the first: finish the batches in hand; a second: leave at once, they roll back), or
 * until everything is delivered. An unreachable source is waited for.
 */
MUST_CHECK bool supervisor_run(const struct supervisor_options *options, struct error *error);

#endif
