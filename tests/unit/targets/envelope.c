/* What a change looks like as a message: keys, envelopes, and the names of topics. */
#include "targets/envelope.h"

#include <criterion/criterion.h>
#include <string.h>

#include "targets/channel_name.h"
#include "targets/debezium_schema.h"
#include "targets/message_key.h"

static struct buffer buffer;

static void begin(void) {
  buffer_init(&buffer, 10000);
}

static void end(void) {
  buffer_release(&buffer);
}

TestSuite(envelope, .init = begin, .fini = end);

/* ---- keys ------------------------------------------------------------------------------------------------------ */

static const char *key_of(const char *names, const char *key, const char *image) {
  const struct route route = {.relation = "shop.item", .key_columns = names};
  const struct change change = {.operation = OPERATION_UPDATE, .key = key, .new_row = image, .route = &route};
  buffer_clear(&buffer);
  return message_key_add(&buffer, &change) ? buffer.data : "none";
}

Test(envelope, a_key_is_an_object_of_its_columns_with_their_types) {
  cr_expect_str_eq(key_of("[\"id\"]", "42", "{\"n\":1,\"id\":42}"), "{\"id\":42}");
  cr_expect_str_eq(key_of("[\"id\"]", "-1.5", "{\"id\":-1.500}"), "{\"id\":-1.5}");
  cr_expect_str_eq(key_of("[\"id\"]", "true", "{\"id\":true}"), "{\"id\":true}");
  cr_expect_str_eq(key_of("[\"id\"]", "42", "{\"id\":\"42\"}"), "{\"id\":\"42\"}");
  cr_expect_str_eq(key_of("[\"id\"]", "NaN", "{\"id\":\"NaN\"}"), "{\"id\":\"NaN\"}");
  cr_expect_str_eq(key_of("[\"id\"]", "", "{\"id\":\"\"}"), "{\"id\":\"\"}");
  cr_expect_str_eq(key_of("[\"o \\\"d\"]", "a\"\n", "{\"o \\\"d\":\"a\\\"\\n\"}"), "{\"o \\\"d\":\"a\\\"\\u000a\"}");
}

Test(envelope, what_the_image_does_not_show_or_masks_is_text) {
  cr_expect_str_eq(key_of("[\"id\"]", "42", "{\"n\":1}"), "{\"id\":\"42\"}");
  cr_expect_str_eq(key_of("[\"id\"]", "42", "{\"id\":null}"), "{\"id\":\"42\"}");
  cr_expect_str_eq(key_of("[\"id\"]", "42", "{\"id\":\"***\"}"), "{\"id\":\"42\"}");
  cr_expect_str_eq(key_of("[\"id\"]", "{1,2}", "{\"id\":[1,2]}"), "{\"id\":\"{1,2}\"}");
  cr_expect_str_eq(key_of("[\"id\"]", "42", NULL), "{\"id\":\"42\"}");
}

Test(envelope, keys_of_several_columns_have_all_of_them) {
  cr_expect_str_eq(key_of("[\"a\", \"b\"]", "[1, \"x,]\"]", "{}"), "{\"a\":1,\"b\":\"x,]\"}");
  cr_expect_str_eq(key_of("[\"a\",\"b\",\"c\"]", "[1.5,{\"x\":[2,3]},\"\\\"\"]", "{}"),
                   "{\"a\":1.5,\"b\":{\"x\":[2,3]},\"c\":\"\\\"\"}");
}

Test(envelope, a_key_that_was_captured_by_other_columns_is_kept_whole) {
  cr_expect_str_eq(key_of("[\"a\", \"b\"]", "42", "{\"a\":42}"), "{\"key\":\"42\"}");
  cr_expect_str_eq(key_of("[\"a\", \"b\"]", "[1,2,3]", "{}"), "{\"key\":\"[1,2,3]\"}");
  cr_expect_str_eq(key_of("[null]", "42", "{}"), "{\"key\":\"42\"}");
  cr_expect_str_eq(key_of(NULL, "42", "{}"), "{\"key\":\"42\"}");
}

Test(envelope, a_document_that_is_deleted_has_the_key_that_it_had) {
  const struct route route = {.relation = "orders", .key_columns = "[\"id\"]", .document = true};
  struct change change = {.operation = OPERATION_UPDATE, .key = "42", .new_row = "{\"id\":42}", .route = &route};
  cr_expect(message_key_add(&buffer, &change));
  cr_expect_str_eq(buffer.data, "{\"id\":\"42\"}");
  change.operation = OPERATION_DELETE;
  change.new_row = NULL;
  change.old_row = "{\"id\":\"42\"}";
  buffer_clear(&buffer);
  cr_expect(message_key_add(&buffer, &change));
  cr_expect_str_eq(buffer.data, "{\"id\":\"42\"}");
}

