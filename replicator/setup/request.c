#include "setup/request.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/call.h"
#include "postgres/number.h"
#include "queries.h"

bool request_init(struct request *request, const struct query *query, struct values values, struct error *error) {
  *request = (struct request){.query = query, .count = values.count};
  for (int i = 0; i < values.count; i++)
    if (values.texts[i] != NULL && (request->values[i] = strdup(values.texts[i])) == NULL)
      return error_set(error, FAILURE_RETRY, "out of memory");
  return true;
}

bool request_capture(struct request *request, const struct capture_wanted *wanted, struct error *error) {
  return request_init(request, &QUERY_cmd_capture,
                      VALUES(wanted->table, wanted->key, wanted->lane, wanted->columns, wanted->exclude, wanted->mask,
                             wanted->where, wanted->before, wanted->capture_origin, wanted->lock_wait,
                             wanted->reset ? "true" : NULL, wanted->target, wanted->create, wanted->like, wanted->per),
                      error);
}

bool request_capture_statements(struct request *request, const struct capture_wanted *wanted, struct error *error) {
  return request_init(request, &QUERY_cmd_capture_statements,
                      VALUES(wanted->table, wanted->key, wanted->lane, wanted->columns, wanted->exclude, wanted->mask,
                             wanted->where, wanted->before, wanted->capture_origin, wanted->reset ? "true" : NULL,
                             wanted->target, wanted->create, wanted->like, wanted->per, number(wanted->ahead).text),
                      error);
}

bool request_check_like(const char *like, bool create, struct error *error) {
  if (like == NULL)
    return true;
  if (strcmp(like, "minimal") != 0 && strcmp(like, "full") != 0) {
    error_set(error, FAILURE_USAGE, "option --like cannot be \"%s\"", like);
    return error_hint(error, "one of: minimal, full");
  }
  if (create)
    return true;
  error_set(error, FAILURE_USAGE, "option --like needs --create");
  return error_hint(error, "a table that exists is not altered; add: --create");
}

bool request_route(struct request *request, const struct route_wanted *wanted, struct error *error) {
  return request_init(request, &QUERY_cmd_route,
                      VALUES(wanted->table, wanted->target, wanted->into, wanted->create, wanted->shared, wanted->like),
                      error);
}

bool request_document_add(struct request *request, const struct document_wanted *wanted, struct error *error) {
  return request_init(request, &QUERY_cmd_document_add,
                      VALUES(wanted->name, wanted->target, wanted->key, wanted->query, wanted->sources, wanted->into,
                             wanted->create, wanted->search, wanted->lock_wait, wanted->path),
                      error);
}

void request_release(struct request *request) {
  for (int i = 0; i < request->count; i++)
    free(request->values[i]);
  request->count = 0;
}

bool request_run(struct source *source, size_t count, const struct request *requests, struct error *error) {
  if (!source_script(source, "begin isolation level read committed", error))
    return false;
  for (size_t i = 0; i < count; i++) {
    const struct request *request = &requests[i];
    struct values values = {.count = request->count, .texts = (const char *const *)request->values};
    if (!call_run(source, request->query, values, NULL, error))
      return false;
  }
  return source_script(source, "commit", error);
}

static void add_literal(struct buffer *sql, const char *text) {
  if (text == NULL) {
    buffer_add_string(sql, "null");
    return;
  }
  bool has_backslash = strchr(text, '\\') != NULL;
  buffer_add_string(sql, has_backslash ? "E'" : "'");
  for (; *text != '\0'; text++) {
    if (*text == '\'' || *text == '\\')
      buffer_add(sql, text, 1);
    buffer_add(sql, text, 1);
  }
  buffer_add_string(sql, "'");
}

/* Takes a parameter's name away again, with the comma before it; false: none stands there. */
static bool drop_name(struct buffer *sql) {
  static const char arrow[] = " => ";
  size_t length = sizeof arrow - 1;
  if (sql->length < length || strcmp(sql->data + sql->length - length, arrow) != 0)
    return false;
  char *comma = strrchr(sql->data, ',');
  if (comma == NULL)
    return false;
  *comma = '\0';
  sql->length = (size_t)(comma - sql->data);
  return true;
}

/* Behind a type such as ::text[], if there is one. */
static const char *skip_type(const char *text) {
  if (strncmp(text, "::", 2) != 0)
    return text;
  text += 2;
  return text + strspn(text, "abcdefghijklmnopqrstuvwxyz[]");
}

/* A parameter that is null says nothing, so it is left out where it has a name. */
void request_add_sql(struct buffer *sql, const struct request *request) {
  const char *text = request->query->text;
  while (strncmp(text, "--", 2) == 0)
    text += strcspn(text, "\n") + 1;
  while (*text != '\0') {
    size_t plain = strcspn(text, "$");
    buffer_add(sql, text, plain);
    text += plain;
    if (*text != '$')
      continue;
    char *end;
    long number = strtol(text + 1, &end, 10);
    const char *value = number >= 1 && number <= request->count ? request->values[number - 1] : NULL;
    text = end;
    if (value == NULL && !sql->overflow && drop_name(sql))
      text = skip_type(text);
    else
      add_literal(sql, value);
  }
}
