/*
 * follow: finds what has been committed to the log since the last poll: each change once, however late its transaction
 * commits.
 *
 * Ids alone cannot tell: they are assigned while transactions run, so a smaller one may appear after a larger one was
 * shown. Snapshots can: what is new is visible in this one and was not in the one before. Ids only tell where to
 * search:
 *
 *   - Each poll first reads the last change id, then the next transaction id. Transactions from that one on write
 * larger change ids only. (A snapshot's xmax would not do: it follows the last transaction that ended, not the last
 * that began.) Their changes are searched for above that id, by the primary key.
 *   - Such a point is kept while a transaction runs whose changes lie above it. When one ends, the poll goes back to
 * its point. A transaction that is only open costs nothing.
 *   - Changes of transactions that ran when following began are looked up by transaction when those end.
 *
 * A transaction writes into the partition of the day on which it began. Hundreds of partitions cannot be searched
 * several times a second, so a second follower, every few seconds, handles transactions that began before yesterday.
 *
 * After a crash, the server may assign transaction and change ids again that were not on disk yet. What was shown last
 * is remembered, so that after a lost connection everything above can be searched again.
 */
#ifndef ROWRELAY_HISTORY_FOLLOW_H
#define ROWRELAY_HISTORY_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "history/change_list.h"
#include "history/log_reader.h"
#include "source/source.h"

/* Transactions from `next` on have ids above `low` only. */
struct follow_point {
  uint64_t next;
  int64_t low;
};

struct follower {
  const char *from_day; /* borrowed; either is NULL */
  const char *before_day;
  uint64_t first; /* the first transaction that began after following did */
  /* what is visible in this snapshot was shown; owned, NULL before the first */
  char *snapshot;
  uint64_t xmax;     /* of those below it, only these ran */
  uint64_t *running; /* owned */
  size_t running_count;
  int64_t high; /* the last id after it was taken */
  /* owned; the last one is of this poll */
  struct follow_point *points;
  size_t point_count;
};

/* What was shown last. */
struct follow_shown {
  struct change_list page;
  int64_t base; /* those with larger ids are here */
};

/* The consumer of changes. */
struct follow_reader {
  const struct log_filter *filter; /* what it wants; borrowed, like the next */
  struct follow_shown *shown;
  /* The page is in the order of ids. *printed is how many of it the reader has got, also on failure. */
  bool (*print)(struct follow_reader *reader, struct source *source, const struct change_list *page, size_t *printed,
                struct error *error);
};

void follow_init(struct follower *follower, const char *from_day, const char *before_day);
void follow_release(struct follower *follower);
/* To be called when `begun` has begun. */
void follow_shown_init(struct follow_shown *shown, const struct follower *begun);
void follow_shown_release(struct follow_shown *shown);

/* Takes a snapshot: what is committed by now will not be handed over. */
MUST_CHECK bool follow_begin(struct follower *follower, struct source *source, struct error *error);
/* Begins where `other` stands. */
MUST_CHECK bool follow_begin_at(struct follower *follower, const struct follower *other, struct error *error);

/*
 * Hands what is new to the reader. `again`: the connection was lost since the last poll. If it fails, nothing is
 * lost: the next poll finds what the reader has not got.
 */
MUST_CHECK bool follow_poll(struct follower *follower, struct source *source, struct follow_reader *reader, bool again,
                            struct error *error);

#endif
