#include "url.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NAME 127

static void add_encoded(struct buffer *filled, const char *value) {
  for (const char *c = value; *c != '\0'; c++) {
    unsigned char byte = (unsigned char)*c;
    if (isalnum(byte) || strchr("-._~", byte) != NULL)
      buffer_add(filled, c, 1);
    else
      buffer_add_format(filled, "%%%02X", byte);
  }
}

/* Whether what follows is the end of user and password: an @ before any slash. */
static bool is_userinfo(const char *rest) {
  const char *at = strchr(rest, '@');
  const char *slash = strchr(rest, '/');
  return at != NULL && (slash == NULL || at < slash);
}

/* Whether what stands at `c` is among the parameters behind a question mark. A file's name has none. */
static bool is_parameter(const char *url, const char *c) {
  const char *mark = strchr(url, '?');
  return mark != NULL && mark < c && strncmp(url, "file:", strlen("file:")) != 0;
}

bool url_fill_in(const char *url, struct buffer *filled, struct error *error) {
  const char *whole = url;
  for (;;) {
    const char *start = strstr(url, "${");
    const char *end = start != NULL ? strchr(start, '}') : NULL;
    if (end == NULL) {
      buffer_add_string(filled, url);
      return buffer_ok(filled, "a URL", error);
    }
    buffer_add(filled, url, (size_t)(start - url));
    char name[LONGEST_NAME + 1];
    size_t length = (size_t)(end - start - 2);
    if (length == 0 || length > LONGEST_NAME)
      return error_set(error, FAILURE_FATAL, "a ${NAME} in the target's URL has no name, or one of over %d letters",
                       LONGEST_NAME);
    memcpy(name, start + 2, length);
    name[length] = '\0';
    const char *value = getenv(name);
    if (value == NULL) {
      error_set(error, FAILURE_FATAL, "environment variable %s is not set, which the target's URL needs", name);
      return error_hint(error, "set it in the environment of rowrelay run");
    }
    if (is_userinfo(end) || is_parameter(whole, start))
      add_encoded(filled, value);
    else
      buffer_add_string(filled, value);
    url = end + 1;
  }
}
