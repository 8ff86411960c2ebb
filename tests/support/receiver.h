/*
 * receiver: an HTTP/1.1 server that a test holds in its hands: it keeps every request as it came, byte by byte, and
 * answers as the test has told it, also late, wrongly, by half, or not at all. A thread of the test, on loopback.
 */
#ifndef ROWRELAY_TESTS_RECEIVER_H
#define ROWRELAY_TESTS_RECEIVER_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>

struct receiver;

/* A request, kept until receiver_end(). */
struct received {
  const char *bytes; /* as they came, followed by a NUL */
  size_t length;
  const char *body; /* in `bytes` */
  size_t body_length;
  int connection;     /* over which it came: the first is 1 */
  double came_at;     /* when its last byte was there; seconds_now() */
  double answered_at; /* when the last byte of its answer was sent; 0: it was not */
  int status;         /* of that answer */
};

/* Zeroed, it is an empty 204. Texts are borrowed until receiver_end(). */
struct answer {
  int status;
  const char *headers; /* whole lines, each ended by \r\n */
  const char *body;    /* has a Content-Length, unless `raw` */
  /* Makes the body out of the request instead, in the receiver's thread; on the heap. */
  char *(*make_body)(const struct received *request);
  double delay;    /* seconds before its first byte */
  double pause;    /* seconds between head and body */
  size_t cut;      /* so many bytes are sent, then the connection is reset; 0: all */
  bool silent;     /* nothing is sent, and the connection stays open */
  bool closes;     /* the connection is closed behind it, though the answer does not say so */
  const char *raw; /* these bytes instead of an answer; the connection is closed behind them */
};

struct receiver *receiver_begin(void);
/* NULL is allowed. */
void receiver_end(struct receiver *receiver);

/* "http://127.0.0.1:PORT" and `path`; valid until the next call. */
const char *receiver_url(const struct receiver *receiver, const char *path);
int receiver_port(const struct receiver *receiver);

/*
 * Requests in which these words stand (NULL: any), in head or body, are answered so. The first such rule that is not
 * used up counts; `times` is how often it is used, 0: always.
 */
void receiver_answer(struct receiver *receiver, const char *words, int times, struct answer answer);
/* Forgets all rules: from now on it answers an empty 204. */
void receiver_recover(struct receiver *receiver);

/* So far; what has not come as a whole does not count. */
int receiver_count(struct receiver *receiver);
const struct received *receiver_at(struct receiver *receiver, int index);
/* Fails the test unless there are so many requests within `seconds`. */
void receiver_wait(struct receiver *receiver, int count, double seconds);
/* How many connections there have been. */
int receiver_connections(struct receiver *receiver);
/* How many requests were unanswered at the same time, at most. */
int receiver_most_at_once(struct receiver *receiver);

/* A header's value, "" when it is not there; valid until 16 more calls. */
const char *received_header(const struct received *request, const char *name);

/*
 * Makes temporary table request (n, connection, came, answered, status, head, body) of all requests so far; times are
 * in seconds, `answered` null where there was no answer.
 */
void receiver_load(struct receiver *receiver, PGconn *connection);

#endif
