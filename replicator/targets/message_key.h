/*
 * message_key: a row's key as targets that carry messages give it: a JSON object of the key's columns, {"id":42}. All
 * changes of a row have the same bytes there, deletes too, so that a topic can be compacted by it.
 */
#ifndef ROWRELAY_TARGETS_MESSAGE_KEY_H
#define ROWRELAY_TARGETS_MESSAGE_KEY_H

#include "common/buffer.h"
#include "source/change.h"

/* Appends it. False: the change has none, as a truncate or a row of a table without a key. */
bool message_key_add(struct buffer *buffer, const struct change *change);

#endif
