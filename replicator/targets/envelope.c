#include "targets/envelope.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/text.h"
#include "targets/change_json.h"
#include "targets/cloudevent.h"
#include "targets/debezium_schema.h"
#include "targets/message_key.h"

/* Of one header; a key may be long. Bytes. */
#define HEADER_LIMIT ((size_t)16 * 1024 * 1024)

const struct target_option TARGET_ENVELOPE_OPTIONS[] = {
    {.name = "format",
     .help =
         "what a message holds: a CloudEvent in JSON, the same with its attributes as headers, Debezium's envelope, "
         "or the row alone",
     .choices = "rowrelay|cloudevents-binary|debezium|row",
     .initial = "rowrelay"},
    {.name = "schema",
     .help = "whether Debezium's envelope and key come with their schemas",
     .choices = "true|false",
     .initial = "false"},
    {.name = "source_name",
     .help = "source.name in Debezium's envelope, instead of the database's name",
     .pattern = "^\\S+$",
     .words = "a name without blanks"},
    TARGET_OPTION_END,
};

void envelope_init(struct envelope *envelope, const struct settings *settings, const struct target_values *values) {
  static const char *const NAMES[] = {
      [ENVELOPE_CLOUDEVENTS_BINARY] = "cloudevents-binary", [ENVELOPE_DEBEZIUM] = "debezium", [ENVELOPE_ROW] = "row"};
  const char *format = target_values_text(values, "format");
  *envelope = (struct envelope){.format = ENVELOPE_ROWRELAY, .source_id = settings->source_id};
  for (size_t i = ENVELOPE_ROWRELAY + 1; format != NULL && i < sizeof NAMES / sizeof NAMES[0]; i++)
    if (strcmp(format, NAMES[i]) == 0)
      envelope->format = (enum envelope_format)i;
  envelope->has_schema = envelope->format == ENVELOPE_DEBEZIUM && target_values_flag(values, "schema");
  envelope->debezium.name = target_values_text(values, "source_name");
}

void envelope_name(struct envelope *envelope, const char *database) {
  envelope->debezium.database = database;
  if (envelope->debezium.name == NULL)
    envelope->debezium.name = database;
}

/* The connection may be another one next time. */
bool envelope_learn(struct envelope *envelope, struct source *source, struct error *error) {
  if (envelope->database != NULL || envelope->format != ENVELOPE_DEBEZIUM)
    return true;
  envelope->database = strdup(pgconn_database(source_connection(source)));
  envelope_name(envelope, envelope->database);
  return envelope->database != NULL || error_set(error, FAILURE_RETRY, "out of memory");
}

void envelope_release(struct envelope *envelope) {
  free(envelope->database);
  envelope->database = NULL;
}

int64_t envelope_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A deleted row is told by its key. */
static bool add_row(struct buffer *buffer, const struct change *change) {
  bool is_gone = change->operation == OPERATION_DELETE;
  const char *row = is_gone ? change->old_row : change->new_row;
  if (change->operation == OPERATION_TRUNCATE || row == NULL || (is_gone && !change_is_keyless(change)))
    return false;
  change_add_image(buffer, change, row);
  return true;
}

bool envelope_add_key(struct buffer *buffer, const struct envelope *envelope, const struct change *change) {
  if (!envelope->has_schema)
    return message_key_add(buffer, change);
  struct buffer key;
  buffer_init(&key, buffer->limit);
  bool has_key = message_key_add(&key, change);
  if (has_key && key.data != NULL)
    debezium_schema_add_key(buffer, change, &envelope->debezium, key.data);
  buffer_inherit(buffer, &key);
  buffer_release(&key);
  return has_key;
}

bool envelope_add_value(struct buffer *buffer, const struct envelope *envelope, const struct change *change) {
  switch (envelope->format) {
  case ENVELOPE_ROWRELAY:
    cloudevent_add_json(buffer, change, envelope->source_id);
    return true;
  case ENVELOPE_CLOUDEVENTS_BINARY:
    cloudevent_add_data(buffer, change);
    return true;
  case ENVELOPE_DEBEZIUM:
    if (envelope->has_schema)
      debezium_schema_add_json(buffer, change, &envelope->debezium, envelope_now());
    else
      debezium_add_json(buffer, change, &envelope->debezium, envelope_now());
    return true;
  case ENVELOPE_ROW:
    return add_row(buffer, change);
  }
  return false;
}

/* Where the headers of a change go. */
struct headers {
  const struct envelope *envelope;
  void (*add)(void *context, const char *name, const char *value);
  void *context;
};

static void add_attribute(const struct headers *headers, const char *name, const char *value) {
  char full[64];
  text_print(full, sizeof full, "%s%s", headers->envelope->prefix != NULL ? headers->envelope->prefix : "ce_", name);
  headers->add(headers->context, full, value);
}

/* https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/kafka-protocol-binding.md */
static void each_attribute(const struct headers *headers, const struct change *change) {
  struct buffer text;
  buffer_init(&text, HEADER_LIMIT);
  headers->add(headers->context, "content-type", "application/json");
  add_attribute(headers, "specversion", "1.0");
  cloudevent_add_id(&text, change);
  add_attribute(headers, "id", text.data);
  buffer_clear(&text);
  buffer_add_format(&text, "urn:uuid:%s", headers->envelope->source_id);
  add_attribute(headers, "source", text.data);
  buffer_clear(&text);
  cloudevent_add_type(&text, change);
  add_attribute(headers, "type", text.data);
  if (cloudevent_has_subject(change))
    add_attribute(headers, "subject", change->key);
  if (change->captured_at != NULL)
    add_attribute(headers, "time", change->captured_at);
  if (change->traceparent != NULL)
    add_attribute(headers, "traceparent", change->traceparent);
  buffer_release(&text);
}

void envelope_each_header(const struct envelope *envelope, const struct change *change,
                          void (*add)(void *context, const char *name, const char *value), void *context) {
  struct buffer id;
  switch (envelope->format) {
  case ENVELOPE_ROWRELAY:
    add(context, "content-type", "application/cloudevents+json; charset=UTF-8");
    break;
  case ENVELOPE_CLOUDEVENTS_BINARY:
    each_attribute(&(struct headers){.envelope = envelope, .add = add, .context = context}, change);
    break;
  case ENVELOPE_DEBEZIUM:
    break;
  case ENVELOPE_ROW: /* which says nothing of all this */
    buffer_init(&id, HEADER_LIMIT);
    buffer_add_format(&id, "%lld", (long long)change->id);
    add(context, "rowrelay_change_id", id.data);
    add(context, "rowrelay_relation", change->route->relation);
    add(context, "rowrelay_op", operation_word(change->operation));
    buffer_release(&id);
    break;
  }
  if (change->traceparent != NULL) /* where tracing of messages looks for it */
    add(context, "traceparent", change->traceparent);
}
