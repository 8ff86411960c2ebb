/*
 * proxy: a network that a test can hold: it stands before a PostgreSQL server, and what a client sends may get stuck in
 * it, as it does where a network is cut or a machine stands still.
 */
#ifndef ROWRELAY_TESTS_PROXY_H
#define ROWRELAY_TESTS_PROXY_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fixture.h"

struct proxy {
  char dir[64]; /* what to give as host; the port is 5432 */
  pid_t process;
  struct proxy_state *state; /* shared with it */
};

/* Begins to listen for connections to the server of this connection. It ends with the test. */
void proxy_begin(struct proxy *proxy, PGconn *server);
void proxy_end(struct proxy *proxy);

/* Adds target "w", with this option unless it is NULL: processes reach it directly, or, started by proxy_run(), by way
 * of the proxy. */
void proxy_add_target(struct fixture *fixture, const char *option);
/* Starts a process with one worker. */
pid_t proxy_run(const struct proxy *proxy, struct fixture *fixture);

/* From now on nothing passes, in either direction; connections stay open. */
void proxy_hold(struct proxy *proxy);
/* The same, from the moment at which the server answers a client that has sent these words. One client at a time. */
void proxy_hold_answer_to(struct proxy *proxy, const char *words);
void proxy_let_go(struct proxy *proxy);
/* From now on no client hears that the server has closed its end; what the server said before passes. */
void proxy_hide_ends(struct proxy *proxy);
/* Waits until something has been sent that is stuck. */
void proxy_wait_until_stuck(struct proxy *proxy, double seconds);

#endif
