/*
 * json: reads the members of row images. The text comes from PostgreSQL, and is well formed.
 */
#ifndef ROWRELAY_COMMON_JSON_H
#define ROWRELAY_COMMON_JSON_H

#include "common/buffer.h"

/*
 * Writes the names of an object's members as a JSON array, in order and with their escapes. False if it is not an
 * object.
 */
MUST_CHECK bool json_names(const char *object, struct buffer *names);

/* One member of an object: its texts as written, the name with its quotes. */
struct json_member {
  const char *name;
  size_t name_length;
  const char *value;
  size_t value_length;
};

/* Reads the member at *next and advances it; start with the object itself. False at the end. */
MUST_CHECK bool json_next(const char **next, struct json_member *member);

/* The element of an array at *next, as its value alone, and advances it; start with the array itself. False at the end.
 */
MUST_CHECK bool json_next_element(const char **next, struct json_member *element);

/* The member that has the same name as `wanted`. */
MUST_CHECK bool json_find(const char *object, const struct json_member *wanted, struct json_member *found);

/* Appends an object or value on one line: line breaks occur only between tokens, in json columns. */
void json_add_line(struct buffer *buffer, const char *text);

/* Writes the names of members that differ, or that only one object has, as a JSON array. */
void json_add_changed(struct buffer *buffer, const char *before, const char *after);

#endif
