/*
 * steps: what makes a source as a file says, in the order in which it is done. Each is checked before any is taken, and
 * is a transaction of its own, as the command for it would be.
 */
#ifndef ROWRELAY_SETUP_STEPS_H
#define ROWRELAY_SETUP_STEPS_H

#include "common/buffer.h"
#include "common/tree.h"
#include "setup/request.h"

enum step_verb { STEP_ADD, STEP_CHANGE, STEP_REPLACE, STEP_REMOVE, STEP_PAUSE, STEP_RESUME };

#define STEP_MOST_REQUESTS 5
#define STEP_MOST_CHECKS 2
#define STEP_WORDS_LIMIT ((size_t)1024 * 1024) /* bytes of what is said of a step */

struct step {
  enum step_verb verb;
  const struct tree *place; /* in the file, for errors; NULL: what the file does not name; borrowed */
  struct buffer object;     /* "target dw" */
  struct buffer details;    /* what of it; may be empty */
  struct buffer advice;     /* what to do afterwards; may be empty */
  bool is_new_place;        /* its first request is that of a route by which a table goes to where it did not go */
  size_t check_count;
  struct request checks[STEP_MOST_CHECKS]; /* change nothing, and fail if the step would */
  size_t request_count;
  struct request requests[STEP_MOST_REQUESTS];
};

struct steps {
  size_t count;
  size_t done;         /* how many of them have been taken */
  struct step **items; /* owned */
};

void steps_release(struct steps *steps);

/* Appends a step, whose object is what the format says. NULL: out of memory, as the error says. Borrowed. */
struct step *steps_add(struct steps *steps, enum step_verb verb, const struct tree *place, struct error *error);

/* Append to a step. A step of NULL fails, so that steps_add() needs no check of its own. */
MUST_CHECK bool step_call(struct step *step, const struct query *query, struct values values, struct error *error);
MUST_CHECK bool step_check_by(struct step *step, const struct query *query, struct values values, struct error *error);
/* Where the next request or check of a step is to be made; the caller makes it at once. */
struct request *step_next_request(struct step *step);
struct request *step_next_check(struct step *step);

/* Appends "NAME OLD -> NEW" to details; without `present`, of something new, "NAME NEW". */
void step_tell(struct step *step, const char *name, const struct tree *wanted, const struct tree *present);

/* Runs all checks; the first that fails is told with its place in the file. Changes nothing. */
MUST_CHECK bool steps_check(const struct steps *steps, struct source *source, const char *file, struct error *error);
/* Prints a line for each step, and with `sql` what it runs. */
MUST_CHECK bool steps_print(const struct steps *steps, bool sql, struct error *error);
/* Takes the steps, and prints a line for each that is done. The error of one tells how many were. */
MUST_CHECK bool steps_run(struct steps *steps, struct source *source, const char *file, struct error *error);

#endif
