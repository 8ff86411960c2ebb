/*
 * mirror: a PostgreSQL table that is kept equal to its source: rows are upserted and deleted by key, many in one
 * statement.
 *
 * The statements are made for the columns that a row image has, its shape, and kept. So columns that were not captured
 * are left alone, and a column missing at the target is noticed with the first row that has it, rather than lost.
 *
 * Rows without a key are found by their whole value. If the target does not have as many such rows as are to be
 * deleted, it differs from the source, which would go unseen: the verdict of one of the changes says so.
 */
#ifndef ROWRELAY_TARGETS_MIRROR_H
#define ROWRELAY_TARGETS_MIRROR_H

#include "postgres/pgconn.h"
#include "targets/fence.h"
#include "targets/origin.h"
#include "targets/target.h"

struct mirror;

/* `source_id` and `origin` are borrowed; `source_id` NULL: there is no fence. */
MUST_CHECK bool mirror_new(struct mirror **mirror, const char *source_id, struct origin *origin, struct error *error);
/* NULL is allowed; the connection may be NULL if the mirror has prepared nothing. */
void mirror_free(struct mirror *mirror, struct pgconn *connection);
/* Forgets what mirror_prepare() made, because it was rolled back or the statements are no longer right. */
void mirror_forget(struct mirror *mirror, struct pgconn *connection);

/*
 * Prepares what the push needs: statements, and tables and columns if a route asks for that. `in_transaction`: one is
 * open; otherwise tables are created in one of their own.
 */
MUST_CHECK bool mirror_prepare(struct mirror *mirror, struct pgconn *connection, bool in_transaction,
                               const struct push *push, struct error *error);

/* Adds the push's statements to the open pipeline. `fence` may be NULL. */
MUST_CHECK bool mirror_add(struct mirror *mirror, struct pgconn *connection, const struct push *push,
                           const struct fence *fence, struct error *error);

#endif
