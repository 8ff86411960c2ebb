#include "monitor/console.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/json_tree.h"
#include "common/log.h"
#include "common/shell.h"
#include "common/text.h"
#include "monitor/monitor.h"
#include "pages.h"
#include "postgres/result.h"
#include "queries.h"

#define JSON_TYPE "application/json"
#define IDS_LIMIT ((size_t)1024 * 1024)

/* ---- the page -------------------------------------------------------------------------------------------------- */

static void give_file(struct server_answer *answer, const char *type, const char *text) {
  answer->type = type;
  answer->may_be_kept = true;
  buffer_add_string(&answer->body, text);
}

void console_page(void *context, const struct server_request *request, struct server_answer *answer) {
  (void)context;
  (void)request;
  give_file(answer, "text/html; charset=utf-8", PAGE_index_html);
}

void console_script(void *context, const struct server_request *request, struct server_answer *answer) {
  (void)context;
  (void)request;
  give_file(answer, "text/javascript; charset=utf-8", PAGE_console_js);
}

void console_style(void *context, const struct server_request *request, struct server_answer *answer) {
  (void)context;
  (void)request;
  give_file(answer, "text/css; charset=utf-8", PAGE_console_css);
}

/* ---- what it shows --------------------------------------------------------------------------------------------- */

static void give_error(struct server_answer *answer, unsigned status, const char *message, const char *hint) {
  answer->status = status;
  answer->type = JSON_TYPE;
  buffer_clear(&answer->body);
  buffer_add_string(&answer->body, "{\"error\":");
  buffer_add_json_string(&answer->body, message);
  if (hint != NULL && hint[0] != '\0') {
    buffer_add_string(&answer->body, ",\"hint\":");
    buffer_add_json_string(&answer->body, hint);
  }
  buffer_add_string(&answer->body, "}");
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
static bool may_read(const struct server_request *request, struct server_answer *answer) {
  const char *host = server_header(request, "Host");
  char name[256];
  text_print(name, sizeof name, "%s", host != NULL ? host : "");
  if (name[0] != '[')
    name[strcspn(name, ":")] = '\0';
  if (is_own_name(name))
    return true;
  char message[320];
  text_print(message, sizeof message, "this console does not go by the name \"%s\"", name);
  give_error(answer, MHD_HTTP_MISDIRECTED_REQUEST, message,
             "if it should, set " CONSOLE_HOST " to it in the environment of rowrelay run");
  return false;
}

/* The one value of a query's answer, which is JSON or a number. */
static bool give_value(struct monitor *monitor, const struct query *query, struct values values,
                       struct server_answer *answer) {
  struct error error;
  PGresult *reply = NULL;
  if (!monitor_ask(monitor, query, values, &reply, &error)) {
    bool refused = error.kind == FAILURE_REFUSED || error.kind == FAILURE_USAGE || error.kind == FAILURE_FATAL;
    give_error(answer, refused ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_SERVICE_UNAVAILABLE, error.message, error.hint);
    return false;
  }
  answer->type = JSON_TYPE;
  const char *value = PQntuples(reply) > 0 ? result_text(reply, 0, 0) : NULL;
  buffer_add_string(&answer->body, value != NULL && value[0] != '\0' ? value : "null");
  PQclear(reply);
  return true;
}

void console_overview(void *context, const struct server_request *request, struct server_answer *answer) {
  if (may_read(request, answer))
    give_value(context, &QUERY_console_overview, NO_VALUES, answer);
}

void console_samples(void *context, const struct server_request *request, struct server_answer *answer) {
  if (!may_read(request, answer))
    return;
  answer->type = JSON_TYPE;
  samples_write(monitor_samples(context), &answer->body);
}

void console_errors(void *context, const struct server_request *request, struct server_answer *answer) {
  if (may_read(request, answer))
    give_value(context, &QUERY_console_errors, NO_VALUES, answer);
}

/* NULL where it is empty or missing. */
static const char *given(const struct server_request *request, const char *name) {
  const char *value = server_parameter(request, name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

void console_history(void *context, const struct server_request *request, struct server_answer *answer) {
  const char *table = given(request, "table");
  const char *key = given(request, "key");
  const char *before = given(request, "before");
  if (!may_read(request, answer))
    return;
  if (key != NULL && table == NULL)
    give_error(answer, MHD_HTTP_BAD_REQUEST, "a key is one of a table", "name the table, too");
  else if (key != NULL)
    give_value(context, &QUERY_console_life, VALUES(table, key, before), answer);
  else
    give_value(context, &QUERY_console_history, VALUES(table, given(request, "text"), before), answer);
}

/* ---- acting ---------------------------------------------------------------------------------------------------- */

/*
 * A page from elsewhere cannot know the token, and a browser does not send it by itself as it would a cookie. That the
 * body must be called JSON makes browsers ask first, which is never allowed.
 */
static bool may_act(const struct server_request *request, struct server_answer *answer) {
  const char *token = getenv(CONSOLE_TOKEN);
  const char *authorization = server_header(request, "Authorization");
  const char *type = server_header(request, "Content-Type");
  if (token == NULL || token[0] == '\0') {
    give_error(answer, MHD_HTTP_FORBIDDEN, "this console is read-only",
               "set " CONSOLE_TOKEN " in the environment of rowrelay run");
    return false;
  }
  size_t length = strlen(token);
  bool right = authorization != NULL && strncmp(authorization, "Bearer ", 7) == 0 &&
               strlen(authorization + 7) == length && CRYPTO_memcmp(authorization + 7, token, length) == 0;
  if (!right)
    give_error(answer, MHD_HTTP_UNAUTHORIZED, "that is not the token of this console", NULL);
  else if (type == NULL || strncmp(type, JSON_TYPE, strlen(JSON_TYPE)) != 0)
    give_error(answer, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "what is to be done is to be JSON", NULL);
  else
    return true;
  return false;
}

/* Change ids as an array literal; false when they are not numbers. As texts, because JavaScript knows none so large. */
static bool read_ids(const json_t *list, struct buffer *ids) {
  size_t index;
  json_t *id;
  buffer_add_string(ids, "{");
  json_array_foreach(list, index, id) {
    const char *text = json_string_value(id);
    if (text == NULL || text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
      return false;
    buffer_add_format(ids, "%s%s", index == 0 ? "" : ",", text);
  }
  buffer_add_string(ids, "}");
  return !ids->overflow;
}

static void act_on_changes(struct monitor *monitor, const struct query *query, const json_t *changes,
                           struct server_answer *answer) {
  const char *target;
  json_t *list;
  if (!json_is_object(changes)) {
    give_error(answer, MHD_HTTP_BAD_REQUEST, "changes of which targets?", NULL);
    return;
  }
  json_object_foreach((json_t *)changes, target, list) {
    struct buffer ids;
    buffer_init(&ids, IDS_LIMIT);
    bool all = json_is_null(list);
    bool ok = all || (json_is_array(list) && read_ids(list, &ids));
    buffer_clear(&answer->body);
    if (all && query == &QUERY_cmd_skip) {
      char hint[320];
      struct shell_word name;
      text_print(hint, sizeof hint, "to skip all that it refused, run: rowrelay skip --all --target %s",
                 shell_quote(&name, target));
      give_error(answer, MHD_HTTP_BAD_REQUEST, "what is to be skipped has to be named, change by change", hint);
      ok = false;
    } else if (!ok)
      give_error(answer, MHD_HTTP_BAD_REQUEST, "that is not a list of changes", NULL);
    else
      ok = give_value(monitor, query, VALUES(target, all ? NULL : ids.data), answer);
    buffer_release(&ids);
    if (!ok)
      return;
  }
}

static void act(struct monitor *monitor, const json_t *wish, struct server_answer *answer) {
  const char *action = json_string_value(json_object_get(wish, "action"));
  const char *target = json_string_value(json_object_get(wish, "target"));
  const json_t *changes = json_object_get(wish, "changes");
  bool known = action != NULL;
  if (known && target != NULL && strcmp(action, "pause") == 0)
    give_value(monitor, &QUERY_cmd_target_pause, VALUES(target), answer);
  else if (known && target != NULL && strcmp(action, "resume") == 0)
    give_value(monitor, &QUERY_cmd_target_resume, VALUES(target), answer);
  else if (known && changes != NULL && strcmp(action, "retry") == 0)
    act_on_changes(monitor, &QUERY_cmd_retry, changes, answer);
  else if (known && changes != NULL && strcmp(action, "skip") == 0)
    act_on_changes(monitor, &QUERY_cmd_skip, changes, answer);
  else
    give_error(answer, MHD_HTTP_BAD_REQUEST, "that is nothing that can be done here", NULL);
  if (answer->status == 0)
    log_message(LOG_LEVEL_INFO, "console: %s %s", action, target != NULL ? target : "refused changes");
}

void console_act(void *context, const struct server_request *request, struct server_answer *answer) {
  if (!may_read(request, answer) || !may_act(request, answer))
    return;
  bool no_memory;
  json_t *wish = json_tree_parse(request->body, request->body_length, 0, &no_memory);
  if (no_memory)
    give_error(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory", NULL);
  else
    act(context, wish, answer);
  json_decref(wish);
}
