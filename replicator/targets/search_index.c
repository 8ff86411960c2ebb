#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_tree.h"
#include "common/shell.h"
#include "targets/search.h"

void search_add_index(const struct search *search, const struct route *route, struct buffer *name) {
  if (search->index != NULL) {
    buffer_add_string(name, search->index);
    return;
  }
  for (const char *c = route->into_table; *c != '\0'; c++) {
    unsigned char byte = (unsigned char)*c;
    if (byte == '"' || (byte & 0xC0) == 0x80) /* of a multibyte character only the first byte counts */
      continue;
    char letter = isalnum(byte) || byte == '.' || byte == '-' || byte == '_' ? (char)tolower(byte) : '_';
    if (name->length == 0 && (letter == '_' || letter == '-' || letter == '.'))
      continue;
    buffer_add(name, &letter, 1);
  }
}

#define NUMBER(TYPE) "{\"type\":\"" TYPE "\",\"ignore_malformed\":true}"
#define TEXT "{\"type\":\"text\",\"fields\":{\"keyword\":{\"type\":\"keyword\",\"ignore_above\":256}}}"
#define KEYWORD "{\"type\":\"keyword\",\"ignore_above\":8191}"

/*
 * The mapping of a column; NULL: the engine chooses. Values that a field cannot hold (NaN, infinity, years BC) are in
 * the document all the same, but cannot be found by that field.
 */
static const char *mapping_of(const char *type) {
  static const struct {
    const char *type; /* beginning of its name */
    const char *mapping;
  } MAPPINGS[] = {
      {"smallint", NUMBER("short")},
      {"integer", NUMBER("integer")},
      {"bigint", NUMBER("long")},
      {"numeric", NUMBER("double")},
      {"real", NUMBER("float")},
      {"double precision", NUMBER("double")},
      {"boolean", "{\"type\":\"boolean\"}"},
      {"date", NUMBER("date")},
      {"timestamp", NUMBER("date")},
      {"text", TEXT},
      {"character", TEXT},
      {"citext", TEXT},
      {"json", "{\"type\":\"object\",\"enabled\":false}"},
      {"jsonb", "{\"type\":\"object\",\"enabled\":false}"},
      {"bytea", "{\"type\":\"keyword\",\"index\":false,\"doc_values\":false}"},
      {"uuid", KEYWORD},
      {"name", KEYWORD},
      {"time", KEYWORD},
      {"interval", KEYWORD},
      {"money", KEYWORD},
      {"inet", KEYWORD},
      {"cidr", KEYWORD},
      {"macaddr", KEYWORD},
      {"bit", KEYWORD},
  };
  for (size_t i = 0; i < sizeof MAPPINGS / sizeof MAPPINGS[0]; i++) {
    size_t length = strlen(MAPPINGS[i].type);
    /* "date" is not "daterange" */
    if (strncmp(type, MAPPINGS[i].type, length) == 0 && !isalnum((unsigned char)type[length]) && type[length] != '_')
      return MAPPINGS[i].mapping;
  }
  return NULL;
}

/* Seconds. Each delete of that time takes about a hundred bytes of the engine's memory. */
#define OUTAGE INT64_C(3600)

int64_t search_memory_of_deletes(const struct search *search) {
  return search->settings->push_timeout / 1000 + OUTAGE;
}

