/*
 * client: HTTP requests, several in flight over persistent connections. Each request has a deadline, and all end when
 * the process is interrupted.
 *
 * One struct http belongs to one thread.
 */
#ifndef ROWRELAY_HTTP_CLIENT_H
#define ROWRELAY_HTTP_CLIENT_H

#include <curl/curl.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/error.h"

struct http;

/* Texts are borrowed during http_new() only; NULL: none. */
struct http_options {
  const char *ca_file;     /* trusted authorities, instead of the system's */
  const char *certificate; /* the client's own, */
  const char *private_key; /* and its key */
  const char *proxy;
  bool http2;            /* also over plain HTTP, with prior knowledge */
  bool follow_redirects; /* within the URL's scheme, host and port: another server must not see its headers */
  bool
      never_twice; /* a request is not sent again by itself when a kept connection turns out to be dead: none is kept */
  int64_t timeout; /* of a request, in milliseconds */
  int connections; /* how many are kept */
};

/* A request and its result. Zeroed, then filled by its owner, who must not move it until http_wait() gives it back.
 */
struct http_request {
  const char *method; /* "POST"; borrowed, as are URL and headers */
  const char *url;
  struct curl_slist *headers; /* "Name: value" */
  const char *body;           /* borrowed; NULL: none */
  size_t body_length;
  size_t answer_limit; /* bytes of the answer that are wanted, at most 16 MiB; the rest is dropped */
  void *owner;         /* for the owner's own use */
  /* Asked when there is a connection, right before the first byte; NULL: it may be sent. */
  bool (*may_send)(void *asked, struct error *why);
  void *asked;

  long status;                        /* of the answer; 0: there was none */
  struct buffer answer;               /* its body */
  int64_t retry_after;                /* milliseconds to wait, as the server asks; -1: it does not */
  char failure[CURL_ERROR_SIZE + 64]; /* why there was no answer */
  bool untrusted;                     /* the server's certificate, or ours, was rejected: trying again does not help */
  bool unsent;                        /* not one byte of it was sent */
  char *elsewhere;                    /* the server to which a redirect leads that was not followed; NULL: none */
  struct error withheld;              /* why it was not allowed to be sent; FAILURE_NONE: it was */

  /* of client.c */
  char *redirected; /* URL of the last redirect that was followed; NULL: none */
  int redirects;
  int64_t until;    /* when it times out */
  bool headers_end; /* that of the answer's was there */
  CURL *easy;
  int64_t asked_at; /* Retry-After and Date as they came; seconds since 1970, -1: none */
  int64_t answer_at;
  int64_t received; /* bytes of the answer's body, also those that were dropped */
};

MUST_CHECK bool http_new(struct http **http, const struct http_options *options, struct error *error);
/* Ends requests in flight. NULL is allowed. */
void http_free(struct http *http);

/* Sends a request, or begins to; it is back when http_wait() gives it. */
MUST_CHECK bool http_start(struct http *http, struct http_request *request, struct error *error);

/* The next request that is done; NULL when none is in flight, `deadline` (clock_now()) is over or the process leaves.
 */
struct http_request *http_wait(struct http *http, int64_t deadline);

/* Cancels a request in flight; it may have arrived, unless it says that it is unsent. */
void http_cancel(struct http *http, struct http_request *request);

/* Frees what a request holds of its own: the answer. */
void http_request_release(struct http_request *request);

#endif
