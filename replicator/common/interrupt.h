/* interrupt: whether the process, or a thread, is to stop at once, which ends every wait. */
#ifndef ROWRELAY_COMMON_INTERRUPT_H
#define ROWRELAY_COMMON_INTERRUPT_H

#include <stdbool.h>

/* Sets the function that tells, which all threads call. Set it once, before threads start. */
void interrupt_set(bool (*told)(void));
/* Lets SIGINT and SIGTERM interrupt a command; a second one kills the process. */
void interrupt_on_signals(void);

/* Sets the function that tells for the calling thread alone. */
void interrupt_set_for_thread(bool (*told)(void *context), void *context);

bool interrupted(void);

#endif
