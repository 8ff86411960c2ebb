#include "common/url.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/echo.h"
#include "common/portable.h"

/* Shortest text that is hidden in an error. Bytes; shorter ones occur in every text. */
#define SHORTEST_SECRET 4
/* The same of one of its words. */
#define SHORTEST_WORD 8

static void add_encoded(struct buffer *filled, const char *value) {
  for (const char *c = value; *c != '\0'; c++) {
    unsigned char byte = (unsigned char)*c;
    if (isalnum(byte) || strchr("-._~", byte) != NULL)
      buffer_add(filled, c, 1);
    else
      buffer_add_format(filled, "%%%02X", byte);
  }
}

/* Whether user and password end here: an @ follows before any slash. */
static bool is_userinfo(const char *rest) {
  const char *at = strchr(rest, '@');
  const char *slash = strchr(rest, '/');
  return at != NULL && (slash == NULL || at < slash);
}

/* Whether `c` is within the parameters after a question mark. A file: URL has none. */
static bool is_parameter(const char *url, const char *c) {
  const char *mark = strchr(url, '?');
  return mark != NULL && mark < c && strncmp(url, "file:", strlen("file:")) != 0;
}

/* A ${NAME} in a URL: where it begins, and its closing brace. */
struct placeholder {
  const char *start;
  const char *end;
  const char *name; /* not terminated; see length */
  int length;
};

static bool find_placeholder(const char *url, struct placeholder *found) {
  found->start = strstr(url, "${");
  found->end = found->start != NULL ? strchr(found->start, '}') : NULL;
  if (found->end == NULL)
    return false;
  found->name = found->start + 2;
  found->length = (int)(found->end - found->name);
  return true;
}

/* Its value in the environment; NULL: not set. Like getenv(), for a name within another text. */
static const char *value_of(const struct placeholder *found) {
  size_t length = (size_t)found->length;
  for (char **variable = environ; length > 0 && variable != NULL && *variable != NULL; variable++)
    if (strncmp(*variable, found->name, length) == 0 && (*variable)[length] == '=')
      return *variable + length + 1;
  return NULL;
}

static bool fill_in(const char *text, const char *what, bool is_url, struct buffer *filled, struct error *error) {
  const char *rest = text;
  struct placeholder found;
  while (find_placeholder(rest, &found)) {
    buffer_add(filled, rest, (size_t)(found.start - rest));
    if (found.length == 0)
      return error_set(error, FAILURE_USAGE, "the target's %s has a ${} without a name", what);
    const char *value = value_of(&found);
    if (value == NULL) {
      error_set(error, FAILURE_USAGE, "environment variable %.*s, which the target's %s uses, is not set", found.length,
                found.name, what);
      return error_hint(error, "set it in the environment of rowrelay run, and of this command");
    }
    if (is_url && (is_userinfo(found.end) || is_parameter(text, found.start)))
      add_encoded(filled, value);
    else
      buffer_add_string(filled, value);
    rest = found.end + 1;
  }
  buffer_add_string(filled, rest);
  return buffer_ok(filled, what, error);
}

bool url_fill_in(const char *url, const char *what, struct buffer *filled, struct error *error) {
  return fill_in(url, what, true, filled, error);
}

bool text_fill_in(const char *text, const char *what, struct buffer *filled, struct error *error) {
  return fill_in(text, what, false, filled, error);
}

/* A text that is hidden in an error, and how much of its beginning is hidden where the error's end cuts it off. */
struct secret {
  const char *text;
  size_t least;
};

/* Replaces each repetition of the secret in a text by ${NAME}. */
static void hide(char *text, size_t size, const struct secret *secret, const struct placeholder *named) {
  struct buffer hidden;
  bool found = false;
  buffer_init(&hidden, 64 * size);
  for (const char *rest = text; *rest != '\0';) {
    size_t length = echo_at(rest, secret->text, secret->least);
    if (length > 0)
      buffer_add(&hidden, named->start, (size_t)named->length + 3);
    else
      buffer_add(&hidden, rest, 1);
    found = found || length > 0;
    rest += length > 0 ? length : 1;
  }
  size_t length = hidden.overflow ? 0 : hidden.length < size ? hidden.length : size - 1;
  /* not within a character */
  while (found && length > 0 && length < hidden.length && ((unsigned char)hidden.data[length] & 0xC0) == 0x80)
    length--;
  if (found && length > 0)
    memcpy(text, hidden.data, length);
  if (found)
    text[length] = '\0';
  buffer_release(&hidden);
}

static void hide_everywhere(struct error *error, const char *text, size_t least, const struct placeholder *named) {
  const struct secret secret = {.text = text, .least = least};
  hide(error->message, sizeof error->message, &secret, named);
  hide(error->detail, sizeof error->detail, &secret, named);
  hide(error->hint, sizeof error->hint, &secret, named);
}

/* A header's value is a scheme and a secret, a URL has a user and a password: another side may repeat one of them. */
static void hide_words(struct error *error, const char *value, const struct placeholder *named) {
  static const char BETWEEN[] = " \t\r\n:@";
  char *copy = strdup(value);
  for (char *word = copy; word != NULL && *word != '\0';) {
    size_t length = strcspn(word, BETWEEN);
    bool is_last = word[length] == '\0';
    word[length] = '\0';
    if (length >= SHORTEST_WORD)
      hide_everywhere(error, word, SHORTEST_WORD, named);
    word += length + !is_last;
  }
  free(copy);
}

/* User and password as HTTP sends them. */
static void hide_basic(const char *url, struct error *error) {
  const char *start = strstr(url, "://");
  size_t length = start != NULL ? strcspn(start + 3, "@/?#") : 0;
  struct placeholder found;
  if (start == NULL || start[3 + length] != '@' || !find_placeholder(start, &found) || found.end > start + 3 + length)
    return;
  struct buffer user;
  struct buffer filled;
  buffer_init(&user, URL_LIMIT);
  buffer_init(&filled, URL_LIMIT);
  buffer_add(&user, start + 3, length);
  bool ok = !user.overflow && fill_in(user.data, "URL", false, &filled, NULL);
  char *encoded = ok ? malloc(2 * filled.length + 4) : NULL;
  if (encoded != NULL) {
    EVP_EncodeBlock((unsigned char *)encoded, (const unsigned char *)filled.data, (int)filled.length);
    hide_everywhere(error, encoded, SHORTEST_SECRET, &found);
  }
  free(encoded);
  buffer_release(&user);
  buffer_release(&filled);
}

void url_hide(const char *text, struct error *error) {
  struct placeholder found;
  hide_basic(text, error);
  for (; find_placeholder(text, &found); text = found.end + 1) {
    const char *value = value_of(&found);
    if (value == NULL || strlen(value) < SHORTEST_SECRET)
      continue;
    hide_everywhere(error, value, SHORTEST_SECRET, &found);
    hide_words(error, value, &found);
  }
}
