/*
 * floor: for each lane of a target, the change id up to which nothing is left to claim.
 *
 * Rows that were deleted from the queue stay in its index until vacuum, and vacuum waits for the oldest transaction of
 * the whole cluster. A claim that searched from the beginning of a lane would skip all of them, ever more slowly. So it
 * searches from the floor.
 *
 * A floor may rise to an id only if no transaction can still commit a change with that id or a smaller one (see
 * horizon.h), and everything up to there is settled. When older rows are put back on purpose (rowrelay.retry), the
 * target gets a new version, and all processes begin again from the floor stored in the source. They also do when the
 * source was lost: a crash may have undone the last settlements, but not those before the stored floor.
 *
 * Shared by the workers that serve one target; every function may be called by any thread.
 */
#ifndef ROWRELAY_QUEUE_FLOOR_H
#define ROWRELAY_QUEUE_FLOOR_H

#include <pthread.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/error.h"
#include "source/lanes.h"

struct floor {
  pthread_mutex_t lock;
  int version; /* of the target */
  struct lanes lanes;
  int64_t *ids; /* of lane lanes.first + i at ids[i] */
};

void floor_init(struct floor *floor);
void floor_release(struct floor *floor);

/* To be called when the source was lost. It has no version until it is started again. */
void floor_forget(struct floor *floor);

/* Begins at `id` for all lanes, unless it has that version already. */
MUST_CHECK bool floor_start(struct floor *floor, int version, struct lanes lanes, int64_t id, struct error *error);

/* Lanes, and where to begin to search in each: two PostgreSQL array literals. */
struct starts {
  struct buffer lanes;
  struct buffer floors; /* of each */
};

/* `limit` is for each of the two. */
void starts_init(struct starts *starts, size_t limit);
void starts_release(struct starts *starts);
/* Whether all of what was written is there. */
MUST_CHECK bool starts_ok(const struct starts *starts, struct error *error);

/*
 * Writes the lanes and their floors; `lanes` of `count` chooses some, NULL means all. The floors must be of `version`;
 * false if the floor has another one by now.
 */
MUST_CHECK bool floor_write(struct floor *floor, int version, const int *lanes, size_t count, struct starts *starts);

/* The floor of one lane; false if the floor has another version by now. */
MUST_CHECK bool floor_read(struct floor *floor, int version, int lane, int64_t *id);

/* Raises the floor of a lane, never lowers it. Ignored if the floor has another version by now. */
void floor_raise(struct floor *floor, int version, int lane, int64_t id);

/* The smallest of all lanes, with the version for which it holds. */
int64_t floor_lowest(struct floor *floor, int *version);

#endif
