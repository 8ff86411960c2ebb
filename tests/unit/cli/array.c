#include <criterion/criterion.h>

#include "cli/array.h"

static struct buffer list;
static struct error error;

static void begin(void) {
  buffer_init(&list, LIST_LIMIT);
}

static void end(void) {
  buffer_release(&list);
}

TestSuite(list, .init = begin, .fini = end);

Test(list, texts_become_an_array_as_they_are) {
  const char *const texts[] = {"a", "B,\"c\"", "d\\e", "{}", ""};
  array_add_texts(&list, 5, texts);
  cr_assert_str_eq(list.data, "{\"a\",\"B,\\\"c\\\"\",\"d\\\\e\",\"{}\",\"\"}");
}

Test(list, names_are_folded_unless_quoted) {
  cr_assert(array_add_names(&list, "Id , \"Line No\",\"a\"\"b\" , ÄÖ", &error));
  cr_assert_str_eq(list.data, "{\"id\",\"Line No\",\"a\\\"b\",\"ÄÖ\"}");
}

Test(list, a_quoted_name_may_hold_a_comma) {
  cr_assert(array_add_names(&list, "\"a,b\",c", &error));
  cr_assert_str_eq(list.data, "{\"a,b\",\"c\"}");
}

Test(list, no_names_are_an_empty_array) {
  cr_assert(array_add_names(&list, " ", &error));
  cr_assert_str_eq(list.data, "{}");
}

static const char *const BAD_NAMES[] = {",", "a,", "a,,b", "\"a", "\"a\"b", "\"\""};

Test(list, what_is_no_list_of_names_is_wrong_use) {
  for (size_t i = 0; i < sizeof BAD_NAMES / sizeof BAD_NAMES[0]; i++) {
    cr_assert_not(array_add_names(&list, BAD_NAMES[i], &error), "%s", BAD_NAMES[i]);
    cr_assert_eq(error.kind, FAILURE_USAGE);
  }
}

Test(list, masks_become_members_of_an_object) {
  cr_assert(array_add_masks(&list, "Iban=Secret, note, \"E-Mail\" = \"a, \"\"b\"\"\",x=", &error));
  cr_assert_str_eq(list.data, "\"iban\":\"Secret\",\"note\":null,\"E-Mail\":\"a, \\\"b\\\"\",\"x\":\"\"");
}

Test(list, masks_can_be_added_to_others) {
  buffer_add_string(&list, "{");
  cr_assert(array_add_masks(&list, "a=1", &error));
  cr_assert(array_add_masks(&list, "b=2", &error));
  cr_assert_str_eq(list.data, "{\"a\":\"1\",\"b\":\"2\"");
}

Test(list, a_mask_without_a_column_is_wrong_use) {
  cr_assert_not(array_add_masks(&list, "=x", &error));
  cr_assert_eq(error.kind, FAILURE_USAGE);
}

Test(list, a_setting_is_split_at_the_first_equals_sign) {
  cr_assert(array_add_setting(&list, "mode=a=b", &error));
  cr_assert_str_eq(list.data, "\"mode\":\"a=b\"");
}

Test(list, an_empty_setting_is_null) {
  cr_assert(array_add_setting(&list, "mode=", &error));
  cr_assert_str_eq(list.data, "\"mode\":null");
}

Test(list, a_setting_without_name_or_value_is_wrong_use) {
  cr_assert_not(array_add_setting(&list, "mode", &error));
  cr_assert_not(array_add_setting(&list, "=append", &error));
  cr_assert_eq(error.kind, FAILURE_USAGE);
}
