/* target_values: the options that a target has been given, with the defaults of its kind. */
#ifndef ROWRELAY_TARGETS_TARGET_VALUES_H
#define ROWRELAY_TARGETS_TARGET_VALUES_H

#include <jansson.h>

#include "source/settings.h"
#include "targets/target_option.h"

struct target_values {
  json_t *options;                           /* as set for the target */
  const struct target_option *const *tables; /* that describe them; ends with NULL */
};

MUST_CHECK bool target_values_init(struct target_values *values, const struct settings *settings,
                                   const struct target_option *const *tables, struct error *error);
void target_values_release(struct target_values *values);

/* An option as set, else its default, else NULL, 0 or false. Texts are borrowed. */
const char *target_values_text(const struct target_values *values, const char *name);
int64_t target_values_number(const struct target_values *values, const char *name);
bool target_values_flag(const struct target_values *values, const char *name);

#endif
