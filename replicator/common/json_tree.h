/*
 * json_tree: JSON as jansson's values, for texts that may be anything.
 */
#ifndef ROWRELAY_COMMON_JSON_TREE_H
#define ROWRELAY_COMMON_JSON_TREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Parses a text with jansson's flags; the caller's to json_decref(). NULL: it is not JSON, or *no_memory. jansson alone
 * calls both a syntax error.
 */
json_t *json_tree_parse(const char *text, size_t length, size_t flags, bool *no_memory);

#endif
