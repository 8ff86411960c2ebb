#include "terminal/escape.h"

#include <stdio.h>

#include "common/buffer.h"

/* Bytes of a key or a message in JSON. */
#define TEXT_LIMIT ((size_t)64 * 1024 * 1024)

void escape_print(const char *text) {
  for (const char *c = text; *c != '\0'; c++) {
    unsigned char byte = (unsigned char)*c;
    if (byte < 0x20 || byte == 0x7f)
      printf("\\x%02x", byte);
    else
      putchar(*c);
  }
}

void escape_print_json(const char *text) {
  if (text == NULL) {
    fputs("null", stdout);
    return;
  }
  struct buffer string;
  buffer_init(&string, TEXT_LIMIT);
  buffer_add_json_string(&string, text);
  fputs(string.overflow ? "null" : string.data, stdout);
  buffer_release(&string);
}
