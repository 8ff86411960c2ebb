#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What was cut is not to end in the middle of a letter: it is sent to databases, which take UTF-8 only. */
static void end_with_letter(char *text, size_t size, int wanted) {
  if (wanted < 0 || (size_t)wanted < size)
    return;
  size_t length = size - 1;
  size_t letter = length; /* where the last one begins */
  while (letter > 0 && length - letter < 4 && ((unsigned char)text[letter - 1] & 0xC0) == 0x80)
    letter--;
  if (letter == 0 || (unsigned char)text[letter - 1] < 0xC0)
    return;
  unsigned char first = (unsigned char)text[letter - 1];
  size_t expected = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (length - (letter - 1) < expected)
    text[letter - 1] = '\0';
}

void error_clear(struct error *error) {
  if (error != NULL)
    *error = (struct error){.kind = FAILURE_NONE};
}

bool error_set(struct error *error, enum failure kind, const char *format, ...) {
  if (error == NULL)
    return false;
  /* The arguments may point into *error, so the text is made before anything is overwritten. */
  char message[sizeof error->message];
  va_list arguments;
  va_start(arguments, format);
  int wanted = vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  end_with_letter(message, sizeof message, wanted);
  error_clear(error);
  error->kind = kind;
  memcpy(error->message, message, sizeof message);
  return false;
}

bool error_detail(struct error *error, const char *format, ...) {
  if (error == NULL)
    return false;
  va_list arguments;
  va_start(arguments, format);
  int wanted = vsnprintf(error->detail, sizeof error->detail, format, arguments);
  va_end(arguments);
  end_with_letter(error->detail, sizeof error->detail, wanted);
  return false;
}

bool error_hint(struct error *error, const char *format, ...) {
  if (error == NULL)
    return false;
  va_list arguments;
  va_start(arguments, format);
  int wanted = vsnprintf(error->hint, sizeof error->hint, format, arguments);
  va_end(arguments);
  end_with_letter(error->hint, sizeof error->hint, wanted);
  return false;
}
