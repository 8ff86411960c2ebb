/*
 * itself: detects that a PostgreSQL target is the source itself, by whatever URL, and that a table to be written there
 * is a captured one: deliveries would overwrite what applications write.
 */
#ifndef ROWRELAY_TARGETS_ITSELF_H
#define ROWRELAY_TARGETS_ITSELF_H

#include "postgres/pgconn.h"
#include "source/source.h"
#include "targets/target.h"

struct itself {
  char source[64]; /* identity of the source's server and database: two numbers */
  int *checked;    /* captures whose tables are different ones */
  size_t count;
};

void itself_init(struct itself *itself);
void itself_release(struct itself *itself);

/* Reads the identity of the source. */
MUST_CHECK bool itself_read(struct itself *itself, struct source *source, struct error *error);

/* Asks the target about tables not checked yet. Those that are captured ones are held; see push_hold(). */
MUST_CHECK bool itself_check(struct itself *itself, struct pgconn *connection, const struct push *push,
                             struct error *error);

/* Makes the next check ask about all tables again, since they may have changed. */
void itself_forget(struct itself *itself);

#endif
