/* interrupt: whether the process is told to leave at once, which ends every wait. */
#ifndef ROWRELAY_INTERRUPT_H
#define ROWRELAY_INTERRUPT_H

#include <stdbool.h>

/* Who knows; called between polls by all threads. Set once, before threads start; without it nobody is interrupted. */
void interrupt_set(bool (*told)(void));
/* The same, for a command that SIGINT and SIGTERM are to interrupt. */
void interrupt_on_signals(void);

bool interrupted(void);

#endif
