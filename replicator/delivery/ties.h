/*
 * ties: what ties the changes of a batch to each other: those of a row go one after the other, and, where transactions
 * are kept whole, those of a transaction go together. So what stops one of them stops others.
 */
#ifndef ROWRELAY_DELIVERY_TIES_H
#define ROWRELAY_DELIVERY_TIES_H

#include "source/change.h"

/* All arrays have an entry for each change of the batch. */
struct ties {
  const struct batch *batch;
  size_t *row;         /* the first change of its row */
  size_t *later;       /* the next one of its row; TIES_NONE */
  size_t *transaction; /* the first change of its transaction; NULL, like the next: transactions may be divided */
  size_t *others;      /* the next one of its transaction; TIES_NONE */
};

#define TIES_NONE SIZE_MAX

/* Reads the ties of a batch, in n log n time. To be released even if it fails. */
MUST_CHECK bool ties_read(struct ties *ties, const struct batch *batch, bool whole_transactions, struct error *error);
void ties_release(struct ties *ties);

/* What becomes of changes that are tried. */
enum standing {
  STANDING_GOES,      /* it may go on */
  STANDING_WAITS,     /* refused, or behind one that was, and to be tried again */
  STANDING_GOES_BACK, /* returned for good */
  STANDING_OUT        /* whatever becomes of it, it stops nothing, and nothing stops it */
};

/*
 * `standings` has one for each change of the batch. Finds those among `indexes` that cannot go on because of one that
 * does not: an earlier change of their row, or another one among them of their transaction; until nothing more depends
 * on what was found. They get the standing of what stops them. Takes linear time.
 */
MUST_CHECK bool ties_stop(const struct ties *ties, const size_t *indexes, size_t count, enum standing *standings,
                          struct error *error);

#endif
