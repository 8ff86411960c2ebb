#include "http/exchange.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/portable.h"

#define LONGEST_BODY ((size_t)1024 * 1024)
#define LAST_BYTES 1000 /* milliseconds for them when the server leaves */
/* Of a piece, so much is asked for at a time. */
#define BLOCK ((size_t)8 * 1024)

struct piece {
  atomic_int references;
  struct buffer text;
};

struct exchange {
  struct exchanges *all;
  struct MHD_Connection *connection; /* NULL: closed */
  int fd;                            /* its socket */
  int references;                    /* the request's, its keeper's, and that of an answer by pieces */
  struct buffer body;                /* of the request */
  bool suspended;
  bool is_answered;
  bool is_stream; /* by pieces */
  bool goes_on;
  bool ended;
  struct server_answer answer; /* the first piece of a stream is its body */
  struct piece *piece;         /* that is being sent; NULL: none */
  size_t sent;                 /* of the answer's body, then of the piece */
  bool wake;
  void (*on_ready)(void *context);
  void *context;
};

/* ---- pieces ---------------------------------------------------------------------------------------------------- */

struct piece *piece_new(struct buffer *text, struct error *error) {
  struct piece *piece = NULL;
  if (buffer_ok(text, "a piece", error) && (piece = calloc(1, sizeof *piece)) == NULL)
    error_set(error, FAILURE_RETRY, "out of memory");
  if (piece == NULL) {
    buffer_release(text);
    return NULL;
  }
  atomic_store(&piece->references, 1);
  piece->text = *text;
  buffer_init(text, text->limit);
  return piece;
}

