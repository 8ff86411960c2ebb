/*
 * arrival: what can be said of changes that have arrived in append targets, and of mirrors, once nothing is pending.
 */
#ifndef ROWRELAY_TESTS_ARRIVAL_H
#define ROWRELAY_TESTS_ARRIVAL_H

#include "fixture.h"

/* Of each key the changes have arrived in the order of their ids. */
void arrival_is_in_order(struct fixture *fixture, const char *table);
/* All captured changes of `relation` are in `table`, as they were captured, and each was settled once. */
void arrival_is_complete(struct fixture *fixture, const char *relation, const char *table);

#endif
