/*
 * patience: how a process waits while its source is unavailable, or statements fail there: it logs that now and then,
 * and waits for ever, or until option wait is over.
 */
#ifndef ROWRELAY_PROCESS_PATIENCE_H
#define ROWRELAY_PROCESS_PATIENCE_H

#include <stdint.h>

#include "common/error.h"
#include "source/source.h"

struct patience {
  int64_t wait;   /* milliseconds until it ends with an error; 0: never */
  int64_t began;  /* clock_now() */
  int64_t ask_at; /* when to check for failing targets */
  int64_t ask_documents_at;
  int64_t try_at;     /* when to connect again; clock_now() */
  int64_t away_since; /* clock_now(); 0: the source is available */
  int64_t tell_away_at;
  struct error failure; /* the failed statement logged last; message "": none */
  int64_t failure_logged_at;
};

enum away {
  AWAY_IS_NEWS,  /* it was there before */
  AWAY_IS_KNOWN, /* and has been told of */
  AWAY_TO_TELL,  /* it is time to tell again */
  AWAY_TOO_LONG  /* it is time to give up */
};
/* What to do at this time (clock_now()), when the source has just been found away. */
enum away patience_judge(struct patience *patience, int64_t now);
/* Whether a failure of this text is to be told at this time; then it counts as told. */
bool patience_is_to_tell(struct patience *patience, const struct error *error, int64_t now);

/* Whether the server is there, but does not do what a process needs, such as for want of a right. */
bool patience_is_refusal(const struct error *error);

/*
 * Whether the process is to end rather than to wait. What the server refuses somebody may mend
 * there at any time, and systemd would start the process again every two seconds; so only one whose end somebody awaits
 * (--until-empty) ends at the start, and one that lacks a right, which whoever started it is to see.
 */
bool patience_is_in_vain(bool was_connected, bool is_awaited, const struct error *error);

/* The source is unavailable because of `error`; true when the wait is over, with an error that tells so. */
MUST_CHECK bool patience_try_away(struct patience *patience, bool was_connected, struct error *error);
/* Waits a moment, and returns true, while it is not time to connect again. */
bool patience_rests(const struct patience *patience);
/* The source is available. */
void patience_connected(struct patience *patience);

/* False also when a target that the process serves has failed for longer than the wait. */
MUST_CHECK bool patience_with_targets(struct patience *patience, struct source *source, const char *instance,
                                      struct error *error);

/* False also when a document that the process serves cannot be built, whatever is tried again. */
MUST_CHECK bool patience_with_documents(struct patience *patience, struct source *source, const char *instance,
                                        struct error *error);

/* A statement failed at an available source. */
void patience_report_failure(struct patience *patience, const struct error *error);

#endif
