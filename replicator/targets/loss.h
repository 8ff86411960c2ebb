/*
 * loss: notices that a target's server has lost what it had: one without persistence was started again, an empty one or
 * a standby that lagged has taken its place, a stream was deleted and made anew. Delivery goes on there, and nothing
 * else would tell.
 */
#ifndef ROWRELAY_TARGETS_LOSS_H
#define ROWRELAY_TARGETS_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/settings.h"

/*
 * Tells at which position a place of the target is, which never falls as long as the server keeps what it has: `part`
 * of `name`. Logs a warning when it has fallen since this thread was last told, one a minute for a target. What a
 * process does not live to see is not noticed.
 */
void loss_look(const struct settings *settings, const char *name, int part, int64_t position);

/*
 * The same, where somebody else has found it: `name` was at `before` and is at `now`. A PostgreSQL target is asked when
 * a worker connects, see fence_look().
 */
void loss_tell(const struct settings *settings, const char *name, int64_t before, int64_t now);

struct loss {
  int target;
  char what[512];
  char helps[512];
};

/* Gives one that was noticed since, so that it can be told to who does not read the log; false: there is none. */
bool loss_take(struct loss *loss);
/* Takes it back, because it could not be told. */
void loss_give_back(const struct loss *loss);

#endif
