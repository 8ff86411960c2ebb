/* kafka_topic: which topic the changes of a table go to. */
#ifndef ROWRELAY_TARGETS_KAFKA_TOPIC_H
#define ROWRELAY_TARGETS_KAFKA_TOPIC_H

#include "common/buffer.h"
#include "source/route.h"

/* In the place of the table's name. */
#define KAFKA_TOPIC_TABLE "{table}"

/*
 * Appends `pattern` with {table} replaced by the table's name at the target, without quotes; each character that a
 * topic may not have (all but ASCII letters, digits, ".", "_" and "-") becomes "_".
 */
void kafka_topic_add(struct buffer *buffer, const char *pattern, const struct route *route);

#endif
