#include "common/wake.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/portable.h"

bool wake_open(struct wake *wake) {
  int ends[2];
  *wake = WAKE_NONE;
  if (!portable_pipe(ends))
    return false;
  *wake = (struct wake){.fd = ends[0], .ringer = ends[1]};
  if (fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
    return true;
  int why = errno;
  wake_close(wake);
  errno = why;
  return false;
}

void wake_up(const struct wake *wake) {
  int before = errno;
  ssize_t written = write(wake->ringer, "", 1);
  (void)written; /* it is full only when it was told before */
  errno = before;
}

bool wake_clear(const struct wake *wake) {
  char bytes[512];
  bool any = false;
  while (read(wake->fd, bytes, sizeof bytes) > 0)
    any = true;
  return any;
}

void wake_close(struct wake *wake) {
  if (wake->fd >= 0)
    close(wake->fd);
  if (wake->ringer >= 0)
    close(wake->ringer);
  *wake = WAKE_NONE;
}
