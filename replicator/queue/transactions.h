/*
 * transactions: which of the changes that are queued in a lane make a batch of whole transactions.
 *
 * Transactions that were open at the same time have ids in between each other, so under concurrent writers there may be
 * no id at which none is open, and a batch that takes ids from the first on would always cut some. Instead transactions
 * are taken in the order of their last changes, as many as fit, and the ids in between that belong to others stay in
 * the queue. No two changes are reordered of which one depends on the other: whoever saw, or waited for, what a
 * transaction had changed did so after its end, so all of its own changes from then on have larger ids than all of that
 * transaction's.
 *
 * A transaction that does not fit is cut into pieces that do, and each is treated as a transaction. What holds for
 * transactions holds for pieces too, because the last change of a piece is older than that of the whole.
 */
#ifndef ROWRELAY_QUEUE_TRANSACTIONS_H
#define ROWRELAY_QUEUE_TRANSACTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* A change in the queue; they are given in order of ids. */
struct queued {
  int64_t txid;
  int64_t bytes;
};

/* How much a batch may be. */
struct transactions_limit {
  size_t rows;
  int64_t bytes;
};

/*
 * Sets chosen[i] for each of `count` queued changes, at least one of them to true unless there is none. What is chosen
 * has at most `most` rows and bytes, except that a single larger row is chosen alone.
 */
MUST_CHECK bool transactions_choose(const struct queued *queued, size_t count, struct transactions_limit most,
                                    bool *chosen, struct error *error);

#endif
