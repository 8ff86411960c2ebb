/*
 * writers: applications at work: several processes that write into two tables of the source at random, all in their own
 * transactions, with some keys that all of them are after.
 *
 * stock (id int primary key, n bigint, note text): updates, deletes, upserts, keys that change, several rows at once;
 * ledger (what text, n int), which has no key: inserts, updates and deletes of one of several equal rows. One
 * transaction in six rolls back, some to a savepoint, and whatever fails (a key that is there already, a deadlock, a
 * server that goes away) is not tried again, except that a lost connection is replaced.
 */
#ifndef ROWRELAY_TESTS_WRITERS_H
#define ROWRELAY_TESTS_WRITERS_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define MOST_WRITERS 16

struct writers {
  pid_t processes[MOST_WRITERS];
  int count;
};

void writers_make_tables(PGconn *connection);
/* Fills stock with rows 1 … keys, and ledger with some. */
void writers_fill_tables(PGconn *connection, int keys);

/* Starts `count` processes that run `transactions` between them, on `hot` keys more than on the others of `keys`. */
void writers_start(struct writers *writers, const char *conninfo, int count, int transactions, int hot, int keys);

/* Random numbers: the same ones in every run. */
struct dice {
  unsigned int state;
};

/* From 1 up to `most`. */
int roll(struct dice *dice, int most);
/* Of `keys`, more often one of the first `hot`. */
int roll_key(struct dice *dice, int hot, int keys);

/* The same with statements of the caller's: `write` makes one, which may fail. */
typedef void statement_writer(struct dice *dice, int hot, int keys, char *statement, size_t size);
void writers_start_with(struct writers *writers, const char *conninfo, int count, int transactions, int hot, int keys,
                        statement_writer *write);

/* Whether all of them have come to their end. */
bool writers_are_done(struct writers *writers);
/* Waits for them; fails the test if one of them had trouble or takes longer. */
void writers_finish(struct writers *writers, double seconds);

#endif
