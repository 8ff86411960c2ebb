/*
 * pattern: tables named on a command line, as psql's \d takes them: `shop.*`, `"Odd name"`, `orders`.
 */
#ifndef ROWRELAY_CLI_PATTERN_H
#define ROWRELAY_CLI_PATTERN_H

#include <stddef.h>

#include "common/error.h"
#include "source/source.h"

/* Columns of what pattern_match() returns. */
enum { PATTERN_OID, PATTERN_TABLE };

/*
 * Runs `query`, which takes an array of patterns and returns (oid, name, pattern), with null as oid for a pattern that
 * matches nothing: that is an error, which says that there is no such `what`. The caller clears *tables, one row for
 * each table.
 */
MUST_CHECK bool pattern_match(struct source *source, const struct query *query, const char *what, size_t count,
                              const char *const *patterns, PGresult **tables, struct error *error);

#endif
