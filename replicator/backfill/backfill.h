/*
 * backfill: copies rows that were in a table before it went to a target: into an empty mirror as a whole (see copy.h),
 * else one short transaction after the other. What such a step does is SQL (rowrelay.backfill_step); this chooses how
 * many rows it reads, so that whoever wants to write one of them is held up for some 30 ms, and how long to pause
 * before the next.
 *
 * One connection at a time is at a backfill. What it has done is stored with what it has queued, so it may end at any
 * moment, and another goes on.
 */
#ifndef ROWRELAY_BACKFILL_BACKFILL_H
#define ROWRELAY_BACKFILL_BACKFILL_H

#include <stdint.h>

#include "common/error.h"
#include "source/source.h"

enum backfill_outcome { BACKFILL_PROGRESS, BACKFILL_WAITS, BACKFILL_DONE, BACKFILL_CANCELLED };

struct backfill_progress {
  enum backfill_outcome outcome;
  bool copied;       /* as a whole: the rows are at the target; else they are queued */
  int64_t queued;    /* rows so far */
  int64_t read;      /* rows passed so far, with those that a filter held back */
  int64_t estimated; /* how many there were in all */
  int64_t pause;     /* milliseconds to wait before the next step */
  char note[512];    /* what it waits for, or why it ended; "": nothing to say */
};

struct backfill {
  int id;
  struct source *source; /* borrowed */
  const char *conninfo;  /* of the source, for one more connection; borrowed */
  /* Called now and then in a step that takes long; false: it is to end. NULL: nobody is to be told. */
  bool (*tell)(void *context, const struct backfill_progress *progress);
  void *context;
  bool in_pieces; /* it is not copied as a whole, or not any more */
  int gave_way;   /* how often a copy of the whole ended because others wanted the table */
  int rows;       /* that the next step reads at most */
  int refused;    /* steps in a row that met a locked row */
  /* to hold it to a rate: rows since then */
  int64_t paced_at; /* clock_now(); 0: not yet */
  int64_t paced_rows;
};

/* tell and context may be set then. */
void backfill_init(struct backfill *backfill, struct source *source, const char *conninfo, int id);

/* Whether nobody else is at it. What was taken must be let go of before something else is taken. */
MUST_CHECK bool backfill_take(struct backfill *backfill, bool *taken, struct error *error);
MUST_CHECK bool backfill_unlock(struct backfill *backfill, struct error *error);

/*
 * A first step for one of several, before any of them takes the next: a table that is to be copied as a whole takes its
 * changes aside, because what is delivered until it is its turn would be in the way. *waits when it has to be called
 * again for that, because somebody is writing.
 */
MUST_CHECK bool backfill_prepare(struct backfill *backfill, bool *waits, struct error *error);

/* The next step. False for what trying again at once does not mend; nothing was done then. */
MUST_CHECK bool backfill_step(struct backfill *backfill, struct backfill_progress *progress, struct error *error);

/* How far it is, when somebody else is at it. */
MUST_CHECK bool backfill_watch(struct backfill *backfill, struct backfill_progress *progress, struct error *error);

#endif
