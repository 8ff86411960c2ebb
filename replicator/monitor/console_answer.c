#include "monitor/console_answer.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/text.h"
#include "postgres/result.h"

#define NO_PRIVILEGE "42501"

static void begin_error(struct server_answer *answer, unsigned status, const char *message) {
  answer->status = status;
  answer->type = CONSOLE_JSON;
  buffer_clear(&answer->body);
  buffer_add_string(&answer->body, "{\"error\":");
  buffer_add_json_string(&answer->body, message);
}

static void add_member(struct server_answer *answer, const char *name, const char *value) {
  if (value == NULL || value[0] == '\0')
    return;
  buffer_add_format(&answer->body, ",\"%s\":", name);
  buffer_add_json_string(&answer->body, value);
}

void console_error(struct server_answer *answer, unsigned status, const char *message, const char *hint) {
  begin_error(answer, status, message);
  add_member(answer, "hint", hint);
  buffer_add_string(&answer->body, "}");
}

void console_error_at(struct server_answer *answer, unsigned status, const struct error *error,
                      const char *next_cursor) {
  begin_error(answer, status, error->message);
  add_member(answer, "hint", error->hint);
  add_member(answer, "next_cursor", next_cursor);
  buffer_add_string(&answer->body, "}");
}

void console_failed(struct server_answer *answer, const struct error *error) {
  bool refused = error->kind == FAILURE_REFUSED || error->kind == FAILURE_USAGE || error->kind == FAILURE_FATAL;
  if (strcmp(error->sqlstate, NO_PRIVILEGE) == 0)
    console_error(answer, MHD_HTTP_FORBIDDEN, error->message,
                  "the database user of rowrelay run may not do that; a member of rowrelay_admin may");
  else
    console_error(answer, refused ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_SERVICE_UNAVAILABLE, error->message, error->hint);
}

static bool is_listed(const char *name, const char *names) {
  static const char SEPARATORS[] = ", ";
  size_t length = strlen(name);
  for (names += strspn(names, SEPARATORS); *names != '\0'; names += strspn(names, SEPARATORS)) {
    size_t next = strcspn(names, SEPARATORS);
    if (next == length && strncasecmp(names, name, length) == 0)
      return true;
    names += next;
  }
  return false;
}

/* No name that a stranger could have made in the public DNS, unless it is known to be ours. */
static bool is_own_name(const char *name) {
  char own[256] = "";
  struct in_addr address;
  const char *names = getenv(CONSOLE_HOST);
  gethostname(own, sizeof own - 1);
  return name[0] == '[' || strchr(name, '.') == NULL || inet_pton(AF_INET, name, &address) == 1 ||
         strcasecmp(name, own) == 0 || (names != NULL && is_listed(name, names));
}

/*
 * A page from elsewhere may give its own name our address, and is then, to a browser, one with what is served here. But
 * the browser says which name it asked for.
 */
bool console_may_read(const struct server_request *request, struct server_answer *answer) {
  const char *host = server_header(request, "Host");
  char name[256];
  text_print(name, sizeof name, "%s", host != NULL ? host : "");
  if (name[0] != '[')
    name[strcspn(name, ":")] = '\0';
  if (is_own_name(name))
    return true;
  char message[320];
  text_print(message, sizeof message, "this console does not go by the name \"%s\"", name);
  console_error(answer, MHD_HTTP_MISDIRECTED_REQUEST, message,
                "if it should, set " CONSOLE_HOST " to it in the environment of rowrelay run");
  return false;
}

const char *console_given(const struct server_request *request, const char *name) {
  const char *value = server_parameter(request, name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Of an answer that came, or did not. */
static bool give_value(bool came, PGresult *reply, const struct error *error, struct server_answer *answer) {
  if (!came) {
    console_failed(answer, error);
    return false;
  }
  answer->type = CONSOLE_JSON;
  const char *value = PQntuples(reply) > 0 ? result_text(reply, 0, 0) : NULL;
  buffer_add_string(&answer->body, value != NULL && value[0] != '\0' ? value : "null");
  PQclear(reply);
  return true;
}

bool console_value(struct monitor *monitor, const struct query *query, struct values values,
                   struct server_answer *answer) {
  struct error error;
  PGresult *reply = NULL;
  bool came = monitor_ask(monitor, query, values, &reply, &error);
  return give_value(came, reply, &error, answer);
}

bool console_found(struct monitor *monitor, const struct query *query, struct values values,
                   struct server_answer *answer) {
  struct error error;
  PGresult *reply = NULL;
  bool came = monitor_search(monitor, query, values, &reply, &error);
  return give_value(came, reply, &error, answer);
}
