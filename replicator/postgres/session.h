/*
 * session: opens connections of which each is one session of the server, as long as it lasts. Most of what rowrelay
 * does needs that: settings, prepared statements, LISTEN, locks of a session. A pooler that gives every transaction
 * another session would not only lose them, it would leave them to the next user of that session.
 */
#ifndef ROWRELAY_POSTGRES_SESSION_H
#define ROWRELAY_POSTGRES_SESSION_H

#include "postgres/pgconn.h"

/* What a session is for: whose column of session_settings.sql it gets. */
enum session_purpose {
  SESSION_WORK,    /* of a process that stays, at the source */
  SESSION_COMMAND, /* of one that does what a person asks for, at the source */
  SESSION_COPY,    /* a command's, when it reads a table as a whole */
  SESSION_VERIFY,  /* at either side */
  SESSION_TARGET
};

/* Gives it the settings of that purpose, whatever those of its server are. */
MUST_CHECK bool pooler_set(struct pgconn *connection, enum session_purpose purpose, struct error *error);

/*
 * Connects (see pgconn_open), and then sets what the purpose needs. FAILURE_USAGE behind a pooler that
 * does not keep sessions apart; nothing was changed in any of them then. All of that within `timeout` milliseconds.
 */
#define POOLER_OPEN_TIMEOUT 15000 /* where nobody else waits */
MUST_CHECK bool pooler_open(struct pgconn **connection, const char *conninfo, enum session_purpose purpose,
                            int64_t timeout, struct error *error);

#endif
