/* ddl: creates what is missing at a target: a table, columns, types. */
#ifndef ROWRELAY_TARGETS_DDL_H
#define ROWRELAY_TARGETS_DDL_H

#include "postgres/pgconn.h"

/*
 * Runs the statements that `query` returns as one text, all or none. Of processes that do so at the same time, the
 * first creates the objects, and the others' queries see them. `in_transaction`: within the open transaction.
 */
MUST_CHECK bool ddl_run(struct pgconn *connection, bool in_transaction, const struct query *query, struct values values,
                        struct error *error);

/* The same with a script that makes what is missing, a single statement, in a transaction of its own. */
MUST_CHECK bool ddl_create(struct pgconn *connection, const struct query *script, struct error *error);

#endif
