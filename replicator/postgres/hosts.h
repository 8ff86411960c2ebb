/*
 * hosts: the servers that a conninfo names, which libpq tries in turn. libpq moves on from one that refuses, but waits
 * for one that does not answer, such as a machine that is off; so that one is removed here. Each address of a name with
 * several counts as a server.
 */
#ifndef ROWRELAY_POSTGRES_HOSTS_H
#define ROWRELAY_POSTGRES_HOSTS_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

/* Lists as libpq takes them, NULL where there is none. */
struct hosts {
  char *host;
  char *hostaddr;
  char *port;
  int64_t timeout; /* milliseconds that each may take; 0: none was given */
};

/* What a connection that was begun will try; in the place of what is there. It may ask for the names' addresses. False:
 * no memory. */
MUST_CHECK bool hosts_read(struct hosts *servers, PGconn *connection);
/* NULLs are allowed. */
void hosts_release(struct hosts *servers);

/* Up to when (clock_now()) the first that says nothing is waited for, so that by `deadline` each has had its time. */
int64_t hosts_wait_until(const struct hosts *servers, int64_t deadline);

/* Without the one that the connection is trying now. False, and nothing is changed, when there is no other. */
bool hosts_leave_out(struct hosts *servers, const PGconn *connection);

#endif
