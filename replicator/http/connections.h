/*
 * connections: limits the time of each connection to the HTTP server. The library's own limit covers idle connections
 * only; a client that sends a byte now and then would stay for ever, and shut out health probes.
 */
#ifndef ROWRELAY_HTTP_CONNECTIONS_H
#define ROWRELAY_HTTP_CONNECTIONS_H

#include <pthread.h>
#include <stdint.h>

#include "common/error.h"

struct visitor;

struct connections {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  struct visitor *first;
  bool leaving;
};

MUST_CHECK bool connections_start(struct connections *visitors, struct error *error);
/* All connections must be closed. */
void connections_stop(struct connections *visitors);

/* Notes a new connection, which the caller closes after connections_leave() and not before. NULL: there is no memory.
 */
struct visitor *connections_enter(struct connections *visitors, int fd);
/* NULL is allowed, here and below. */
void connections_leave(struct connections *visitors, struct visitor *visitor);

/* Cuts the connection after so many milliseconds from now. */
void connections_limit(struct connections *visitors, struct visitor *visitor, int64_t milliseconds);
/* Lifts that limit until it is set again. */
void connections_unlimit(struct connections *visitors, struct visitor *visitor);

#endif
