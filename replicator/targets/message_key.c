/*
 * The value comes from the key as it was captured, not from the images: those may spell equal keys differently (1.0 and
 * 1.00). They only tell whether it is a string in JSON. Of a document, whose deletes know no more than the text, it
 * always is one.
 */
#include "targets/message_key.h"

#include <string.h>

#include "common/json.h"

/* How many columns are named; 0 when one of them was dropped. */
static size_t count_names(const char *names) {
  struct json_member name;
  size_t count = 0;
  while (names != NULL && json_next_element(&names, &name)) {
    if (name.value[0] != '"')
      return 0;
    count++;
  }
  return count;
}

static size_t count_values(const char *key) {
  struct json_member value;
  size_t count = 0;
  while (json_next_element(&key, &value))
    count++;
  return count;
}

/* Whether the images show a number or a boolean under that name. */
static bool is_bare(const struct change *change, const struct json_member *name) {
  const char *image = change->new_row != NULL ? change->new_row : change->old_row;
  const struct json_member wanted = {.name = name->value, .name_length = name->value_length};
  struct json_member found;
  if (change->route->document || image == NULL || !json_find(image, &wanted, &found))
    return false;
  return strchr("-0123456789tf", found.value[0]) != NULL && change->key[0] != '\0';
}

static void add_single(struct buffer *buffer, const struct change *change) {
  const char *names = change->route->key_columns;
  struct json_member name;
  if (!json_next_element(&names, &name))
    return;
  buffer_add_string(buffer, "{");
  buffer_add(buffer, name.value, name.value_length);
  buffer_add_string(buffer, ":");
  if (is_bare(change, &name))
    buffer_add_string(buffer, change->key);
  else
    buffer_add_json_string(buffer, change->key);
  buffer_add_string(buffer, "}");
}

static void add_several(struct buffer *buffer, const struct change *change) {
  const char *names = change->route->key_columns;
  const char *key = change->key;
  const char *between = "{";
  struct json_member name;
  struct json_member value;
  while (json_next_element(&names, &name) && json_next_element(&key, &value)) {
    buffer_add_string(buffer, between);
    buffer_add(buffer, name.value, name.value_length);
    buffer_add_string(buffer, ":");
    buffer_add(buffer, value.value, value.value_length);
    between = ",";
  }
  buffer_add_string(buffer, "}");
}

bool message_key_add(struct buffer *buffer, const struct change *change) {
  if (change->key == NULL || change->route->keyless)
    return false;
  size_t count = count_names(change->route->key_columns);
  if (count == 1) {
    add_single(buffer, change);
  } else if (count > 1 && change->key[0] == '[' && count_values(change->key) == count) {
    add_several(buffer, change);
  } else { /* captured by another key than the table has now */
    buffer_add_string(buffer, "{\"key\":");
    buffer_add_json_string(buffer, change->key);
    buffer_add_string(buffer, "}");
  }
  return true;
}
