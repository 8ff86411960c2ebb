/* A request of the console: a line each with method and path of no meaning, Host, Authorization, Content-Type; then its
 * body. */
#include <jansson.h>

#include "fuzz.h"
#include "http/server.h"
#include "monitor/monitor.h"

static const char *headers[3];

static const char *header_of(const struct server_request *request, const char *name) {
  (void)request;
  return strcmp(name, "Host") == 0 ? headers[0] : strcmp(name, "Authorization") == 0 ? headers[1] : headers[2];
}

static bool header_alone_of(const struct server_request *request, const char *name, const char **value) {
  *value = header_of(request, name);
  return true;
}

static bool ask(struct monitor *monitor, const struct query *query, struct values values, PGresult **reply,
                struct error *error) {
  (void)monitor;
  (void)query;
  (void)values;
  *reply = NULL;
  return error_set(error, FAILURE_RETRY, "there is no database");
}

#define server_header header_of
#define server_header_alone header_alone_of
#define monitor_ask ask
#include "monitor/console_action.c"
#include "monitor/console_actor.c"
#include "monitor/console_answer.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = text_of(data, size);
  char *rest = text;
  for (int i = 0; i < 3; i++)
    headers[i] = cut_line(&rest);
  setenv(CONSOLE_TOKEN, "try", 1);
  struct server_request request = {
      .method = "POST", .path = "/api/act", .body = rest, .body_length = size - (size_t)(rest - text)};
  struct server_answer answer = {.status = 0};
  buffer_init(&answer.body, 1 << 20);
  console_act(NULL, &request, &answer);
  PROMISE(answer.status >= 400 || strcmp(headers[1], "Bearer try") == 0, "nobody acts without the token");
  if (answer.type != NULL && answer.body.data != NULL) {
    json_t *is_text = json_stringn(answer.body.data, answer.body.length);
    json_t *said = json_loadb(answer.body.data, answer.body.length, JSON_DECODE_ANY, NULL);
    PROMISE(is_text == NULL || said != NULL, "an answer that says so is JSON");
    json_decref(is_text);
    json_decref(said);
  }
  buffer_release(&answer.body);
  free(text);
  return 0;
}
