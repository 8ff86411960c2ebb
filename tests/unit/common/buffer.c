#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"

static struct buffer buffer;
static struct error error;

static void begin(void) {
  buffer_init(&buffer, 1000);
}

static void end(void) {
  buffer_release(&buffer);
}

TestSuite(buffer, .init = begin, .fini = end);

Test(buffer, grows_and_stays_a_string) {
  for (int i = 0; i < 100; i++)
    buffer_add_format(&buffer, "%d,", i % 10);
  cr_assert(buffer_ok(&buffer, "test", &error));
  cr_assert_eq(buffer.length, 200);
  cr_assert_eq(strlen(buffer.data), 200);
}

Test(buffer, holds_what_its_limit_says) {
  char bytes[1000];
  memset(bytes, 'x', sizeof bytes);
  buffer_add(&buffer, bytes, sizeof bytes);
  cr_assert(buffer_ok(&buffer, "test", &error));
}

Test(buffer, refuses_one_byte_more_and_says_so) {
  char bytes[1001];
  memset(bytes, 'x', sizeof bytes);
  buffer_add(&buffer, bytes, sizeof bytes);
  cr_assert_not(buffer_ok(&buffer, "the batch", &error));
  cr_assert_str_eq(error.message, "the batch is longer than 1000 bytes");
}

Test(buffer, does_not_forget_an_overflow_when_something_small_follows) {
  char bytes[1001];
  memset(bytes, 'x', sizeof bytes);
  buffer_add(&buffer, bytes, sizeof bytes);
  buffer_add_string(&buffer, "y");
  cr_assert_not(buffer_ok(&buffer, "test", &error));
}

Test(buffer, a_format_that_does_not_fit_is_an_overflow) {
  buffer_add_format(&buffer, "%1001s", "");
  cr_assert_not(buffer_ok(&buffer, "test", &error));
}

Test(buffer, can_be_used_again_after_an_overflow) {
  buffer_add_format(&buffer, "%1001s", "");
  buffer_clear(&buffer);
  buffer_add_string(&buffer, "again");
  cr_assert(buffer_ok(&buffer, "test", &error));
  cr_assert_str_eq(buffer.data, "again");
}

Test(buffer, keeps_bytes_that_are_no_text) {
  buffer_add(&buffer, "a\0b", 3);
  cr_assert_eq(buffer.length, 3);
  cr_assert_eq(memcmp(buffer.data, "a\0b", 4), 0);
}

Test(buffer, a_json_string_is_escaped) {
  buffer_add_json_string(&buffer, "a\"b\\c\n\t\001\x1f\x7fü€😀/");
  cr_assert_str_eq(buffer.data, "\"a\\\"b\\\\c\\u000a\\u0009\\u0001\\u001f\x7fü€😀/\"");
}

Test(buffer, an_empty_json_string_has_its_quotes) {
  buffer_add_json_string(&buffer, "");
  cr_assert_str_eq(buffer.data, "\"\"");
}

Test(buffer, no_json_string_is_null) {
  buffer_add_json_string(&buffer, NULL);
  cr_assert_str_eq(buffer.data, "null");
}

Test(buffer, an_array_s_element_is_quoted_and_nothing_else_of_it_is_changed) {
  buffer_add_array_string(&buffer, "a\"b\\{c,\n");
  buffer_add_array_string(&buffer, "");
  cr_assert_str_eq(buffer.data, "\"a\\\"b\\\\{c,\n\"\"\"");
}

Test(buffer, drops_what_it_begins_with) {
  buffer_add_string(&buffer, "one two");
  buffer_drop(&buffer, 4);
  cr_assert_str_eq(buffer.data, "two");
  buffer_drop(&buffer, 3);
  buffer_add_string(&buffer, "three");
  cr_assert_str_eq(buffer.data, "three");
  cr_assert_eq(buffer.length, 5);
}
