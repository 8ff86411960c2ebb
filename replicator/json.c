#include "json.h"

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
