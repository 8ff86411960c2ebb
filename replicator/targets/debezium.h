/*
 * debezium: a change in the envelope of Debezium's PostgreSQL connector, as JSON without schema
 * (https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-events).
 */
#ifndef ROWRELAY_TARGETS_DEBEZIUM_H
#define ROWRELAY_TARGETS_DEBEZIUM_H

#include "common/buffer.h"
#include "source/change.h"

/* Which place a change has in its transaction, see debezium_transaction.h. */
struct debezium_mark {
  const char *txid; /* NULL: it is of none */
  int64_t first_id; /* of the transaction's changes in this batch */
  int64_t last_id;
  int64_t total_order; /* from 1 */
  int64_t table_order; /* the same among the changes of its table */
};

/* What the envelopes of a source have in common. */
struct debezium {
  const char *name;                 /* of the source, as Debezium's topic.prefix */
  const char *database;             /* that the tables are in */
  const struct debezium_mark *mark; /* of the change that is being added; NULL: none */
};

/* What differs where an envelope has its schema. */
struct debezium_writing {
  int64_t now; /* milliseconds since 1970 */
  /* Appends an image; NULL is null. */
  void (*add_row)(struct buffer *buffer, const struct change *change, const char *image);
};
void debezium_add_envelope(struct buffer *buffer, const struct change *change, const struct debezium *debezium,
                           const struct debezium_writing *writing);

/* Appends the member with which a transaction's id is told. */
void debezium_add_transaction_id(struct buffer *buffer, const struct debezium_mark *mark);

/* Appends "SCHEMA.TABLE" as a JSON string, without the quotes that names have in SQL. */
void debezium_add_table_name(struct buffer *buffer, const char *relation);

/* Appends the envelope; `now` is the time in milliseconds since 1970. */
void debezium_add_json(struct buffer *buffer, const struct change *change, const struct debezium *debezium,
                       int64_t now);

#endif
