#include <criterion/criterion.h>
#include <string.h>

#include "targets/change_json.h"

static const struct route ROUTE = {.relation = "shop.\"Odd \\ Name\""};
static struct buffer buffer;

static void begin(void) {
  buffer_init(&buffer, 10000);
}

static void end(void) {
  buffer_release(&buffer);
}

TestSuite(change_json, .init = begin, .fini = end);

static const char *json_of(const struct change *change, const char *source_id) {
  buffer_clear(&buffer);
  change_add_json(&buffer, change, source_id);
  return buffer.data;
}

static const struct change UPDATE = {.id = 9007199254740993,
                                     .operation = OPERATION_UPDATE,
                                     .key = "42",
                                     .old_row = "{\"id\":42,\"a\":null}",
                                     .new_row = "{\"id\":42,\"a\":1}",
                                     .captured_at = "2026-01-02T03:04:05.6+00:00",
                                     .txid = "777",
                                     .actor = "app",
                                     .route = &ROUTE};

Test(change_json, holds_all_there_is) {
  cr_assert_str_eq(json_of(&UPDATE, "0000-1"),
                   "{\"change_id\":9007199254740993,\"source\":\"0000-1\",\"relation\":\"shop.\\\"Odd \\\\ Name\\\"\","
                   "\"op\":\"update\",\"key\":\"42\",\"captured_at\":\"2026-01-02T03:04:05.6+00:00\",\"txid\":\"777\","
                   "\"actor\":\"app\",\"old_row\":{\"id\":42,\"a\":null},\"new_row\":{\"id\":42,\"a\":1}}");
}

Test(change_json, without_a_source_it_is_short) {
  cr_assert_str_eq(json_of(&UPDATE, NULL),
                   "{\"change_id\":9007199254740993,\"op\":\"update\",\"key\":\"42\","
                   "\"captured_at\":\"2026-01-02T03:04:05.6+00:00\",\"txid\":\"777\",\"actor\":\"app\","
                   "\"old_row\":{\"id\":42,\"a\":null},\"new_row\":{\"id\":42,\"a\":1}}");
}

Test(change_json, what_is_missing_is_null) {
  const struct change truncate = {.id = 1, .operation = OPERATION_TRUNCATE, .route = &ROUTE};
  cr_assert_str_eq(
      json_of(&truncate, NULL),
      "{\"change_id\":1,\"op\":\"truncate\",\"key\":null,\"captured_at\":null,\"txid\":null,\"actor\":null,"
      "\"old_row\":null,\"new_row\":null}");
}

Test(change_json, stays_on_one_line) {
  struct change change = UPDATE;
  change.key = "a\nb";
  change.actor = "\r\"x\"\\";
  change.old_row = "{\"j\":{\r\n  \"a\": [1,\n2]\n}}";
  change.new_row = "\n";
  const char *json = json_of(&change, NULL);
  for (const char *c = json; *c != '\0'; c++)
    cr_assert(*c != '\n' && *c != '\r', "%s", json);
  cr_assert_not_null(strstr(json, "\"old_row\":{\"j\":{    \"a\": [1, 2] }},\"new_row\": }"));
  cr_assert_not_null(strstr(json, "\"key\":\"a\\u000ab\""));
  cr_assert_not_null(strstr(json, "\"actor\":\"\\u000d\\\"x\\\"\\\\\""));
}

Test(change_json, every_operation_has_a_word) {
  cr_assert_str_eq(operation_word(OPERATION_INSERT), "insert");
  cr_assert_str_eq(operation_word(OPERATION_UPDATE), "update");
  cr_assert_str_eq(operation_word(OPERATION_DELETE), "delete");
  cr_assert_str_eq(operation_word(OPERATION_TRUNCATE), "truncate");
  cr_assert_str_eq(operation_word(OPERATION_SNAPSHOT), "snapshot");
}

Test(change_json, json_that_was_captured_as_a_string_is_json_again) {
  struct change change = UPDATE;
  change.text_columns = "[\"j\",\"odd \\\"\"]";
  change.new_row = "{\"id\":42,\"j\":\" {\\\"a\\\": \\\"\\\\u0000\\\"}\\n\",\"odd \\\"\":\"null\",\"x\":\"null\","
                   "\"k\":[1,\n2]}";
  change.old_row = NULL;
  cr_assert(strstr(json_of(&change, "1"), "\"old_row\":null,\"new_row\":{\"id\":42,\"j\": {\"a\": \"\\u0000\"} ,\"odd "
                                          "\\\"\":null,\"x\":\"null\",\"k\":[1, 2]}}") != NULL,
            "%s", json_of(&change, "1"));
}
