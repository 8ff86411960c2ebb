#include "monitor/console_action.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_tree.h"
#include "common/log.h"
#include "common/shell.h"
#include "common/text.h"
#include "monitor/console_actor.h"
#include "monitor/console_answer.h"
#include "monitor/monitor.h"
#include "monitor/verifier.h"
#include "postgres/result.h"
#include "queries.h"

#define IDS_LIMIT ((size_t)1024 * 1024)
#define CHANGES_AT_ONCE "2000" /* locks are held while these are moved */

/* What is to be done, and by whom. */
struct wish {
  struct monitor *monitor;
  const struct actor *actor;
  const json_t *tree;
};

/* As the setting rowrelay.actor; NULL: the database user. */
static const char *actor_of(const struct wish *wish) {
  return wish->actor->name[0] != '\0' ? wish->actor->name : NULL;
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

static void act_on_changes(const struct wish *wish, const struct query *query, const json_t *changes,
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
    if (all && query == &QUERY_console_skip) {
      refuse_to_skip_all(target, answer);
      ok = false;
    } else if (!ok)
      console_error(answer, MHD_HTTP_BAD_REQUEST, "that is not a list of changes", NULL);
    else
      ok = console_value(wish->monitor, query, VALUES(target, all ? NULL : ids.data, actor_of(wish)), answer);
    buffer_release(&ids);
    if (!ok)
      return;
  }
}

static const char *member(const json_t *object, const char *name) {
  return json_string_value(json_object_get(object, name));
}

