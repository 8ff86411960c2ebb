/*
 * backlog: whether this process delivers a backlog, of whatever target: then other work leaves the source to it.
 */
#ifndef ROWRELAY_DELIVERY_BACKLOG_H
#define ROWRELAY_DELIVERY_BACKLOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Shared by all threads; all zero: there is none. */
struct backlog {
  _Atomic int64_t seen_at; /* when a claim last showed one; clock_now() */
};

/*
 * A claim began with change `first_id`, when `newest` was one of the newest changes. A target that is away has no
 * backlog in this sense.
 */
void backlog_claimed(struct backlog *backlog, int64_t first_id, int64_t newest);
/* Whether a claim of the last second showed a backlog. */
bool backlog_is_there(const struct backlog *backlog);

#endif
