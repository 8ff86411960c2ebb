/* console_names: whether what a request to the console names is there. Nothing is found where a name is wrong, too. */
#ifndef ROWRELAY_MONITOR_CONSOLE_NAMES_H
#define ROWRELAY_MONITOR_CONSOLE_NAMES_H

#include "http/server.h"
#include "monitor/monitor.h"

struct relation_id {
  char text[16]; /* the oid; empty: no table was named */
};

/* Where one is not there, false, and the answer names it. `target` and `table` may be NULL; `relation` too. */
bool console_names_are_known(struct monitor *monitor, const char *target, const char *table,
                             struct relation_id *relation, struct server_answer *answer);

#endif
