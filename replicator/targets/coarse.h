/*
 * coarse: columns of a mirror whose types cannot hold what the source may have in them, because they were altered there
 * since: see coarse_columns.sql. Rows are not delivered into a mirror that has one, if it was created by us: they would
 * be rounded without a word.
 */
#ifndef ROWRELAY_TARGETS_COARSE_H
#define ROWRELAY_TARGETS_COARSE_H

#include "common/error.h"
#include "postgres/pgconn.h"
#include "source/route.h"

/*
 * Looks at the mirror of a route. If it has such a column: false, and an error of FAILURE_TABLE that says how to alter
 * it. A mirror that people made is theirs, and a document has the types that it was given.
 */
MUST_CHECK bool coarse_check(struct pgconn *connection, const struct route *route, struct error *error);

#endif
