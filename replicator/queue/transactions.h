/*
 * transactions: chooses a batch of whole transactions from the changes queued in a lane.
 *
 * The ids of concurrent transactions interleave, so under concurrent writers there may be no id at which none is open,
 * and a batch that takes the lowest ids would always cut some. Instead transactions are taken in the order of their
 * last changes, as many as fit, and ids in between that belong to others stay in the queue. Changes that depend on each
 * other are never reordered: a session that saw, or waited for, the changes of a transaction did so after that had
 * ended, so its own later changes have larger ids than all of that transaction's.
 *
 * A transaction that does not fit is cut into pieces, each treated as a transaction. The same reasoning holds for
 * pieces, because the last change of a piece is older than that of the whole.
 *
 * A barrier is a piece of its own, so it divides the transaction that made it, and no other: one that has changes on
 * both sides of it goes behind it. What the barrier is about was locked by its transaction, so the other has nothing of
 * that before the barrier.
 */
#ifndef ROWRELAY_QUEUE_TRANSACTIONS_H
#define ROWRELAY_QUEUE_TRANSACTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* A queued change; passed in order of ids. */
struct queued {
  int64_t txid;
  int64_t bytes;
  enum stands {
    STANDS_WITH_ROWS,
    STANDS_WITH_ITS_KIND, /* a barrier that others may follow in a batch, but no row */
    STANDS_ALONE          /* a truncate: it says more than a row's change does */
  } stands;
};

/* Largest size of a batch. */
struct transactions_limit {
  size_t rows;
  int64_t bytes;
};

/*
 * Sets chosen[i] for each of `count` queued changes, at least one to true if there are any. The chosen ones stay within
 * `most`, except that a single larger row is chosen alone; and they stand together as `stands` says.
 */
MUST_CHECK bool transactions_choose(const struct queued *queued, size_t count, struct transactions_limit most,
                                    bool *chosen, struct error *error);

/*
 * Sets chosen[i] for about half of `count` changes: whole transactions, those that ended first. No change is chosen if
 * all are of one transaction. Bytes do not matter.
 */
MUST_CHECK bool transactions_halve(const struct queued *queued, size_t count, bool *chosen, struct error *error);

#endif
