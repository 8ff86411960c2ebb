#include "dice.h"

/* splitmix64 */
static uint64_t next(struct dice *dice) {
  uint64_t z = (dice->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

struct dice dice_of(uint64_t seed, const char *who) {
  struct dice dice = {.state = seed};
  for (const char *c = who; *c != '\0'; c++)
    dice.state = next(&dice) ^ (uint64_t)(unsigned char)*c;
  return dice;
}

int dice_roll(struct dice *dice, int most) {
  return 1 + (int)(next(dice) % (uint64_t)most);
}

bool dice_chance(struct dice *dice, int percent) {
  return dice_roll(dice, 100) <= percent;
}

double dice_seconds(struct dice *dice, double least, double most) {
  return least + (most - least) * (double)(next(dice) >> 11) / (double)(1ull << 53);
}
