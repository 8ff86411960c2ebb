#include <criterion/criterion.h>
#include <string.h>

#include "common/json.h"

static struct buffer names;

static void begin(void) {
  buffer_init(&names, 100000);
}

static void end(void) {
  buffer_release(&names);
}

TestSuite(json, .init = begin, .fini = end);

static const char *names_of(const char *object) {
  buffer_clear(&names);
  cr_assert(json_names(object, &names), "%s", object);
  return names.data;
}

static bool is_refused(const char *text) {
  buffer_clear(&names);
  return !json_names(text, &names);
}

Test(json, names_of_an_object_are_a_list) {
  cr_assert_str_eq(names_of("{\"id\":1,\"name\":\"x\",\"gone\":null,\"ok\":true,\"price\":-1.5e10}"),
                   "[\"id\",\"name\",\"gone\",\"ok\",\"price\"]");
}

Test(json, an_empty_object_has_no_names) {
  cr_assert_str_eq(names_of("{}"), "[]");
  cr_assert_str_eq(names_of(" { } "), "[]");
}

Test(json, white_space_between_tokens_is_nothing) {
  cr_assert_str_eq(names_of(" \t\r\n{ \"a\" : 1 ,\n\t\"b\"\r:\n[ 1 , 2 ] }"), "[\"a\",\"b\"]");
}

Test(json, names_stay_escaped_as_they_are) {
  cr_assert_str_eq(names_of("{\"a\\\"b\":1,\"c\\\\\":2,\"\\u00e9\":3,\"ü\":4,\"\":5,\"x,y:{}\":6}"),
                   "[\"a\\\"b\",\"c\\\\\",\"\\u00e9\",\"ü\",\"\",\"x,y:{}\"]");
}

Test(json, what_stands_in_values_is_not_a_name) {
  cr_assert_str_eq(names_of("{\"a\":{\"b\":{\"c\":1},\"d\":[{\"e\":2}]},\"f\":[[],[{}],\"g\"],\"h\":{}}"),
                   "[\"a\",\"f\",\"h\"]");
}

Test(json, brackets_and_quotes_inside_strings_mean_nothing) {
  cr_assert_str_eq(names_of("{\"a\":\"}]{[,\\\"\",\"b\":\"\\\\\",\"c\":[\"]\",\"}\"],\"d\":\"\\u0022,\"}"),
                   "[\"a\",\"b\",\"c\",\"d\"]");
}

Test(json, a_name_that_ends_like_a_list_begins_is_separated_all_the_same) {
  cr_assert_str_eq(names_of("{\"[\":1,\"b[\":2,\"c\":3}"), "[\"[\",\"b[\",\"c\"]");
}

Test(json, deep_nesting_is_no_problem) {
  struct buffer text;
  buffer_init(&text, 100000);
  buffer_add_string(&text, "{\"a\":");
  for (int i = 0; i < 30000; i++)
    buffer_add_string(&text, "[");
  for (int i = 0; i < 30000; i++)
    buffer_add_string(&text, "]");
  buffer_add_string(&text, ",\"b\":0}");
  cr_assert_str_eq(names_of(text.data), "[\"a\",\"b\"]");
  buffer_release(&text);
}

Test(json, what_is_no_object_is_refused) {
  static const char *const texts[] = {"", " ", "null", "1", "\"a\"", "[]", "[{\"a\":1}]"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    cr_assert(is_refused(texts[i]), "%s", texts[i]);
}

Test(json, what_is_cut_off_is_refused) {
  static const char whole[] = "{\"a\": {\"b\": [1, \"x\\\"\"]}, \"c\\\\\": \"\\u0000\", \"d\": null}";
  cr_assert_not(is_refused(whole));
  for (size_t length = 0; length < sizeof whole - 1; length++) {
    char text[sizeof whole];
    memcpy(text, whole, length);
    text[length] = '\0';
    cr_assert(is_refused(text), "%s", text);
  }
}

Test(json, what_is_no_member_is_refused) {
  cr_assert(is_refused("{1:2}"));
  cr_assert(is_refused("{\"a\"}"));
  cr_assert(is_refused("{\"a\" 1}"));
}