/* Each target's in a transaction of its own. */
static void act_on_chosen(const struct wish *wish, const struct query *query, const PGresult *chosen,
                          struct server_answer *answer) {
  struct error error;
  long long count = 0;
  for (int row = 0; row < PQntuples(chosen); row++) {
    PGresult *reply = NULL;
    const char *target = PQgetvalue(chosen, row, CHOSEN_TARGET);
    const char *ids = PQgetvalue(chosen, row, CHOSEN_IDS);
    if (!monitor_ask(wish->monitor, query, VALUES(target, ids, actor_of(wish)), &reply, &error)) {
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

static void act_on_filter(const struct wish *wish, const struct query *query, struct server_answer *answer) {
  const json_t *filter = json_object_get(wish->tree, "filter");
  const char *until = member(filter, "until");
  struct error error;
  PGresult *chosen = NULL;
  if (until == NULL) {
    console_error(answer, MHD_HTTP_BAD_REQUEST, "changes that were refused until when?",
                  "give until, a time: when they were listed");
    return;
  }
  if (monitor_ask(wish->monitor, &QUERY_console_chosen,
                  VALUES(member(filter, "target"), member(filter, "table"), member(filter, "find"),
                         member(filter, "state"), member(filter, "kind"), until, member(wish->tree, "after"),
                         query == &QUERY_console_skip ? "skip" : "retry", CHANGES_AT_ONCE),
                  &chosen, &error))
    act_on_chosen(wish, query, chosen, answer);
  else
    console_failed(answer, &error);
  PQclear(chosen);
}

static void act_on_refused(const struct wish *wish, const struct query *query, struct server_answer *answer) {
  const json_t *changes = json_object_get(wish->tree, "changes");
  if (changes != NULL)
    act_on_changes(wish, query, changes, answer);
  else if (json_object_get(wish->tree, "filter") != NULL)
    act_on_filter(wish, query, answer);
  else
    console_error(answer, MHD_HTTP_BAD_REQUEST, "which changes?", "give changes, or a filter");
}

/* ---- what can be done ------------------------------------------------------------------------------------------ */

static void act_retry(const struct wish *wish, struct server_answer *answer) {
  act_on_refused(wish, &QUERY_console_retry, answer);
}

static void act_skip(const struct wish *wish, struct server_answer *answer) {
  act_on_refused(wish, &QUERY_console_skip, answer);
}

static void act_pause(const struct wish *wish, struct server_answer *answer) {
  console_value(wish->monitor, &QUERY_console_pause, VALUES(member(wish->tree, "target"), actor_of(wish)), answer);
}

static void act_resume(const struct wish *wish, struct server_answer *answer) {
  console_value(wish->monitor, &QUERY_console_resume, VALUES(member(wish->tree, "target"), actor_of(wish)), answer);
}

static void act_replay(const struct wish *wish, struct server_answer *answer) {
  const char *since = member(wish->tree, "since");
  const char *until = member(wish->tree, "until");
  if (since == NULL || until == NULL)
    console_error(answer, MHD_HTTP_BAD_REQUEST, "changes of which time?", "give since and until");
  else
    console_value(wish->monitor, &QUERY_console_replay,
                  VALUES(member(wish->tree, "target"), since, until, member(wish->tree, "table"), actor_of(wish)),
                  answer);
}

static void act_verify(const struct wish *wish, struct server_answer *answer) {
  struct error error;
  bool repair = json_is_true(json_object_get(wish->tree, "repair"));
  struct verifier_task task = {.target = member(wish->tree, "target"),
                               .table = member(wish->tree, "table"),
                               .by = wish->actor->name,
                               .repair = repair};
  if (repair && !console_actor_may(wish->actor, RIGHT_REPAIR, answer))
    return;
  answer->type = CONSOLE_JSON;
  if (verifier_begin(monitor_verifier(wish->monitor), &task, &error))
    buffer_add_string(&answer->body, "null");
  else
    console_failed(answer, &error);
}

static void act_stop_verify(const struct wish *wish, struct server_answer *answer) {
  verifier_stop(monitor_verifier(wish->monitor), member(wish->tree, "target"));
  answer->type = CONSOLE_JSON;
  buffer_add_string(&answer->body, "null");
}

static const struct deed {
  const char *action;
  enum right right;
  bool of_target; /* which has to be named */
  void (*act)(const struct wish *wish, struct server_answer *answer);
} DEEDS[] = {
    {"pause", RIGHT_PAUSE, true, act_pause},
    {"resume", RIGHT_PAUSE, true, act_resume},
    {"retry", RIGHT_RETRY, false, act_retry},
    {"skip", RIGHT_SKIP, false, act_skip},
    {"replay", RIGHT_REPLAY, true, act_replay},
    {"verify", RIGHT_VERIFY, true, act_verify},
    {"stop verify", RIGHT_VERIFY, true, act_stop_verify},
};

static void act(const struct wish *wish, struct server_answer *answer) {
  const char *action = member(wish->tree, "action");
  const char *target = member(wish->tree, "target");
  const struct deed *deed = NULL;
  for (size_t i = 0; action != NULL && i < sizeof DEEDS / sizeof *DEEDS; i++)
    if (strcmp(DEEDS[i].action, action) == 0)
      deed = &DEEDS[i];
  if (deed == NULL) {
    console_error(answer, MHD_HTTP_BAD_REQUEST, "that is nothing that can be done here", NULL);
    return;
  }
  if (!console_actor_may(wish->actor, deed->right, answer))
    return;
  if (deed->of_target && target == NULL)
    console_error(answer, MHD_HTTP_BAD_REQUEST, "which target?", NULL);
  else
    deed->act(wish, answer);
  if (answer->status != 0)
    return;
  log_about(target, NULL);
  log_message(LOG_LEVEL_INFO, "console: %s%s%s %s", actor_of(wish) != NULL ? wish->actor->name : "",
              actor_of(wish) != NULL ? ": " : "", deed->action, target != NULL ? target : "refused changes");
  log_about(NULL, NULL);
}

/*
 * A page from elsewhere cannot know a token, and a browser does not send one by itself as it would a cookie. That the
 * body must be called JSON makes browsers ask first, which is never allowed; so a page from elsewhere can do nothing
 * with the name that a proxy gives either.
 */
static bool may_act(const struct server_request *request, struct actor *actor, struct server_answer *answer) {
  const char *type = server_header(request, "Content-Type");
  if (!console_may_read(request, answer) || !console_actor_find(request, actor, answer) ||
      !console_actor_may(actor, RIGHT_ANY, answer))
    return false;
  if (type != NULL && strncmp(type, CONSOLE_JSON, strlen(CONSOLE_JSON)) == 0)
    return true;
  console_error(answer, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "what is to be done is to be JSON", NULL);
  return false;
}

void console_act(void *context, const struct server_request *request, struct server_answer *answer) {
  struct actor actor;
  bool no_memory;
  if (!may_act(request, &actor, answer))
    return;
  json_t *tree = json_tree_parse(request->body, request->body_length, 0, &no_memory);
  struct wish wish = {.monitor = context, .actor = &actor, .tree = tree};
  if (no_memory)
    console_error(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory", NULL);
  else
    act(&wish, answer);
  json_decref(tree);
}
