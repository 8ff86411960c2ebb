#include "common/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST_CAPACITY 256

void buffer_init(struct buffer *buffer, size_t limit) {
  *buffer = (struct buffer){.limit = limit};
}

void buffer_release(struct buffer *buffer) {
  free(buffer->data);
  *buffer = (struct buffer){.limit = buffer->limit};
}

void buffer_clear(struct buffer *buffer) {
  buffer->length = 0;
  buffer->overflow = buffer->no_memory = false;
  if (buffer->data != NULL)
    buffer->data[0] = '\0';
}

void buffer_drop(struct buffer *buffer, size_t length) {
  if (length == 0)
    return;
  buffer->length -= length;
  memmove(buffer->data, buffer->data + length, buffer->length + 1);
}

/* Makes room for `more` bytes and the NUL behind them. */
static bool buffer_reserve(struct buffer *buffer, size_t more) {
  if (buffer->overflow)
    return false;
  if (more > buffer->limit || buffer->length > buffer->limit - more) {
    buffer->overflow = true;
    return false;
  }
  size_t needed = buffer->length + more + 1;
  if (needed <= buffer->capacity)
    return true;
  size_t capacity = buffer->capacity < SMALLEST_CAPACITY ? SMALLEST_CAPACITY : buffer->capacity;
  while (capacity < needed)
    capacity *= 2;
  char *data = realloc(buffer->data, capacity);
  if (data == NULL) {
    buffer_lack_memory(buffer);
    return false;
  }
  buffer->data = data;
  buffer->capacity = capacity;
  return true;
}

void buffer_add(struct buffer *buffer, const void *bytes, size_t length) {
  if (!buffer_reserve(buffer, length))
    return;
  if (length > 0)
    memcpy(buffer->data + buffer->length, bytes, length);
  buffer->length += length;
  buffer->data[buffer->length] = '\0';
}

void buffer_add_string(struct buffer *buffer, const char *string) {
  buffer_add(buffer, string, strlen(string));
}

void buffer_add_format(struct buffer *buffer, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0 || !buffer_reserve(buffer, (size_t)length)) {
    buffer->overflow = true;
    return;
  }
  va_start(arguments, format);
  vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, arguments);
  va_end(arguments);
  buffer->length += (size_t)length;
}

void buffer_add_json_string(struct buffer *buffer, const char *string) {
  if (string == NULL) {
    buffer_add_string(buffer, "null");
    return;
  }
  buffer_add(buffer, "\"", 1);
  const char *plain = string; /* start of the run that needs no escape */
  for (const char *c = string;; c++) {
    unsigned char byte = (unsigned char)*c;
    if (byte >= 0x20 && byte != '"' && byte != '\\')
      continue;
    buffer_add(buffer, plain, (size_t)(c - plain));
    if (byte == '\0')
      break;
    if (byte == '"' || byte == '\\') {
      buffer_add(buffer, "\\", 1);
      buffer_add(buffer, c, 1);
    } else {
      buffer_add_format(buffer, "\\u%04x", byte);
    }
    plain = c + 1;
  }
  buffer_add(buffer, "\"", 1);
}

void buffer_add_array_string(struct buffer *buffer, const char *string) {
  buffer_add(buffer, "\"", 1);
  while (*string != '\0') {
    size_t plain = strcspn(string, "\"\\");
    buffer_add(buffer, string, plain);
    string += plain;
    if (*string != '\0') {
      buffer_add(buffer, "\\", 1);
      buffer_add(buffer, string++, 1);
    }
  }
  buffer_add(buffer, "\"", 1);
}

bool buffer_is_empty(const struct buffer *buffer) {
  return buffer->length == 0 && !buffer->overflow;
}

void buffer_inherit(struct buffer *buffer, const struct buffer *part) {
  buffer->overflow = buffer->overflow || part->overflow;
  buffer->no_memory = buffer->no_memory || part->no_memory;
}

void buffer_lack_memory(struct buffer *buffer) {
  buffer->overflow = buffer->no_memory = true;
}

bool buffer_ok(const struct buffer *buffer, const char *what, struct error *error) {
  if (!buffer->overflow)
    return true;
  if (buffer->no_memory)
    return error_set(error, FAILURE_RETRY, "out of memory for %s", what);
  return error_set(error, FAILURE_FATAL, "%s is longer than %zu bytes", what, buffer->limit);
}
