/*
 * connections: limits the number of connections to the HTTP server, and the time of each. The library's own limit
 * covers idle connections only; a client that sends a byte now and then would stay for ever, and shut out health
 * probes. Where all places are taken, the slowest client gives way to a new one.
 */
#ifndef ROWRELAY_HTTP_CONNECTIONS_H
#define ROWRELAY_HTTP_CONNECTIONS_H

#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>

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

/*
 * A browser's page has a handful of connections, and a scraper one; more are refused. One address, or IPv6 network of
 * 64 bits, cannot take all. Requests that wait for the source cannot either, so that there are places for others.
 */
#define CONNECTIONS_MOST 128
#define CONNECTIONS_WAITING 96
#define CONNECTIONS_OF_AN_ADDRESS 32

/* Whether one more of this address may come. */
bool connections_admit(struct connections *visitors, const struct sockaddr *address);
/* Notes a new connection, which the caller closes after connections_leave() and not before. NULL: there is no memory.
 */
struct visitor *connections_enter(struct connections *visitors, int fd, const struct sockaddr *address);
/* NULL is allowed, here and below. */
void connections_leave(struct connections *visitors, struct visitor *visitor);

/* Cuts the connection after so many milliseconds from now; it counts. */
void connections_limit(struct connections *visitors, struct visitor *visitor, int64_t milliseconds);
/* It does not count for those that may come, until a limit is set. */
void connections_exempt(struct connections *visitors, struct visitor *visitor);
/* Lifts the limit of time until it is set again. */
void connections_unlimit(struct connections *visitors, struct visitor *visitor);

#endif
