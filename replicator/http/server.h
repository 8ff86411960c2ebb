/*
 * server: a small HTTP server on libmicrohttpd. One thread reads requests and sends answers; a request that waits for
 * the source gets a thread of its own, so that it delays no other; and an answer that goes on for hours is given piece
 * by piece (see exchange.h). It knows only paths and handlers.
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
/*
 * The same of a header that is believed: false where it comes twice, for nobody knows which of them is true, or holds a
 * control character.
 */
MUST_CHECK bool server_header_alone(const struct server_request *request, const char *name, const char **value);
const char *server_parameter(const struct server_request *request, const char *name);
/* Calls for each parameter of that name, in order, until one call returns false; false then. */
bool server_each_parameter(const struct server_request *request, const char *name,
                           bool (*take)(void *context, const char *value), void *context);

/* Zeroed but for `body`, which the server frees. */
struct server_answer {
  unsigned status;  /* 0: 200 */
  const char *type; /* NULL: text/plain in UTF-8 */
  struct {
    const char *name; /* NULL: none; neither is copied before the answer is sent */
    const char *value;
  } header;
  bool may_be_kept; /* by a browser, for a while; else it asks again each time */
  struct buffer body;
};

struct exchange;

struct server_route {
  const char *method; /* GET answers HEAD, too, but where it has `keep` */
  const char *path;
  /* Must not wait, unless it gets a thread: */
  void (*handle)(void *context, const struct server_request *request, struct server_answer *answer);
  bool waits;
  /* In its place: true: it keeps the exchange, which is answered later; false: the answer is there. Must not wait. */
  bool (*keep)(void *context, const struct server_request *request, struct exchange *exchange,
               struct server_answer *answer);
};

/* So many exchanges may be kept at a time by `keep`, for which no other limit counts. */
#define SERVER_MOST_KEPT 2000

struct server;

/*
 * Begins to listen. `address` is ADDRESS:PORT, [IPv6]:PORT or :PORT; port 0 takes one that is free. `routes` end with
 * one without a path, and stay the caller's. A wrong address is a FAILURE_USAGE.
 */
MUST_CHECK bool server_start(struct server **server, const char *address, const struct server_route *routes,
                             void *context, struct error *error);
/* Ends requests in progress; those that are kept must have been answered. NULL is allowed. */
void server_stop(struct server *server);
/* The port that it listens on. */
int server_port(const struct server *server);

#endif
