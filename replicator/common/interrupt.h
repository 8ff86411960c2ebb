/* interrupt: whether the process is told to leave at once, which ends every wait. */
#ifndef ROWRELAY_COMMON_INTERRUPT_H
#define ROWRELAY_COMMON_INTERRUPT_H

#include <stdbool.h>

/* Who knows; called between polls by all threads. Set once, before threads start; without it nobody is interrupted. */
void interrupt_set(bool (*told)(void));
/* The same, for a command that SIGINT and SIGTERM are to interrupt; a second one ends the process where it stands. */
void interrupt_on_signals(void);

/* Who knows it of the calling thread alone; it ends that thread's waits. */
void interrupt_set_for_thread(bool (*told)(void *context), void *context);

bool interrupted(void);

#endif
