/*
 * supervisor: a running process: starts workers for each target, and does what all of them need once: the doorbell, the
 * horizon, the heartbeat, storing floors, and maintenance of the source.
 */
#ifndef ROWRELAY_PROCESS_SUPERVISOR_H
#define ROWRELAY_PROCESS_SUPERVISOR_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct supervisor_options {
  const char *conninfo;
  int workers;                /* for each target */
  const char *const *targets; /* names; NULL with a count of 0: all, also later ones */
  size_t target_count;
  bool here;        /* the database is the source now, also where it was restored or copied */
  bool until_empty; /* stop when nothing is pending */
  int64_t wait; /* fail when the source, or with until_empty a target, has failed for so many milliseconds; 0: never */
  const char *listen; /* address for HTTP; NULL: none */
};

/*
 * Runs until SIGTERM or SIGINT (the first: finish current batches; a second: stop at once, they roll back), or
 * until everything is delivered. An unreachable source is waited for.
 */
MUST_CHECK bool supervisor_run(const struct supervisor_options *options, struct error *error);

#endif
