/* pg_session: a connection to a PostgreSQL target, with the settings that the texts of values depend on. */
#ifndef ROWRELAY_TARGETS_PG_SESSION_H
#define ROWRELAY_TARGETS_PG_SESSION_H

#include "postgres/pgconn.h"
#include "source/settings.h"

/*
 * `url` has its ${NAME}s filled in. Statements there are bounded by push_timeout, and what they write is marked as
 * rowrelay's. The fence's table exists afterwards. On success the caller owns *connection.
 */
MUST_CHECK bool session_open(struct pgconn **connection, const struct settings *settings, const char *url,
                             struct error *error);

/* Marks the open transaction, or the session, as rowrelay's; see target_origin.sql. */
MUST_CHECK bool session_set_origin(struct pgconn *connection, const char *origin, bool in_transaction,
                                   struct error *error);

#endif
