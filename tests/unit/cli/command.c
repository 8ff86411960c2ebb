#include <criterion/criterion.h>
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
