#include "http/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/connections.h"

/* A browser's page has a handful of connections, and a scraper one; more are refused. One address cannot take all. */
#define MOST_CONNECTIONS 128U
#define MOST_OF_AN_ADDRESS 32U
/* Time limits: between two bytes, for a whole request, and for sending an answer. */
#define IDLE_SECONDS 30U
#define READING_TIME 10000  /* milliseconds */
#define SENDING_TIME 120000 /* the same */
#define LONGEST_BODY ((size_t)1024 * 1024)
#define LONGEST_ANSWER ((size_t)64 * 1024 * 1024)
#define BACKLOG 64

struct server {
  struct MHD_Daemon *daemon;
  const struct server_route *routes;
  void *context;
  int port;
  struct connections visitors;
};

const char *server_header(const struct server_request *request, const char *name) {
  return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *server_parameter(const struct server_request *request, const char *name) {
  return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

static enum MHD_Result send_answer(struct MHD_Connection *connection, struct server_answer *answer) {
  bool ok = !answer->body.overflow;
  unsigned status = !ok ? MHD_HTTP_INTERNAL_SERVER_ERROR : answer->status != 0 ? answer->status : MHD_HTTP_OK;
  struct MHD_Response *response = MHD_create_response_from_buffer(ok ? answer->body.length : 0,
                                                                  ok ? answer->body.data : NULL, MHD_RESPMEM_MUST_COPY);
  buffer_release(&answer->body);
  if (response == NULL)
    return MHD_NO;
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
  if (answer->allow != NULL)
    MHD_add_response_header(response, "Allow", answer->allow);
  enum MHD_Result queued = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return queued;
}

static bool answers(const struct server_route *route, const char *method) {
  return strcmp(route->method, method) == 0 || (strcmp(route->method, "GET") == 0 && strcmp(method, "HEAD") == 0);
}

static void find_answer(const struct server *server, const struct server_request *request,
                        struct server_answer *answer) {
  buffer_init(&answer->body, LONGEST_ANSWER);
  for (const struct server_route *route = server->routes; route->path != NULL; route++) {
    if (strcmp(route->path, request->path) != 0)
      continue;
    if (answers(route, request->method)) {
      answer->status = 0;
      answer->allow = NULL;
      route->handle(server->context, request, answer);
      return;
    }
    answer->status = MHD_HTTP_METHOD_NOT_ALLOWED;
    answer->allow = route->method;
  }
  if (answer->status == 0)
    answer->status = MHD_HTTP_NOT_FOUND;
  buffer_add_string(&answer->body, answer->allow != NULL ? "not allowed\n" : "not found\n");
}

static struct visitor *visitor_of(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info != NULL ? info->socket_context : NULL;
}

/* Called when the headers have arrived, for each piece of the body, and when all has arrived. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *piece, size_t *length, void **state) {
  (void)version;
  struct server *server = context;
  struct buffer *body = *state;
  if (body == NULL) {
    body = calloc(1, sizeof *body);
    if (body == NULL)
      return MHD_NO;
    buffer_init(body, LONGEST_BODY);
    buffer_add_string(body, "");
    *state = body;
    return MHD_YES;
  }
  if (*length > 0) {
    buffer_add(body, piece, *length);
    *length = 0;
    return MHD_YES;
  }
  connections_unlimit(&server->visitors, visitor_of(connection));
  struct server_answer answer = {.status = 0};
  if (body->overflow) {
    buffer_init(&answer.body, LONGEST_ANSWER);
    buffer_add_string(&answer.body, "too large\n");
    answer.status = MHD_HTTP_CONTENT_TOO_LARGE;
  } else {
    struct server_request request = {
        .method = method, .path = path, .body = body->data, .body_length = body->length, .connection = connection};
    find_answer(server, &request, &answer);
  }
  connections_limit(&server->visitors, visitor_of(connection), SENDING_TIME);
  return send_answer(connection, &answer);
}

static void forget_request(void *context, struct MHD_Connection *connection, void **state,
                           enum MHD_RequestTerminationCode why) {
  (void)context;
  (void)connection;
  (void)why;
  if (*state == NULL)
    return;
  buffer_release(*state);
  free(*state);
  *state = NULL;
}

static void greet(void *context, struct MHD_Connection *connection, void **visitor,
                  enum MHD_ConnectionNotificationCode what) {
  struct server *server = context;
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    *visitor = connections_enter(&server->visitors,
                                 MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
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
  int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
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
  error_set(error, FAILURE_USAGE, "cannot listen on \"%s\": %s", text, strerror(why));
  return why == EADDRINUSE && error_hint(error, "use another port, or stop the process that listens there");
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
    made->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, 0,
                                    NULL, NULL, handle, made, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
                                    MOST_CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT, MOST_OF_AN_ADDRESS,
                                    MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_NOTIFY_CONNECTION, greet,
                                    made, MHD_OPTION_NOTIFY_COMPLETED, forget_request, NULL, MHD_OPTION_END);
  }
  if (!watched || made->daemon == NULL) {
    if (watched) {
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
  MHD_stop_daemon(server->daemon);
  connections_stop(&server->visitors);
  free(server);
}

int server_port(const struct server *server) {
  return server->port;
}
