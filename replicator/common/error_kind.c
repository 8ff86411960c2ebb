#include "common/error_kind.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "common/text.h"

#define PLACEHOLDER "..." /* which any database can store */
#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define HEXADECIMAL DIGITS "abcdefABCDEF-"
/* What numbers, times and identifiers consist of. */
#define IN_WORD DIGITS LETTERS ".,:+-"

/* How texts are quoted after a colon: in English, in French and Russian, in German. */
static const struct {
  const char *open;
  const char *close;
} QUOTES[] = {{"\"", "\""}, {"\xc2\xab", "\xc2\xbb"}, {"\xc2\xbb", "\xc2\xab"}, {"\xe2\x80\x9e", "\xe2\x80\x9c"}};

static bool is_any(char character, const char *of) {
  return character != '\0' && strchr(of, character) != NULL;
}

static const char *last_of(const char *text, const char *words) {
  const char *last = NULL;
  for (const char *at = text; (at = strstr(at, words)) != NULL; at++)
    last = at;
  return last;
}

/* Bytes of a word that begins with a digit, or is a hexadecimal number such as a UUID; punctuation ends none. */
static size_t number_length(const char *text) {
  size_t sign = is_any(*text, "+-") ? 1 : 0;
  size_t length = sign + strspn(text + sign, IN_WORD);
  while (length > 0 && is_any(text[length - 1], ".,:+-"))
    length--;
  if (length <= sign)
    return 0;
  bool is_hexadecimal = length >= 8 && strspn(text, HEXADECIMAL) >= length && strcspn(text, DIGITS) < length;
  return is_any(text[sign], DIGITS) || is_hexadecimal ? length : 0;
}

/* A value may itself have quotes: it ends with the last one. */
static size_t quoted_length(const char *text) {
  for (size_t i = 0; i < sizeof QUOTES / sizeof QUOTES[0]; i++) {
    size_t opening = strlen(QUOTES[i].open);
    if (strncmp(text, QUOTES[i].open, opening) != 0)
      continue;
    const char *end = last_of(text + opening, QUOTES[i].close);
    return end != NULL ? (size_t)(end - text) + strlen(QUOTES[i].close) : strlen(text);
  }
  return 0;
}

/* A quoted value within a sentence ends with its quotation mark, not with those of names that follow. */
static size_t inner_length(const char *message, const char *at) {
  static const char *const nouns[] = {"value", "token", "literal", "string", "input", "Wert"};
  size_t before = (size_t)(at - message);
  bool follows_noun = false;
  for (size_t i = 0; i < sizeof nouns / sizeof nouns[0]; i++) {
    size_t length = strlen(nouns[i]);
    follows_noun =
        follows_noun || (before > length && at[-1] == ' ' && strncasecmp(at - 1 - length, nouns[i], length) == 0);
  }
  for (size_t i = 0; follows_noun && i < sizeof QUOTES / sizeof QUOTES[0]; i++) {
    size_t opening = strlen(QUOTES[i].open);
    if (strncmp(at, QUOTES[i].open, opening) != 0)
      continue;
    for (const char *end = at + opening; (end = strstr(end, QUOTES[i].close)) != NULL; end++) {
      const char *after = end + strlen(QUOTES[i].close);
      if (is_any(*after, " .,;:)") || *after == '\0')
        return (size_t)(after - at);
    }
  }
  return 0;
}

/* In single quotes, which are no apostrophes: they stand at the edges of words. */
static size_t single_quoted_length(const char *text) {
  if (*text != '\'')
    return 0;
  for (const char *end = text + 1; (end = strchr(end, '\'')) != NULL; end++)
    if (!is_any(end[1], DIGITS LETTERS))
      return (size_t)(end - text) + 1;
  return 0;
}

/* Bytes of the value that begins here; 0: none does. */
static size_t value_length(const char *message, const char *at) {
  size_t before = (size_t)(at - message);
  if (before > 0 && is_any(at[-1], DIGITS LETTERS))
    return 0;
  /* in JSON a colon comes after a quotation mark */
  if (before > 2 && at[-1] == ' ' && at[-2] == ':' && at[-3] != '"') {
    size_t quoted = quoted_length(at);
    if (quoted > 0)
      return quoted;
  }
  size_t quoted = inner_length(message, at);
  if (quoted == 0)
    quoted = single_quoted_length(at);
  return quoted > 0 ? quoted : number_length(at);
}

void error_kind(const struct error *error, char *kind, size_t size) {
  size_t length = 0;
  bool has_values = false;
  for (const char *at = error->message; *at != '\0' && length + 1 < size;) {
    size_t value = value_length(error->message, at);
    if (value > 0) {
      text_print(kind + length, size - length, PLACEHOLDER);
      length += strlen(kind + length);
      at += value;
      has_values = true;
    } else {
      size_t bytes = text_length(at, strlen(at));
      bytes = bytes > 0 ? bytes : 1;
      if (length + bytes >= size)
        break; /* never within a character */
      memcpy(kind + length, at, bytes);
      length += bytes;
      at += bytes;
    }
  }
  kind[length] = '\0';
  if (has_values && error->sqlstate[0] != '\0')
    text_print(kind + length, size - length, " (%s)", error->sqlstate);
}
