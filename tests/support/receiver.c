#include "receiver.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"

#define MOST_CONNECTIONS 512
#define MOST_RULES 64

struct rule {
  const char *words;
  int left; /* how often it may still be used; -1: always */
  struct answer answer;
};

struct connection {
  int fd;
  int number;
  char *in; /* what has come of the next request */
  size_t in_length;
  size_t in_capacity;
  /* The answer on its way, if there is one. */
  struct received *request;
  struct answer answer;
  char *out;
  size_t out_length;
  size_t sent;
  size_t head_length;
  double send_at;
  bool paused; /* between head and body */
};

struct receiver {
  pthread_t thread;
  pthread_mutex_t lock; /* of all that stands below */
  int listener;
  int wake_fd; /* ends the thread */
  int port;
  struct rule rules[MOST_RULES];
  int rule_count;
  struct received **requests;
  int count;
  int at_once;
  int most_at_once;
  struct connection connections[MOST_CONNECTIONS];
  int connection_count; /* that are open */
  int accepted;
};

/* ---- answers --------------------------------------------------------------------------------------------------- */

static const struct answer *choose_answer(struct receiver *receiver, const struct received *request) {
  static const struct answer empty = {.status = 204};
  for (int i = 0; i < receiver->rule_count; i++) {
    struct rule *rule = &receiver->rules[i];
    if (rule->left == 0 ||
        (rule->words != NULL && memmem(request->bytes, request->length, rule->words, strlen(rule->words)) == NULL))
      continue;
    rule->left -= rule->left > 0;
    return &rule->answer;
  }
  return &empty;
}

static void write_answer(struct connection *connection) {
  const struct answer *answer = &connection->answer;
  if (answer->raw != NULL) {
    connection->out = strdup(answer->raw);
    connection->out_length = connection->head_length = strlen(answer->raw);
    return;
  }
  int status = answer->status == 0 ? 204 : answer->status;
  char *made = answer->make_body != NULL ? answer->make_body(connection->request) : NULL;
  const char *body = made != NULL ? made : answer->body != NULL ? answer->body : "";
  const char *headers = answer->headers != NULL ? answer->headers : "";
  char length[64] = "";
  if (status != 204)
    snprintf(length, sizeof length, "Content-Length: %zu\r\n", strlen(body));
  int written = asprintf(&connection->out, "HTTP/1.1 %d Told so\r\n%s%s\r\n%s", status, length, headers,
                         status != 204 ? body : "");
  connection->out_length = written < 0 ? 0 : (size_t)written;
  connection->head_length = connection->out_length - (status != 204 ? strlen(body) : 0);
  free(made);
}

static void begin_answer(struct receiver *receiver, struct connection *connection, struct received *request) {
  connection->answer = *choose_answer(receiver, request);
  connection->request = request;
  connection->sent = 0;
  connection->paused = false;
  connection->send_at = seconds_now() + connection->answer.delay;
  write_answer(connection);
  if (++receiver->at_once > receiver->most_at_once)
    receiver->most_at_once = receiver->at_once;
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

static const char *find_header(const char *head, const char *name) {
  size_t length = strlen(name);
  for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line + 2, "\r\n"))
    if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':')
      return line + 2 + length + 1 + strspn(line + 2 + length + 1, " ");
    else if (strncmp(line, "\r\n\r\n", 4) == 0)
      break;
  return NULL;
}

/* How long the request is that begins in `in`; 0 when its end has not come. */
static size_t whole_request(const struct connection *connection, size_t *head_length) {
  const char *end = connection->in_length > 0 ? memmem(connection->in, connection->in_length, "\r\n\r\n", 4) : NULL;
  if (end == NULL)
    return 0;
  *head_length = (size_t)(end - connection->in) + 4;
  const char *length = find_header(connection->in, "Content-Length");
  size_t whole = *head_length + (length != NULL && length < end ? strtoul(length, NULL, 10) : 0);
  return whole <= connection->in_length ? whole : 0;
}

static void take_request(struct receiver *receiver, struct connection *connection) {
  size_t head_length;
  size_t length = connection->request == NULL ? whole_request(connection, &head_length) : 0;
  if (length == 0)
    return;
  struct received *request = calloc(1, sizeof *request);
  char *bytes = malloc(length + 1);
  memcpy(bytes, connection->in, length);
  bytes[length] = '\0';
  *request = (struct received){.bytes = bytes,
                               .length = length,
                               .body = bytes + head_length,
                               .body_length = length - head_length,
                               .connection = connection->number,
                               .came_at = seconds_now()};
  connection->in_length -= length;
  memmove(connection->in, connection->in + length, connection->in_length + 1);
  receiver->requests = realloc(receiver->requests, (size_t)(receiver->count + 1) * sizeof *receiver->requests);
  receiver->requests[receiver->count++] = request;
  begin_answer(receiver, connection, request);
}

/* ---- connections ----------------------------------------------------------------------------------------------- */

static void end_answer(struct receiver *receiver, struct connection *connection) {
  if (connection->request != NULL)
    receiver->at_once--;
  connection->request = NULL;
  free(connection->out);
  connection->out = NULL;
}

