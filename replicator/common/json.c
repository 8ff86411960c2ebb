#include "common/json.h"

#include <string.h>

static const char *skip_space(const char *c) {
  while (*c == ' ' || *c == '\t' || *c == '\n' || *c == '\r')
    c++;
  return c;
}

/* From an opening quote to behind the closing one; NULL when there is none. Most of a row image is in strings. */
static const char *skip_string(const char *c) {
  const char *begin = c + 1;
  for (;;) {
    const char *quote = strchr(c + 1, '"');
    if (quote == NULL)
      return NULL;
    /* One behind an odd number of backslashes belongs to the string. */
    const char *escape = quote;
    while (escape > begin && escape[-1] == '\\')
      escape--;
    if ((quote - escape) % 2 == 0)
      return quote + 1;
    c = quote;
  }
}

/* To the comma or brace that ends a member of the object; NULL when there is none. */
static const char *skip_value(const char *c) {
  int depth = 0;
  for (;;) {
    switch (*c) {
    case '\0':
      return NULL;
    case '"':
      c = skip_string(c);
      if (c == NULL)
        return NULL;
      continue;
    case '{':
    case '[':
      depth++;
      break;
    case '}':
    case ']':
      if (depth-- == 0)
        return c;
      break;
    case ',':
      if (depth == 0)
        return c;
      break;
    default:
      break;
    }
    c++;
  }
}

bool json_names(const char *object, struct buffer *names) {
  const char *c = skip_space(object);
  if (*c != '{')
    return false;
  buffer_add(names, "[", 1);
  c = skip_space(c + 1);
  while (*c == '"') {
    const char *end = skip_string(c);
    if (end == NULL)
      return false;
    if (names->length > 0 && names->data[names->length - 1] != '[')
      buffer_add(names, ",", 1);
    buffer_add(names, c, (size_t)(end - c));
    c = skip_space(end);
    if (*c != ':')
      return false;
    c = skip_value(c + 1);
    if (c == NULL)
      return false;
    if (*c == ',')
      c = skip_space(c + 1);
  }
  buffer_add(names, "]", 1);
  return *c == '}';
}

bool json_next(const char **next, struct json_member *member) {
  const char *c = skip_space(*next);
  if (*c == '{' || *c == ',')
    c = skip_space(c + 1);
  if (*c != '"')
    return false;
  member->name = c;
  c = skip_string(c);
  if (c == NULL)
    return false;
  member->name_length = (size_t)(c - member->name);
  c = skip_space(c);
  if (*c != ':')
    return false;
  member->value = skip_space(c + 1);
  c = skip_value(member->value);
  if (c == NULL)
    return false;
  member->value_length = (size_t)(c - member->value);
  *next = c;
  return true;
}

bool json_next_element(const char **next, struct json_member *element) {
  const char *c = skip_space(*next);
  if (*c != '[' && *c != ',')
    return false;
  *element = (struct json_member){.value = skip_space(c + 1)};
  c = skip_value(element->value);
  if (c == NULL || c == element->value)
    return false;
  element->value_length = (size_t)(c - element->value);
  while (element->value_length > 0 && strchr(" \t\r\n", element->value[element->value_length - 1]) != NULL)
    element->value_length--;
  *next = c;
  return true;
}

void json_add_line(struct buffer *buffer, const char *text) {
  for (const char *c = text;;) {
    size_t length = strcspn(c, "\n\r");
    buffer_add(buffer, c, length);
    if (c[length] == '\0')
      return;
    buffer_add(buffer, " ", 1);
    c += length + 1;
  }
}

bool json_find(const char *object, const struct json_member *wanted, struct json_member *found) {
  const char *next = object;
  while (json_next(&next, found))
    if (found->name_length == wanted->name_length && memcmp(found->name, wanted->name, wanted->name_length) == 0)
      return true;
  return false;
}

void json_add_changed(struct buffer *buffer, const char *before, const char *after) {
  struct json_member old;
  struct json_member new;
  const char *next = after;
  size_t count = 0;
  buffer_add(buffer, "[", 1);
  while (json_next(&next, &new)) {
    if (json_find(before, &new, &old) && old.value_length == new.value_length &&
        memcmp(old.value, new.value, new.value_length) == 0)
      continue;
    buffer_add(buffer, ",", count++ > 0);
    buffer_add(buffer, new.name, new.name_length);
  }
  next = before;
  while (json_next(&next, &old)) {
    if (json_find(after, &old, &new))
      continue;
    buffer_add(buffer, ",", count++ > 0);
    buffer_add(buffer, old.name, old.name_length);
  }
  buffer_add(buffer, "]", 1);
}
