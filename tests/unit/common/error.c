#include <criterion/criterion.h>
#include <string.h>

#include "common/error.h"

static struct error error;

Test(error, setting_one_returns_false_and_forgets_the_last) {
  error_set(&error, FAILURE_FATAL, "first");
  error_detail(&error, "detail");
  error_hint(&error, "hint");
  strcpy(error.sqlstate, "42P01");
  cr_assert_not(error_set(&error, FAILURE_USAGE, "second %d", 2));
  cr_assert_eq(error.kind, FAILURE_USAGE);
  cr_assert_str_eq(error.message, "second 2");
  cr_assert_str_empty(error.detail);
  cr_assert_str_empty(error.hint);
  cr_assert_str_empty(error.sqlstate);
}

Test(error, its_own_text_may_be_part_of_its_new_text) {
  error_set(&error, FAILURE_FATAL, "cause");
  error_set(&error, FAILURE_FATAL, "context: %s", error.message);
  cr_assert_str_eq(error.message, "context: cause");
}

Test(error, a_text_that_is_too_long_is_cut) {
  error_set(&error, FAILURE_FATAL, "%5000d", 1);
  cr_assert_eq(strlen(error.message), sizeof error.message - 1);
}

Test(error, a_text_is_cut_between_letters) {
  static const char *const letters[] = {"\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  char text[4096];
  for (size_t kind = 0; kind < 3; kind++) {
    size_t size = strlen(letters[kind]);
    for (size_t shift = 0; shift < size; shift++) {
      memset(text, 'x', shift);
      size_t length = shift;
      for (; length < 2000; length += size)
        memcpy(text + length, letters[kind], size);
      text[length] = '\0';
      error_set(&error, FAILURE_FATAL, "%s", text);
      error_detail(&error, "%s", text);
      error_hint(&error, "%s", text);
      length = strlen(error.message);
      cr_assert(length > sizeof error.message - 1 - size && (length - shift) % size == 0, "%zu", length);
      cr_assert_str_eq(error.detail, error.message);
      cr_assert_str_eq(error.hint, error.message);
    }
  }
}

Test(error, nobody_needs_to_listen) {
  cr_assert_not(error_set(NULL, FAILURE_FATAL, "x"));
  cr_assert_not(error_detail(NULL, "x"));
  cr_assert_not(error_hint(NULL, "x"));
  error_clear(NULL);
}
