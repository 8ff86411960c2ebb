#include "terminal/escape.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"

size_t escape_length(const char *text, size_t left) {
  size_t length = text_length(text, left);
  return length > 0 ? length : 1;
}

bool escape_is_needed(const char *text, size_t length) {
  unsigned char first = (unsigned char)text[0];
  bool is_c1 = first == 0xc2 && length == 2 && (unsigned char)text[1] < 0xa0;
  return first < 0x20 || first == 0x7f || is_c1 || (length == 1 && first >= 0x80);
}

/* "\\u009b" and a NUL. */
#define ESCAPED_SIZE 8

static void escape(const char *text, size_t length, char escaped[ESCAPED_SIZE]) {
  unsigned char last = (unsigned char)text[length - 1];
  if (last == '\n' || last == '\t')
    snprintf(escaped, ESCAPED_SIZE, "\\%c", last == '\n' ? 'n' : 't');
  else
    snprintf(escaped, ESCAPED_SIZE, length == 1 ? "\\x%02x" : "\\u%04x", last);
}

int escape_add(struct buffer *buffer, const char *text, size_t length) {
  char escaped[ESCAPED_SIZE];
  escape(text, length, escaped);
  buffer_add_string(buffer, escaped);
  return (int)strlen(escaped);
}

void escape_print(const char *text) {
  size_t left = strlen(text);
  while (left > 0) {
    char escaped[ESCAPED_SIZE];
    size_t length = escape_length(text, left);
    if (escape_is_needed(text, length)) {
      escape(text, length, escaped);
      fputs(escaped, stdout);
    } else {
      fwrite(text, 1, length, stdout);
    }
    text += length;
    left -= length;
  }
}

/* Not by way of a buffer: what has no error to give must not print null where there is something. */
void escape_print_json(const char *text) {
  if (text == NULL) {
    fputs("null", stdout);
    return;
  }
  putchar('"');
  for (const char *c = text; *c != '\0'; c++) {
    unsigned char byte = (unsigned char)*c;
    if (byte < 0x20)
      printf("\\u%04x", byte);
    else if (byte == '"' || byte == '\\')
      printf("\\%c", byte);
    else
      putchar(*c);
  }
  putchar('"');
}
