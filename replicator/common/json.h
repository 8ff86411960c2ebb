/*
 * json: the little that is asked of a row image on its way: which columns it has. The text comes from PostgreSQL, which
 * has made sure that it is well formed.
 */
#ifndef ROWRELAY_COMMON_JSON_H
#define ROWRELAY_COMMON_JSON_H

#include "common/buffer.h"

/*
 * Writes the names of an object's members as a JSON array, in their order and as they are escaped there. False when it
 * is not an object.
 */
MUST_CHECK bool json_names(const char *object, struct buffer *names);

/* One member of an object: texts as they stand there, the name with its quotes. */
struct json_member {
  const char *name;
  size_t name_length;
  const char *value;
  size_t value_length;
};

/* The member at *next, which then points behind it; start with the object itself. False at the end. */
MUST_CHECK bool json_next(const char **next, struct json_member *member);

/* The member that has the same name as `wanted`. */
MUST_CHECK bool json_find(const char *object, const struct json_member *wanted, struct json_member *found);

/* Appends an object or value on one line: only json columns keep line breaks, and there they mean nothing. */
void json_add_line(struct buffer *buffer, const char *text);

/* Writes the names of members that differ between two objects, or are in one of them only, as a JSON array. */
void json_add_changed(struct buffer *buffer, const char *before, const char *after);

#endif
