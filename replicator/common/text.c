#include "common/text.h"

#include <stdio.h>
#include <string.h>

size_t text_length(const char *text, size_t left) {
  unsigned char first = (unsigned char)text[0];
  size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (length > left)
    return 0;
  for (size_t i = 1; i < length; i++)
    if (((unsigned char)text[i] & 0xC0) != 0x80)
      return 0;
  unsigned char second = length > 1 ? (unsigned char)text[1] : 0;
  /* Overlong forms, surrogates, and what lies beyond U+10FFFF. */
  bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
               (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return wrong ? 0 : length;
}

void text_sanitize(char *text, bool ascii_only) {
  size_t left = strlen(text);
  char *to = text;
  while (left > 0) {
    size_t length = text_length(text, left);
    size_t taken = length > 0 ? length : 1;
    if (length == 1 || (length > 1 && !ascii_only)) {
      memmove(to, text, length);
      to += length;
    } else {
      *to++ = '?';
    }
    text += taken;
    left -= taken;
  }
  *to = '\0';
}

static void end_with_character(char *text, size_t size, int wanted) {
  if (wanted < 0 || (size_t)wanted < size)
    return;
  size_t length = size - 1;
  size_t start = length; /* where the last character begins */
  while (start > 0 && length - start < 4 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
    start--;
  if (start == 0 || (unsigned char)text[start - 1] < 0xC0)
    return;
  unsigned char first = (unsigned char)text[start - 1];
  size_t expected = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (length - (start - 1) < expected)
    text[start - 1] = '\0';
}

const char *text_plural(int64_t count) {
  return count == 1 ? "" : "s";
}

void text_print_arguments(char *text, size_t size, const char *format, va_list arguments) {
  end_with_character(text, size, vsnprintf(text, size, format, arguments));
}

void text_print(char *text, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text_print_arguments(text, size, format, arguments);
  va_end(arguments);
}

uint64_t text_hash(uint64_t hash, const char *text) {
  const uint64_t prime = UINT64_C(1099511628211);
  for (; *text != '\0'; text++)
    hash = (hash ^ (unsigned char)*text) * prime;
  return (hash ^ 0xff) * prime;
}