Test(envelope, what_has_no_key_has_none_here) {
  const struct route keyless = {.relation = "shop.plain", .key_columns = "[]", .keyless = true};
  const struct change insert = {.operation = OPERATION_INSERT, .new_row = "{}", .route = &keyless};
  cr_expect_not(message_key_add(&buffer, &insert));
  const struct route route = {.relation = "shop.item", .key_columns = "[\"id\"]"};
  const struct change truncate = {.operation = OPERATION_TRUNCATE, .route = &route};
  cr_expect_not(message_key_add(&buffer, &truncate));
}

/* ---- Debezium -------------------------------------------------------------------------------------------------- */

static const struct debezium DEBEZIUM = {.name = "shop1", .database = "shop"};

static const char *debezium_of(const struct change *change) {
  buffer_clear(&buffer);
  debezium_add_json(&buffer, change, &DEBEZIUM, 1700000000123);
  return buffer.data;
}

static void assert_has(const char *json, const char *part) {
  cr_expect_not_null(strstr(json, part), "%s is not in %s", part, json);
}

static const struct route ODD = {.relation = "\"My.shop\".\"It\"\"em\"", .key_columns = "[\"id\"]"};

Test(envelope, debeziums_has_the_members_of_its_postgresql_connector) {
  struct change change = {.id = 77,
                          .operation = OPERATION_UPDATE,
                          .key = "1",
                          .old_row = "{\"id\":1,\"a\":1.50}",
                          .new_row = "{\"id\":1,\"a\":2}",
                          .captured_at = "2026-01-02T03:04:05.678901+05:30",
                          .txid = "555",
                          .route = &ODD};
  const char *json = debezium_of(&change);
  assert_has(json,
             "{\"before\":{\"id\":1,\"a\":1.50},\"after\":{\"id\":1,\"a\":2},\"source\":{\"version\":\"rowrelay ");
  assert_has(json,
             "\"connector\":\"postgresql\",\"name\":\"shop1\",\"ts_ms\":1767303245678,\"snapshot\":\"false\",\"db\":"
             "\"shop\",\"sequence\":\"[null,\\\"77\\\"]\",\"schema\":\"My.shop\",\"table\":\"It\\\"em\",\"txId\":555,"
             "\"lsn\":77,\"xmin\":null},\"op\":\"u\",\"ts_ms\":1700000000123,\"transaction\":null}");
  change.operation = OPERATION_SNAPSHOT;
  change.old_row = NULL;
  json = debezium_of(&change);
  assert_has(json, "{\"before\":null,\"after\":{");
  assert_has(json, "\"snapshot\":\"incremental\"");
  assert_has(json, "\"op\":\"r\"");
  change.operation = OPERATION_INSERT;
  assert_has(debezium_of(&change), "\"op\":\"c\"");
  change.operation = OPERATION_DELETE;
  change.old_row = "{\"id\":1}";
  change.new_row = NULL;
  json = debezium_of(&change);
  assert_has(json, "{\"before\":{\"id\":1},\"after\":null,");
  assert_has(json, "\"op\":\"d\"");
  change = (struct change){.id = 78, .operation = OPERATION_TRUNCATE, .new_row = "{\"part\":1}", .route = &ODD};
  json = debezium_of(&change);
  assert_has(json, "{\"before\":null,\"after\":null,");
  assert_has(json, "\"ts_ms\":1700000000123,\"snapshot\"");
  assert_has(json, "\"txId\":null");
  assert_has(json, "\"op\":\"t\"");
}

Test(envelope, times_are_those_of_their_zone) {
  struct change change = {.operation = OPERATION_INSERT, .captured_at = "2026-01-02T03:04:05+00:00", .route = &ODD};
  assert_has(debezium_of(&change), "\"ts_ms\":1767323045000,");
  change.captured_at = "2026-01-01T22:04:05.5-05";
  assert_has(debezium_of(&change), "\"ts_ms\":1767323045500,");
}

Test(envelope, with_a_schema_values_fit_it_or_are_null) {
  const struct route route = {
      .relation = "shop.item",
      .key_columns = "[\"id\"]",
      .column_types = "[{\"name\" : \"id\", \"type\" : \"integer\"}, {\"name\" : \"n\", \"type\" : \"numeric\"}, "
                      "{\"name\" : \"d\", \"type\" : \"double precision\"}, {\"name\" : \"j\", \"type\" : \"jsonb\"}, "
                      "{\"name\" : \"b\", \"type\" : \"boolean\"}, {\"name\" : \"gone\", \"type\" : \"text\"}]"};
  const struct change change = {.id = 1,
                                .operation = OPERATION_INSERT,
                                .key = "7",
                                .new_row = "{\"id\":7,\"n\":1.50,\"d\":\"NaN\",\"j\":{\"a\": [1, \"x\"]},\"b\":true,"
                                           "\"new\":1}",
                                .route = &route};
  debezium_schema_add_json(&buffer, &change, &DEBEZIUM, 1);
  assert_has(buffer.data,
             "\"payload\":{\"before\":null,\"after\":{\"id\":7,\"n\":\"1.50\",\"d\":null,\"j\":\"{\\\"a\\\": "
             "[1, \\\"x\\\"]}\",\"b\":true,\"gone\":null},\"source\":{");
  assert_has(buffer.data,
             "{\"type\":\"int32\",\"optional\":true,\"field\":\"id\"},{\"type\":\"string\",\"optional\":true,"
             "\"field\":\"n\"},{\"type\":\"double\",");
  assert_has(buffer.data, "\"optional\":true,\"name\":\"shop1.shop.item.Value\",\"field\":\"after\"}");
  buffer_clear(&buffer);
  debezium_schema_add_key(&buffer, &change, &DEBEZIUM, "{\"id\":7}");
  cr_expect_str_eq(buffer.data, "{\"schema\":{\"type\":\"struct\",\"fields\":[{\"type\":\"int32\",\"optional\":false,"
                                "\"field\":\"id\"}],\"optional\":false,\"name\":\"shop1.shop.item.Key\"},\"payload\":"
                                "{\"id\":7}}");
}

