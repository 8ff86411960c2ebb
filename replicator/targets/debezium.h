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

/* Appends the envelope; `now` is the time in milliseconds since 1970. */
void debezium_add_json(struct buffer *buffer, const struct change *change, const struct debezium *debezium,
                       int64_t now);

#endif
