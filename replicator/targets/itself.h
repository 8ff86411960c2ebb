/*
 * itself: whether a PostgreSQL target is the source itself, whatever URL leads there, and a table that is written to
 * there a captured one: what is delivered would overwrite what applications write.
 */
#ifndef ROWRELAY_TARGETS_ITSELF_H
#define ROWRELAY_TARGETS_ITSELF_H

#include "postgres/pgconn.h"
#include "source/source.h"
#include "targets/target.h"

struct itself {
  char source[64]; /* what the source's server says of itself, and which database it is */
  int *checked;    /* captures whose tables are others */
  size_t count;
};

void itself_init(struct itself *itself);
void itself_release(struct itself *itself);

/* Asks the source who it is. */
MUST_CHECK bool itself_read(struct itself *itself, struct source *source, struct error *error);

/* Asks the target, for tables that are new. Those that are captured ones are held; see push_hold(). */
MUST_CHECK bool itself_check(struct itself *itself, struct pgconn *connection, const struct push *push,
                             struct error *error);

/* Asks anew for all tables: they may be others by now. */
void itself_forget(struct itself *itself);

#endif
