/*
 * maintenance: what a running process does for the source besides delivering, when it is its turn; each part has its
 * own thread because it may take long:
 *
 *   - tables (rowrelay.maintain): partitions, triggers and trigger functions of altered tables;
 *   - the log: seals closed days, drops changes whose retention is over, and creates the wanted indexes on closed days;
 *   - the index of the history (rowrelay.tick): adds new changes to it, piece by piece. It stays connected, because
 *     there is something to do every few seconds, until another thread fails to connect; and it leaves the source to
 *     the delivery of a backlog.
 */
#ifndef ROWRELAY_PROCESS_MAINTENANCE_H
#define ROWRELAY_PROCESS_MAINTENANCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "common/error.h"
#include "delivery/backlog.h"
#include "process/background.h"
#include "source/source.h"

struct maintenance {
  struct background tables;
  struct background log;
  struct background index;
  const struct backlog *backlog; /* borrowed */
  atomic_bool prunes;            /* the log is to be pruned, too */
  atomic_bool maintained;
  atomic_bool indexed; /* a piece, at least */
};

/* `backlog` and `conninfo` outlive it. */
void maintenance_init(struct maintenance *maintenance, const char *conninfo, const struct backlog *backlog);
/* Tells it to stop, even within a statement: another process will repeat that. */
void maintenance_leave(struct maintenance *maintenance);
/* The same, and waits until it has. */
void maintenance_release(struct maintenance *maintenance);

/* Checks whether there is anything to do, and wakes the threads for it. To be called now and then. */
MUST_CHECK bool maintenance_tend(struct maintenance *maintenance, struct source *source, struct error *error);

/* Whether tables are being maintained, or no piece of the index has been tried yet: short-lived processes must finish
 * that, too. */
bool maintenance_is_needed(struct maintenance *maintenance);
/* Whether tables have been maintained since the last call: days may have been closed, and more may be due. */
bool maintenance_has_maintained(struct maintenance *maintenance);

#endif
