#include "postgres/pgconn_wait.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "common/clock.h"
#include "common/interrupt.h"

/* How often a wait checks for an interrupt. Milliseconds. */
#define INTERRUPT_INTERVAL 100

bool pgconn_break(struct pgconn *connection, enum failure kind, struct error *error, const char *message) {
  connection->broken = true;
  return error_set(error, kind, "%s: %s", connection->description, message[0] != '\0' ? message : connection->ending);
}

bool pgconn_leave(struct pgconn *connection, struct error *error) {
  pgconn_cancel(connection);
  return pgconn_break(connection, FAILURE_STOP, error, "interrupted");
}

bool pgconn_wait_socket(struct pgconn *connection, short events, int64_t deadline, struct error *error) {
  for (;;) {
    if (interrupted())
      return pgconn_leave(connection, error);
    int timeout = INTERRUPT_INTERVAL;
    if (deadline != 0) {
      int64_t left = deadline - clock_now();
      if (left <= 0)
        return pgconn_break(connection, FAILURE_RETRY, error, "no answer in time");
      if (left < timeout)
        timeout = (int)left;
    }
    struct pollfd polled = {.fd = PQsocket(connection->pg), .events = events};
    int ready = poll(&polled, 1, timeout);
    if (ready > 0)
      return true;
    if (ready < 0 && errno != EINTR)
      return pgconn_break(connection, FAILURE_RETRY, error, strerror(errno));
  }
}
