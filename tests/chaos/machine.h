/*
 * machine: what a machine does to a server or a process that runs on it: its disk is full, its clock jumps. Each of
 * them needs something that is not everywhere: data in a file system of its own, which chaos.sh mounts where it may,
 * and libfaketime, which chaos.sh names in CLOCK_LIBRARY. Without it the fault does nothing but say so.
 */
#ifndef ROWRELAY_CHAOS_MACHINE_H
#define ROWRELAY_CHAOS_MACHINE_H

#include "stage.h"

#define SERVERS 2 /* "source" and "target" */

/*
 * Those who have a clock of their own: servers by name, processes of rowrelay by "relay.N". It reads DIR/clock.NAME,
 * where there is one. Sets it to so many seconds after where it stands otherwise.
 */
void machine_set_clock(const struct stage *stage, const char *name, long seconds);
/* Has the program that this process becomes live by that clock. */
void machine_wear_clock(const struct stage *stage, const char *name);
bool machine_has_clocks(void);

/* Runs tests/support/pg.sh with this command for a server, which keeps its clock; gives its status. */
int machine_control(const struct stage *stage, const char *server, const char *command, const char *mode);
/* The same with tests/support/redis.sh for the stream's server, in DIR/redis. */
void machine_control_stream(const struct stage *stage, const char *command);
/* Starts a server that has gone down, unless somebody else is at it; tries until it runs. */
void machine_raise(const struct stage *stage, const char *server);

/*
 * Ends all sessions of a server whose clock was set back: PostgreSQL's own timeouts, also that after which it looks for
 * deadlocks, then last for as long as that.
 */
void machine_end_backends(const struct stage *stage, const char *server);

/* Leaves a server's disk so many bytes; false when it has no disk of its own, or that moment has passed. */
bool machine_fill_disk(const struct stage *stage, const char *server, unsigned long long left);
void machine_empty_disk(const struct stage *stage, const char *server);
bool machine_has_disk(const struct stage *stage, const char *server);

/* All is as it should be again: disks, clocks, servers. */
void machine_heal(const struct stage *stage);

#endif
