/*
 * buffer: bytes that grow up to a mandatory limit, always followed by an uncounted NUL, so that `data` can be used as a
 * string.
 */
#ifndef ROWRELAY_COMMON_BUFFER_H
#define ROWRELAY_COMMON_BUFFER_H

#include <stddef.h>

#include "common/error.h"

struct buffer {
  char *data; /* owned; never NULL after the first successful buffer_add */
  size_t length;
  size_t capacity;
  size_t limit;   /* bytes */
  bool overflow;  /* something did not fit, or memory ran out: the content must not be used */
  bool no_memory; /* of the two, this */
};

/* `limit`: most bytes it may hold. Allocates nothing. */
void buffer_init(struct buffer *buffer, size_t limit);
void buffer_release(struct buffer *buffer);
/* Empties it, and keeps the memory for the next use. */
void buffer_clear(struct buffer *buffer);
/* Removes its first `length` bytes. */
void buffer_drop(struct buffer *buffer, size_t length);

/*
 * These append. What does not fit sets `overflow` and is dropped, so that a chain of calls needs only one check at
 * its end: buffer_ok().
 */
void buffer_add(struct buffer *buffer, const void *bytes, size_t length);
void buffer_add_string(struct buffer *buffer, const char *string);
void buffer_add_format(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As a JSON string with its quotes; `string` is UTF-8. NULL becomes null. */
void buffer_add_json_string(struct buffer *buffer, const char *string);
/* As an element of a PostgreSQL array literal, in quotes. */
void buffer_add_array_string(struct buffer *buffer, const char *string);

/* Whether nothing was appended. What did not fit counts as something, so that nobody goes on as if it had not been. */
bool buffer_is_empty(const struct buffer *buffer);

/* Overflows if `part` has, of which the content has been appended: what was built from half a text is half a text. */
void buffer_inherit(struct buffer *buffer, const struct buffer *part);

/* The same where memory ran out for what should have been appended. */
void buffer_lack_memory(struct buffer *buffer);

/* False with an error that names `what` when something did not fit, or FAILURE_RETRY when memory ran out. */
MUST_CHECK bool buffer_ok(const struct buffer *buffer, const char *what, struct error *error);

#endif
