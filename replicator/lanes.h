/*
 * lanes: the ordered streams of one target. They are numbered among the lanes of all targets (rowrelay.lane_number),
 * and the first of each target is the one in which its barriers are.
 */
#ifndef ROWRELAY_LANES_H
#define ROWRELAY_LANES_H

#include <stdbool.h>

struct lanes {
  int first; /* the lane of barriers */
  int count; /* with it */
};

/* Whether it is a lane of barriers, of whatever target. */
static inline bool lane_is_of_barriers(int lane) {
  return (lane & 4095) == 0;
}

#endif
