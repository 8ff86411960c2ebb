/* wake: ends the wait of a thread in poll(), from another thread or a signal handler. */
#ifndef ROWRELAY_COMMON_WAKE_H
#define ROWRELAY_COMMON_WAKE_H

#include <stdbool.h>

struct wake {
  int fd;     /* to poll for reading; -1: it is not open */
  int ringer; /* the pipe's other end */
};

#define WAKE_NONE ((struct wake){.fd = -1, .ringer = -1})

/* False: errno says why. */
bool wake_open(struct wake *wake);
/* Safe in a signal handler; leaves errno alone. */
void wake_up(const struct wake *wake);
/* Forgets all calls until now. Whether there was one. */
bool wake_clear(const struct wake *wake);
void wake_close(struct wake *wake);

#endif
