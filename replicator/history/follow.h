/*
 * follow: finds what has been committed to the log since it was asked before: each change once, however late its
 * transaction commits.
 *
 * Ids alone cannot tell: they are given out while transactions run, so a smaller one may appear after a larger one was
 * shown. Snapshots can: what is new is visible in this one and was not in the one before. Ids only say where to look:
 *
 *   - At each look, first the last id is read, then the transaction id that comes next. Transactions from that one on
 *     have larger ids only. (A snapshot's xmax would not do: it comes after the last that has ended, not the last that
 *     was begun.) What they wrote is looked for above that id, by the primary key.
 *   - Such a point is kept while a transaction runs that is known from there. When one has ended, the look goes back to
 *     its point. One that is only open costs nothing.
 *   - What ran already when following began is looked up by its transaction when it has ended.
 *
 * A transaction writes into the partition of the day on which it began. To look into hundreds of them costs too much
 * for several times a second, so what began before yesterday is looked for by a follower of its own, every few seconds.
 *
 * After a crash, the server may give out numbers anew that it had not yet written down: transactions and ids. What was
 * shown last is remembered, so that after a lost connection everything above can be looked at again.
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
  uint64_t first; /* the first transaction that is known from its beginning */
  /* what is visible in this snapshot was shown; owned, NULL before the first */
  char *snapshot;
  uint64_t xmax;     /* of those below it, only these ran: */
  uint64_t *running; /* owned */
  size_t running_count;
  int64_t high; /* the last id after it was taken */
  /* owned; the last one is of this look */
  struct follow_point *points;
  size_t point_count;
};

/* What was shown last. */
struct follow_shown {
  struct change_list page;
  int64_t base; /* those with larger ids are here */
};

/* Who is told of changes. */
struct follow_reader {
  const struct log_filter *filter; /* those that he wants; borrowed, as is what he was shown */
  struct follow_shown *shown;
  /* The page is in the order of ids. *printed is how many of it the reader has got, also on failure. */
  bool (*print)(struct follow_reader *reader, struct source *source, const struct change_list *page, size_t *printed,
                struct error *error);
};

void follow_init(struct follower *follower, const char *from_day, const char *before_day);
void follow_release(struct follower *follower);
/* To be called when following has begun at that moment. */
void follow_shown_init(struct follow_shown *shown, const struct follower *begun);
void follow_shown_release(struct follow_shown *shown);

/* What is committed by now is not news. The snapshot tells what that is. */
MUST_CHECK bool follow_begin(struct follower *follower, struct source *source, struct error *error);
/* From where the other one is. */
MUST_CHECK bool follow_begin_at(struct follower *follower, const struct follower *other, struct error *error);

/*
 * Hands what is new to the reader. `again`: the connection was lost since the last look. When it fails, nothing is
 * lost: the next look finds what the reader has not got.
 */
MUST_CHECK bool follow_poll(struct follower *follower, struct source *source, struct follow_reader *reader, bool again,
                            struct error *error);

#endif