Test(envelope, a_table_that_is_gone_has_strings_in_its_schema) {
  const struct route route = {.relation = "shop.item", .key_columns = "[\"id\"]"};
  const struct change change = {
      .id = 1, .operation = OPERATION_INSERT, .key = "7", .new_row = "{\"id\":7}", .route = &route};
  debezium_schema_add_key(&buffer, &change, &DEBEZIUM, "{\"id\":7}");
  assert_has(buffer.data, "{\"type\":\"string\",\"optional\":false,\"field\":\"id\"}");
  assert_has(buffer.data, "\"payload\":{\"id\":\"7\"}}");
  buffer_clear(&buffer);
  debezium_schema_add_json(&buffer, &change, &DEBEZIUM, 1);
  assert_has(buffer.data, "\"fields\":[],\"optional\":true");
  assert_has(buffer.data, "\"after\":{},");
}

/* ---- topics ---------------------------------------------------------------------------------------------------- */

static const char *topic_of(const char *pattern, const char *into) {
  const struct route route = {.into_table = into};
  buffer_clear(&buffer);
  channel_name_add(&buffer, pattern, &route);
  return buffer.data;
}

Test(envelope, a_topic_has_the_tables_name_without_what_is_not_legal_there) {
  cr_expect_str_eq(topic_of("all", "shop.item"), "all");
  cr_expect_str_eq(topic_of("{table}", "shop.item"), "shop.item");
  cr_expect_str_eq(topic_of("a.{table}.b", "shop.\"My Itäm-2\""), "a.shop.My_It_m-2.b");
  cr_expect_str_eq(topic_of("{table}", "\xff"), "_");
}

/* ---- headers --------------------------------------------------------------------------------------------------- */

static void add_header(void *context, const char *name, const char *value) {
  buffer_add_format(context, "%s=%s;", name, value);
}

Test(envelope, attributes_of_a_cloudevent_are_headers_in_binary_mode_alone) {
  struct envelope envelope = {.format = ENVELOPE_CLOUDEVENTS_BINARY, .source_id = "u"};
  const struct route route = {.relation = "shop.item"};
  const struct change change = {
      .id = 7, .operation = OPERATION_INSERT, .key = "1", .new_row = "{}", .captured_at = "now", .route = &route};
  envelope_each_header(&envelope, &change, add_header, &buffer);
  cr_expect_str_eq(buffer.data, "content-type=application/json;ce_specversion=1.0;ce_id=7;ce_source=urn:uuid:u;"
                                "ce_type=rowrelay.shop.item.insert;ce_subject=1;ce_time=now;");
  buffer_clear(&buffer);
  envelope.format = ENVELOPE_ROWRELAY;
  envelope_each_header(&envelope, &change, add_header, &buffer);
  cr_expect_str_eq(buffer.data, "content-type=application/cloudevents+json; charset=UTF-8;");
}

Test(envelope, the_applications_trace_is_a_header_in_every_format) {
  struct envelope envelope = {.format = ENVELOPE_DEBEZIUM, .source_id = "u"};
  const struct route route = {.relation = "shop.item"};
  const struct change change = {
      .id = 7, .operation = OPERATION_INSERT, .new_row = "{}", .traceparent = "00-a-b-01", .route = &route};
  envelope_each_header(&envelope, &change, add_header, &buffer);
  cr_expect_str_eq(buffer.data, "traceparent=00-a-b-01;");
  buffer_clear(&buffer);
  envelope.format = ENVELOPE_CLOUDEVENTS_BINARY;
  envelope_each_header(&envelope, &change, add_header, &buffer);
  cr_expect_str_eq(buffer.data, "content-type=application/json;ce_specversion=1.0;ce_id=7;ce_source=urn:uuid:u;"
                                "ce_type=rowrelay.shop.item.insert;ce_traceparent=00-a-b-01;traceparent=00-a-b-01;");
  buffer_clear(&buffer);
  envelope.format = ENVELOPE_ROWRELAY;
  envelope_add_value(&buffer, &envelope, &change);
  cr_expect_not_null(strstr(buffer.data, ",\"traceparent\":\"00-a-b-01\",\"datacontenttype\""), "%s", buffer.data);
}
