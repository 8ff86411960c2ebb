#include "common/error.h"

#include <stdarg.h>
#include <string.h>

#include "common/text.h"

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
  text_print_arguments(message, sizeof message, format, arguments);
  va_end(arguments);
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
  text_print_arguments(error->detail, sizeof error->detail, format, arguments);
  va_end(arguments);
  return false;
}

bool error_hint(struct error *error, const char *format, ...) {
  if (error == NULL)
    return false;
  va_list arguments;
  va_start(arguments, format);
  text_print_arguments(error->hint, sizeof error->hint, format, arguments);
  va_end(arguments);
  return false;
}
