/*
 * wire: a connection that carries bytes, by TCP or TLS, for protocols whose library has no TLS of its own. libcurl
 * makes it, so addresses are tried and certificates are checked as for HTTP.
 */
#ifndef ROWRELAY_HTTP_WIRE_H
#define ROWRELAY_HTTP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct wire;

/* Texts are borrowed during wire_open() only; NULL: none. */
struct wire_options {
  const char *host; /* an IPv6 address in brackets */
  int port;
  bool tls;
  const char *ca_file;     /* trusted authorities, instead of the system's */
  const char *certificate; /* the client's own, */
  const char *private_key; /* and its key */
  int64_t timeout;         /* for connecting; milliseconds */
};

/* Blocks until there is a connection, the time is over or the process is to stop. */
MUST_CHECK bool wire_open(struct wire **wire, const struct wire_options *options, struct error *error);
/* NULL is allowed. */
void wire_close(struct wire *wire);

/* Moves as many bytes as can be without waiting. False: the connection is gone. */
MUST_CHECK bool wire_send(struct wire *wire, const char *bytes, size_t length, size_t *moved, struct error *error);
MUST_CHECK bool wire_receive(struct wire *wire, char *bytes, size_t size, size_t *moved, struct error *error);

/* Waits until there is something to read, or, `to_send`, room to send more; up to `milliseconds`. */
void wire_wait(struct wire *wire, bool to_send, int milliseconds);

#endif
