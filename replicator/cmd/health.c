/* rowrelay health: asks a running process for its health, where no other HTTP client is installed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "common/clock.h"
#include "http/client.h"

#define TIMEOUT 5000 /* milliseconds */
#define ANSWER_LIMIT 500

/* Where a process that listens at `address` is reached from the same machine. */
static bool make_url(char *url, size_t size, const char *address, const char *path, struct error *error) {
  bool everywhere = address[0] == ':';
  int length = snprintf(url, size, "http://%s%s%s", everywhere ? "127.0.0.1" : "", address, path);
  const char *colon = strrchr(address, ':');
  char *end = NULL;
  long port = colon != NULL ? strtol(colon + 1, &end, 10) : 0;
  if (port > 0 && port <= 65535 && *end == '\0' && strchr(address, '/') == NULL && (size_t)length < size)
    return true;
  error_set(error, FAILURE_USAGE, "\"%s\" is not an address", address);
  return error_hint(error, "give ADDRESS:PORT, [ADDRESS]:PORT or :PORT, as for rowrelay run --listen");
}

/* Prints or reports the first line of the answer. */
static bool judge(const struct http_request *request, const char *address, struct error *error) {
  if (request->status == 0) {
    error_set(error, FAILURE_FATAL, "%s does not answer", address);
    return request->failure[0] != '\0' && error_detail(error, "%s", request->failure);
  }
  int length = (int)strcspn(request->answer.data, "\n");
  if (request->status != 200)
    return error_set(error, FAILURE_FATAL, "%s: %.*s", address, length, request->answer.data);
  printf("%.*s\n", length, request->answer.data);
  return true;
}

static bool run(const struct options *given, struct error *error) {
  const char *address = given->arguments[0];
  struct http *http;
  char url[512];
  if (!make_url(url, sizeof url, address, option_given(given, "ready") ? "/readyz" : "/healthz", error) ||
      !http_new(&http, &(struct http_options){.timeout = TIMEOUT, .proxy = "", .connections = 1}, error))
    return false;
  struct http_request request = {.method = "GET", .url = url, .answer_limit = ANSWER_LIMIT};
  bool ok = http_start(http, &request, error);
  if (ok) {
    struct http_request *done = http_wait(http, clock_now() + TIMEOUT);
    if (done == NULL)
      http_cancel(http, &request);
    ok = judge(&request, address, error);
  }
  http_free(http);
  http_request_release(&request);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "ready", .help = "also ask whether it reaches its source"},
    OPTION_END,
};

const struct command COMMAND_health = {
    .name = "health",
    .summary = "ask a running process whether it is healthy",
    .arguments = "ADDR:PORT",
    .least = 1,
    .most = 1,
    .options = OPTIONS,
    .notes = "ADDR:PORT is the address of \"rowrelay run --listen\"; the command requests /healthz, or /readyz.\n"
             "For health checks of containers that have no HTTP client.\n",
    .examples = "rowrelay health 127.0.0.1:9187 --ready\n",
    .run = run,
};
