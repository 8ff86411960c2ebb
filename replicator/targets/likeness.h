/*
 * likeness: what makes a mirror like its table beyond columns, types and key (option --like full): NOT NULL, defaults,
 * CHECKs, comments, partitions. None of it may ever stop what is delivered: what the target does not accept is left out
 * when the mirror is created, and what a row does not meet, because the table was altered since, is dropped.
 */
#ifndef ROWRELAY_TARGETS_LIKENESS_H
#define ROWRELAY_TARGETS_LIKENESS_H

#include "postgres/pgconn.h"
#include "targets/target.h"

/* Creates the mirror of a route that asks for it, or the columns, types and labels that it lacks, with ddl_run(). */
MUST_CHECK bool likeness_create(struct pgconn *connection, bool in_transaction, const struct route *route,
                                struct error *error);

/* Whether an error of a push may be due to a constraint of a mirror that is like its table, or a label that it lacks.
 */
bool likeness_may_be_why(const struct push *push, const struct error *error);

/*
 * Whether it may be due to a partition or label that the table has got since the routes were read: they are to be read
 * again before the mirror gives way.
 */
bool likeness_may_be_outdated(struct pgconn *connection, const struct push *push, const struct error *error);

/*
 * Drops the constraint that a row has violated in the connection's last error, or adds the partitions or labels that
 * lack, in a transaction of its own unless `in_transaction`, and logs that; *gave_way: then the push can be repeated.
 * Otherwise the constraint is not of the mirrors of this push.
 */
MUST_CHECK bool likeness_give_way(struct pgconn *connection, bool in_transaction, const struct push *push,
                                  bool *gave_way, struct error *error);

#endif
