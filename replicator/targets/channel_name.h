/* channel_name: which topic, stream or queue the changes of a table go to. */
#ifndef ROWRELAY_TARGETS_CHANNEL_NAME_H
#define ROWRELAY_TARGETS_CHANNEL_NAME_H

#include "common/buffer.h"
#include "source/route.h"

/* In the place of the table's name. */
#define CHANNEL_NAME_TABLE "{table}"

/*
 * Appends `pattern` with {table} replaced by the table's name at the target, without quotes; each character that not
 * every broker allows (all but ASCII letters, digits, ".", "_" and "-") becomes "_".
 */
void channel_name_add(struct buffer *buffer, const char *pattern, const struct route *route);

#endif
