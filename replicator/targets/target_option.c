#include "targets/target_option.h"

#include <string.h>

const struct target_option TARGET_COMMON_OPTIONS[] = {
    {.name = "lanes",
     .help = "number of ordered streams; 1 keeps transactions whole; set it when adding the target",
     .number = "a number",
     .least = 1,
     .most = 1024,
     .initial = "64"},
    {.name = "batch_rows",
     .help =
         "most changes in a batch; batches grow up to it while much waits; default for postgresql: 10000, kafka: 1000",
     .number = "a number of rows",
     .least = 1,
     .most = 100000,
     .initial = "2000"},
    {.name = "batch_bytes",
     .help = "largest batch",
     .number = "a number of bytes",
     .least = 1024,
     .most = 268435456,
     .initial = "8388608"},
    {.name = "push_timeout",
     .help = "longest time a batch may take",
     .number = "a number of seconds",
     .least = 1,
     .most = 86400,
     .initial = "60"},
    {.name = "retries",
     .help = "how often to retry a row that the target refuses",
     .number = "a number",
     .least = 0,
     .most = 1000,
     .initial = "3"},
    {.name = "on_error",
     .help = "after a refused change: set it aside (a mirror blocks tables without a key), block its row, or halt",
     .choices = "park|block|halt",
     .initial = "park"},
    {.name = "claim",
     .help = "how a batch is held while it is pushed: in the claiming transaction, or for slow targets under a lease",
     .choices = "transaction|lease",
     .initial = "transaction",
     .elsewhere = true},
    {.name = "lease",
     .help = "how long a lease lasts; longer than push_timeout",
     .number = "a number of seconds",
     .least = 1,
     .most = 86400,
     .initial = "120",
     .elsewhere = true},
    {.name = "guarantee",
     .help = "whether changes that may have arrived are sent again, or set aside in rowrelay errors",
     .choices = "at-least-once|at-most-once",
     .initial = "at-least-once",
     .elsewhere = true},
    TARGET_OPTION_END,
};

const struct target_option *target_option_find(const struct target_option *const *tables, const char *name) {
  for (; *tables != NULL; tables++)
    for (const struct target_option *option = *tables; option->name != NULL; option++)
      if (strcmp(option->name, name) == 0)
        return option;
  return NULL;
}

void target_option_add_pattern(struct buffer *text, const struct target_option *option) {
  if (option->number != NULL)
    buffer_add_string(text, "^\\d{1,9}$");
  else if (option->choices != NULL)
    buffer_add_format(text, "^(%s)$", option->choices);
  else
    buffer_add_string(text, option->pattern);
}

/* "POST|PUT|PATCH" as "POST, PUT or PATCH" */
static void add_choices(struct buffer *text, const char *choices) {
  while (*choices != '\0') {
    size_t length = strcspn(choices, "|");
    buffer_add(text, choices, length);
    choices += length + (choices[length] == '|');
    if (*choices != '\0')
      buffer_add_string(text, strchr(choices, '|') != NULL ? ", " : " or ");
  }
}

void target_option_add_words(struct buffer *text, const struct target_option *option) {
  if (option->number != NULL)
    buffer_add_format(text, "%s from %lld to %lld", option->number, (long long)option->least, (long long)option->most);
  else if (option->choices != NULL)
    add_choices(text, option->choices);
  else
    buffer_add_string(text, option->words);
}
