/* Words of commands that people paste: a real shell reads back what was meant. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "common/shell.h"

Test(shell, a_plain_word_stays_as_it_is) {
  struct shell_word word;
  cr_assert_str_eq(shell_quote(&word, "public.orders"), "public.orders");
}

Test(shell, a_shell_reads_back_what_was_quoted) {
  static const char *const TEXTS[] = {"",
                                      "a b",
                                      "it's",
                                      "\"Or der\"",
                                      "$HOME",
                                      "`id`",
                                      "a;b",
                                      "*",
                                      "-x",
                                      "back\\slash",
                                      "'",
                                      "''",
                                      "two\nlines",
                                      "~",
                                      "#no",
                                      "a&b",
                                      "stra\xc3\x9f"
                                      "e"};
  for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
    struct shell_word word;
    char command[2 * SHELL_WORD_SIZE];
    char back[SHELL_WORD_SIZE];
    snprintf(command, sizeof command, "printf '%%s' %s", shell_quote(&word, TEXTS[i]));
    FILE *output = popen(command, "r");
    cr_assert_not_null(output);
    size_t length = fread(back, 1, sizeof back - 1, output);
    back[length] = '\0';
    cr_expect_eq(pclose(output), 0, "%s", command);
    cr_expect_str_eq(back, TEXTS[i], "%s", command);
  }
}

Test(shell, what_is_too_long_is_cut_off) {
  char text[3 * SHELL_WORD_SIZE];
  memset(text, '\'', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  struct shell_word word;
  cr_assert_lt(strlen(shell_quote(&word, text)), (size_t)SHELL_WORD_SIZE);
}
