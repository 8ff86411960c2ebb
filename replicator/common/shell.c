#include "common/shell.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Whatever a shell leaves alone. */
static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-";

const char *shell_quote(struct shell_word *word, const char *text) {
  static const char QUOTE[] = "'\\''";
  size_t length = 0;
  bool is_plain = *text != '\0' && text[strspn(text, PLAIN)] == '\0' && *text != '-';
  if (!is_plain)
    word->text[length++] = '\'';
  /* Room for a quote, the end of the quotes and of the text. */
  for (const char *c = text; *c != '\0' && length + sizeof QUOTE + 1 < sizeof word->text; c++) {
    if (*c == '\'') {
      memcpy(&word->text[length], QUOTE, sizeof QUOTE - 1);
      length += sizeof QUOTE - 1;
    } else {
      word->text[length++] = *c;
    }
  }
  if (!is_plain)
    word->text[length++] = '\'';
  word->text[length] = '\0';
  return word->text;
}
