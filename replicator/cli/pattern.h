/*
 * pattern: finds the tables that a command line names by patterns like those of psql's \d: `shop.*`, `"Odd name"`,
 * `orders`.
 */
#ifndef ROWRELAY_CLI_PATTERN_H
#define ROWRELAY_CLI_PATTERN_H

#include <stddef.h>

#include "common/buffer.h"
#include "common/error.h"
#include "source/source.h"

/* What patterns are matched with: its query takes an array of them, and gives layout "pattern". */
struct pattern_kind {
  const struct query *query;
  const char *what; /* one of those, for errors */
};

extern const struct pattern_kind PATTERN_OF_TABLES;
extern const struct pattern_kind PATTERN_OF_CAPTURED; /* tables that are captured now; */
extern const struct pattern_kind PATTERN_OF_LOGGED;   /* and those that were */

struct patterns {
  size_t count;
  const char *const *texts;
};

/* Says that no `what` matches the pattern, and as far as the source knows what was meant. Returns false. */
bool pattern_fail(struct source *source, const char *what, const char *pattern, struct error *error);

/* A pattern that matches nothing is an error. The caller clears *tables, one row for each table. */
MUST_CHECK bool pattern_match(struct source *source, const struct pattern_kind *kind, struct patterns patterns,
                              PGresult **tables, struct error *error);

/* Appends the oids of tables that were found, as an array. */
void pattern_add_oids(struct buffer *oids, const PGresult *tables);

#endif
