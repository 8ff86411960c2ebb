/*
 * array: turns lists from the command line into PostgreSQL arrays and JSON.
 *
 * Names of columns follow SQL's rule: ASCII letters are folded to lower case unless the name is in double quotes,
 * within which "" stands for one quote.
 */
#ifndef ROWRELAY_CLI_ARRAY_H
#define ROWRELAY_CLI_ARRAY_H

#include <stddef.h>

#include "common/buffer.h"
#include "common/error.h"

/* Longest list. Bytes. */
#define LIST_LIMIT ((size_t)1024 * 1024)

/* Appends the texts, as they are, as an array: {"a","b"}. */
void array_add_texts(struct buffer *array, size_t count, const char *const *texts);

/* Appends the column names of `text`, such as `id, "Line No"`, as an array; a blank text is an empty array. */
MUST_CHECK bool array_add_names(struct buffer *array, const char *text, struct error *error);

/*
 * Appends the members of a JSON object, without its braces, for the columns of `text`, such as `iban=***, note`. A
 * value reaches to the next comma, or stands in double quotes; a column without `=` gets null.
 */
MUST_CHECK bool array_add_masks(struct buffer *object, const char *text, struct error *error);

/* Appends one member, without the braces, for a setting such as `mode=append`. An empty value becomes null. */
MUST_CHECK bool array_add_setting(struct buffer *object, const char *text, struct error *error);

#endif
