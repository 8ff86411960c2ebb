/*
 * append: a PostgreSQL table to which every change is added in order of arrival, as a history. One table for each
 * captured table, by default named like it with _changes; it is created if missing.
 */
#ifndef ROWRELAY_TARGETS_APPEND_H
#define ROWRELAY_TARGETS_APPEND_H

#include "postgres/pgconn.h"
#include "targets/origin.h"
#include "targets/target.h"

struct append;

MUST_CHECK bool append_new(struct append **append, struct error *error);
/* NULL is allowed; the connection may be NULL if nothing was prepared. */
void append_free(struct append *append, struct pgconn *connection);
/* Forgets what append_prepare() made. */
void append_forget(struct append *append, struct pgconn *connection);

/* As mirror_prepare() and mirror_add(). */
MUST_CHECK bool append_prepare(struct append *append, struct pgconn *connection, bool in_transaction,
                               const struct push *push, struct error *error);
MUST_CHECK bool append_add(struct append *append, struct pgconn *connection, struct origin *origin,
                           const struct push *push, struct error *error);

#endif
