#include "monitor/console_actor.h"

#include <microhttpd.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/text.h"
#include "monitor/console_answer.h"

static const char BEARER[] = "Bearer ";

/* ---- rights ---------------------------------------------------------------------------------------------------- */

static const struct {
  const char *word;
  enum right right;
} RIGHTS[] = {{"pause", RIGHT_PAUSE},   {"retry", RIGHT_RETRY},   {"skip", RIGHT_SKIP},
              {"replay", RIGHT_REPLAY}, {"verify", RIGHT_VERIFY}, {"repair", RIGHT_REPAIR}};
#define RIGHT_COUNT (sizeof RIGHTS / sizeof *RIGHTS)
#define RIGHTS_IN_WORDS "all, or some of pause, retry, skip, replay, verify and repair with commas between them"

/* 0: there is no such right. */
static unsigned right_of(const char *word, size_t length) {
  unsigned all = 0;
  for (size_t i = 0; i < RIGHT_COUNT; i++) {
    all |= RIGHTS[i].right;
    if (strlen(RIGHTS[i].word) == length && memcmp(RIGHTS[i].word, word, length) == 0)
      return RIGHTS[i].right;
  }
  return length == strlen("all") && memcmp(word, "all", length) == 0 ? all : 0;
}

/* 0: a word of it is no right. */
static unsigned read_rights(const char *text) {
  static const char SEPARATORS[] = ", \t";
  unsigned rights = 0;
  for (text += strspn(text, SEPARATORS); *text != '\0'; text += strspn(text, SEPARATORS)) {
    size_t length = strcspn(text, SEPARATORS);
    unsigned right = right_of(text, length);
    if (right == 0)
      return 0;
    rights |= right;
    text += length;
  }
  return rights;
}

static bool check_rights(const char *text, struct error *error) {
  if (read_rights(text) != 0)
    return true;
  error_set(error, FAILURE_USAGE, "\"%s\" are no rights", text);
  return error_hint(error, "rights are " RIGHTS_IN_WORDS);
}

static const struct tokens_form FORM = {.line = "NAME SHA-256 RIGHTS", .allows_no_token = true, .check = check_rights};

/* ---- who ------------------------------------------------------------------------------------------------------- */

