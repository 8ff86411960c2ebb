/* Row images: two texts, of which the second follows a line with a single dot. */
#include <jansson.h>

#include "common/json.h"
#include "fuzz.h"

static json_t *parse(const char *text) {
  return json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

static void walk(const char *image) {
  struct buffer names;
  buffer_init(&names, 1 << 20);
  json_t *row = parse(image);
  bool ok = json_names(image, &names);
  if (json_is_object(row)) {
    PROMISE(ok, "an object has names");
    json_t *list = parse(names.data);
    PROMISE(json_is_array(list), "names are an array");
    size_t index;
    json_t *name;
    json_array_foreach(list, index, name)
        PROMISE(json_object_get(row, json_string_value(name)) != NULL || strlen(json_string_value(name)) == 0 ||
                    json_string_length(name) != strlen(json_string_value(name)),
                "each name is one of the object's");
    json_decref(list);
  }
  json_decref(row);
  buffer_release(&names);
  struct json_member member;
  for (const char *next = image; json_next(&next, &member);)
    PROMISE(member.name_length >= 2 && member.value + member.value_length <= image + strlen(image),
            "a member is in its object");
}

static void compare(const char *before, const char *after) {
  struct buffer changed;
  buffer_init(&changed, 1 << 20);
  json_t *old = parse(before);
  json_t *new = parse(after);
  json_add_changed(&changed, before, after);
  if (json_is_object(old) && json_is_object(new)) {
    json_t *names = parse(changed.data);
    PROMISE(json_is_array(names), "what changed is an array");
    PROMISE(json_array_size(names) > 0 || json_equal(old, new), "objects that differ have changed");
    json_decref(names);
  }
  json_decref(old);
  json_decref(new);
  buffer_release(&changed);
}

static void keep_to_a_line(const char *text) {
  struct buffer line;
  buffer_init(&line, 1 << 20);
  json_add_line(&line, text);
  PROMISE(line.data == NULL || strpbrk(line.data, "\r\n") == NULL, "a line has no line break");
  json_t *value = parse(text);
  json_t *again = value != NULL ? parse(line.data) : NULL;
  PROMISE(value == NULL || json_equal(value, again), "a line says the same");
  json_decref(value);
  json_decref(again);
  buffer_release(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = text_of(data, size);
  char *second = strstr(text, "\n.\n");
  if (second != NULL) {
    *second = '\0';
    compare(text, second + 3);
    walk(second + 3);
  }
  walk(text);
  keep_to_a_line(text);
  free(text);
  return 0;
}