static void close_connection(struct receiver *receiver, int index, bool reset) {
  struct connection *connection = &receiver->connections[index];
  struct linger linger = {.l_onoff = 1, .l_linger = 0};
  if (reset)
    setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
  close(connection->fd);
  end_answer(receiver, connection);
  free(connection->in);
  receiver->connections[index] = receiver->connections[--receiver->connection_count];
}

static void accept_connection(struct receiver *receiver) {
  int fd = accept4(receiver->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0)
    return;
  if (receiver->connection_count == MOST_CONNECTIONS) {
    close(fd);
    return;
  }
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  receiver->connections[receiver->connection_count++] = (struct connection){.fd = fd, .number = ++receiver->accepted};
}

/* False when the other side has closed. */
static bool read_more(struct connection *connection) {
  for (;;) {
    if (connection->in_capacity < connection->in_length + 65536 + 1) {
      connection->in_capacity = 2 * connection->in_capacity + 65536 + 1;
      connection->in = realloc(connection->in, connection->in_capacity);
    }
    ssize_t got = recv(connection->fd, connection->in + connection->in_length, 65536, 0);
    if (got < 0)
      return errno == EAGAIN;
    if (got == 0)
      return false;
    connection->in_length += (size_t)got;
    connection->in[connection->in_length] = '\0';
  }
}

static bool may_send(const struct connection *connection) {
  return connection->request != NULL && !connection->answer.silent;
}

/* Sends what is due of an answer. False when the connection is to be closed; *reset: not politely. */
static bool send_more(struct receiver *receiver, struct connection *connection, bool *reset) {
  const struct answer *answer = &connection->answer;
  *reset = false;
  while (may_send(connection) && seconds_now() >= connection->send_at) {
    bool in_head = answer->pause > 0 && connection->sent < connection->head_length;
    size_t end = in_head ? connection->head_length : connection->out_length;
    if (answer->cut > 0 && answer->cut < end)
      end = answer->cut;
    ssize_t sent = send(connection->fd, connection->out + connection->sent, end - connection->sent, MSG_NOSIGNAL);
    if (sent < 0)
      return errno == EAGAIN;
    connection->sent += (size_t)sent;
    if (connection->sent < end)
      continue;
    if (answer->cut > 0 && end == answer->cut) {
      *reset = true;
      return false;
    }
    if (in_head && end < connection->out_length) {
      connection->send_at = seconds_now() + answer->pause;
      continue;
    }
    connection->request->answered_at = seconds_now();
    connection->request->status = answer->status == 0 ? 204 : answer->status;
    bool closes = answer->closes || answer->raw != NULL;
    end_answer(receiver, connection);
    if (closes)
      return false;
    take_request(receiver, connection);
  }
  return true;
}

/* Until when nothing happens by itself, in milliseconds from now. */
static int until_due(struct receiver *receiver) {
  double now = seconds_now();
  double wait = 1;
  for (int i = 0; i < receiver->connection_count; i++) {
    const struct connection *connection = &receiver->connections[i];
    if (may_send(connection) && connection->send_at > now && connection->send_at - now < wait)
      wait = connection->send_at - now;
  }
  return (int)(wait * 1000) + 1;
}

static void *serve(void *argument) {
  struct receiver *receiver = argument;
  static struct pollfd polled[MOST_CONNECTIONS + 2];
  for (;;) {
    pthread_mutex_lock(&receiver->lock);
    int count = receiver->connection_count;
    for (int i = 0; i < count; i++) {
      const struct connection *connection = &receiver->connections[i];
      bool is_due = may_send(connection) && connection->send_at <= seconds_now();
      polled[i] = (struct pollfd){.fd = connection->fd, .events = (short)(POLLIN | (is_due ? POLLOUT : 0))};
    }
    polled[count] = (struct pollfd){.fd = receiver->listener, .events = POLLIN};
    polled[count + 1] = (struct pollfd){.fd = receiver->wake_fd, .events = POLLIN};
    int wait = until_due(receiver);
    pthread_mutex_unlock(&receiver->lock);
    poll(polled, (nfds_t)count + 2, wait);
    pthread_mutex_lock(&receiver->lock);
    bool ends = polled[count + 1].revents != 0;
    for (int i = count - 1; i >= 0; i--) {
      struct connection *connection = &receiver->connections[i];
      bool reset = false;
      bool open = polled[i].revents == 0 || (polled[i].revents & ~POLLOUT) == 0 || read_more(connection);
      if (open) {
        take_request(receiver, connection);
        open = send_more(receiver, connection, &reset);
      }
      if (!open)
        close_connection(receiver, i, reset);
    }
    if (polled[count].revents != 0)
      accept_connection(receiver);
    pthread_mutex_unlock(&receiver->lock);
    if (ends)
      return NULL;
  }
}

/* ---- for the test ---------------------------------------------------------------------------------------------- */

