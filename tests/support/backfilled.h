/*
 * backfilled: a table that has rows before it is captured, and a backfill of it that is made step by step, so that
 * something can happen between two of them, or in the middle of one.
 */
#ifndef ROWRELAY_TESTS_BACKFILLED_H
#define ROWRELAY_TESTS_BACKFILLED_H

#include "fixture.h"

/* Seconds; enough for a busy machine. */
#define PATIENCE 60

/* Table item of `rows` rows at the source, captured only then, and routed to "w". */
void backfilled_begin(struct fixture *f, const char *name, int rows);

/* Registers a backfill of `table`, and waits until it may read. `filter` is an SQL literal. */
int64_t backfilled_registered(struct fixture *f, const char *table, const char *filter);
/* One step; gives its outcome. */
const char *backfilled_step(struct fixture *f, int64_t id, int rows);
void backfilled_to_the_end(struct fixture *f, int64_t id, int rows);

/* Fails the test when a row was read twice. */
void backfilled_read_each_key_once(struct fixture *f);

#endif
