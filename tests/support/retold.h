/*
 * retold: stories (nasty.h) are told to the source, and it is seen whether the log tells the same (replay.h):
 *
 *   - no statement fails because its changes cannot be captured;
 *   - after each transaction the log is replayed, one change after the other, and gives the tables;
 *   - what is delivered gives a mirror the rows of the tables, byte for byte;
 *   - a transaction that is undone leaves the tables as they were before it, or is not undone.
 *
 * A story that ends badly is made as short as it can be while it still does, and printed as a script.
 */
#ifndef ROWRELAY_TESTS_RETOLD_H
#define ROWRELAY_TESTS_RETOLD_H

#include "fixture.h"
#include "nasty.h"
#include "replay.h"

#define RETOLD_PROBLEM 2000 /* what is wrong, bytes */

struct retold {
  struct fixture *fixture;
  PGconn *other, *watcher;               /* the other session of a story, and one that sees whether it waits */
  int begun, delivered, undone, refused; /* how often */
  int unjudged;              /* stories of which the log lacks what it lists, so that not all is to be seen */
  double seconds;            /* of delivering */
  char harm[RETOLD_PROBLEM]; /* how the other session was */
};

/* Also adds target "w". */
void retold_begin(struct retold *retold, struct fixture *fixture);
void retold_end(struct retold *retold);
/* Tells the story of this seed; fails the test if it ends badly. */
void retold_tell(struct retold *retold, unsigned int seed);

#endif