void piece_release(struct piece *piece) {
  if (piece == NULL || atomic_fetch_sub(&piece->references, 1) > 1)
    return;
  buffer_release(&piece->text);
  free(piece);
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

void exchanges_init(struct exchanges *exchanges) {
  *exchanges = (struct exchanges){.leaving = false};
  pthread_mutex_init(&exchanges->lock, NULL);
  clock_init_condition(&exchanges->changed);
}

void exchanges_release(struct exchanges *exchanges) {
  pthread_cond_destroy(&exchanges->changed);
  pthread_mutex_destroy(&exchanges->lock);
}

void exchanges_leave(struct exchanges *exchanges) {
  pthread_mutex_lock(&exchanges->lock);
  exchanges->leaving = true;
  while (exchanges->threads > 0)
    pthread_cond_wait(&exchanges->changed, &exchanges->lock);
  int64_t until = clock_now() + LAST_BYTES;
  while (exchanges->open > 0 && clock_now() < until)
    clock_wait(&exchanges->changed, &exchanges->lock, until);
  pthread_mutex_unlock(&exchanges->lock);
}

void exchanges_count_thread(struct exchanges *exchanges, int change) {
  pthread_mutex_lock(&exchanges->lock);
  exchanges->threads += change;
  pthread_cond_signal(&exchanges->changed);
  pthread_mutex_unlock(&exchanges->lock);
}

int exchanges_threads(struct exchanges *exchanges) {
  pthread_mutex_lock(&exchanges->lock);
  int threads = exchanges->threads;
  pthread_mutex_unlock(&exchanges->lock);
  return threads;
}

/* ---- one ------------------------------------------------------------------------------------------------------- */

static void lock(const struct exchange *exchange) {
  pthread_mutex_lock(&exchange->all->lock);
}

static void unlock(const struct exchange *exchange) {
  pthread_mutex_unlock(&exchange->all->lock);
}

struct exchange *exchange_new(struct exchanges *exchanges, struct MHD_Connection *connection) {
  struct exchange *exchange = calloc(1, sizeof *exchange);
  if (exchange == NULL)
    return NULL;
  exchange->all = exchanges;
  exchange->connection = connection;
  exchange->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
  exchange->references = 1;
  buffer_init(&exchange->body, LONGEST_BODY);
  buffer_add_string(&exchange->body, "");
  lock(exchange);
  exchanges->open++;
  unlock(exchange);
  return exchange;
}

struct buffer *exchange_body(struct exchange *exchange) {
  return &exchange->body;
}

/* Under the lock, which it gives back. */
static void unlock_and_drop(struct exchange *exchange) {
  bool last = --exchange->references == 0;
  unlock(exchange);
  if (!last)
    return;
  piece_release(exchange->piece);
  buffer_release(&exchange->answer.body);
  buffer_release(&exchange->body);
  free(exchange);
}

/* Under the lock, as is the next. */
static void suspend(struct exchange *exchange) {
  exchange->suspended = true;
  MHD_suspend_connection(exchange->connection);
}

static void resume(struct exchange *exchange) {
  if (exchange->suspended && exchange->connection != NULL)
    MHD_resume_connection(exchange->connection);
  exchange->suspended = false;
}

void exchange_forget(struct exchange *exchange) {
  if (exchange == NULL)
    return;
  lock(exchange);
  exchange->connection = NULL;
  exchange->all->open--;
  pthread_cond_signal(&exchange->all->changed);
  unlock_and_drop(exchange);
}

bool exchange_keep(struct exchange *exchange) {
  lock(exchange);
  bool stays = !exchange->all->leaving;
  if (stays) {
    exchange->references++;
    suspend(exchange);
  }
  unlock(exchange);
  return stays;
}

/* ---- the keeper ------------------------------------------------------------------------------------------------ */

static void take_answer(struct exchange *exchange, struct server_answer *answer, bool is_stream) {
  exchange->answer = *answer;
  buffer_init(&answer->body, answer->body.limit);
  exchange->is_answered = true;
  exchange->is_stream = is_stream;
  resume(exchange);
}

void exchange_answer(struct exchange *exchange, struct server_answer *answer) {
  lock(exchange);
  take_answer(exchange, answer, false);
  unlock_and_drop(exchange);
}

void exchange_begin(struct exchange *exchange, struct server_answer *answer, bool goes_on) {
  lock(exchange);
  exchange->goes_on = goes_on;
  take_answer(exchange, answer, true);
  unlock(exchange);
}

void exchange_end(struct exchange *exchange) {
  lock(exchange);
  exchange->ended = true;
  if (!exchange->is_answered) { /* whoever asked has left */
    exchange->answer.status = MHD_HTTP_SERVICE_UNAVAILABLE;
    exchange->is_answered = true;
  }
  resume(exchange);
  unlock_and_drop(exchange);
}

bool exchange_is_ready(struct exchange *exchange) {
  lock(exchange);
  bool ready = exchange->suspended;
  unlock(exchange);
  return ready;
}

void exchange_give(struct exchange *exchange, struct piece *piece, bool wake) {
  lock(exchange);
  if (exchange->connection != NULL && exchange->piece == NULL) {
    atomic_fetch_add(&piece->references, 1);
    exchange->piece = piece;
    exchange->wake = wake;
    resume(exchange);
  }
  unlock(exchange);
}

void exchange_on_ready(struct exchange *exchange, void (*call)(void *context), void *context) {
  lock(exchange);
  exchange->on_ready = call;
  exchange->context = context;
  unlock(exchange);
}

/* The library looks at no connection that is suspended. */
bool exchange_has_left(struct exchange *exchange) {
  lock(exchange);
  bool left = exchange->connection == NULL;
  if (!left && exchange->suspended) {
    struct pollfd client = {.fd = exchange->fd, .events = POLLRDHUP};
    left = poll(&client, 1, 0) > 0 && (client.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
  }
  unlock(exchange);
  return left;
}

/* ---- the server's thread --------------------------------------------------------------------------------------- */

bool exchange_is_answered(struct exchange *exchange) {
  lock(exchange);
  bool answered = exchange->is_answered;
  unlock(exchange);
  return answered;
}

bool exchange_goes_on(struct exchange *exchange) {
  lock(exchange);
  bool goes_on = exchange->goes_on;
  unlock(exchange);
  return goes_on;
}

static void add_headers(struct MHD_Response *response, const struct server_answer *answer) {
  MHD_add_response_header(response, "Content-Type", answer->type != NULL ? answer->type : "text/plain; charset=utf-8");
  /* Closed, so that a page that asks every two seconds does not hold a connection in between. */
  MHD_add_response_header(response, "Connection", "close");
  MHD_add_response_header(response, "Cache-Control", answer->may_be_kept ? "max-age=300" : "no-store");
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(response, "X-Frame-Options", "DENY");
  MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
  /* Content-Security-Policy: only what this server sends, and no inline scripts or styles. */
  MHD_add_response_header(
      response, "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  if (answer->header.name != NULL)
    MHD_add_response_header(response, answer->header.name, answer->header.value);
}

enum MHD_Result exchange_send_whole(struct MHD_Connection *connection, struct server_answer *answer) {
  bool ok = !answer->body.overflow;
  unsigned status = !ok ? MHD_HTTP_INTERNAL_SERVER_ERROR : answer->status != 0 ? answer->status : MHD_HTTP_OK;
  struct MHD_Response *response = MHD_create_response_from_buffer(ok ? answer->body.length : 0,
                                                                  ok ? answer->body.data : NULL, MHD_RESPMEM_MUST_COPY);
  buffer_release(&answer->body);
  if (response == NULL)
    return MHD_NO;
  add_headers(response, answer);
  enum MHD_Result queued = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return queued;
}

/* The next bytes of a text; 0: all of it was sent. */
static size_t copy_bytes(struct exchange *exchange, const struct buffer *text, char *bytes, size_t most) {
  size_t left = text->length - exchange->sent;
  size_t count = left < most ? left : most;
  if (count > 0)
    memcpy(bytes, text->data + exchange->sent, count);
  exchange->sent += count;
  if (count == 0)
    exchange->sent = 0;
  return count;
}

/* Of the body, which is released at its end, or of the piece. */
static size_t copy_next(struct exchange *exchange, char *bytes, size_t most) {
  size_t count = 0;
  if (exchange->answer.body.data != NULL) {
    count = copy_bytes(exchange, &exchange->answer.body, bytes, most);
    if (count == 0)
      buffer_release(&exchange->answer.body);
  }
  if (count == 0 && exchange->piece != NULL) {
    count = copy_bytes(exchange, &exchange->piece->text, bytes, most);
    if (count == 0) {
      piece_release(exchange->piece);
      exchange->piece = NULL;
    }
  }
  return count;
}

/* Fills `bytes`, suspends the connection if there is nothing to send, or ends the answer. */
static ssize_t send_bytes(void *context, uint64_t position, char *bytes, size_t most) {
  struct exchange *exchange = context;
  bool wake = false;
  (void)position;
  lock(exchange);
  ssize_t count = (ssize_t)copy_next(exchange, bytes, most);
  if (count == 0) {
    if (exchange->ended || exchange->all->leaving) {
      count = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
      suspend(exchange);
      wake = exchange->wake && exchange->on_ready != NULL;
      exchange->wake = false;
    }
  }
  unlock(exchange);
  if (wake)
    exchange->on_ready(exchange->context);
  return count;
}

static void forget_stream(void *context) {
  struct exchange *exchange = context;
  lock(exchange);
  unlock_and_drop(exchange);
}

enum MHD_Result exchange_send(struct exchange *exchange) {
  if (!exchange->is_stream)
    return exchange_send_whole(exchange->connection, &exchange->answer);
  struct MHD_Response *response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, send_bytes, exchange, forget_stream);
  if (response == NULL)
    return MHD_NO;
  lock(exchange);
  exchange->references++;
  unlock(exchange);
  add_headers(response, &exchange->answer);
  enum MHD_Result queued = MHD_queue_response(exchange->connection, MHD_HTTP_OK, response);
  MHD_destroy_response(response);
  return queued;
}
