#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static const struct command *command;
static size_t used;
static struct error error;

static bool find(const char *first, const char *second) {
  const char *const words[] = {first, second};
  return command_find(second != NULL ? 2 : 1, words, &command, &used, &error);
}

Test(command, is_found_by_one_word) {
  cr_assert(find("capture", "orders"));
  cr_assert_str_eq(command->name, "capture");
  cr_assert_eq(used, 1);
}

Test(command, is_found_by_two_words) {
  cr_assert(find("target", "add"));
  cr_assert_str_eq(command->name, "target add");
  cr_assert_eq(used, 2);
}

Test(command, a_mistyped_one_suggests_the_nearest) {
  cr_assert_not(find("statsu", NULL));
  cr_assert_eq(error.kind, FAILURE_USAGE);
  cr_assert_str_eq(error.hint, "did you mean \"status\"?");
}

Test(command, a_mistyped_second_word_suggests_the_nearest) {
  cr_assert_not(find("target", "drpo"));
  cr_assert_str_eq(error.hint, "did you mean \"target drop\"?");
}

Test(command, the_first_of_two_words_lists_the_second) {
  cr_assert_not(find("target", "--help"));
  cr_assert_not_null(strstr(error.hint, "add, list"));
}

Test(command, nothing_near_suggests_nothing) {
  cr_assert_not(find("stabcdef", NULL));
  cr_assert_str_eq(error.hint, "try: rowrelay --help");
  cr_assert_not(find("foo", NULL), "it has only one letter of log");
  cr_assert_str_eq(error.hint, "try: rowrelay --help");
  cr_assert_not(find("lgo", NULL), "one slip: two letters have changed places");
  cr_assert_str_eq(error.hint, "did you mean \"log\"?");
}

Test(command, a_word_longer_than_any_name_is_only_unknown) {
  char word[5000];
  memset(word, 'x', sizeof word - 1);
  word[sizeof word - 1] = '\0';
  cr_assert_not(find(word, NULL));
  cr_assert_not(find("target", word));
}

static const struct option *with_letter(const struct option *table, char letter) {
  for (; table->name != NULL; table++)
    if (table->letter == letter)
      return table;
  return NULL;
}

static size_t uses_of_name(const struct option *table, const char *name) {
  size_t uses = 0;
  for (; table->name != NULL; table++)
    uses += strcmp(table->name, name) == 0;
  return uses;
}

Test(command, each_says_what_it_does_and_how_it_is_used) {
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    const struct command *one = COMMANDS[i];
    cr_assert_not_null(one->summary, "%s", one->name);
    cr_assert_not_null(one->arguments, "%s", one->name);
    cr_assert_not_null(one->run, "%s", one->name);
    cr_assert_leq(one->least, one->most, "%s", one->name);
    for (const struct option *option = one->options; option->name != NULL; option++)
      cr_assert_not_null(option->help, "%s --%s", one->name, option->name);
  }
}

Test(command, no_name_or_letter_means_two_options) {
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    const struct command *one = COMMANDS[i];
    for (const struct option *option = one->options; option->name != NULL; option++) {
      cr_assert_eq(uses_of_name(one->options, option->name), 1, "%s --%s", one->name, option->name);
      cr_assert_eq(uses_of_name(SHARED_OPTIONS, option->name), 0, "%s --%s", one->name, option->name);
      if (option->letter == '\0')
        continue;
      cr_assert_eq(with_letter(one->options, option->letter), option, "%s -%c", one->name, option->letter);
      cr_assert_null(with_letter(SHARED_OPTIONS, option->letter), "%s -%c", one->name, option->letter);
    }
  }
}

/* Parses an option as given twice, with different values. */
static bool takes_twice(const struct command *one, const struct option *option) {
  struct options given;
  char words[2][64];
  snprintf(words[0], sizeof words[0], "--%s=1", option->name);
  snprintf(words[1], sizeof words[1], "--%s=2", option->name);
  cr_assert(option_init(&given, SHARED_OPTIONS, 2, &error));
  bool taken = option_parse(&given, one->options, 2, (const char *const[]){words[0], words[1]}, &error);
  cr_expect(taken || error.kind == FAILURE_USAGE);
  cr_expect(!taken || option_count(&given, option->name) == 2, "%s --%s", one->name, option->name);
  option_release(&given);
  return taken;
}

Test(command, an_option_with_one_value_is_not_taken_with_two) {
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    for (const struct option *option = COMMANDS[i]->options; option->name != NULL; option++)
      if (option->value != NULL)
        cr_expect_eq(takes_twice(COMMANDS[i], option), option->repeatable, "%s --%s", COMMANDS[i]->name, option->name);
    for (const struct option *option = SHARED_OPTIONS; option->name != NULL; option++)
      if (option->value != NULL) /* an alias may give it, and a person another one */
        cr_expect(takes_twice(COMMANDS[i], option), "%s --%s", COMMANDS[i]->name, option->name);
  }
}

#define MOST_WORDS 32

/* Splits a command line in place, as a shell does: quotes keep words together, and a backslash joins two lines. */
static size_t split(char *line, const char **words) {
  size_t count = 0;
  for (char *from = line; *from != '\0' && *from != '\n';) {
    if (*from == ' ' || (from[0] == '\\' && from[1] == '\n')) {
      from += *from == ' ' ? 1 : 2;
      continue;
    }
    cr_assert_lt(count, (size_t)MOST_WORDS);
    char *to = from;
    words[count++] = to;
    for (char quote = '\0'; *from != '\0' && *from != '\n' && (quote != '\0' || *from != ' '); from++)
      if (*from == '\'')
        quote = quote == '\0' ? '\'' : '\0';
      else
        *to++ = *from;
    from += *from == ' ';
    *to = '\0';
  }
  return count;
}

/* Parses an example as main() would, and checks that it calls `one`. */
static void check_example(const struct command *one, const char *example) {
  char line[256];
  const char *words[MOST_WORDS];
  struct options given;
  snprintf(line, sizeof line, "%s", example);
  size_t count = split(line, words);
  cr_assert(count > 1 && strcmp(words[0], "rowrelay") == 0, "%s: %s", one->name, example);
  cr_assert(option_init(&given, SHARED_OPTIONS, count, &error));
  size_t leading;
  cr_assert(option_parse_leading(&given, count - 1, words + 1, &leading, &error), "%s: %s", one->name, error.message);
  cr_assert(command_find(count - 1 - leading, words + 1 + leading, &command, &used, &error), "%s", error.message);
  cr_assert_eq(command, one, "an example of %s calls %s", one->name, command->name);
  size_t read = 1 + leading + used;
  cr_expect(option_parse(&given, one->options, count - read, words + read, &error) &&
                command_check_arguments(one, &given, &error),
            "%s: %s", one->name, error.message);
  option_release(&given);
}

Test(command, each_has_examples_that_can_be_typed) {
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    const char *example = COMMANDS[i]->examples;
    cr_expect_not_null(example, "%s has no example", COMMANDS[i]->name);
    while (example != NULL && *example != '\0') {
      check_example(COMMANDS[i], example);
      const char *end = example;
      while ((end = strchr(end, '\n')) != NULL && end > example && end[-1] == '\\')
        end++;
      cr_assert_not_null(end, "%s: an example without an end", COMMANDS[i]->name);
      example = end + 1;
    }
  }
}