static const char *setting(const char *name) {
  const char *value = getenv(name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

bool console_actor_check(struct error *error) {
  const char *path = setting(CONSOLE_TOKENS);
  if (setting(CONSOLE_USER_HEADER) != NULL && path == NULL) {
    error_set(error, FAILURE_USAGE, CONSOLE_USER_HEADER " is set, and " CONSOLE_TOKENS " is not");
    return error_hint(error, "name a file with a line \"NAME - RIGHTS\" for each who may act");
  }
  struct tokens tokens;
  if (path == NULL)
    return true;
  if (!tokens_read(&tokens, &FORM, path, error))
    return false;
  tokens_release(&tokens);
  return true;
}

static void recognize(struct actor *actor, const struct token *token) {
  if (token == NULL)
    return;
  actor->is_known = true;
  actor->rights = read_rights(token->grant);
  text_print(actor->name, sizeof actor->name, "%s", token->name);
}

/* The file is read for each request, so that whoever is removed from it can do nothing more. */
static bool find_in_file(struct actor *actor, const char *name, const char *brought, struct server_answer *answer) {
  const char *path = setting(CONSOLE_TOKENS);
  struct tokens tokens;
  struct digest digest;
  struct error error;
  if (path == NULL)
    return true;
  if (!tokens_read(&tokens, &FORM, path, &error)) {
    log_failure(LOG_LEVEL_WARNING, &error, "console");
    console_error(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "the file of tokens of this console cannot be read now", NULL);
    return false;
  }
  if (name != NULL)
    recognize(actor, tokens_without_hash(&tokens, name));
  else if (tokens_hash(brought, &digest))
    recognize(actor, tokens_find(&tokens, &digest));
  tokens_release(&tokens);
  return true;
}

static bool is_token_of_environment(const char *brought) {
  const char *token = setting(CONSOLE_TOKEN);
  return token != NULL && strlen(brought) == strlen(token) && CRYPTO_memcmp(brought, token, strlen(token)) == 0;
}

bool console_actor_find(const struct server_request *request, struct actor *actor, struct server_answer *answer) {
  const char *header = setting(CONSOLE_USER_HEADER);
  const char *name = NULL;
  const char *brought = server_header(request, "Authorization");
  *actor = (struct actor){.is_known = false};
  if (header != NULL && !server_header_alone(request, header, &name)) {
    console_error(answer, MHD_HTTP_BAD_REQUEST, "the header with the user's name comes twice, or is no name",
                  "have the proxy replace that header of its clients");
    return false;
  }
  if (name != NULL && name[0] != '\0') {
    actor->is_named_by_proxy = true;
    text_print(actor->name, sizeof actor->name, "%s", name);
    return find_in_file(actor, name, NULL, answer);
  }
  if (brought == NULL || strncmp(brought, BEARER, strlen(BEARER)) != 0 || brought[strlen(BEARER)] == '\0')
    return true;
  brought += strlen(BEARER);
  if (is_token_of_environment(brought)) {
    actor->is_known = true;
    actor->rights = read_rights("all");
    return true;
  }
  if (!find_in_file(actor, NULL, brought, answer))
    return false;
  if (!actor->is_known && (setting(CONSOLE_TOKEN) != NULL || setting(CONSOLE_TOKENS) != NULL)) {
    console_error(answer, MHD_HTTP_UNAUTHORIZED, "that is not a token of this console", NULL);
    return false;
  }
  return true;
}

bool console_actor_may(const struct actor *actor, enum right right, struct server_answer *answer) {
  if ((actor->rights & right) != 0)
    return true;
  char message[256];
  const char *word = "";
  for (size_t i = 0; i < RIGHT_COUNT; i++)
    if (RIGHTS[i].right == right)
      word = RIGHTS[i].word;
  if (actor->name[0] != '\0') {
    if (right == RIGHT_ANY)
      text_print(message, sizeof message, "%s may do nothing in this console", actor->name);
    else
      text_print(message, sizeof message, "%s has no right \"%s\" in this console", actor->name, word);
    console_error(answer, MHD_HTTP_FORBIDDEN, message, "rights are in the file that " CONSOLE_TOKENS " names");
  } else if (setting(CONSOLE_TOKEN) != NULL || setting(CONSOLE_TOKENS) != NULL)
    console_error(answer, MHD_HTTP_UNAUTHORIZED, "a token of this console is needed", NULL);
  else
    console_error(answer, MHD_HTTP_FORBIDDEN, "this console is read-only",
                  "set " CONSOLE_TOKEN " or " CONSOLE_TOKENS " in the environment of rowrelay run");
  return false;
}

void console_who(void *context, const struct server_request *request, struct server_answer *answer) {
  struct actor actor;
  bool is_first = true;
  (void)context;
  if (!console_may_read(request, answer) || !console_actor_find(request, &actor, answer))
    return;
  answer->type = CONSOLE_JSON;
  buffer_add_string(&answer->body, "{\"name\":");
  if (actor.name[0] != '\0')
    buffer_add_json_string(&answer->body, actor.name);
  else
    buffer_add_string(&answer->body, "null");
  buffer_add_format(&answer->body, ",\"by_proxy\":%s,\"rights\":[", actor.is_named_by_proxy ? "true" : "false");
  for (size_t i = 0; i < RIGHT_COUNT; i++)
    if ((actor.rights & RIGHTS[i].right) != 0) {
      buffer_add_format(&answer->body, "%s\"%s\"", is_first ? "" : ",", RIGHTS[i].word);
      is_first = false;
    }
  buffer_add_string(&answer->body, "]}");
}
