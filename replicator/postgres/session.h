/*
 * session: opens connections of which each is one session of the server, as long as it lasts. Most of what rowrelay
 * does needs that: settings, prepared statements, LISTEN, locks of a session. A pooler that gives every transaction
 * another session would not only lose them, it would leave them to whoever gets that session next.
 */
#ifndef ROWRELAY_POSTGRES_SESSION_H
#define ROWRELAY_POSTGRES_SESSION_H

#include "postgres/pgconn.h"

/*
 * Connects (see pgconn_open), and then runs `settings`, statements, unless NULL. FAILURE_USAGE behind a pooler that
 * does not keep sessions apart; nothing was changed in any of them then. All of that within `timeout` milliseconds.
 */
#define POOLER_OPEN_TIMEOUT 15000 /* where nobody else waits */
MUST_CHECK bool pooler_open(struct pgconn **connection, const char *conninfo, const char *settings, int64_t timeout,
                            struct error *error);

#endif
