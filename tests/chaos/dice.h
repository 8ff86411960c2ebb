/*
 * dice: random numbers out of a seed. Everybody who chooses something has dice of their own, made of the run's seed and
 * a name, so that what one of them chooses does not depend on how fast the others are.
 */
#ifndef ROWRELAY_CHAOS_DICE_H
#define ROWRELAY_CHAOS_DICE_H

#include <stdbool.h>
#include <stdint.h>

struct dice {
  uint64_t state;
};

struct dice dice_of(uint64_t seed, const char *who);
/* From 1 up to `most`. */
int dice_roll(struct dice *dice, int most);
bool dice_chance(struct dice *dice, int percent);
/* From `least` to `most`, in seconds. */
double dice_seconds(struct dice *dice, double least, double most);

#endif
