/*
 * debezium_transaction: Debezium's transaction metadata, for a target with one lane, whose batches hold whole
 * transactions: each change says which place it has in its transaction, and two messages say where one begins and ends
 * (https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-transaction-metadata).
 *
 * A transaction that is divided, see queue/transactions.h, is told as several, one in each batch; so is one of which a
 * change was refused and comes later. The id of each is TXID:FIRST-LAST with its changes in the batch: what is pushed
 * again has the same. What was copied, or is of no transaction, has no mark.
 */
#ifndef ROWRELAY_TARGETS_DEBEZIUM_TRANSACTION_H
#define ROWRELAY_TARGETS_DEBEZIUM_TRANSACTION_H

#include "targets/debezium.h"
#include "targets/target.h"

struct debezium_transaction {
  const struct debezium_mark *mark; /* of its last change */
  size_t first;                     /* the places of its changes */
  size_t behind;                    /* and where they end, in `places` */
};

struct debezium_transactions {
  const struct push *push;
  struct debezium_mark *marks; /* one for each change */
  size_t *places;              /* indexes of changes, by transaction and, in one, by table */
  struct debezium_transaction *all;
  size_t count;
};

MUST_CHECK bool debezium_transactions_init(struct debezium_transactions *transactions, const struct push *push,
                                           struct error *error);
void debezium_transactions_release(struct debezium_transactions *transactions);

/* The place of a change in its transaction; NULL: it is of none. */
const struct debezium_mark *debezium_transactions_mark(const struct debezium_transactions *transactions, size_t index);

/* How a message tells of one. */
struct debezium_boundary {
  const struct debezium_transaction *transaction;
  bool is_end;
  bool has_schema;
  int64_t now; /* milliseconds since 1970 */
};

void debezium_transaction_add_key(struct buffer *buffer, const struct debezium_boundary *boundary);
/* An end counts the changes that the push has delivered. */
void debezium_transaction_add_value(struct buffer *buffer, const struct debezium_transactions *transactions,
                                    const struct debezium_boundary *boundary);

#endif
