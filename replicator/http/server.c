#include "http/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/portable.h"
#include "http/connections.h"
#include "http/exchange.h"

/* Time limits: between two bytes, for a whole request, and for sending an answer. */
#define IDLE_SECONDS 30U
#define READING_TIME 10000  /* milliseconds */
#define SENDING_TIME 120000 /* the same */
#define LONGEST_ANSWER ((size_t)64 * 1024 * 1024)
#define BACKLOG 1024 /* as many may come back at once after a process was restarted */
#define MOST_SOCKETS (CONNECTIONS_MOST + SERVER_MOST_KEPT + 100U)
#define MOST_FILES ((rlim_t)2 * MOST_SOCKETS)

struct server {
  struct MHD_Daemon *daemon;
  const struct server_route *routes;
  void *context;
  int port;
  struct connections visitors;
  struct exchanges exchanges;
};

const char *server_header(const struct server_request *request, const char *name) {
  return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

struct header {
  const char *name;
  const char *value;
  bool is_plain;
  int count;
};

/* Of a line that ends with CR and LF, old versions of the library make two zeros: one zero alone was sent. */
static bool holds_control(const char *value) {
  size_t length = strlen(value);
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)value[i] < ' ' || value[i] == 0x7f)
      return true;
  return MHD_VERSION < 0x01000000 && value[length + 1] != '\0';
}

static enum MHD_Result take_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
  struct header *header = context;
  (void)kind;
  if (strcasecmp(name, header->name) == 0 && value != NULL) {
    header->value = value;
    header->count++;
    header->is_plain = header->is_plain && !holds_control(value);
  }
  return MHD_YES;
}

bool server_header_alone(const struct server_request *request, const char *name, const char **value) {
  struct header header = {.name = name, .value = NULL, .is_plain = true};
  MHD_get_connection_values(request->connection, MHD_HEADER_KIND, take_header, &header);
  *value = header.value;
  return header.count <= 1 && header.is_plain;
}

