#include "setup/file.h"

#include <stdarg.h>
#include <string.h>

#include "common/spelling.h"
#include "common/text.h"

#define MOST_KEYS 16
#define LONGEST_VALUE 60 /* bytes shown of a value */

const struct setup_key SETUP_TARGET_KEYS[] = {
    {.name = "url", .kind = SETUP_TEXT},
    {.name = "options", .kind = SETUP_OPTIONS},
    {.name = "paused", .kind = SETUP_BOOLEAN},
    {.name = NULL},
};

const struct setup_key SETUP_ROUTE_KEYS[] = {
    {.name = "into", .kind = SETUP_TEXT},
    {.name = "create", .kind = SETUP_BOOLEAN},
    {.name = "like", .kind = SETUP_LIKE},
    {.name = "shared", .kind = SETUP_BOOLEAN},
    {.name = NULL},
};

const struct setup_key SETUP_CAPTURE_KEYS[] = {
    {.name = "key", .kind = SETUP_LIST, .may_be_null = true},
    {.name = "lane", .kind = SETUP_LIST, .may_be_null = true},
    {.name = "columns", .kind = SETUP_SET, .may_be_null = true},
    {.name = "exclude", .kind = SETUP_SET, .may_be_null = true, .initial = ""},
    {.name = "mask", .kind = SETUP_MASKS, .may_be_null = true, .initial = ""},
    {.name = "where", .kind = SETUP_TEXT, .may_be_null = true, .initial = ""},
    {.name = "before", .kind = SETUP_BOOLEAN, .may_be_null = true, .initial = "false"},
    {.name = "capture_origin", .kind = SETUP_BOOLEAN, .may_be_null = true, .initial = "false"},
    {.name = "per", .kind = SETUP_TEXT, .may_be_null = true, .initial = "row"},
    {.name = "keep", .kind = SETUP_TEXT, .may_be_null = true, .initial = "default"},
    {.name = "routes", .kind = SETUP_OBJECTS, .keys = SETUP_ROUTE_KEYS, .what = "a route"},
    {.name = NULL},
};

const struct setup_key SETUP_DOCUMENT_KEYS[] = {
    {.name = "target", .kind = SETUP_TEXT},
    {.name = "key", .kind = SETUP_TEXT},
    {.name = "query", .kind = SETUP_TEXT},
    {.name = "from", .kind = SETUP_LIST},
    {.name = "into", .kind = SETUP_TEXT},
    {.name = "create", .kind = SETUP_BOOLEAN},
    {.name = "search", .kind = SETUP_SET, .may_be_null = true},
    {.name = "search_path", .kind = SETUP_TEXT},
    {.name = "options", .kind = SETUP_OPTIONS},
    {.name = "paused", .kind = SETUP_BOOLEAN},
    {.name = NULL},
};

const struct setup_key SETUP_FILE_KEYS[] = {
    {.name = "keep", .kind = SETUP_TEXT, .may_be_null = true, .initial = "forever"},
    {.name = "seal", .kind = SETUP_BOOLEAN},
    {.name = "targets", .kind = SETUP_OBJECTS, .keys = SETUP_TARGET_KEYS, .what = "a target"},
    {.name = "captures", .kind = SETUP_OBJECTS, .keys = SETUP_CAPTURE_KEYS, .what = "a captured table"},
    {.name = "documents", .kind = SETUP_OBJECTS, .keys = SETUP_DOCUMENT_KEYS, .what = "a document"},
    {.name = NULL},
};

bool setup_fail(const char *file, const struct tree *tree, struct error *error, const char *format, ...) {
  char words[sizeof error->message];
  va_list arguments;
  va_start(arguments, format);
  text_print_arguments(words, sizeof words, format, arguments);
  va_end(arguments);
  if (tree == NULL || tree->line == 0)
    return error_set(error, FAILURE_USAGE, "%s: %s", file, words);
  return error_set(error, FAILURE_USAGE, "%s:%d:%d: %s", file, tree->line, tree->column, words);
}

