#include "targets/debezium_schema.h"

#include <string.h>

#include "common/json.h"
#include "common/json_tree.h"
#include "targets/change_json.h"

/* ---- types ----------------------------------------------------------------------------------------------------- */

static bool is_type(const struct json_member *type, const char *name) {
  return type->value_length == strlen(name) && memcmp(type->value, name, type->value_length) == 0;
}

/* The type of Kafka Connect for one of PostgreSQL, which is a JSON string. */
static const char *connect_type(const struct json_member *type) {
  static const char *const KNOWN[][2] = {{"\"smallint\"", "int16"}, {"\"integer\"", "int32"},
                                         {"\"bigint\"", "int64"},   {"\"boolean\"", "boolean"},
                                         {"\"real\"", "float"},     {"\"double precision\"", "double"}};
  for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++)
    if (is_type(type, KNOWN[i][0]))
      return KNOWN[i][1];
  return "string";
}

/* A column and its type, of the JSON array column_types. */
struct column {
  struct json_member name; /* its text with quotes is `value` */
  const char *type;
  bool is_json;
  bool is_array;         /* then is_json tells of its elements */
  const char *delimiter; /* of these */
};

static void set_type(struct column *column, const struct json_member *type) {
  static const char ARRAY[] = "[]\"";
  size_t end = strlen(ARRAY);
  column->type = connect_type(type);
  column->is_array = type->value_length > end && memcmp(type->value + type->value_length - end, ARRAY, end) == 0;
  column->delimiter = is_type(type, "\"box[]\"") ? ";" : ",";
  column->is_json = is_type(type, column->is_array ? "\"json[]\"" : "\"json\"") ||
                    is_type(type, column->is_array ? "\"jsonb[]\"" : "\"jsonb\"");
}

static bool next_column(const char **next, struct column *column) {
  static const struct json_member NAME = {.name = "\"name\"", .name_length = 6};
  static const struct json_member TYPE = {.name = "\"type\"", .name_length = 6};
  struct json_member object;
  struct json_member type;
  if (*next == NULL || !json_next_element(next, &object) || !json_find(object.value, &NAME, &column->name) ||
      !json_find(object.value, &TYPE, &type))
    return false;
  set_type(column, &type);
  return true;
}

