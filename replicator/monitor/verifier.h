/*
 * verifier: compares a target with its source for the console, as `rowrelay verify` does, one at a time. It runs that
 * command as a process of its own, with this one's environment: it may take hours, be stopped, and fail, and nothing of
 * that is to be a matter of the process that delivers.
 */
#ifndef ROWRELAY_MONITOR_VERIFIER_H
#define ROWRELAY_MONITOR_VERIFIER_H

#include "common/buffer.h"
#include "common/error.h"

struct verifier;

/* NULL: out of memory. `conninfo` of the source, NULL for none, is borrowed. */
struct verifier *verifier_new(const char *conninfo);
/* Stops what runs. NULL is allowed. */
void verifier_free(struct verifier *verifier);

struct verifier_task {
  const char *target;
  const char *table; /* NULL: all of the target */
  const char *by;    /* who asked; "": nobody with a name */
  bool repair;
};

/* Fails while another comparison runs. */
MUST_CHECK bool verifier_begin(struct verifier *verifier, const struct verifier_task *task, struct error *error);
/* Ends the comparison of that target, if one runs. It is not over at once. */
void verifier_stop(struct verifier *verifier, const char *target);

/*
 * Writes of the last comparison {"target", "table", "by", "repair", "running", "seconds", "progress": what was said
 * last, "result": all that was found, "status", "error"}; null where it was not of this target.
 */
void verifier_write(struct verifier *verifier, const char *target, struct buffer *json);

#endif
