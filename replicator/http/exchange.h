/*
 * exchange: a request to the HTTP server and its answer, which may come later from another thread, as a whole or piece
 * by piece. While it waits it costs a socket and some kilobytes, and no thread.
 *
 * Two threads know it. The server's thread reads the request, takes the next bytes when the client has room for them,
 * and closes the connection. The keeper's, any other, answers. What both touch is behind the lock of `struct
 * exchanges`, under which a connection is suspended and resumed, too: so none is resumed before it sleeps, or stays
 * asleep after.
 */
#ifndef ROWRELAY_HTTP_EXCHANGE_H
#define ROWRELAY_HTTP_EXCHANGE_H

#include <microhttpd.h>
#include <pthread.h>

#include "http/server.h"

/* Bytes that many exchanges may send, each at its own pace. */
struct piece;

/* Takes what the buffer has, or releases it: NULL, with an error as buffer_ok() gives it. */
struct piece *piece_new(struct buffer *text, struct error *error);
/* NULL is allowed. */
void piece_release(struct piece *piece);

/* ---- for the keeper, who calls one of the first two at last, and nothing after it ------------------------------ */

/* Answers with a whole, and takes the body. Before exchange_begin() only. */
void exchange_answer(struct exchange *exchange, struct server_answer *answer);
/* No more pieces come: what was given is sent, and the connection closed. */
void exchange_end(struct exchange *exchange);

/* Begins an answer of pieces: the body is the first one. `goes_on`: for hours; else it has to be taken in time. */
void exchange_begin(struct exchange *exchange, struct server_answer *answer, bool goes_on);
/* Has taken all that it was given, or waits for its answer to begin: only then it may be given a piece. */
bool exchange_is_ready(struct exchange *exchange);
/* The piece stays the caller's. `wake`: when it is taken, call what was set with exchange_on_ready(). */
void exchange_give(struct exchange *exchange, struct piece *piece, bool wake);
/* Called in the server's thread, and must not wait. */
void exchange_on_ready(struct exchange *exchange, void (*call)(void *context), void *context);
/* The client has closed its connection, or lost it. */
bool exchange_has_left(struct exchange *exchange);

/* ---- for the server -------------------------------------------------------------------------------------------- */

struct exchanges {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool leaving;
  int threads; /* that keep one */
  int open;    /* that were not forgotten */
};

void exchanges_init(struct exchanges *exchanges);
/* All exchanges must have been forgotten. */
void exchanges_release(struct exchanges *exchanges);
/*
 * From now on none is kept, and those that send end. This waits for the threads that keep one, and a second at most for
 * clients to take what they were answered.
 */
void exchanges_leave(struct exchanges *exchanges);
/* A thread that keeps one begins, or ends. */
void exchanges_count_thread(struct exchanges *exchanges, int change);
int exchanges_threads(struct exchanges *exchanges);

/* NULL: there is no memory. */
struct exchange *exchange_new(struct exchanges *exchanges, struct MHD_Connection *connection);
/* The connection is about to be closed, or ready for its next request. NULL is allowed. */
void exchange_forget(struct exchange *exchange);
/* The body of the request. */
struct buffer *exchange_body(struct exchange *exchange);
/* Suspends it until a keeper has answered; false: the server is leaving. */
bool exchange_keep(struct exchange *exchange);
/* Whether the answer is there, or has begun; and whether that goes on for hours. */
bool exchange_is_answered(struct exchange *exchange);
bool exchange_goes_on(struct exchange *exchange);
/* Sends the answer that is there. */
enum MHD_Result exchange_send(struct exchange *exchange);
/* Sends this one as a whole, and takes the body. */
enum MHD_Result exchange_send_whole(struct MHD_Connection *connection, struct server_answer *answer);

#endif