/* The type of a column; a string where that is unknown. */
static const char *type_of(const struct change *change, const struct json_member *name) {
  const char *next = change->route->document ? NULL : change->route->column_types;
  struct column column;
  while (next_column(&next, &column))
    if (column.name.value_length == name->name_length && memcmp(column.name.value, name->name, name->name_length) == 0)
      return column.type;
  return "string";
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

static size_t trimmed(const struct json_member *value) {
  size_t length = value->value_length;
  while (length > 0 && strchr(" \t\r\n", value->value[length - 1]) != NULL)
    length--;
  return length;
}

/* A value as its type wants it; the member's value may be any JSON. */
static void add_value(struct buffer *buffer, const struct json_member *value, const char *type) {
  char first = value->value[0];
  size_t length = trimmed(value);
  bool fits = strcmp(type, "boolean") == 0  ? first == 't' || first == 'f'
              : strcmp(type, "string") == 0 ? first == '"'
                                            : first == '-' || (first >= '0' && first <= '9');
  if (fits) {
    buffer_add(buffer, value->value, length);
  } else if (strcmp(type, "string") != 0 || first == 'n') {
    buffer_add_string(buffer, "null");
  } else {
    struct buffer text;
    buffer_init(&text, buffer->limit);
    buffer_add(&text, value->value, length);
    buffer_add_json_string(buffer, text.data);
    buffer_inherit(buffer, &text);
    buffer_release(&text);
  }
}

/* An element of an array as PostgreSQL reads it there. */
static void add_quoted(struct buffer *buffer, const char *text, size_t length) {
  buffer_add(buffer, "\"", 1);
  for (size_t i = 0; i < length; i++) {
    buffer_add(buffer, "\\", text[i] == '"' || text[i] == '\\');
    buffer_add(buffer, text + i, 1);
  }
  buffer_add(buffer, "\"", 1);
}

static void add_string_element(struct buffer *buffer, const struct json_member *element) {
  bool no_memory = false;
  json_t *text = json_tree_parse(element->value, element->value_length, JSON_DECODE_ANY, &no_memory);
  if (text == NULL)
    buffer_lack_memory(buffer);
  else
    add_quoted(buffer, json_string_value(text), json_string_length(text));
  json_decref(text);
}

/* A JSON array as PostgreSQL writes one: {1,NULL,"x y"}. False: it has rows, whose fields' types are not known. */
static bool add_array(struct buffer *buffer, const char *array, const struct column *column) {
  struct json_member element;
  const char *between = "{";
  const char *next = array;
  while (json_next_element(&next, &element)) {
    char first = element.value[0];
    buffer_add_string(buffer, between);
    between = column->delimiter;
    if (first == 'n')
      buffer_add_string(buffer, "NULL");
    else if (column->is_json)
      add_quoted(buffer, element.value, trimmed(&element));
    else if (first == '"')
      add_string_element(buffer, &element);
    else if (first == '{' || (first == '[' && !add_array(buffer, element.value, column)))
      return false;
    else if (first != '[')
      buffer_add(buffer, element.value, trimmed(&element));
  }
  buffer_add_string(buffer, between[0] == '{' ? "{}" : "}");
  return true;
}

static void add_array_value(struct buffer *buffer, const struct json_member *value, const struct column *column) {
  struct buffer text;
  buffer_init(&text, buffer->limit);
  if (add_array(&text, value->value, column)) {
    buffer_add_json_string(buffer, text.data);
    buffer_inherit(buffer, &text);
  } else {
    add_value(buffer, value, "string");
  }
  buffer_release(&text);
}

/* A value of json or jsonb, which is logged as its text: so null is not taken for none, nor "a" for a. */
static void add_json_value(struct buffer *buffer, const struct change *change, const char *image,
                           const struct json_member *wanted, const struct json_member *plain) {
  struct json_member logged;
  struct buffer text;
  if (change_has_text(change, wanted) && json_find(image, wanted, &logged) && logged.value[0] == '"') {
    buffer_add(buffer, logged.value, trimmed(&logged));
    return;
  }
  if (plain->value[0] != '"') {
    add_value(buffer, plain, "string");
    return;
  }
  buffer_init(&text, buffer->limit);
  buffer_add(&text, plain->value, trimmed(plain));
  buffer_add_json_string(buffer, text.data);
  buffer_inherit(buffer, &text);
  buffer_release(&text);
}

/* An image with all columns of the schema, and no others. */
static void add_row(struct buffer *buffer, const struct change *change, const char *image) {
  const char *next = change->route->column_types;
  const char *between = "{";
  struct buffer plain;
  struct column column;
  if (image == NULL) {
    buffer_add_string(buffer, "null");
    return;
  }
  buffer_init(&plain, buffer->limit);
  change_add_image(&plain, change, image);
  while (plain.data != NULL && next_column(&next, &column)) {
    const struct json_member wanted = {.name = column.name.value, .name_length = column.name.value_length};
    struct json_member found;
    buffer_add_string(buffer, between);
    buffer_add(buffer, wanted.name, wanted.name_length);
    buffer_add_string(buffer, ":");
    if (!json_find(plain.data, &wanted, &found))
      buffer_add_string(buffer, "null");
    else if (column.is_array && found.value[0] == '[')
      add_array_value(buffer, &found, &column);
    else if (column.is_json && !column.is_array)
      add_json_value(buffer, change, image, &wanted, &found);
    else
      add_value(buffer, &found, column.type);
    between = ",";
  }
  buffer_add_string(buffer, between[0] == '{' ? "{}" : "}");
  buffer_inherit(buffer, &plain);
  buffer_release(&plain);
}

/* ---- schemas --------------------------------------------------------------------------------------------------- */

/* A name in a string that is open. */
static void add_name(struct buffer *buffer, const struct change *change, const struct debezium *debezium,
                     const char *part) {
  struct buffer name;
  struct buffer quoted;
  buffer_init(&name, 4096);
  buffer_init(&quoted, 16384);
  buffer_add_format(&name, "%s.%s.%s", debezium->name, change->route->relation, part);
  buffer_add_json_string(&quoted, name.data);
  buffer_add_string(buffer, ",\"name\":");
  buffer_add_string(buffer, quoted.data != NULL ? quoted.data : "null");
  buffer_inherit(buffer, &name);
  buffer_inherit(buffer, &quoted);
  buffer_release(&name);
  buffer_release(&quoted);
}

static void add_row_schema(struct buffer *buffer, const struct change *change, const struct debezium *debezium,
                           const char *field) {
  const char *next = change->route->column_types;
  const char *between = "";
  struct column column;
  buffer_add_string(buffer, "{\"type\":\"struct\",\"fields\":[");
  while (next_column(&next, &column)) {
    buffer_add_format(buffer, "%s{\"type\":\"%s\",\"optional\":true,\"field\":", between, column.type);
    buffer_add(buffer, column.name.value, column.name.value_length);
    buffer_add_string(buffer, "}");
    between = ",";
  }
  buffer_add_string(buffer, "],\"optional\":true");
  add_name(buffer, change, debezium, "Value");
  buffer_add_format(buffer, ",\"field\":\"%s\"},", field);
}

#define FIELD(TYPE, OPTIONAL, NAME) "{\"type\":\"" TYPE "\",\"optional\":" OPTIONAL ",\"field\":\"" NAME "\"}"

static void add_schema(struct buffer *buffer, const struct change *change, const struct debezium *debezium) {
  buffer_add_string(buffer, "{\"type\":\"struct\",\"fields\":[");
  add_row_schema(buffer, change, debezium, "before");
  add_row_schema(buffer, change, debezium, "after");
  buffer_add_string(
      buffer, "{\"type\":\"struct\",\"fields\":[" FIELD("string", "false", "version") "," FIELD("string", "false",
                                                                                                "connector") //
      "," FIELD("string", "false", "name") "," FIELD("int64", "false", "ts_ms") "," FIELD("string", "true",
                                                                                          "snapshot") //
      "," FIELD("string", "false", "db") "," FIELD("string", "true", "sequence") "," FIELD("string", "false",
                                                                                           "schema")             //
      "," FIELD("string", "false", "table") "," FIELD("int64", "true", "txId") "," FIELD("int64", "true", "lsn") //
      "," FIELD("int64", "true", "xmin") "],\"optional\":false,\"name\":\"io.debezium.connector.postgresql.Source\","
                                         "\"field\":\"source\"}," FIELD("string", "false", "op") "," FIELD(
                                             "int64", "true", "ts_ms") ","
                                                                       "{\"type\":\"struct\",\"fields\":[" FIELD(
                                                                           "string", "false",
                                                                           "id") "," FIELD("int64", "false",
                                                                                           "total_order") //
      "," FIELD("int64", "false",
                "data_collection_order") "],\"optional\":true,\"name\":\"event.block\","
                                         "\"version\":1,\"field\":\"transaction\"}],\"optional\":false");
  add_name(buffer, change, debezium, "Envelope");
  buffer_add_string(buffer, "}");
}

void debezium_schema_add_json(struct buffer *buffer, const struct change *change, const struct debezium *debezium,
                              int64_t now) {
  buffer_add_string(buffer, "{\"schema\":");
  add_schema(buffer, change, debezium);
  buffer_add_string(buffer, ",\"payload\":");
  debezium_add_envelope(buffer, change, debezium, &(struct debezium_writing){.now = now, .add_row = add_row});
  buffer_add_string(buffer, "}");
}

void debezium_schema_add_key(struct buffer *buffer, const struct change *change, const struct debezium *debezium,
                             const char *key) {
  struct json_member member;
  const char *between = "";
  buffer_add_string(buffer, "{\"schema\":{\"type\":\"struct\",\"fields\":[");
  for (const char *next = key; json_next(&next, &member); between = ",") {
    buffer_add_format(buffer, "%s{\"type\":\"%s\",\"optional\":false,\"field\":", between, type_of(change, &member));
    buffer_add(buffer, member.name, member.name_length);
    buffer_add_string(buffer, "}");
  }
  buffer_add_string(buffer, "],\"optional\":false");
  add_name(buffer, change, debezium, "Key");
  buffer_add_string(buffer, "},\"payload\":");
  between = "{";
  for (const char *next = key; json_next(&next, &member); between = ",") {
    buffer_add_string(buffer, between);
    buffer_add(buffer, member.name, member.name_length);
    buffer_add_string(buffer, ":");
    add_value(buffer, &member, type_of(change, &member));
  }
  buffer_add_string(buffer, "}}");
}
