/*
 * patience: what a process does while its source is away, or does not do what it is asked: it says so, now and then,
 * and waits, for ever or for as long as it was told to.
 */
#ifndef ROWRELAY_PROCESS_PATIENCE_H
#define ROWRELAY_PROCESS_PATIENCE_H

#include <stdint.h>

#include "common/error.h"
#include "source/source.h"

struct patience {
  int64_t wait;       /* milliseconds after which to give up; 0: never */
  int64_t began;      /* clock_now() */
  int64_t ask_at;     /* when to ask for targets that fail */
  int64_t away_since; /* clock_now(); 0: the source is there */
  int64_t tell_away_at;
  struct error failure; /* what was told last of a source that is there; message "": nothing */
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

/* The source is away, for the reason `error`; true when it is time to give up: then the error says so. */
MUST_CHECK bool patience_try_away(struct patience *patience, bool was_connected, struct error *error);
/* It is there. */
void patience_connected(struct patience *patience);
/* Whether it was away when it was last tried. */
bool patience_was_away(const struct patience *patience);

/* False, too, when one of the targets that the process serves has failed for longer than is to be waited for. */
MUST_CHECK bool patience_with_targets(struct patience *patience, struct source *source, const char *instance,
                                      struct error *error);

/* The source is there, and does not do what it is asked. */
void patience_report_failure(struct patience *patience, const struct error *error);

#endif