const char *server_parameter(const struct server_request *request, const char *name) {
  return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

struct taking {
  const char *name;
  bool (*take)(void *context, const char *value);
  void *context;
  bool ok;
};

static enum MHD_Result take_parameter(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
  struct taking *taking = context;
  (void)kind;
  if (strcmp(name, taking->name) == 0)
    taking->ok = taking->take(taking->context, value != NULL ? value : "");
  return taking->ok ? MHD_YES : MHD_NO;
}

bool server_each_parameter(const struct server_request *request, const char *name,
                           bool (*take)(void *context, const char *value), void *context) {
  struct taking taking = {.name = name, .take = take, .context = context, .ok = true};
  MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, take_parameter, &taking);
  return taking.ok;
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

static bool answers(const struct server_route *route, const char *method) {
  return strcmp(route->method, method) == 0 ||
         (route->keep == NULL && strcmp(route->method, "GET") == 0 && strcmp(method, "HEAD") == 0);
}

/* NULL: there is none, and the answer says so. */
static const struct server_route *find_route(const struct server *server, const struct server_request *request,
                                             struct server_answer *answer) {
  for (const struct server_route *route = server->routes; route->path != NULL; route++) {
    if (strcmp(route->path, request->path) != 0)
      continue;
    if (answers(route, request->method)) {
      answer->status = 0;
      answer->header.name = NULL;
      return route;
    }
    answer->status = MHD_HTTP_METHOD_NOT_ALLOWED;
    answer->header.name = "Allow";
    answer->header.value = route->method;
  }
  if (answer->status == 0)
    answer->status = MHD_HTTP_NOT_FOUND;
  buffer_add_string(&answer->body, answer->header.name != NULL ? "not allowed\n" : "not found\n");
  return NULL;
}

static struct visitor *visitor_of(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info != NULL ? info->socket_context : NULL;
}

/* A request that has a thread. What it was asked with lasts as long as the connection is suspended. */
struct errand {
  struct server *server;
  const struct server_route *route;
  struct server_request request;
  struct exchange *exchange;
};

static void *run_errand(void *argument) {
  struct errand *errand = argument;
  struct exchanges *exchanges = &errand->server->exchanges;
  struct server_answer answer = {.status = 0};
  buffer_init(&answer.body, LONGEST_ANSWER);
  errand->route->handle(errand->server->context, &errand->request, &answer);
  exchange_answer(errand->exchange, &answer);
  free(errand);
  exchanges_count_thread(exchanges, -1);
  return NULL;
}

/* True: a thread has it. */
static bool start_errand(struct server *server, const struct server_route *route, const struct server_request *request,
                         struct exchange *exchange) {
  pthread_t thread;
  pthread_attr_t detached;
  struct errand *errand = malloc(sizeof *errand);
  if (errand == NULL)
    return false;
  *errand = (struct errand){.server = server, .route = route, .request = *request, .exchange = exchange};
  exchanges_count_thread(&server->exchanges, 1);
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  bool started = pthread_create(&thread, &detached, run_errand, errand) == 0;
  pthread_attr_destroy(&detached);
  if (!started) {
    free(errand);
    exchanges_count_thread(&server->exchanges, -1);
  }
  return started;
}

/* It is suspended before anybody else knows it, and goes on when it is answered. */
static enum MHD_Result answer_later(struct server *server, const struct server_route *route,
                                    const struct server_request *request, struct exchange *exchange) {
  struct server_answer answer = {.status = 0};
  if (!exchange_keep(exchange))
    return MHD_NO;
  if (route->keep == NULL && exchanges_threads(&server->exchanges) < CONNECTIONS_WAITING &&
      start_errand(server, route, request, exchange))
    return MHD_YES;
  buffer_init(&answer.body, LONGEST_ANSWER);
  if (route->keep == NULL) {
    answer.status = MHD_HTTP_SERVICE_UNAVAILABLE;
    buffer_add_string(&answer.body, "too many requests\n");
  } else {
    struct visitor *visitor = visitor_of(request->connection);
    if (route->keep(server->context, request, exchange, &answer)) {
      connections_exempt(&server->visitors, visitor);
      return MHD_YES;
    }
  }
  exchange_answer(exchange, &answer);
  return MHD_YES;
}

static enum MHD_Result answer(struct server *server, const struct server_request *request, struct exchange *exchange) {
  struct MHD_Connection *connection = request->connection;
  struct buffer *body = exchange_body(exchange);
  struct server_answer answer = {.status = 0};
  buffer_init(&answer.body, LONGEST_ANSWER);
  if (body->overflow) {
    buffer_add_string(&answer.body, "too large\n");
    answer.status = MHD_HTTP_CONTENT_TOO_LARGE;
  } else {
    const struct server_route *route = find_route(server, request, &answer);
    if (route != NULL && (route->waits || route->keep != NULL))
      return answer_later(server, route, request, exchange);
    if (route != NULL)
      route->handle(server->context, request, &answer);
  }
  connections_limit(&server->visitors, visitor_of(connection), SENDING_TIME);
  return exchange_send_whole(connection, &answer);
}

/*
 * Called when the headers have arrived, for each piece of the body, when all has arrived, and again when the answer of
 * a suspended connection is there.
 */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *piece, size_t *length, void **state) {
  (void)version;
  struct server *server = context;
  struct exchange *exchange = *state;
  if (exchange == NULL) {
    *state = exchange_new(&server->exchanges, connection);
    return *state != NULL ? MHD_YES : MHD_NO;
  }
  struct buffer *body = exchange_body(exchange);
  if (*length > 0) {
    buffer_add(body, piece, *length);
    *length = 0;
    return MHD_YES;
  }
  if (exchange_is_answered(exchange)) {
    if (!exchange_goes_on(exchange))
      connections_limit(&server->visitors, visitor_of(connection), SENDING_TIME);
    return exchange_send(exchange);
  }
  connections_unlimit(&server->visitors, visitor_of(connection));
  struct server_request request = {
      .method = method, .path = path, .body = body->data, .body_length = body->length, .connection = connection};
  return answer(server, &request, exchange);
}

static void forget_request(void *context, struct MHD_Connection *connection, void **state,
                           enum MHD_RequestTerminationCode why) {
  (void)context;
  (void)connection;
  (void)why;
  exchange_forget(*state);
  *state = NULL;
}

static enum MHD_Result admit(void *context, const struct sockaddr *address, socklen_t length) {
  struct server *server = context;
  (void)length;
  return connections_admit(&server->visitors, address) ? MHD_YES : MHD_NO;
}

static void greet(void *context, struct MHD_Connection *connection, void **visitor,
                  enum MHD_ConnectionNotificationCode what) {
  struct server *server = context;
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    *visitor = connections_enter(&server->visitors,
                                 MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
                                 MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
    connections_limit(&server->visitors, *visitor, READING_TIME);
  } else {
    connections_leave(&server->visitors, *visitor);
  }
}

/* ---- the socket ------------------------------------------------------------------------------------------------ */

