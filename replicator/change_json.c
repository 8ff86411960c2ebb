#include "change_json.h"

#include "json.h"

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

static void add_image(struct buffer *buffer, const char *image) {
  json_add_line(buffer, image != NULL ? image : "null");
}

static void add_text(struct buffer *buffer, const char *name, const char *text) {
  buffer_add_format(buffer, ",\"%s\":", name);
  buffer_add_json_string(buffer, text);
}

void change_add_json(struct buffer *buffer, const struct change *change, const char *source_id) {
  buffer_add_format(buffer, "{\"change_id\":%lld", (long long)change->id);
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
  add_image(buffer, change->old_row);
  buffer_add_string(buffer, ",\"new_row\":");
  add_image(buffer, change->new_row);
  buffer_add_string(buffer, "}");
}
