/*
 * debezium: a change in the envelope of Debezium's PostgreSQL connector, as JSON without schema
 * (https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-events).
 */
#ifndef ROWRELAY_TARGETS_DEBEZIUM_H
#define ROWRELAY_TARGETS_DEBEZIUM_H

#include "common/buffer.h"
#include "source/change.h"

/* What the envelopes of a source have in common. */
struct debezium {
  const char *name;     /* of the source, as Debezium's topic.prefix */
  const char *database; /* that the tables are in */
};

/* What differs where an envelope has its schema. */
struct debezium_writing {
  int64_t now; /* milliseconds since 1970 */
  /* Appends an image; NULL is null. */
  void (*add_row)(struct buffer *buffer, const struct change *change, const char *image);
};
void debezium_add_envelope(struct buffer *buffer, const struct change *change, const struct debezium *debezium,
                           const struct debezium_writing *writing);

/* Appends the envelope; `now` is the time in milliseconds since 1970. */
void debezium_add_json(struct buffer *buffer, const struct change *change, const struct debezium *debezium,
                       int64_t now);

#endif
