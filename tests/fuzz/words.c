/* Words of a command line: each line is one. */
#include <jansson.h>

#include "cli/array.h"
#include "cli/command.h"
#include "cli/option.h"
#include "common/shell.h"
#include "fuzz.h"

#define MOST_WORDS 16

static void promise_json(const struct buffer *members, const char *what) {
  struct buffer object;
  buffer_init(&object, 1 << 20);
  buffer_add_string(&object, "{");
  buffer_add(&object, members->data, members->length);
  buffer_add_string(&object, "}");
  /* A word is in whatever encoding the terminal has; the database refuses what is not UTF-8. */
  json_t *is_text = json_stringn(object.data, object.length);
  json_t *parsed = json_loads(object.data, 0, NULL);
  PROMISE(is_text == NULL || json_is_object(parsed), what);
  json_decref(is_text);
  json_decref(parsed);
  buffer_release(&object);
}

static void make_lists(const char *word) {
  struct buffer made;
  struct error error;
  struct shell_word quoted;
  buffer_init(&made, 1 << 20);
  if (array_add_names(&made, word, &error))
    PROMISE(made.data[0] == '{' && made.data[made.length - 1] == '}', "names are an array");
  buffer_clear(&made);
  if (array_add_masks(&made, word, &error))
    promise_json(&made, "masks are members of an object");
  buffer_clear(&made);
  if (array_add_setting(&made, word, &error))
    promise_json(&made, "a setting is a member of an object");
  shell_quote(&quoted, word);
  buffer_release(&made);
}

static void parse(size_t count, const char *const *words) {
  const struct command *command = NULL;
  struct options given;
  struct error error;
  size_t used;
  if (!option_init(&given, SHARED_OPTIONS, count, &error))
    abort();
  if (option_parse_leading(&given, count, words, &used, &error) && used < count &&
      command_find(count - used, words + used, &command, &used, &error) &&
      option_parse(&given, command->options, count - used, words + used, &error))
    (void)!command_check_arguments(command, &given, &error);
  option_release(&given);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = text_of(data, size);
  char *rest = text;
  const char *words[MOST_WORDS];
  size_t count = 0;
  while (*rest != '\0' && count < MOST_WORDS)
    words[count++] = cut_line(&rest);
  for (size_t i = 0; i < count; i++)
    make_lists(words[i]);
  parse(count, words);
  free(text);
  return 0;
}