struct receiver *receiver_begin(void) {
  struct receiver *receiver = calloc(1, sizeof *receiver);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  cr_assert(receiver != NULL);
  receiver->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  receiver->wake_fd = eventfd(0, EFD_CLOEXEC);
  cr_assert(bind(receiver->listener, (struct sockaddr *)&address, sizeof address) == 0 &&
            listen(receiver->listener, MOST_CONNECTIONS) == 0 &&
            getsockname(receiver->listener, (struct sockaddr *)&address, &length) == 0);
  receiver->port = ntohs(address.sin_port);
  pthread_mutex_init(&receiver->lock, NULL);
  cr_assert_eq(pthread_create(&receiver->thread, NULL, serve, receiver), 0);
  return receiver;
}

void receiver_end(struct receiver *receiver) {
  if (receiver == NULL)
    return;
  uint64_t one = 1;
  cr_assert_eq(write(receiver->wake_fd, &one, sizeof one), (ssize_t)sizeof one);
  pthread_join(receiver->thread, NULL);
  while (receiver->connection_count > 0)
    close_connection(receiver, receiver->connection_count - 1, false);
  for (int i = 0; i < receiver->count; i++) {
    free((char *)receiver->requests[i]->bytes);
    free(receiver->requests[i]);
  }
  free(receiver->requests);
  close(receiver->listener);
  close(receiver->wake_fd);
  pthread_mutex_destroy(&receiver->lock);
  free(receiver);
}

const char *receiver_url(const struct receiver *receiver, const char *path) {
  static char url[256];
  snprintf(url, sizeof url, "http://127.0.0.1:%d%s", receiver->port, path);
  return url;
}

int receiver_port(const struct receiver *receiver) {
  return receiver->port;
}

void receiver_answer(struct receiver *receiver, const char *words, int times, struct answer answer) {
  pthread_mutex_lock(&receiver->lock);
  cr_assert(receiver->rule_count < MOST_RULES);
  receiver->rules[receiver->rule_count++] =
      (struct rule){.words = words, .left = times > 0 ? times : -1, .answer = answer};
  pthread_mutex_unlock(&receiver->lock);
}

void receiver_recover(struct receiver *receiver) {
  pthread_mutex_lock(&receiver->lock);
  receiver->rule_count = 0;
  pthread_mutex_unlock(&receiver->lock);
}

static int look(struct receiver *receiver, const int *number) {
  pthread_mutex_lock(&receiver->lock);
  int value = *number;
  pthread_mutex_unlock(&receiver->lock);
  return value;
}

int receiver_count(struct receiver *receiver) {
  return look(receiver, &receiver->count);
}

int receiver_connections(struct receiver *receiver) {
  return look(receiver, &receiver->accepted);
}

int receiver_most_at_once(struct receiver *receiver) {
  return look(receiver, &receiver->most_at_once);
}

const struct received *receiver_at(struct receiver *receiver, int index) {
  pthread_mutex_lock(&receiver->lock);
  const struct received *request = index < receiver->count ? receiver->requests[index] : NULL;
  pthread_mutex_unlock(&receiver->lock);
  cr_assert(request != NULL, "there is no request %d", index);
  return request;
}

void receiver_wait(struct receiver *receiver, int count, double seconds) {
  double until = give_up_at(seconds);
  while (receiver_count(receiver) < count) {
    cr_assert(seconds_now() < until, "%d requests have come, not %d, in %.1f s", receiver_count(receiver), count,
              seconds);
    sleep_seconds(0.005);
  }
}

const char *received_header(const struct received *request, const char *name) {
  static char values[16][1024];
  static int turn = 0;
  char *value = values[turn++ % 16];
  const char *found = find_header(request->bytes, name);
  value[0] = '\0';
  if (found != NULL && found < request->body)
    snprintf(value, sizeof values[0], "%.*s", (int)strcspn(found, "\r"), found);
  return value;
}

void receiver_load(struct receiver *receiver, PGconn *connection) {
  sql(connection, "drop table if exists request; create temp table request (n int, connection int, came float8, "
                  "answered float8, status int, head text, body text)");
  int count = receiver_count(receiver);
  for (int i = 0; i < count; i++) {
    const struct received *request = receiver_at(receiver, i);
    char numbers[5][32];
    snprintf(numbers[0], sizeof numbers[0], "%d", i + 1);
    snprintf(numbers[1], sizeof numbers[1], "%d", request->connection);
    snprintf(numbers[2], sizeof numbers[2], "%.6f", request->came_at);
    snprintf(numbers[3], sizeof numbers[3], "%.6f", request->answered_at);
    snprintf(numbers[4], sizeof numbers[4], "%d", request->status);
    char *head = strndup(request->bytes, (size_t)(request->body - request->bytes));
    const char *values[] = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], head, request->body};
    PGresult *result = PQexecParams(connection,
                                    "insert into request values ($1::int, $2::int, $3::float8, "
                                    "nullif($4::float8, 0), $5::int, $6, $7)",
                                    7, NULL, values, NULL, NULL, 0);
    cr_assert(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(connection));
    PQclear(result);
    free(head);
  }
}
