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
 * The same for the lanes of a target whose fence has the number of the last claim of each: what any thread of this
 * process has pushed is remembered, because another lane, or another thread, may be the first to push again.
 * `loss_recall_lanes` gives the claims that are known to be committed there (0: of none), one for each of the settings'
 * lanes, before the target is asked; then `loss_look_at_lanes` compares them with what it answers.
 */
void loss_know_lanes(const struct settings *settings, const int *of_push, size_t count, int64_t token);
void loss_recall_lanes(const struct settings *settings, int64_t *tokens);
void loss_look_at_lanes(const struct settings *settings, const int64_t *before, const int64_t *now);

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
