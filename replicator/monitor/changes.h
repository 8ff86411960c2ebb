/*
 * changes: hands out changes of the log over HTTP as they are committed, to any number of listeners, with one
 * connection to the source and one thread that reads for all of them.
 */
#ifndef ROWRELAY_MONITOR_CHANGES_H
#define ROWRELAY_MONITOR_CHANGES_H

#include "http/server.h"

/* Environment variable: the file of tokens, each with a role of the source; without it nobody may listen. */
#define CHANGES_TOKENS "ROWRELAY_CHANGES_TOKENS"

struct changes;

/*
 * `conninfo` of the source, borrowed. Fails if the file of tokens cannot be read; without one, all that is asked for is
 * answered with how to allow it.
 */
MUST_CHECK bool changes_start(struct changes **changes, const char *conninfo, struct error *error);
/* Tells all listeners that it is over; those that come later are told so at once. NULL is allowed, here and below. */
void changes_leave(struct changes *changes);
/* Leaves, and ends the thread. */
void changes_stop(struct changes *changes);
/* When nobody can call changes_keep() any more. */
void changes_free(struct changes *changes);

/* For server_route.keep. */
bool changes_keep(struct changes *changes, const struct server_request *request, struct exchange *exchange,
                  struct server_answer *answer);

#endif
