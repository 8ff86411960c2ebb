/*
 * fence: refuses pushes that come too late. A process that lost its source may still be pushing while another has
 * already claimed its lanes; so the target stores for each lane of each source the number of the last claim, and
 * refuses older ones, in the same transaction as the data.
 *
 * It also stores which changes a claim has applied that may not have been settled: they may come again, in other
 * batches. Inserting a row without a key twice would duplicate it; and applying part of what was applied already would
 * show readers an earlier state again.
 */
#ifndef ROWRELAY_TARGETS_FENCE_H
#define ROWRELAY_TARGETS_FENCE_H

#include "postgres/pgconn.h"
#include "targets/target.h"

/* Creates the fence's table if it is missing. */
MUST_CHECK bool fence_create(struct pgconn *connection, struct error *error);

struct fence {
  int64_t *applied; /* change ids, ascending */
  size_t count;
  int64_t *unfound; /* change ids, in no order */
  size_t unfound_count;
};

void fence_init(struct fence *fence);
void fence_release(struct fence *fence);

/* Begins a transaction and passes the fences of the push's lanes in it; FAILURE_FENCED: too late. */
MUST_CHECK bool fence_pass(struct fence *fence, struct pgconn *connection, const char *source_id,
                           const struct push *push, struct error *error);

/*
 * The same for an open pipeline, to which the changes are added: its statements fail unless the fences can be passed.
 * Where the push `counts`, they fail as well if something of it has been applied before, and otherwise record it as
 * applied. Not for a push with a barrier.
 */
void fence_pass_new(struct fence *fence, struct pgconn *connection, const char *source_id, const struct push *push,
                    bool counts);
bool fence_can_be_passed_new(const struct push *push);

/* Topic of the fence's statement in a pipeline: if the pipeline fails with it, fence_pass() tells why. */
#define FENCE_TOPIC (-1)

/*
 * Shuts out every claim of these lanes with a smaller number, and waits for pushes that have passed already; where a
 * later claim has passed, it has done so. `lanes` is an array literal.
 */
MUST_CHECK bool fence_raise(struct pgconn *connection, const char *source_id, const char *lanes, const char *token,
                            struct error *error);

/*
 * Shuts out every claim so far of targets that the source has dropped. One of them may have led here, and may have lost
 * the source while it pushed; what follows is newer.
 */
MUST_CHECK bool fence_raise_dropped(struct pgconn *connection, const char *source_id, struct source *source,
                                    struct error *error);

/*
 * Looks whether the target knows the claims that it has confirmed, by the source's receipts, whichever process
 * delivered them and whenever. Warns if it has lost some; see loss.h. Every worker asks when it connects, before it
 * pushes.
 */
MUST_CHECK bool fence_look(struct pgconn *connection, const struct settings *settings, struct source *source,
                           struct error *error);

/* Adds the change ids of an array literal of bigint[]; when all have been added they are put in order. */
MUST_CHECK bool fence_add(struct fence *fence, const char *literal, struct error *error);
void fence_order(struct fence *fence);
/* Whether a change has been applied by an earlier delivery. */
bool fence_has(const struct fence *fence, int64_t change_id);
/* And that delivery did not find a row without a key that this change, or another of its table, says was there. */
bool fence_was_unfound(const struct fence *fence, int64_t change_id);
/*
 * Where the fence has such changes of a lane: in a row of its own, as if that were one more lane. It is written in the
 * transaction that applies them, so that a process's end before it could tell the source of them loses nothing.
 */
static inline int fence_unfound_lane(int lane) {
  return -lane;
}
/* The same, and nothing older of its row has been applied since: a change that was refused and is retried may be older
 * than one of its row that was applied and not settled. */
bool fence_has_since(const struct fence *fence, int64_t change_id);

/* Equal for changes of the same row at the target, and seldom for others; 0: it may be of any row. */
int64_t fence_row(const struct change *change);

/* Adds to the open pipeline a statement that records the push's changes as applied. */
void fence_note(struct pgconn *connection, const char *source_id, const struct push *push);

#endif
