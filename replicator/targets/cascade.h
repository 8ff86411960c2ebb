/*
 * cascade: warns of foreign keys of a mirror that delete or change its rows by themselves. The order between keys of
 * different tables is not promised, so a parent's delete may come after newer children, which it would take along.
 */
#ifndef ROWRELAY_TARGETS_CASCADE_H
#define ROWRELAY_TARGETS_CASCADE_H

#include "common/error.h"
#include "postgres/pgconn.h"
#include "source/route.h"

/* Looks at the mirror of a route, and logs what it finds: in this process once for each mirror and target. */
MUST_CHECK bool cascade_tell(struct pgconn *connection, const char *target, const struct route *route,
                             struct error *error);

#endif
