/* change_json: a change as a JSON object, for targets that keep every change. */
#ifndef ROWRELAY_TARGETS_CHANGE_JSON_H
#define ROWRELAY_TARGETS_CHANGE_JSON_H

#include "common/buffer.h"
#include "common/json.h"
#include "source/change.h"

/* How each of them begins. */
#define CHANGE_JSON_BEGIN "{\"change_id\":"

/*
 * Appends {"source", "change_id", "relation", "op", "key", "captured_at", "txid", "actor", "old_row", "new_row"} on one
 * line; source and relation are left out when `source_id` is NULL.
 */
void change_add_json(struct buffer *buffer, const struct change *change, const char *source_id);

/*
 * Appends one of the change's images (NULL: null) on one line. json columns that had to be captured as strings appear
 * as the JSON in the string.
 */
void change_add_image(struct buffer *buffer, const struct change *change, const char *image);

/* Whether a member of its images is such a column; a null there is none of json. */
bool change_has_text(const struct change *change, const struct json_member *member);

/* insert, update, delete, truncate or snapshot */
const char *operation_word(enum operation operation);

#endif
