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
};

/* Largest size of a batch. */
struct transactions_limit {
  size_t rows;
  int64_t bytes;
};

/*
 * Sets chosen[i] for each of `count` queued changes, at least one to true if there are any. The chosen ones stay within
 * `most`, except that a single larger row is chosen alone.
 */
MUST_CHECK bool transactions_choose(const struct queued *queued, size_t count, struct transactions_limit most,
                                    bool *chosen, struct error *error);

/*
 * Sets chosen[i] for about half of `count` changes: whole transactions, those that ended first. No change is chosen if
 * all are of one transaction. Bytes do not matter.
 */
MUST_CHECK bool transactions_halve(const struct queued *queued, size_t count, bool *chosen, struct error *error);

#endif
