/*
 * uncopied: rows that tables already have when they are routed to a target that keeps the state of rows. Only a
 * backfill brings them there, and without one the mirror would differ while its queue is empty; so whoever routes is
 * told.
 */
#ifndef ROWRELAY_CMD_UNCOPIED_H
#define ROWRELAY_CMD_UNCOPIED_H

#include <libpq-fe.h>

#include "cli/pattern.h"
#include "common/error.h"
#include "source/source.h"

/* Where tables are routed. */
struct place {
  const char *target;
  const char *into; /* the table there; NULL: as it is, or as here */
};

struct uncopied {
  PGresult *found; /* NULL: nothing was looked for */
};

/* Before `tables`, of layout "pattern", are routed: looks which of them have rows and do not go there yet. */
MUST_CHECK bool uncopied_find(struct uncopied *uncopied, struct source *source, const PGresult *tables,
                              struct place place, struct error *error);

/* The same of tables (an array of their names) that have just been routed. */
MUST_CHECK bool uncopied_find_routed(struct uncopied *uncopied, struct source *source, const char *tables,
                                     const char *target, struct error *error);

/* After they have been, by these patterns, of which there may be none: says on stderr that the rows are not copied, and
 * which command does it. */
void uncopied_tell(const struct uncopied *uncopied, struct patterns patterns, const char *target);

void uncopied_release(struct uncopied *uncopied);

#endif
