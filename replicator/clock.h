/* clock: this machine's monotonic time. Times that several processes compare are the source server's, never these. */
#ifndef ROWRELAY_CLOCK_H
#define ROWRELAY_CLOCK_H

#include <stdint.h>

/* Milliseconds since some moment before this process began. */
int64_t clock_now(void);
/* The same in microseconds. */
int64_t clock_microseconds(void);

/* A signal ends it. */
void clock_sleep(int64_t milliseconds);

#endif