/* Splits "ADDRESS:PORT"; the address is "" for all addresses. */
static bool split_address(const char *text, char *host, size_t size, const char **port, struct error *error) {
  const char *colon = strrchr(text, ':');
  size_t length = colon != NULL ? (size_t)(colon - text) : 0;
  bool bracketed = length >= 2 && text[0] == '[' && text[length - 1] == ']';
  char *end;
  long number = colon != NULL ? strtol(colon + 1, &end, 10) : -1;
  if (colon == NULL || end == colon + 1 || *end != '\0' || number < 0 || number > 65535 || length >= size ||
      (!bracketed && memchr(text, ':', length) != NULL)) {
    error_set(error, FAILURE_USAGE, "cannot listen on \"%s\"", text);
    return error_hint(error, "use ADDRESS:PORT, such as 127.0.0.1:9187, [::1]:9187 or :9187");
  }
  snprintf(host, size, "%.*s", (int)(bracketed ? length - 2 : length), bracketed ? text + 1 : text);
  *port = colon + 1;
  return true;
}

static int open_socket(const struct addrinfo *address) {
  int one = 1;
  int zero = 0;
  int fd = portable_socket(address->ai_family, SOCK_STREAM);
  if (fd < 0)
    return -1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (address->ai_family == AF_INET6)
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
  if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
    return fd;
  int why = errno;
  close(fd);
  errno = why;
  return -1;
}

static bool listen_on(const char *text, int *fd, struct error *error) {
  char host[256] = "";
  const char *port = NULL;
  if (!split_address(text, host, sizeof host, &port, error))
    return false;
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
  struct addrinfo *found = NULL;
  int failed = getaddrinfo(host[0] != '\0' ? host : NULL, port, &hints, &found);
  if (failed != 0)
    return error_set(error, FAILURE_USAGE, "cannot listen on \"%s\": %s", text, gai_strerror(failed));
  *fd = -1;
  errno = 0;
  /* An IPv6 socket accepts IPv4 connections too. */
  for (int family = AF_INET6; *fd < 0 && family != 0; family = family == AF_INET6 ? AF_INET : 0)
    for (struct addrinfo *address = found; *fd < 0 && address != NULL; address = address->ai_next)
      if (address->ai_family == family)
        *fd = open_socket(address);
  freeaddrinfo(found);
  if (*fd >= 0)
    return true;
  int why = errno;
  /* a port that is in use may be free in a moment, as when another process ends */
  error_set(error, why == EADDRINUSE ? FAILURE_FATAL : FAILURE_USAGE, "cannot listen on \"%s\": %s", text,
            strerror(why));
  return why == EADDRINUSE && error_hint(error, "use another port, or stop the process that listens there");
}

/* A socket for each of them and some for all else, where this process may have so many. */
static void allow_files(void) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= MOST_FILES)
    return;
  files.rlim_cur = files.rlim_max < MOST_FILES ? files.rlim_max : MOST_FILES;
  setrlimit(RLIMIT_NOFILE, &files);
}

static int port_of(int fd) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  char port[16] = "0";
  if (getsockname(fd, (struct sockaddr *)&address, &length) == 0)
    getnameinfo((struct sockaddr *)&address, length, NULL, 0, port, sizeof port, NI_NUMERICSERV);
  return (int)strtol(port, NULL, 10);
}

bool server_start(struct server **server, const char *address, const struct server_route *routes, void *context,
                  struct error *error) {
  int fd = -1;
  if (!listen_on(address, &fd, error))
    return false;
  struct server *made = calloc(1, sizeof *made);
  if (made == NULL) {
    close(fd);
    return error_set(error, FAILURE_FATAL, "cannot listen on \"%s\": out of memory", address);
  }
  bool watched = connections_start(&made->visitors, error);
  if (watched) {
    made->routes = routes;
    made->context = context;
    made->port = port_of(fd);
    allow_files();
    exchanges_init(&made->exchanges);
    made->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, admit, made, handle,
                                    made, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, MOST_SOCKETS,
                                    MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_NOTIFY_CONNECTION, greet,
                                    made, MHD_OPTION_NOTIFY_COMPLETED, forget_request, NULL, MHD_OPTION_END);
  }
  if (!watched || made->daemon == NULL) {
    if (watched) {
      exchanges_release(&made->exchanges);
      connections_stop(&made->visitors);
      error_set(error, FAILURE_FATAL, "cannot listen on \"%s\": the HTTP server did not start", address);
    }
    free(made);
    close(fd);
    return false;
  }
  *server = made;
  return true;
}

void server_stop(struct server *server) {
  if (server == NULL)
    return;
  exchanges_leave(&server->exchanges);
  MHD_stop_daemon(server->daemon);
  exchanges_release(&server->exchanges);
  connections_stop(&server->visitors);
  free(server);
}

int server_port(const struct server *server) {
  return server->port;
}
