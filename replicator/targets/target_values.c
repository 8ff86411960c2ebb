#include "targets/target_values.h"

#include <stdlib.h>
#include <string.h>

#include "common/json_tree.h"

bool target_values_init(struct target_values *values, const struct settings *settings,
                        const struct target_option *const *tables, struct error *error) {
  bool no_memory;
  *values = (struct target_values){
      .options = json_tree_parse(settings->options, strlen(settings->options), 0, &no_memory), .tables = tables};
  return values->options != NULL || error_set(error, FAILURE_RETRY, "out of memory for the target's options");
}

void target_values_release(struct target_values *values) {
  json_decref(values->options);
  *values = (struct target_values){.options = NULL};
}

static const char *initial_of(const struct target_values *values, const char *name) {
  const struct target_option *option = target_option_find(values->tables, name);
  return option != NULL ? option->initial : NULL;
}

const char *target_values_text(const struct target_values *values, const char *name) {
  const json_t *value = json_object_get(values->options, name);
  return json_is_string(value) ? json_string_value(value) : initial_of(values, name);
}

int64_t target_values_number(const struct target_values *values, const char *name) {
  const json_t *value = json_object_get(values->options, name);
  const char *text = target_values_text(values, name);
  if (json_is_integer(value))
    return json_integer_value(value);
  return text != NULL ? strtoll(text, NULL, 10) : 0;
}

bool target_values_flag(const struct target_values *values, const char *name) {
  const json_t *value = json_object_get(values->options, name);
  const char *text = target_values_text(values, name);
  return json_is_boolean(value) ? json_is_true(value) : text != NULL && strcmp(text, "true") == 0;
}
