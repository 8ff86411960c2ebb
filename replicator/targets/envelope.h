/*
 * envelope: what a change looks like as a message, for targets that carry messages: its value and its headers, by
 * option `format`. The key is the same in all formats, but for the schema that Debezium's may have.
 */
#ifndef ROWRELAY_TARGETS_ENVELOPE_H
#define ROWRELAY_TARGETS_ENVELOPE_H

#include "source/source.h"
#include "targets/debezium.h"
#include "targets/target_values.h"

/* Options of such targets. */
extern const struct target_option TARGET_ENVELOPE_OPTIONS[];

enum envelope_format {
  ENVELOPE_ROWRELAY,           /* a CloudEvent in structured JSON, as a webhook gets it */
  ENVELOPE_CLOUDEVENTS_BINARY, /* the event's data, with its attributes in headers */
  ENVELOPE_DEBEZIUM,
  ENVELOPE_ROW /* the row alone */
};

struct envelope {
  enum envelope_format format;
  bool has_schema; /* Debezium's has */
  const char *
      prefix; /* of a CloudEvent's attributes as headers, which each protocol's binding has its own of; NULL: Kafka's */
  const char *source_id; /* borrowed, as the others */
  struct debezium debezium;
  char *database; /* its own, see envelope_learn() */
};

/* `values` outlive it. The names of source and database are set by envelope_name() or envelope_learn(). */
void envelope_init(struct envelope *envelope, const struct settings *settings, const struct target_values *values);
/* Tells the database's name, which is that of the source, too, unless option source_name is set. */
void envelope_name(struct envelope *envelope, const char *database);
/* The same with the database that the source is connected to, where the format tells it. */
MUST_CHECK bool envelope_learn(struct envelope *envelope, struct source *source, struct error *error);
void envelope_release(struct envelope *envelope);

/* Appends the key; see message_key.h. False: there is none. */
bool envelope_add_key(struct buffer *buffer, const struct envelope *envelope, const struct change *change);

/*
 * Appends the value. False: the message has none, which is all that format row says of a deleted row (unless it has no
 * key) and of a truncate.
 */
bool envelope_add_value(struct buffer *buffer, const struct envelope *envelope, const struct change *change);

/* The time that envelopes tell: milliseconds since 1970. */
int64_t envelope_now(void);

/* Calls `add` for each header. */
void envelope_each_header(const struct envelope *envelope, const struct change *change,
                          void (*add)(void *context, const char *name, const char *value), void *context);

#endif
