/* letters: what others say, made into what a database can hold. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

static void check(const char *text, const char *in_utf8, const char *in_ascii) {
  char sanitized[64];
  snprintf(sanitized, sizeof sanitized, "%s", text);
  text_sanitize(sanitized, false);
  cr_expect_str_eq(sanitized, in_utf8);
  snprintf(sanitized, sizeof sanitized, "%s", text);
  text_sanitize(sanitized, true);
  cr_expect_str_eq(sanitized, in_ascii);
}

Test(letters, what_is_no_letter_is_a_question_mark) {
  check("", "", "");
  check("plain\n", "plain\n", "plain\n");
  check("can\xe2\x80\x99t", "can\xe2\x80\x99t", "can?t");
  check("caf\xe9", "caf?", "caf?");
  check("caf\xc3", "caf?", "caf?");
  check("\xff\xfe-\xe6\x97\xa5\xf0\x9f\x98\x80!", "\?\?-\xe6\x97\xa5\xf0\x9f\x98\x80!", "\?\?-\?\?!");
  /* written longer than need be, half of a pair, beyond the last */
  check("\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80", "\?\? \?\?\? \?\?\?\?", "\?\? \?\?\? \?\?\?\?");
}

Test(letters, what_is_cut_ends_with_a_whole_letter) {
  char text[8];
  text_print(text, sizeof text, "%s", "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc");
  cr_expect_str_eq(text, "\xc3\xbc\xc3\xbc\xc3\xbc");
  text_print(text, sizeof text, "a%s", "\xc3\xbc\xc3\xbc\xc3\xbc");
  cr_expect_str_eq(text, "a\xc3\xbc\xc3\xbc\xc3\xbc");
  text_print(text, sizeof text, "abcdef%s", "\xf0\x9f\x98\x80");
  cr_expect_str_eq(text, "abcdef");
}
