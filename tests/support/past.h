/* past: changes that were captured just now, made to look as if that had been on another day. */
#ifndef ROWRELAY_TESTS_PAST_H
#define ROWRELAY_TESTS_PAST_H

#include <libpq-fe.h>

/*
 * Moves all changes of today to the day that many days ago, queued or not, and their times with them. Gives that day's
 * name, valid until 16 more calls. At least 3, so that it can be closed.
 */
const char *past_move(PGconn *source, int days_ago);
/* Lets rowrelay find out that past days are closed, without waiting as long as it does. */
void past_close(PGconn *source);

#endif
