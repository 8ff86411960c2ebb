/*
 * visitors: who is connected to the HTTP server, and until when. The library's own limit is for connections on which
 * nothing comes; somebody who sends a byte now and then would stay for ever, and keep the probes out.
 */
#ifndef ROWRELAY_HTTP_CONNECTIONS_H
#define ROWRELAY_HTTP_CONNECTIONS_H

#include <pthread.h>
#include <stdint.h>

#include "common/error.h"

struct visitor;

struct visitors {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  struct visitor *first;
  bool leaving;
};

MUST_CHECK bool visitors_start(struct visitors *visitors, struct error *error);
/* All must have left. */
void visitors_stop(struct visitors *visitors);

/* Notes a new connection, which the caller closes after visitors_leave() and not before. NULL: there is no memory. */
struct visitor *visitors_enter(struct visitors *visitors, int fd);
/* NULL is allowed, here and below. */
void visitors_leave(struct visitors *visitors, struct visitor *visitor);

/* From now on the visitor may stay for so many milliseconds, then the connection is cut. */
void visitors_limit(struct visitors *visitors, struct visitor *visitor, int64_t milliseconds);
/* It may stay until it is limited again. */
void visitors_unlimit(struct visitors *visitors, struct visitor *visitor);

#endif
