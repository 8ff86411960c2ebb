/*
 * json: the little that is asked of a row image on its way: which columns it has. The text comes from PostgreSQL, which
 * has made sure that it is well formed.
 */
#ifndef ROWRELAY_JSON_H
#define ROWRELAY_JSON_H

#include "buffer.h"

/*
 * Writes the names of an object's members as a JSON array, in their order and as they are escaped there. False when it
 * is not an object.
 */
MUST_CHECK bool json_names(const char *object, struct buffer *names);

#endif
