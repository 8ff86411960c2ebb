/*
 * leave: how a process is told to end: by SIGTERM or SIGINT, once to end what is under way first, twice to end at once.
 */
#ifndef ROWRELAY_PROCESS_LEAVE_H
#define ROWRELAY_PROCESS_LEAVE_H

#include <stdbool.h>

#include "common/error.h"
#include "common/wake.h"

/* Handles these signals from now on. Each also wakes who waits for `wake`, which must live as long as the process. */
MUST_CHECK bool leave_on_signals(struct wake *wake, struct error *error);

/* Any thread may ask. */
bool leave_is_told(void);
bool leave_is_told_at_once(void);

/* The signal that came last; 0: none. */
int leave_signal(void);

#endif
