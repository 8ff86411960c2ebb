/*
 * cloudevent: a change as a CloudEvent 1.0 in structured JSON (https://cloudevents.io).
 */
#ifndef ROWRELAY_TARGETS_CLOUDEVENT_H
#define ROWRELAY_TARGETS_CLOUDEVENT_H

#include "common/buffer.h"
#include "source/change.h"

/* Appends its id, the same however often it is sent: of a row's change its number, of a document with the key. */
void cloudevent_add_id(struct buffer *buffer, const struct change *change);

/* Appends its type, such as rowrelay.shop.orders.update. */
void cloudevent_add_type(struct buffer *buffer, const struct change *change);

/* Whether its key can be its subject, which may not be empty or hold control characters. */
bool cloudevent_has_subject(const struct change *change);

/* Appends the event's data alone, an object. */
void cloudevent_add_data(struct buffer *buffer, const struct change *change);

/* Appends the event. `source_id` is the source's UUID. */
void cloudevent_add_json(struct buffer *buffer, const struct change *change, const char *source_id);

#endif
