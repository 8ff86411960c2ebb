/*
 * backfill: copies rows that a table had before it was routed to a target: into an empty mirror as a whole (see
 * copy.h), otherwise in short transactions. SQL does each step (rowrelay.backfill_step); this chooses how many rows it
 * reads, so that it blocks writers of these rows for some 30 ms, and how long to pause before the next.
 *
 * One connection at a time runs a backfill. Its progress is stored with what it queues, so it may stop at any moment,
 * and another continues.
 */
#ifndef ROWRELAY_BACKFILL_BACKFILL_H
#define ROWRELAY_BACKFILL_BACKFILL_H

#include <stdint.h>

#include "common/error.h"
#include "source/source.h"

enum backfill_outcome { BACKFILL_PROGRESS, BACKFILL_WAITS, BACKFILL_DONE, BACKFILL_CANCELLED };

struct backfill_progress {
  enum backfill_outcome outcome;
  bool copied;       /* copied as a whole: the rows are at the target; else they are queued */
  int64_t queued;    /* rows so far */
  int64_t read;      /* rows read so far, with those that a filter left out */
  int64_t estimated; /* estimate of all rows */
  int64_t pause;     /* milliseconds to wait before the next step */
  char note[512];    /* what it waits for, or why it ended; "": nothing */
};

struct backfill {
  int id;
  struct source *source; /* borrowed */
  const char *conninfo;  /* of the source, for one more connection; borrowed */
  /* Called now and then during a long step; false: stop. NULL: not called. */
  bool (*tell)(void *context, const struct backfill_progress *progress);
  void *context;
  bool in_pieces; /* not copied as a whole, or no longer */
  int gave_way;   /* how often a copy as a whole ended because another session wanted a lock */
  int rows;       /* most rows that the next step reads */
  int refused;    /* steps in a row that met a locked row */
  /* to limit the rate: rows read since paced_at */
  int64_t paced_at; /* clock_now(); 0: not yet */
  int64_t paced_rows;
};

/* tell and context may be set afterwards. */
void backfill_init(struct backfill *backfill, struct source *source, const char *conninfo, int id);

/* Locks it unless another session runs it. To be unlocked before another one is taken. */
MUST_CHECK bool backfill_take(struct backfill *backfill, bool *taken, struct error *error);
MUST_CHECK bool backfill_unlock(struct backfill *backfill, struct error *error);

/*
 * A first step for each of several, before any takes the next: sets the changes of a table that is to be copied as a
 * whole aside, because rows delivered before its turn would be in the way. *waits: writers are active, call it again.
 * What fails here fails at the next step, too, and is none of the others'.
 */
MUST_CHECK bool backfill_prepare(struct backfill *backfill, bool *waits, struct error *error);

/* Takes the next step. False if trying again at once would not help; nothing was done then. */
MUST_CHECK bool backfill_step(struct backfill *backfill, struct backfill_progress *progress, struct error *error);

/* Reads the progress while another session runs it. */
MUST_CHECK bool backfill_watch(struct backfill *backfill, struct backfill_progress *progress, struct error *error);

#endif
