#include "cli/array.h"

#include <ctype.h>
#include <string.h>

static const char *skip_blanks(const char *text) {
  return text + strspn(text, " \t\r\n");
}

static void add_separator(struct buffer *list) {
  bool is_first = list->length == 0 || list->data[list->length - 1] == '{';
  if (!is_first)
    buffer_add_string(list, ",");
}

static void add_array_element(struct buffer *array, const char *text) {
  add_separator(array);
  buffer_add_string(array, "\"");
  for (const char *c = text; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\')
      buffer_add_string(array, "\\");
    buffer_add(array, c, 1);
  }
  buffer_add_string(array, "\"");
}

void array_add_texts(struct buffer *array, size_t count, const char *const *texts) {
  buffer_add_string(array, "{");
  for (size_t i = 0; i < count; i++)
    add_array_element(array, texts[i]);
  buffer_add_string(array, "}");
}

/* Reads a word in double quotes; afterwards *text is behind the closing quote. */
static bool read_quoted(const char **text, struct buffer *word, struct error *error) {
  const char *start = *text;
  for (const char *c = start + 1; *c != '\0'; c++) {
    if (*c == '"' && c[1] != '"') {
      *text = c + 1;
      return true;
    }
    c += *c == '"'; /* of a doubled quote the second one counts */
    buffer_add(word, c, 1);
  }
  return error_set(error, FAILURE_USAGE, "a closing quote is missing in: %s", start);
}

/* Reads a word that ends before one of `ends`, without the blanks around it. */
static void read_bare(const char **text, const char *ends, struct buffer *word) {
  size_t length = strcspn(*text, ends);
  size_t kept = length;
  while (kept > 0 && isspace((unsigned char)(*text)[kept - 1]))
    kept--;
  buffer_add(word, *text, kept);
  *text += length;
}

/* Reads one word, quoted or bare. When `fold`, letters of a bare one become lower case, as SQL does with names. */
static bool read_word(const char **text, const char *ends, bool fold, struct buffer *word, struct error *error) {
  buffer_clear(word);
  buffer_add_string(word, ""); /* so that there is a string even when it is empty */
  *text = skip_blanks(*text);
  if (**text == '"') {
    if (!read_quoted(text, word, error))
      return false;
    *text = skip_blanks(*text);
    return buffer_ok(word, "a word of a list", error);
  }
  read_bare(text, ends, word);
  if (!buffer_ok(word, "a word of a list", error))
    return false;
  for (char *c = word->data; fold && *c != '\0'; c++)
    if (*c >= 'A' && *c <= 'Z')
      *c = (char)(*c - 'A' + 'a');
  return true;
}

static bool read_name(const char **text, const char *ends, struct buffer *name, struct error *error) {
  const char *start = *text;
  if (!read_word(text, ends, true, name, error))
    return false;
  if (name->length == 0)
    return error_set(error, FAILURE_USAGE, "a column name is missing before \"%s\"", start);
  return true;
}

/* Skips the comma after an element; *more: another element follows. */
static bool read_comma(const char **text, bool *more, struct error *error) {
  *more = **text == ',';
  if (**text != ',' && **text != '\0')
    return error_set(error, FAILURE_USAGE, "a comma is missing before: %s", *text);
  *text += *more;
  return true;
}

static bool add_names(struct buffer *array, const char *text, struct buffer *name, struct error *error) {
  bool more = *skip_blanks(text) != '\0';
  buffer_add_string(array, "{");
  while (more) {
    if (!read_name(&text, ",", name, error) || !read_comma(&text, &more, error))
      return false;
    add_array_element(array, name->data);
  }
  buffer_add_string(array, "}");
  return buffer_ok(array, "a list of columns", error);
}

bool array_add_names(struct buffer *array, const char *text, struct error *error) {
  struct buffer name;
  buffer_init(&name, LIST_LIMIT);
  bool ok = add_names(array, text, &name, error);
  buffer_release(&name);
  return ok;
}

static bool add_masks(struct buffer *object, const char *text, struct buffer *word, struct error *error) {
  bool more = true;
  while (more) {
    if (!read_name(&text, ",=", word, error))
      return false;
    add_separator(object);
    buffer_add_json_string(object, word->data);
    bool has_value = *text == '=';
    if (has_value) {
      text++;
      if (!read_word(&text, ",", false, word, error))
        return false;
    }
    buffer_add_string(object, ":");
    buffer_add_json_string(object, has_value ? word->data : NULL);
    if (!read_comma(&text, &more, error))
      return false;
  }
  return buffer_ok(object, "a list of masks", error);
}

bool array_add_masks(struct buffer *object, const char *text, struct error *error) {
  struct buffer word;
  buffer_init(&word, LIST_LIMIT);
  bool ok = add_masks(object, text, &word, error);
  buffer_release(&word);
  return ok;
}

bool array_add_setting(struct buffer *object, const char *text, struct error *error) {
  const char *equals = strchr(text, '=');
  if (equals == NULL || equals == text)
    return error_set(error, FAILURE_USAGE, "an option must be NAME=VALUE, not \"%s\"", text);
  struct buffer name;
  buffer_init(&name, LIST_LIMIT);
  buffer_add(&name, text, (size_t)(equals - text));
  bool ok = buffer_ok(&name, "an option's name", error);
  if (ok) {
    add_separator(object);
    buffer_add_json_string(object, name.data);
    buffer_add_string(object, ":");
    buffer_add_json_string(object, equals[1] != '\0' ? equals + 1 : NULL);
    ok = buffer_ok(object, "an option", error);
  }
  buffer_release(&name);
  return ok;
}
