#include "targets/cloudevent.h"

#include "common/json.h"
#include "targets/change_json.h"

void cloudevent_add_id(struct buffer *buffer, const struct change *change) {
  buffer_add_format(buffer, "%lld", (long long)change->id);
  if (change->route->document && change->key != NULL)
    buffer_add_format(buffer, "/%s", change->key);
}

static void add_text(struct buffer *buffer, const char *name, const char *text) {
  buffer_add_format(buffer, ",\"%s\":", name);
  buffer_add_json_string(buffer, text);
}

static void add_image(struct buffer *buffer, const char *name, const char *image) {
  buffer_add_format(buffer, ",\"%s\":", name);
  json_add_line(buffer, image != NULL ? image : "null");
}

void cloudevent_add_type(struct buffer *buffer, const struct change *change) {
  buffer_add_format(buffer, "rowrelay.%s.%s", change->route->relation, operation_word(change->operation));
}

static void add_type(struct buffer *buffer, const struct change *change) {
  struct buffer type;
  buffer_init(&type, 1024);
  cloudevent_add_type(&type, change);
  add_text(buffer, "type", type.data);
  buffer_inherit(buffer, &type);
  buffer_release(&type);
}

bool cloudevent_has_subject(const struct change *change) {
  if (change->key == NULL || change->key[0] == '\0')
    return false;
  for (const char *c = change->key; *c != '\0'; c++)
    if ((unsigned char)*c < ' ' || *c == 127)
      return false;
  return true;
}

void cloudevent_add_data(struct buffer *buffer, const struct change *change) {
  buffer_add_format(buffer, "{\"change_id\":%lld", (long long)change->id);
  add_text(buffer, "relation", change->route->relation);
  add_text(buffer, "op", operation_word(change->operation));
  add_text(buffer, "key", change->key);
  if (change->txid != NULL)
    add_text(buffer, "txid", change->txid);
  if (change->actor != NULL)
    add_text(buffer, "actor", change->actor);
  add_image(buffer, "before", change->old_row);
  add_image(buffer, "after", change->new_row);
  buffer_add_string(buffer, ",\"changed\":");
  if (change->old_row != NULL && change->new_row != NULL)
    json_add_changed(buffer, change->old_row, change->new_row);
  else
    buffer_add_string(buffer, "null");
  buffer_add_string(buffer, "}");
}

void cloudevent_add_json(struct buffer *buffer, const struct change *change, const char *source_id) {
  struct buffer id;
  buffer_init(&id, (size_t)16 * 1024 * 1024);
  cloudevent_add_id(&id, change);
  buffer_add_string(buffer, "{\"specversion\":\"1.0\"");
  add_text(buffer, "id", id.data);
  buffer_add_format(buffer, ",\"source\":\"urn:uuid:%s\"", source_id);
  add_type(buffer, change);
  if (cloudevent_has_subject(change))
    add_text(buffer, "subject", change->key);
  if (change->captured_at != NULL)
    add_text(buffer, "time", change->captured_at);
  if (change->traceparent != NULL)
    add_text(buffer, "traceparent", change->traceparent);
  buffer_add_string(buffer, ",\"datacontenttype\":\"application/json\",\"data\":");
  cloudevent_add_data(buffer, change);
  buffer_add_string(buffer, "}");
  buffer_inherit(buffer, &id);
  buffer_release(&id);
}
