/*
 * backfill: copies rows that were in a table before it went to a target, one short transaction after the other. What a
 * step does is SQL (rowrelay.backfill_step); this chooses how many rows it reads, so that whoever wants to write one of
 * them is held up for some 30 ms, and how long to pause before the next.
 *
 * One connection at a time is at a backfill. What it has done is stored with what it has queued, so it may end at any
 * moment, and another goes on.
 */
#ifndef ROWRELAY_BACKFILL_H
#define ROWRELAY_BACKFILL_H

#include <stdint.h>

#include "error.h"
#include "source.h"

struct backfill {
  int id;
  struct source *source; /* borrowed */
  int rows;              /* that the next step reads at most */
  int refused;           /* steps in a row that met a locked row */
  /* to hold it to a rate: rows since then */
  int64_t paced_at; /* clock_now(); 0: not yet */
  int64_t paced_rows;
};

enum backfill_outcome { BACKFILL_PROGRESS, BACKFILL_WAITS, BACKFILL_DONE, BACKFILL_CANCELLED };

struct backfill_progress {
  enum backfill_outcome outcome;
  int64_t queued;    /* rows so far */
  int64_t read;      /* rows passed so far, with those that a filter held back */
  int64_t estimated; /* how many there were in all */
  int64_t pause;     /* milliseconds to wait before the next step */
  char note[512];    /* what it waits for, or why it ended; "": nothing to say */
};

void backfill_init(struct backfill *backfill, struct source *source, int id);

/* Whether nobody else is at it. What was taken must be let go of before something else is taken. */
MUST_CHECK bool backfill_take(struct backfill *backfill, bool *taken, struct error *error);
MUST_CHECK bool backfill_let_go(struct backfill *backfill, struct error *error);

/* The next step. False for what trying again at once does not mend; nothing was done then. */
MUST_CHECK bool backfill_step(struct backfill *backfill, struct backfill_progress *progress, struct error *error);

/* How far it is, when somebody else is at it. */
MUST_CHECK bool backfill_look(struct backfill *backfill, struct backfill_progress *progress, struct error *error);

#endif
