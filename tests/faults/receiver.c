/*
 * The HTTP end of the targets: takes any number of requests, answers them well, and keeps each body as one line of
 * DIR/CASE/KIND, after their path /CASE/KIND…; to a bulk request of a search engine it answers item by item.
 *
 *   receiver DIR    prints its port, and ends with its parent
 */
#include <arpa/inet.h>
#include <jansson.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

struct body {
  char *bytes;
  size_t length;
};

static const char *directory;

static void give_up(const char *what) {
  fprintf(stderr, "receiver: %s\n", what);
  _exit(1);
}

/* Two words of a path are a file's name. */
static void keep(const char *path, const struct body *body) {
  char name[4096];
  const char *slash = strchr(path + 1, '/');
  if (slash == NULL || body->length == 0)
    return;
  snprintf(name, sizeof name, "%s%.*s", directory, (int)(slash - path + 1 + (int)strcspn(slash + 1, "/?")), path);
  FILE *file = fopen(name, "a");
  if (file == NULL)
    give_up(name);
  fwrite(body->bytes, 1, body->length, file);
  if (body->bytes[body->length - 1] != '\n')
    fputc('\n', file);
  fclose(file);
}

/* A line that names an operation is followed by a row, unless it deletes one. */
static char *answer_to_bulk(const struct body *body) {
  json_t *items = json_array();
  for (char *line = body->bytes; line != NULL && *line != '\0';) {
    size_t length = strcspn(line, "\n");
    json_t *action = json_loadb(line, length, 0, NULL);
    const char *operation = json_object_iter_key(json_object_iter(action));
    if (operation == NULL)
      give_up("a bulk request that is none");
    bool deletes = strcmp(operation, "delete") == 0;
    json_array_append_new(items, json_pack("{s:{s:i,s:s}}", operation, "status", 200, "result", "done"));
    line += length + (line[length] == '\n');
    if (!deletes) {
      line += strcspn(line, "\n");
      line += *line == '\n';
    }
    json_decref(action);
  }
  json_t *answer = json_pack("{s:b,s:o}", "errors", 0, "items", items);
  char *text = json_dumps(answer, JSON_COMPACT);
  json_decref(answer);
  return text;
}

static enum MHD_Result take(void *unused, struct MHD_Connection *connection, const char *path, const char *method,
                            const char *version, const char *piece, size_t *length, void **state) {
  (void)unused;
  (void)method;
  (void)version;
  struct body *body = *state;
  if (body == NULL) {
    *state = calloc(1, sizeof *body);
    return *state != NULL ? MHD_YES : MHD_NO;
  }
  if (*length > 0) {
    body->bytes = realloc(body->bytes, body->length + *length + 1);
    if (body->bytes == NULL)
      give_up("out of memory");
    memcpy(body->bytes + body->length, piece, *length);
    body->length += *length;
    body->bytes[body->length] = '\0';
    *length = 0;
    return MHD_YES;
  }
  keep(path, body);
  char *text = strstr(path, "/_bulk") != NULL ? answer_to_bulk(body)
                                              : strdup("{\"version\":{\"number\":\"8.0.0\"},\"acknowledged\":true}");
  struct MHD_Response *response = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
  enum MHD_Result queued = MHD_queue_response(connection, MHD_HTTP_OK, response);
  MHD_destroy_response(response);
  return queued;
}

static void forget(void *unused, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode why) {
  (void)unused;
  (void)connection;
  (void)why;
  struct body *body = *state;
  if (body != NULL)
    free(body->bytes);
  free(body);
}

int main(int argc, char **argv) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (argc != 2)
    give_up("which directory?");
  directory = argv[1];
  struct MHD_Daemon *daemon =
      MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, take, NULL, MHD_OPTION_SOCK_ADDR, &address,
                       MHD_OPTION_NOTIFY_COMPLETED, forget, NULL, MHD_OPTION_END);
  if (daemon == NULL)
    give_up("cannot listen");
  printf("%d\n", MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
  fflush(stdout);
  pause();
  MHD_stop_daemon(daemon);
  return 0;
}
