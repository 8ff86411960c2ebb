/*
 * contention: counts, for each lane, how often in succession this worker's pushes have ended in a deadlock or
 * serialization failure. After some of these it is no chance meeting of two transactions any more: see
 * ending_cause().
 */
#ifndef ROWRELAY_DELIVERY_CONTENTION_H
#define ROWRELAY_DELIVERY_CONTENTION_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "source/lanes.h"

/* Zeroed by its owner. */
struct contention {
  unsigned char failures[LANES_OF_A_TARGET];
};

/* Whether it is a serialization failure or deadlock at the target. */
bool contention_is(const struct error *error);

/* The largest number among these lanes. */
int contention_most(const struct contention *contention, const int *lanes, size_t count);

/* A batch of these lanes has ended, in a failure of this kind or not. */
void contention_count(struct contention *contention, const int *lanes, size_t count, bool failed);

#endif
