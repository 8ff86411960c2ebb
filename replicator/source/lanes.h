/*
 * lanes: the ordered streams of one target. They are numbered among the lanes of all targets (rowrelay.lane_number),
 * and the first of each target is the one in which its barriers are.
 */
#ifndef ROWRELAY_SOURCE_LANES_H
#define ROWRELAY_SOURCE_LANES_H

#include <stdbool.h>

#define LANES_OF_A_TARGET 4096 /* numbers that rowrelay.lane_number() sets aside for each; a power of two */

struct lanes {
  int first; /* the lane of barriers */
  int count; /* with it */
  int live;  /* how many of the next are for live changes; the rest are late, see claim_lanes.sql */
};

/* Whether its changes wait behind live ones. */
static inline bool lane_is_late(struct lanes lanes, int lane) {
  return lane > lanes.first + lanes.live;
}

/* The live lane with the same keys: for a late lane, the one it waits behind. */
static inline int lane_of_keys(struct lanes lanes, int lane) {
  return lane_is_late(lanes, lane) ? lane - lanes.live : lane;
}

/* Whether it is the lane of barriers of some target. */
static inline bool lane_is_of_barriers(int lane) {
  return lane % LANES_OF_A_TARGET == 0;
}

#endif
