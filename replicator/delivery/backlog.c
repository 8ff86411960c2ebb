#include "delivery/backlog.h"

#include "common/clock.h"

/* So many changes between the first of a claim and the newest are a backlog, until so long after the claim (in
 * milliseconds). */
#define BACKLOG 10000
#define BACKLOG_LASTS 1000

void backlog_claimed(struct backlog *backlog, int64_t first_id, int64_t newest) {
  if (newest - first_id >= BACKLOG)
    atomic_store(&backlog->seen_at, clock_now());
}

bool backlog_is_there(const struct backlog *backlog) {
  int64_t seen_at = atomic_load(&backlog->seen_at);
  return seen_at > 0 && clock_now() - seen_at < BACKLOG_LASTS;
}
