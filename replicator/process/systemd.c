#include "process/systemd.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/portable.h"

static void send_message(const char *message) {
  const char *path = getenv("NOTIFY_SOCKET");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = path != NULL ? strlen(path) : 0;
  if (length < 2 || length >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
    return;
  memcpy(address.sun_path, path, length);
  if (path[0] == '@') /* an abstract one */
    address.sun_path[0] = '\0';
  int fd = portable_socket(AF_UNIX, SOCK_DGRAM);
  if (fd < 0)
    return;
  sendto(fd, message, strlen(message), MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&address,
         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
  close(fd);
}

void systemd_ready(void) {
  send_message("READY=1");
}

void systemd_status(const char *format, ...) {
  static char last[512];
  char message[sizeof last] = "STATUS=";
  size_t length = strlen(message);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message + length, sizeof message - length, format, arguments);
  va_end(arguments);
  for (char *c = message; *c != '\0'; c++)
    if (*c == '\n' || *c == '\t')
      *c = ' ';
  if (strcmp(message, last) == 0)
    return;
  memcpy(last, message, sizeof last);
  send_message(message);
}

void systemd_stopping(void) {
  send_message("STOPPING=1");
  systemd_status("finishing current batches");
}

void systemd_alive(void) {
  static int64_t due = 0; /* clock_now() */
  const char *limit = getenv("WATCHDOG_USEC");
  const char *pid = getenv("WATCHDOG_PID");
  if (limit == NULL || clock_now() < due || (pid != NULL && strtoll(pid, NULL, 10) != getpid()))
    return;
  due = clock_now() + strtoll(limit, NULL, 10) / 2000;
  send_message("WATCHDOG=1");
}