/* Of a time as an engine gives it, such as 60s; -1: it is none. */
static double seconds_of(const char *text) {
  static const struct {
    const char *unit;
    double seconds;
  } UNITS[] = {{"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  char *unit;
  double number = strtod(text, &unit);
  for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++)
    if (unit != text && strcmp(unit, UNITS[i].unit) == 0)
      return number * UNITS[i].seconds;
  return -1;
}

void search_warn_of_memory(struct search *search, struct buffer *text) {
  struct buffer path;
  struct http_request request = {.status = 0};
  struct error ignored;
  bool no_memory;
  const char *name;
  json_t *index;
  if (search->index == NULL)
    return;
  buffer_init(&path, SEARCH_NAME_LIMIT);
  buffer_add_format(&path, "/%s/_settings/index.gc_deletes?flat_settings=true&include_defaults=true", search->index);
  const struct search_question question = {.method = "GET", .path = path.data};
  bool ok = buffer_ok(&path, "a URL", &ignored) && search_ask_well(search, &question, &request, &ignored);
  json_t *answer = ok && request.answer.data != NULL
                       ? json_tree_parse(request.answer.data, request.answer.length, JSON_ALLOW_NUL, &no_memory)
                       : NULL;
  json_object_foreach(answer, name, index) { /* several, behind an alias */
    const json_t *own = json_object_get(json_object_get(index, "settings"), "index.gc_deletes");
    const json_t *initial = json_object_get(json_object_get(index, "defaults"), "index.gc_deletes");
    const char *kept = json_string_value(own != NULL ? own : initial);
    double seconds = kept != NULL ? seconds_of(kept) : -1;
    if (seconds >= 0 && seconds < (double)search_memory_of_deletes(search))
      buffer_add_format(text,
                        "; index %s forgets after %s that a row was deleted, so a late request may bring it back: PUT "
                        "/%s/_settings {\"index.gc_deletes\":\"%llds\"}",
                        name, kept, name, (long long)search_memory_of_deletes(search));
  }
  json_decref(answer);
  http_request_release(&request);
  buffer_release(&path);
}

/* {"settings": …, "mappings": …} of a table's columns; an array's elements are mapped like its type. */
static bool add_description(const struct search *search, const struct route *route, struct buffer *body,
                            struct error *error) {
  bool no_memory;
  json_t *columns = json_tree_parse(route->columns, strlen(route->columns), 0, &no_memory);
  if (columns == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory for the columns of %s", route->relation);
  size_t i;
  json_t *column;
  size_t mapped = 0;
  buffer_add_format(body, "{\"settings\":{\"index.gc_deletes\":\"%llds\"},",
                    (long long)search_memory_of_deletes(search));
  /* A text that looks like a date in the first row may not in the second. */
  buffer_add_string(body, "\"mappings\":{\"date_detection\":false,\"properties\":{");
  json_array_foreach(columns, i, column) {
    const char *mapping = mapping_of(json_string_value(json_object_get(column, "type")));
    if (mapping == NULL)
      continue;
    buffer_add_string(body, mapped++ == 0 ? "" : ",");
    buffer_add_json_string(body, json_string_value(json_object_get(column, "name")));
    buffer_add_format(body, ":%s", mapping);
  }
  buffer_add_string(body, "}}}");
  json_decref(columns);
  return buffer_ok(body, "a mapping", error);
}

static bool create_index(struct search *search, const struct route *route, const char *path, struct error *error) {
  struct http_request request = {.status = 0};
  struct buffer body;
  struct search_question question = {.method = "PUT", .path = path, .body = &body};
  buffer_init(&body, SEARCH_BODY_LIMIT);
  bool ok = add_description(search, route, &body, error) && search_ask(search, &question, &request, error);
  /* Another process may have created it in the meantime. */
  bool exists = ok && request.answer.data != NULL && strstr(request.answer.data, "resource_already_exists") != NULL;
  if (ok && !exists && (request.status < 200 || request.status >= 300)) {
    ok = http_target_failed(&request, error);
    error->kind = error->kind == FAILURE_REFUSED ? FAILURE_TABLE : error->kind;
  }
  http_request_release(&request);
  buffer_release(&body);
  return ok;
}

bool search_prepare_index(struct search *search, const struct route *route, struct error *error) {
  for (size_t i = 0; i < search->prepared_count; i++)
    if (search->prepared[i] == route->capture)
      return true;
  if (route->keyless) {
    struct shell_word table;
    error_set(error, FAILURE_TABLE, "table %s has no key, which an index needs as document id", route->relation);
    return error_hint(error, "if some columns identify a row, run: rowrelay capture %s --key COLUMNS",
                      shell_quote(&table, route->relation));
  }
  struct buffer path;
  struct http_request request = {.status = 0};
  buffer_init(&path, SEARCH_NAME_LIMIT);
  buffer_add_string(&path, "/");
  struct buffer name;
  buffer_init(&name, SEARCH_NAME_LIMIT);
  search_add_index(search, route, &name);
  buffer_add_string(&path, name.data != NULL ? name.data : "");
  buffer_inherit(&path, &name);
  buffer_release(&name);
  bool ok = buffer_ok(&path, "an index's name", error);
  if (ok && route->create_table && route->columns != NULL) {
    struct search_question question = {.method = "GET", .path = path.data};
    ok = search_ask(search, &question, &request, error);
    if (ok && request.status == 404)
      ok = create_index(search, route, path.data, error);
    else if (ok && (request.status < 200 || request.status >= 300))
      ok = http_target_failed(&request, error);
    http_request_release(&request);
  }
  int *grown = ok ? realloc(search->prepared, (search->prepared_count + 1) * sizeof *grown) : NULL;
  if (grown != NULL) {
    search->prepared = grown;
    search->prepared[search->prepared_count++] = route->capture;
  }
  buffer_release(&path);
  return ok;
}
