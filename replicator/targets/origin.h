/*
 * origin: marks what is written to a PostgreSQL target as rowrelay's, with the tables that each change has passed. A
 * capture there that includes such writes (--capture-origin) logs this path, and processes that deliver its changes
 * leave out what has passed the table that they write to: in a ring of sources a change goes round once.
 */
#ifndef ROWRELAY_TARGETS_ORIGIN_H
#define ROWRELAY_TARGETS_ORIGIN_H

#include "common/buffer.h"
#include "postgres/pgconn.h"
#include "source/change.h"

/* Identities of captured tables of a hundred sources. Bytes. */
#define ORIGIN_LIMIT ((size_t)8192)

struct origin {
  const char *source_id;
  bool in_transaction;  /* marks the transaction only */
  struct buffer marked; /* what the session, or transaction, is marked with; empty: not known */
  struct buffer path;   /* of the change at hand */
};

/* `source_id`, what is marked with where no path is known, is borrowed. */
void origin_init(struct origin *origin, const char *source_id, bool in_transaction);
void origin_release(struct origin *origin);
/* A transaction was rolled back, or another one begins. */
void origin_forget(struct origin *origin);

/* Whether what two changes write is marked alike. */
bool origin_is_same(const struct change *a, const struct change *b);

/* Adds to the open pipeline the statement that marks what comes next as written for this change, unless it is marked
 * so. */
void origin_add(struct origin *origin, struct pgconn *connection, const struct change *change);

#endif
