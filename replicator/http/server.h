/*
 * server: a small HTTP server on libmicrohttpd, with a thread for each connection, so that a request which waits for
 * the source delays no other. It knows only paths and handlers.
 */
#ifndef ROWRELAY_HTTP_SERVER_H
#define ROWRELAY_HTTP_SERVER_H

#include "common/buffer.h"
#include "common/error.h"

struct server_request {
  const char *method;
  const char *path; /* without what follows "?" */
  const char *body; /* of a POST; a string */
  size_t body_length;
  void *connection; /* for the functions below */
};

/* NULL when there is none; borrowed. `name` of a header in any case. */
const char *server_header(const struct server_request *request, const char *name);
const char *server_parameter(const struct server_request *request, const char *name);

/* Zeroed but for `body`, which the server frees. */
struct server_answer {
  unsigned status;   /* 0: 200 */
  const char *type;  /* NULL: text/plain in UTF-8 */
  const char *allow; /* value of a header "Allow", for a 405 */
  bool may_be_kept;  /* by a browser, for a while; else it asks again each time */
  struct buffer body;
};

struct server_route {
  const char *method; /* GET answers HEAD, too */
  const char *path;
  void (*handle)(void *context, const struct server_request *request, struct server_answer *answer);
};

struct server;

/*
 * Begins to listen. `address` is ADDRESS:PORT, [IPv6]:PORT or :PORT; port 0 takes one that is free. `routes` end with
 * one without a path, and stay the caller's. A wrong address is a FAILURE_USAGE.
 */
MUST_CHECK bool server_start(struct server **server, const char *address, const struct server_route *routes,
                             void *context, struct error *error);
/* Ends requests in progress. NULL is allowed. */
void server_stop(struct server *server);
/* The port that it listens on. */
int server_port(const struct server *server);

#endif
