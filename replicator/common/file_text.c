#include "common/file_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool file_text_read(struct buffer *text, const char *path, struct error *error) {
  bool is_stdin = strcmp(path, "-") == 0;
  FILE *file = is_stdin ? stdin : fopen(path, "r");
  if (file == NULL)
    return error_set(error, FAILURE_USAGE, "cannot read file %s: %s", path, strerror(errno));
  char bytes[8192];
  size_t length;
  while ((length = fread(bytes, 1, sizeof bytes, file)) > 0)
    buffer_add(text, bytes, length);
  bool ok = !ferror(file) || error_set(error, FAILURE_FATAL, "cannot read file %s: %s", path, strerror(errno));
  if (!is_stdin)
    fclose(file);
  if (ok && text->length > 0 && memchr(text->data, '\0', text->length) != NULL)
    return error_set(error, FAILURE_USAGE, "file %s contains a zero byte; it must be text", path);
  return ok && buffer_ok(text, "the file", error);
}
