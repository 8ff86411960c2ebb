/* pg_session: a connection to a PostgreSQL database that is a target, with settings under which values mean what they
 * should. */
#ifndef ROWRELAY_TARGETS_PG_SESSION_H
#define ROWRELAY_TARGETS_PG_SESSION_H

#include "postgres/pgconn.h"
#include "source/settings.h"

/*
 * `url` has its ${NAME}s filled in. Statements there are bounded by the settings' push_timeout, and what they write is
 * marked as rowrelay's. The fence's table is there. On success the caller owns *connection.
 */
MUST_CHECK bool session_open(struct pgconn **connection, const struct settings *settings, const char *url,
                             struct error *error);

/* Says who writes, so that what is captured there does not come back; for the open transaction, or the session. */
MUST_CHECK bool session_set_origin(struct pgconn *connection, const struct settings *settings, bool in_transaction,
                                   struct error *error);

#endif
