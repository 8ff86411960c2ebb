/*
 * Sends a large value. While it must not block, libpq moves all that is left to be sent whenever the socket takes a
 * part, some 200 kB: for one value of n bytes that takes time that grows with the square of n. A libpq that may block
 * waits for the socket itself, and moves nothing. So a thread sends, and the one that called watches the deadline and
 * interrupts; to stop the sender it shuts down the socket, which nothing can be sent by any more anyway.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "postgres/pgconn_wait.h"

/* How often the deadline and interrupts are looked at. Milliseconds. */
#define WATCH_INTERVAL 100

struct sending {
  struct pgconn *connection;
  const struct pgconn_sender *sender;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool ended;
  bool sent;
};

static bool send_all(struct sending *sending) {
  return sending->sender->send(sending->connection, sending->sender->context) &&
         PQsetnonblocking(sending->connection->pg, 1) == 0;
}

static void *send_in_thread(void *argument) {
  struct sending *sending = argument;
  bool sent = send_all(sending);
  pthread_mutex_lock(&sending->lock);
  sending->sent = sent;
  sending->ended = true;
  pthread_cond_signal(&sending->changed);
  pthread_mutex_unlock(&sending->lock);
  return NULL;
}

/* False when it is time to stop before all is sent. The lock is held. */
static bool watch(struct sending *sending, bool *told) {
  int64_t deadline = sending->connection->deadline;
  *told = false;
  while (!sending->ended) {
    int64_t now = clock_now();
    *told = interrupted();
    if (*told || (deadline != 0 && now >= deadline))
      return false;
    int64_t next = now + WATCH_INTERVAL;
    clock_wait(&sending->changed, &sending->lock, deadline != 0 && deadline < next ? deadline : next);
  }
  return true;
}

bool pgconn_send_large(struct pgconn *connection, const struct pgconn_sender *sender, struct error *error) {
  if (PQsetnonblocking(connection->pg, 0) != 0)
    return pgconn_break(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
  struct sending sending = {.connection = connection, .sender = sender};
  PGcancel *cancel = PQgetCancel(connection->pg);
  /* Of its own, because libpq may close the other at any time, and its number may then be that of another file. */
  int end = fcntl(PQsocket(connection->pg), F_DUPFD_CLOEXEC, 0);
  pthread_t thread = 0; /* as the analyzer does not know that pthread_create() sets it */
  bool told = false;
  pthread_mutex_init(&sending.lock, NULL);
  clock_init_condition(&sending.changed);
  int failed = cancel == NULL ? ENOMEM : end < 0 ? errno : pthread_create(&thread, NULL, send_in_thread, &sending);
  bool in_time = true;
  if (failed == 0) {
    pthread_mutex_lock(&sending.lock);
    in_time = watch(&sending, &told);
    pthread_mutex_unlock(&sending.lock);
    if (!in_time) {
      /* It may be at work on what it was sent before. */
      pgconn_send_cancel(cancel);
      cancel = NULL;
      (void)shutdown(end, SHUT_RDWR);
    }
    pthread_join(thread, NULL);
  }
  PQfreeCancel(cancel);
  if (end >= 0)
    close(end);
  pthread_cond_destroy(&sending.changed);
  pthread_mutex_destroy(&sending.lock);
  if (failed != 0)
    return pgconn_break(connection, FAILURE_RETRY, error, strerror(failed));
  if (!in_time)
    return pgconn_break(connection, told ? FAILURE_STOP : FAILURE_RETRY, error,
                        told ? "interrupted" : "no answer in time");
  return sending.sent || pgconn_break(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
}
