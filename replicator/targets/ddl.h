/* ddl: creates what is missing at a target: a table, columns, types. */
#ifndef ROWRELAY_TARGETS_DDL_H
#define ROWRELAY_TARGETS_DDL_H

#include "postgres/pgconn.h"

/* Fails in a database that publishes all tables: what is made there is published, too. See schema/check_published.sql.
 */
MUST_CHECK bool ddl_check(struct pgconn *connection, struct error *error);

/*
 * Runs the statements that `query` returns as one text, all or none. Of processes that do so at the same time, the
 * first creates the objects, and the others' queries see them. `in_transaction`: within the open transaction. It fails
 * before it makes anything where ddl_check() does.
 */
MUST_CHECK bool ddl_run(struct pgconn *connection, bool in_transaction, const struct query *query, struct values values,
                        struct error *error);

#endif
