/*
 * maintenance: what a running process does for the source besides delivering, when it is its turn, each in a thread of
 * its own because it may take long:
 *
 *   - maintenance (rowrelay.maintain): partitions, triggers and trigger functions of tables that were altered;
 *   - the log: it seals days that are closed, drops changes which have been kept for long enough, and makes the indexes
 *     that people want of closed days.
 */
#ifndef ROWRELAY_PROCESS_MAINTENANCE_H
#define ROWRELAY_PROCESS_MAINTENANCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "common/error.h"
#include "process/background.h"
#include "source/source.h"

struct maintenance {
  struct background tables;
  struct background log;
  atomic_bool prunes; /* dropping changes is part of what is to be done to the log */
  atomic_bool maintained;
};

void maintenance_init(struct maintenance *maintenance, const char *conninfo);
/* Has it leave, in the middle of a statement, too: another process begins that anew. */
void maintenance_leave(struct maintenance *maintenance);
/* The same, and waits for it. */
void maintenance_release(struct maintenance *maintenance);

/* Looks whether there is anything to do, and if so, lets a thread do it. To be called now and then. */
MUST_CHECK bool maintenance_tend(struct maintenance *maintenance, struct source *source, struct error *error);

/* Whether it is at what must be done by processes that never run for long, too. */
bool maintenance_is_maintaining(struct maintenance *maintenance);
/* Whether it has done that since this was last asked: then days may have been closed, and more is due. */
bool maintenance_has_maintained(struct maintenance *maintenance);

#endif
