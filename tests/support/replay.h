/*
 * replay: what a target does that takes one change of the log at a time. Schema "replay" of the source goes on from
 * where it was, and knows what the tables have to be.
 */
#ifndef ROWRELAY_TESTS_REPLAY_H
#define ROWRELAY_TESTS_REPLAY_H

#include <libpq-fe.h>

/*
 * Gives the source schema "replay": replay.check() says what the log replayed does not give of the captured tables, or
 * what waits in lanes that do not keep its order.
 */
void replay_begin(PGconn *source);

#endif
