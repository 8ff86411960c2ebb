#include "verify/keys.h"

#include <stdlib.h>
#include <string.h>

void keys_init(struct keys *keys) {
  *keys = (struct keys){.count = 0};
}

void keys_release(struct keys *keys) {
  keys_clear(keys);
  free(keys->texts);
  keys_init(keys);
}

void keys_clear(struct keys *keys) {
  keys_drop(keys, 0, keys->count);
}

bool keys_add(struct keys *keys, const char *text, struct error *error) {
  if (keys->count == keys->capacity) {
    size_t capacity = keys->capacity == 0 ? 64 : 2 * keys->capacity;
    char **grown = realloc(keys->texts, capacity * sizeof *grown);
    if (grown == NULL)
      return error_set(error, FAILURE_RETRY, "out of memory");
    keys->texts = grown;
    keys->capacity = capacity;
  }
  char *copy = strdup(text);
  if (copy == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  keys->texts[keys->count++] = copy;
  return true;
}

void keys_drop(struct keys *keys, size_t count, size_t begin) {
  for (size_t i = count; i < begin; i++)
    free(keys->texts[i]);
  for (size_t i = begin; i < keys->count; i++)
    keys->texts[count++] = keys->texts[i];
  keys->count = count;
}

void keys_write(const struct keys *keys, size_t begin, size_t count, bool are_json, struct buffer *array) {
  buffer_add_string(array, "[");
  for (size_t i = begin; i < keys->count && i < begin + count; i++) {
    buffer_add_string(array, i > begin ? "," : "");
    if (are_json)
      buffer_add_string(array, keys->texts[i]);
    else
      buffer_add_json_string(array, keys->texts[i]);
  }
  buffer_add_string(array, "]");
}
