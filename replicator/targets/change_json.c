#include "targets/change_json.h"

#include <string.h>

#include "common/json.h"
#include "common/json_tree.h"

const char *operation_word(enum operation operation) {
  switch (operation) {
  case OPERATION_INSERT:
    return "insert";
  case OPERATION_UPDATE:
    return "update";
  case OPERATION_DELETE:
    return "delete";
  case OPERATION_TRUNCATE:
    return "truncate";
  case OPERATION_SNAPSHOT:
    return "snapshot";
  case OPERATION_REFRESH:
    return "refresh";
  case OPERATION_BARRIER:
    return "barrier";
  }
  return "";
}

/* A member's value on one line. */
static void add_value(struct buffer *buffer, const struct json_member *member) {
  for (size_t i = 0; i < member->value_length;) {
    size_t length = i;
    while (length < member->value_length && member->value[length] != '\n' && member->value[length] != '\r')
      length++;
    buffer_add(buffer, member->value + i, length - i);
    buffer_add(buffer, " ", length < member->value_length);
    i = length + 1;
  }
}

/* The name of a member, as it is written, in an array of names. */
static bool is_among(const char *names, const struct json_member *member) {
  const char *found = names;
  while ((found = strstr(found, "\"")) != NULL) {
    const char *end = found + 1;
    while (*end != '"' && *end != '\0')
      end += *end == '\\' && end[1] != '\0' ? 2 : 1;
    if (*end == '\0')
      return false;
    if ((size_t)(end + 1 - found) == member->name_length && memcmp(found, member->name, member->name_length) == 0)
      return true;
    found = end + 1;
  }
  return false;
}

bool change_has_text(const struct change *change, const struct json_member *member) {
  return change->text_columns != NULL && is_among(change->text_columns, member);
}

void change_add_image(struct buffer *buffer, const struct change *change, const char *image) {
  if (image == NULL || change->text_columns == NULL) {
    json_add_line(buffer, image != NULL ? image : "null");
    return;
  }
  struct json_member member;
  const char *next = image;
  size_t count = 0;
  buffer_add(buffer, "{", 1);
  while (json_next(&next, &member)) {
    json_t *text = NULL;
    if (member.value[0] == '"' && is_among(change->text_columns, &member)) {
      bool no_memory;
      text = json_tree_parse(member.value, member.value_length, JSON_DECODE_ANY, &no_memory);
      if (no_memory)
        buffer_lack_memory(buffer);
    }
    buffer_add(buffer, ",", count++ > 0);
    buffer_add(buffer, member.name, member.name_length);
    buffer_add(buffer, ":", 1);
    if (text != NULL)
      json_add_line(buffer, json_string_value(text));
    else
      add_value(buffer, &member);
    json_decref(text);
  }
  buffer_add(buffer, "}", 1);
}

static void add_text(struct buffer *buffer, const char *name, const char *text) {
  buffer_add_format(buffer, ",\"%s\":", name);
  buffer_add_json_string(buffer, text);
}

void change_add_json(struct buffer *buffer, const struct change *change, const char *source_id) {
  struct change plain = *change;
  if (source_id == NULL) /* an append table has them as they were captured */
    plain.text_columns = NULL;
  buffer_add_format(buffer, CHANGE_JSON_BEGIN "%lld", (long long)change->id);
  if (source_id != NULL) {
    add_text(buffer, "source", source_id);
    add_text(buffer, "relation", change->route->relation);
  }
  add_text(buffer, "op", operation_word(change->operation));
  add_text(buffer, "key", change->key);
  add_text(buffer, "captured_at", change->captured_at);
  add_text(buffer, "txid", change->txid);
  add_text(buffer, "actor", change->actor);
  buffer_add_string(buffer, ",\"old_row\":");
  change_add_image(buffer, &plain, change->old_row);
  buffer_add_string(buffer, ",\"new_row\":");
  change_add_image(buffer, &plain, change->new_row);
  buffer_add_string(buffer, "}");
}
