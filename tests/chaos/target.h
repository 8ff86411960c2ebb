/*
 * target: the places that receive changes in a run, one of each kind; who watches them; and what they have in the end,
 * as text for the checker. The only part of a run, besides faults, that knows how rowrelay is told what to do.
 */
#ifndef ROWRELAY_CHAOS_TARGET_H
#define ROWRELAY_CHAOS_TARGET_H

#include "stage.h"

/* Installs rowrelay, captures the tables, adds all targets with their routes, and tells the checker of them. */
void targets_create(const struct stage *stage);
/* Starts a watcher of each mirror whose rows must never go back to an older state. */
void targets_watch(const struct stage *stage);

/*
 * Makes a target's database anew, and copies all tables into it as a whole, while no process delivers to it; false when
 * that was disturbed.
 */
bool target_renew(const struct stage *stage, const char *name);
/* Routes all tables to a mirror that has just been added. */
bool target_route_all(PGconn *source, const char *name);
/* Adds a target of the list again, after it was dropped. */
bool target_add(const struct stage *stage, PGconn *source, const char *name);

/* Ends what faults have begun and left: paused targets, half-made copies. Needs healthy servers. */
void targets_mend(const struct stage *stage);
/*
 * Waits until nothing is queued, as long as it becomes less: a busy machine is slow. If nothing has moved for so many
 * seconds, it is false, and DIR/pending says for which target something still is.
 */
bool targets_drain(const struct stage *stage, double seconds);
/* Writes what the source and all targets have. */
void targets_dump(const struct stage *stage);

#endif