bool setup_suggest(struct error *error, const char *typed, size_t count, const char *const *words) {
  const char *nearest = spelling_nearest(typed, count, words);
  if (nearest != NULL)
    return error_hint(error, "did you mean \"%s\"?", nearest);
  struct buffer list;
  buffer_init(&list, sizeof error->hint - 16);
  for (size_t i = 0; i < count; i++)
    buffer_add_format(&list, "%s%s", i > 0 ? ", " : "", words[i]);
  if (count > 0 && !list.overflow)
    error_hint(error, "one of: %s", list.data);
  buffer_release(&list);
  return false;
}

static bool fail_unknown(const char *file, const struct tree *name, const struct setup_key *keys, const char *what,
                         struct error *error) {
  const char *words[MOST_KEYS];
  size_t count = 0;
  while (count < MOST_KEYS && keys[count].name != NULL) {
    words[count] = keys[count].name;
    count++;
  }
  setup_fail(file, name, error, "%s has no \"%s\"", what, name->text);
  return setup_suggest(error, name->text, count, words);
}

static bool is_boolean(const struct tree *value) {
  return value->kind == TREE_TEXT && value->is_plain &&
         (strcmp(value->text, "true") == 0 || strcmp(value->text, "false") == 0);
}

/* What it must be; NULL: it is. */
static const char *wrong_kind(const struct setup_key *key, const struct tree *value) {
  bool is_flat = true;
  switch (key->kind) {
  case SETUP_TEXT:
    return value->kind == TREE_TEXT ? NULL : "a text";
  case SETUP_LIKE:
    return value->kind == TREE_TEXT && (strcmp(value->text, "minimal") == 0 || strcmp(value->text, "full") == 0)
               ? NULL
               : "minimal or full";
  case SETUP_BOOLEAN:
    return is_boolean(value) ? NULL : "true or false";
  case SETUP_LIST:
  case SETUP_SET:
    for (size_t i = 0; i < value->count; i++)
      is_flat = is_flat && value->items[i]->kind == TREE_TEXT;
    return value->kind == TREE_LIST && is_flat ? NULL : "a list of texts, such as [id, line_no]";
  case SETUP_OPTIONS:
    for (size_t i = 0; i < value->count; i++)
      is_flat = is_flat && (value->items[i]->kind == TREE_TEXT || value->items[i]->kind == TREE_NULL);
    return value->kind == TREE_MAP && is_flat ? NULL : "a map of names to values, such as {batch_rows: 5000}";
  case SETUP_MASKS:
    return value->kind == TREE_MAP ? NULL : "a map of columns to values, such as {iban: \"***\", note: null}";
  default:
    return value->kind == TREE_MAP ? NULL : "a map of names";
  }
}

static bool check_map(const char *file, const struct tree *map, const struct setup_key *keys, const char *what,
                      struct error *error);

static bool check_objects(const char *file, const struct tree *objects, const struct setup_key *key,
                          struct error *error) {
  for (size_t i = 0; i < objects->count; i++) {
    const struct tree *object = objects->items[i];
    if (object->kind == TREE_NULL)
      continue; /* a name alone: nothing is said of it */
    if (object->kind != TREE_MAP)
      return setup_fail(file, object, error, "%s must be a map", objects->names[i]->text);
    if (!check_map(file, object, key->keys, key->what, error))
      return false;
  }
  return true;
}

static bool check_map(const char *file, const struct tree *map, const struct setup_key *keys, const char *what,
                      struct error *error) {
  for (size_t i = 0; i < map->count; i++) {
    const struct tree *value = map->items[i];
    const struct setup_key *key = keys;
    while (key->name != NULL && strcmp(key->name, map->names[i]->text) != 0)
      key++;
    if (key->name == NULL)
      return fail_unknown(file, map->names[i], keys, what, error);
    if (value->kind == TREE_NULL && (key->may_be_null || key->kind == SETUP_OBJECTS || key->kind == SETUP_OPTIONS))
      continue;
    const char *wanted = wrong_kind(key, value);
    if (wanted != NULL)
      return setup_fail(file, value, error, "%s must be %s", key->name, wanted);
    if (key->kind == SETUP_OBJECTS && !check_objects(file, value, key, error))
      return false;
  }
  return true;
}

