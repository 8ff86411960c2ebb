#include "monitor/console_action.h"

#include <microhttpd.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_tree.h"
#include "common/log.h"
#include "common/shell.h"
#include "common/text.h"
#include "monitor/console_answer.h"
#include "monitor/monitor.h"
#include "postgres/result.h"
#include "queries.h"

#define IDS_LIMIT ((size_t)1024 * 1024)
#define CHANGES_AT_ONCE "2000" /* locks are held while these are moved */

/*
 * A page from elsewhere cannot know the token, and a browser does not send it by itself as it would a cookie. That the
 * body must be called JSON makes browsers ask first, which is never allowed.
 */
static bool may_act(const struct server_request *request, struct server_answer *answer) {
  const char *token = getenv(CONSOLE_TOKEN);
  const char *authorization = server_header(request, "Authorization");
  const char *type = server_header(request, "Content-Type");
  if (token == NULL || token[0] == '\0') {
    console_error(answer, MHD_HTTP_FORBIDDEN, "this console is read-only",
                  "set " CONSOLE_TOKEN " in the environment of rowrelay run");
    return false;
  }
  size_t length = strlen(token);
  bool right = authorization != NULL && strncmp(authorization, "Bearer ", 7) == 0 &&
               strlen(authorization + 7) == length && CRYPTO_memcmp(authorization + 7, token, length) == 0;
  if (!right)
    console_error(answer, MHD_HTTP_UNAUTHORIZED, "that is not the token of this console", NULL);
  else if (type == NULL || strncmp(type, CONSOLE_JSON, strlen(CONSOLE_JSON)) != 0)
    console_error(answer, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "what is to be done is to be JSON", NULL);
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

static void refuse_to_skip_all(const char *target, struct server_answer *answer) {
  char hint[320];
  struct shell_word name;
  text_print(hint, sizeof hint, "to skip all that it refused, run: rowrelay skip --all --target %s",
             shell_quote(&name, target));
  console_error(answer, MHD_HTTP_BAD_REQUEST, "what is to be skipped has to be named, change by change", hint);
}

static void act_on_changes(struct monitor *monitor, const struct query *query, const json_t *changes,
                           struct server_answer *answer) {
  const char *target;
  json_t *list;
  if (!json_is_object(changes)) {
    console_error(answer, MHD_HTTP_BAD_REQUEST, "changes of which targets?", NULL);
    return;
  }
  json_object_foreach((json_t *)changes, target, list) {
    struct buffer ids;
    buffer_init(&ids, IDS_LIMIT);
    bool all = json_is_null(list);
    bool ok = all || (json_is_array(list) && read_ids(list, &ids));
    buffer_clear(&answer->body);
    if (all && query == &QUERY_cmd_skip) {
      refuse_to_skip_all(target, answer);
      ok = false;
    } else if (!ok)
      console_error(answer, MHD_HTTP_BAD_REQUEST, "that is not a list of changes", NULL);
    else
      ok = console_value(monitor, query, VALUES(target, all ? NULL : ids.data), answer);
    buffer_release(&ids);
    if (!ok)
      return;
  }
}

static const char *member(const json_t *object, const char *name) {
  return json_string_value(json_object_get(object, name));
}

/* Each target's in a transaction of its own. */
static void act_on_chosen(struct monitor *monitor, const struct query *query, const PGresult *chosen,
                          struct server_answer *answer) {
  struct error error;
  long long count = 0;
  for (int row = 0; row < PQntuples(chosen); row++) {
    PGresult *reply = NULL;
    const char *target = PQgetvalue(chosen, row, CHOSEN_TARGET);
    if (!monitor_ask(monitor, query, VALUES(target, PQgetvalue(chosen, row, CHOSEN_IDS)), &reply, &error)) {
      console_failed(answer, &error);
      return;
    }
    count += strtoll(PQgetvalue(reply, 0, 0), NULL, 10);
    PQclear(reply);
  }
  const char *next = PQntuples(chosen) > 0 ? result_text(chosen, 0, CHOSEN_NEXT) : NULL;
  answer->type = CONSOLE_JSON;
  buffer_add_format(&answer->body, "{\"count\":\"%lld\",\"next\":", count);
  if (next != NULL)
    buffer_add_json_string(&answer->body, next);
  else
    buffer_add_string(&answer->body, "null");
  buffer_add_string(&answer->body, "}");
}

static void act_on_filter(struct monitor *monitor, const struct query *query, const json_t *wish,
                          struct server_answer *answer) {
  const json_t *filter = json_object_get(wish, "filter");
  const char *until = member(filter, "until");
  struct error error;
  PGresult *chosen = NULL;
  if (until == NULL) {
    console_error(answer, MHD_HTTP_BAD_REQUEST, "changes that were refused until when?",
                  "give until, a time: when they were listed");
    return;
  }
  if (monitor_ask(monitor, &QUERY_console_chosen,
                  VALUES(member(filter, "target"), member(filter, "table"), member(filter, "find"),
                         member(filter, "state"), member(filter, "message"), until, member(wish, "after"),
                         query == &QUERY_cmd_skip ? "skip" : "retry", CHANGES_AT_ONCE),
                  &chosen, &error))
    act_on_chosen(monitor, query, chosen, answer);
  else
    console_failed(answer, &error);
  PQclear(chosen);
}

static void act(struct monitor *monitor, const json_t *wish, struct server_answer *answer) {
  const char *action = member(wish, "action");
  const char *target = member(wish, "target");
  const json_t *changes = json_object_get(wish, "changes");
  const json_t *filter = json_object_get(wish, "filter");
  bool skips = action != NULL && strcmp(action, "skip") == 0;
  const struct query *query = skips ? &QUERY_cmd_skip : &QUERY_cmd_retry;
  bool of_changes = skips || (action != NULL && strcmp(action, "retry") == 0);
  if (action != NULL && target != NULL && strcmp(action, "pause") == 0)
    console_value(monitor, &QUERY_cmd_target_pause, VALUES(target), answer);
  else if (action != NULL && target != NULL && strcmp(action, "resume") == 0)
    console_value(monitor, &QUERY_cmd_target_resume, VALUES(target), answer);
  else if (of_changes && changes != NULL)
    act_on_changes(monitor, query, changes, answer);
  else if (of_changes && filter != NULL)
    act_on_filter(monitor, query, wish, answer);
  else
    console_error(answer, MHD_HTTP_BAD_REQUEST, "that is nothing that can be done here", NULL);
  if (answer->status == 0)
    log_message(LOG_LEVEL_INFO, "console: %s %s", action, target != NULL ? target : "refused changes");
}

void console_act(void *context, const struct server_request *request, struct server_answer *answer) {
  if (!console_may_read(request, answer) || !may_act(request, answer))
    return;
  bool no_memory;
  json_t *wish = json_tree_parse(request->body, request->body_length, 0, &no_memory);
  if (no_memory)
    console_error(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory", NULL);
  else
    act(context, wish, answer);
  json_decref(wish);
}
