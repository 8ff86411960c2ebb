/*
 * debezium_schema: Debezium's messages with their schemas, as Kafka Connect's JSON converter writes and reads them:
 * {"schema": …, "payload": …}.
 *
 * Integers, floats and booleans have these types; all else is a string as PostgreSQL writes it and reads it again:
 * numeric, which keeps its digits, json, and arrays ({1,2}). Only rows, and arrays of them, are JSON. What a type
 * cannot hold is null: NaN, infinity, and a mask of another type.
 */
#ifndef ROWRELAY_TARGETS_DEBEZIUM_SCHEMA_H
#define ROWRELAY_TARGETS_DEBEZIUM_SCHEMA_H

#include "targets/debezium.h"

/* As debezium_add_json(). The route must have column_types; a table that is gone has only strings. */
void debezium_schema_add_json(struct buffer *buffer, const struct change *change, const struct debezium *debezium,
                              int64_t now);

/* Appends a message's key (see message_key.h) with its schema. */
void debezium_schema_add_key(struct buffer *buffer, const struct change *change, const struct debezium *debezium,
                             const char *key);

#endif