bool setup_file_check(const char *file, const struct tree *tree, struct error *error) {
  if (tree->kind != TREE_MAP)
    return setup_fail(file, tree, error, "the file must be a map with keep, seal, targets, captures or documents");
  return check_map(file, tree, SETUP_FILE_KEYS, "the file", error);
}

static bool has_text(const struct tree *list, const char *text) {
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(list->items[i]->text, text) == 0)
      return true;
  return false;
}

static bool same_set(const struct tree *one, const struct tree *other) {
  for (size_t i = 0; i < one->count; i++)
    if (!has_text(other, one->items[i]->text))
      return false;
  for (size_t i = 0; i < other->count; i++)
    if (!has_text(one, other->items[i]->text))
      return false;
  return true;
}

static bool same_list(const struct tree *one, const struct tree *other) {
  if (one->count != other->count)
    return false;
  for (size_t i = 0; i < one->count; i++)
    if (strcmp(one->items[i]->text, other->items[i]->text) != 0)
      return false;
  return true;
}

static bool is_scalar(const struct setup_key *key) {
  return key->kind == SETUP_TEXT || key->kind == SETUP_BOOLEAN || key->kind == SETUP_LIKE;
}

bool setup_differs(const struct setup_key *key, const struct tree *wanted, const struct tree *present) {
  if (wanted == NULL)
    return false;
  bool is_null = wanted->kind == TREE_NULL;
  if (is_scalar(key)) {
    const char *text = is_null ? key->initial : wanted->text;
    return present == NULL ? text != NULL : text == NULL || strcmp(text, present->text) != 0;
  }
  if (is_null)
    return present != NULL && (key->initial == NULL || present->count > 0);
  if (present == NULL)
    return true;
  if (key->kind == SETUP_SET)
    return !same_set(wanted, present);
  return key->kind == SETUP_LIST ? !same_list(wanted, present) : !tree_equal(wanted, present);
}

bool setup_add_value(struct buffer *text, const struct setup_key *key, const struct tree *wanted) {
  bool is_null = wanted->kind == TREE_NULL;
  if (is_null && key->initial == NULL)
    return false;
  if (is_scalar(key)) {
    buffer_add_string(text, is_null ? key->initial : wanted->text);
  } else if (key->kind == SETUP_LIST || key->kind == SETUP_SET) {
    buffer_add_string(text, "{");
    for (size_t i = 0; i < wanted->count; i++) {
      buffer_add_string(text, i > 0 ? "," : "");
      buffer_add_array_string(text, wanted->items[i]->text);
    }
    buffer_add_string(text, "}");
  } else if (is_null) {
    buffer_add_string(text, "{}");
  } else {
    tree_add_json(text, wanted);
  }
  return true;
}

void setup_add_words(struct buffer *words, const struct tree *value) {
  struct buffer json;
  char shown[LONGEST_VALUE + 4];
  buffer_init(&json, 64UL * 1024 * 1024);
  if (value == NULL || value->kind == TREE_NULL)
    buffer_add_string(&json, "default");
  else if (value->kind == TREE_TEXT && strpbrk(value->text, "\n\t\r") == NULL)
    buffer_add_string(&json, *value->text != '\0' ? value->text : "none");
  else
    tree_add_json(&json, value);
  bool is_long = json.length > LONGEST_VALUE;
  text_print(shown, LONGEST_VALUE, "%s", json.overflow ? "" : json.data);
  buffer_add_format(words, "%s%s", shown, is_long ? "..." : "");
  buffer_release(&json);
}
