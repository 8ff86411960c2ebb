/*
 * sentence: statements of a story (nasty.h) that write to its tables.
 */
#ifndef ROWRELAY_TESTS_SENTENCE_H
#define ROWRELAY_TESTS_SENTENCE_H

#include "author.h"

#define LONG 600 /* of a statement, bytes */

/* An expression for the id of table t that the whole number `number` stands for, in one of its spellings. */
const char *as_id(struct author *author, int t, const char *number);
/* The whole number that `id`, an expression for an id of table t, stands for. */
const char *as_number(struct author *author, int t, const char *id);
/* The name of table t, of a part of it, or of its view. */
const char *name_of(struct author *author, int t, char *text, size_t size);

/* A statement that writes; `near` is an expression for the number of a row at hand, or "". */
void sentence_write(struct author *author, const char *near, char *text, size_t size);
/* One row of a table whose key may be null loses its key, or gets one: a null stays null whatever is added to it. */
void sentence_of_null(struct author *author, int t, char *text, size_t size);

#endif
