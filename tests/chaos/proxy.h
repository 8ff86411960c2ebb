/*
 * proxy: a network that fails. It stands before a server; what passes may be held up, cut, or broken off in the middle
 * of a message, for all connections or for those that are there now.
 */
#ifndef ROWRELAY_CHAOS_PROXY_H
#define ROWRELAY_CHAOS_PROXY_H

#include "stage.h"

/* Each is a number that the proxy does once when it has grown. */
struct proxy_orders {
  atomic_bool stalled;     /* nothing passes */
  atomic_bool refusing;    /* nobody can connect */
  atomic_bool old_stalled; /* nothing passes of the connections that were there when this was set */
  atomic_int cuts;         /* all connections end */
  atomic_int breaks;       /* the next message of each direction is cut in the middle, and that direction ended */
};

struct proxy {
  char dir[256]; /* the host to connect to; the port is 5432 */
  struct proxy_orders *orders;
};

/* Stands before DIR/SERVER, as DIR/net-SERVER. It ends with the run. */
void proxy_begin(struct proxy *proxy, const struct stage *stage, const char *server);
/* Lets everything pass again. */
void proxy_heal(struct proxy *proxy);

#endif
