/*
 * Pushes to RabbitMQ.
 *
 * Each message is mandatory and persistent, and is confirmed by the broker when the queues to which its exchange routes
 * it have it on disk. One that is routed nowhere is returned before it is confirmed: it is refused. What may be in
 * flight together, see flight.h.
 *
 * The broker closes the channel over a message that is too large, and says nothing of those behind it. That is told as
 * a refusal of the batch, which is then divided until that message is alone.
 *
 * When a connection is given up, what the broker has of it may still be queued, and is pushed again: then it is there
 * twice. A broker reads a connection to its end, so the old ones may even come between new ones, but only as long as it
 * is busy with that: at most one message of each row.
 */
#include "common/optional.h"
#if HAVE_LIBRABBITMQ
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/url.h"
#include "targets/channel_name.h"
#include "targets/cloudevent.h"
#include "targets/flight.h"
#include "targets/rabbit_session.h"

#define MESSAGE_LIMIT ((size_t)1200 * 1024 * 1024)
/* How long is waited at a time. Milliseconds. */
#define STEP 50
/* What may be in flight together. Messages, bytes. */
#define MOST_IN_FLIGHT 4096
#define MOST_BYTES_IN_FLIGHT ((size_t)4 * 1024 * 1024)
#define MOST_HEADERS 16
/* delivery_mode of messages that are kept on disk */
#define PERSISTENT 2

/* A push on its way. */
struct sending {
  struct rabbit *rabbit;
  struct flight flight;
  size_t *sent;                  /* the changes in order of their tags */
  size_t sent_count;             /* how many */
  size_t answered;               /* so many of the first are answered */
  uint64_t first_tag;            /* of this push */
  bool *returned;                /* of each change, whether it was */
  char reason[RABBIT_SHORT + 1]; /* of the last that was */
  struct buffer routing_key;
  struct buffer id;
  struct buffer key;
  struct buffer value;
  struct buffer headers; /* names and values, each with a NUL */
  struct buffer content_type;
  int64_t deadline;
};

/* ---- one message ----------------------------------------------------------------------------------------------- */

static void add_header(void *context, const char *name, const char *value) {
  struct sending *sending = context;
  if (value == NULL) {
    buffer_lack_memory(&sending->headers);
    return;
  }
  if (strcmp(name, "content-type") == 0) {
    buffer_add_string(&sending->content_type, value);
    return;
  }
  buffer_add(&sending->headers, name, strlen(name) + 1);
  buffer_add(&sending->headers, value, strlen(value) + 1);
}

static bool describe(struct sending *sending, const struct change *change, struct error *error) {
  const struct rabbit *rabbit = sending->rabbit;
  struct buffer *const buffers[] = {&sending->routing_key, &sending->id,      &sending->key,
                                    &sending->value,       &sending->headers, &sending->content_type};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    buffer_clear(buffers[i]);
  channel_name_add(&sending->routing_key, rabbit->routing_key, change->route);
  cloudevent_add_id(&sending->id, change);
  if (envelope_add_key(&sending->key, &rabbit->envelope, change))
    add_header(sending, "rowrelay_key", sending->key.data);
  envelope_add_value(&sending->value, &rabbit->envelope, change);
  envelope_each_header(&rabbit->envelope, change, add_header, sending);
  if (sending->content_type.length == 0)
    buffer_add_string(&sending->content_type, "application/json");
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    if (!buffer_ok(buffers[i], "a message", error))
      return false;
  return true;
}

static amqp_bytes_t bytes_of(const struct buffer *buffer, size_t most) {
  return (amqp_bytes_t){.len = buffer->length < most ? buffer->length : most, .bytes = buffer->data};
}

static void set_properties(const struct sending *sending, amqp_basic_properties_t *properties,
                           amqp_table_entry_t *entries) {
  int count = 0;
  const char *text = sending->headers.data;
  for (size_t at = 0; at < sending->headers.length && count < MOST_HEADERS; count++) {
    entries[count].key = amqp_cstring_bytes(text + at);
    at += entries[count].key.len + 1;
    entries[count].value =
        (amqp_field_value_t){.kind = AMQP_FIELD_KIND_UTF8, .value = {.bytes = amqp_cstring_bytes(text + at)}};
    at += entries[count].value.value.bytes.len + 1;
  }
  *properties = (amqp_basic_properties_t){._flags = AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG |
                                                    AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_APP_ID_FLAG |
                                                    AMQP_BASIC_CONTENT_TYPE_FLAG,
                                          .content_type = bytes_of(&sending->content_type, RABBIT_SHORT),
                                          .headers = {.num_entries = count, .entries = entries},
                                          .delivery_mode = PERSISTENT,
                                          .message_id = bytes_of(&sending->id, RABBIT_SHORT),
                                          .app_id = amqp_cstring_bytes("rowrelay")};
}

/* False: nothing more can be sent. */
static bool send_change(struct sending *sending, size_t index, struct error *error) {
  struct rabbit_session *session = sending->rabbit->session;
  amqp_basic_properties_t properties;
  amqp_table_entry_t entries[MOST_HEADERS];
  uint64_t tag;
  if (!describe(sending, sending->flight.push->changes[index], error))
    return false;
  set_properties(sending, &properties, entries);
  const struct rabbit_message message = {.routing_key =
                                             sending->routing_key.data != NULL ? sending->routing_key.data : "",
                                         .properties = &properties,
                                         .value = &sending->value};
  if (!rabbit_session_publish(session, &message, &tag, error)) {
    if (error->kind != FAILURE_REFUSED)
      return false;
    flight_refuse(&sending->flight, index, FLIGHT_REFUSED, error);
    return true;
  }
  if (sending->sent_count == 0)
    sending->first_tag = tag;
  sending->sent[sending->sent_count++] = index;
  flight_send(&sending->flight, index, sending->value.length);
  return true;
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

/* It is confirmed later, and is refused then. */
static void take_return(struct sending *sending, const struct rabbit_event *event) {
  for (size_t i = sending->answered; i < sending->sent_count; i++) {
    size_t index = sending->sent[i];
    if (sending->returned[index] || !flight_awaits(&sending->flight, index))
      continue;
    buffer_clear(&sending->id);
    cloudevent_add_id(&sending->id, sending->flight.push->changes[index]);
    if (sending->id.data == NULL || strncmp(sending->id.data, event->message_id, RABBIT_SHORT) != 0)
      continue;
    sending->returned[index] = true;
    memcpy(sending->reason, event->reason, sizeof sending->reason);
    return;
  }
}

static void take_one(struct sending *sending, size_t index, bool accepted) {
  struct error why;
  if (!flight_awaits(&sending->flight, index))
    return;
  if (!accepted) {
    error_set(&why, FAILURE_RETRY, "the broker has not accepted all messages");
    flight_reject(&sending->flight, index, &why);
    return;
  }
  if (!sending->returned[index]) {
    flight_store(&sending->flight, index, "confirmed");
    return;
  }
  error_set(&why, FAILURE_REFUSED, "%s", sending->reason);
  buffer_clear(&sending->routing_key);
  channel_name_add(&sending->routing_key, sending->rabbit->routing_key, sending->flight.push->changes[index]->route);
  error_detail(&why, "Exchange %s, routing key %s.", sending->rabbit->exchange,
               sending->routing_key.data != NULL ? sending->routing_key.data : "");
  error_hint(&why, "bind a queue to the exchange with that routing key");
  flight_refuse(&sending->flight, index, FLIGHT_REFUSED, &why);
}

static void take_event(struct sending *sending, const struct rabbit_event *event) {
  bool accepted = event->kind == RABBIT_ACCEPTED;
  if (event->kind == RABBIT_RETURNED) {
    take_return(sending, event);
    return;
  }
  if (event->tag < sending->first_tag || event->tag - sending->first_tag >= sending->sent_count)
    return;
  size_t place = (size_t)(event->tag - sending->first_tag);
  if (event->multiple)
    while (sending->answered <= place)
      take_one(sending, sending->sent[sending->answered++], accepted);
  else
    take_one(sending, sending->sent[place], accepted);
}

static bool take_events(struct sending *sending, struct error *error) {
  struct rabbit_event event;
  while (rabbit_session_event(sending->rabbit->session, &event, error))
    take_event(sending, &event);
  return error->kind == FAILURE_NONE;
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

static bool may_wait(const struct sending *sending, struct error *error) {
  const char *blocked = rabbit_session_blocked(sending->rabbit->session);
  int64_t push_timeout = sending->rabbit->settings->push_timeout;
  if (interrupted())
    return error_set(error, FAILURE_STOP, "interrupted");
  if (clock_now() < sending->deadline)
    return true;
  error_set(error, FAILURE_RETRY, "no answer within %lld s", (long long)(push_timeout / 1000));
  return blocked[0] == '\0' ? false : error_detail(error, "The broker takes nothing now: %s.", blocked);
}

static bool send_all(struct sending *sending, struct error *error) {
  struct flight *flight = &sending->flight;
  while (flight_goes_on(flight)) {
    bool begins = flight_has_room(flight, MOST_IN_FLIGHT, MOST_BYTES_IN_FLIGHT);
    if (begins && !push_is_still_ours(flight->push, error))
      return false;
    while (flight_has_room(flight, MOST_IN_FLIGHT, MOST_BYTES_IN_FLIGHT))
      if (!send_change(sending, flight_next(flight), error))
        return false;
    if (!flight_goes_on(flight))
      return true;
    if (!rabbit_session_serve(sending->rabbit->session, STEP, error) || !take_events(sending, error) ||
        !may_wait(sending, error))
      return false;
  }
  return true;
}

/* A connection that was there may have been closed since by the broker. */
static bool need_session(struct sending *sending, struct error *error) {
  struct rabbit *rabbit = sending->rabbit;
  if (rabbit->session != NULL && rabbit_session_serve(rabbit->session, 0, error) && take_events(sending, error))
    return true;
  rabbit_session_close(rabbit->session);
  rabbit->session = NULL;
  return rabbit_session_open(&rabbit->session, rabbit, sending->deadline, error);
}

static bool run(struct sending *sending, struct error *error) {
  struct rabbit *rabbit = sending->rabbit;
  bool ok = envelope_learn(&rabbit->envelope, rabbit->source, error) && need_session(sending, error) &&
            send_all(sending, error);
  return flight_end(&sending->flight, false, ok, error);
}

bool rabbit_push(void *handle, const struct push *push, struct error *error) {
  struct rabbit *rabbit = handle;
  struct sending sending = {.rabbit = rabbit,
                            .sent = calloc(push->count + 1, sizeof *sending.sent),
                            .returned = calloc(push->count + 1, sizeof *sending.returned),
                            .deadline = clock_now() + rabbit->settings->push_timeout};
  struct buffer *const buffers[] = {&sending.routing_key, &sending.id,      &sending.key,
                                    &sending.value,       &sending.headers, &sending.content_type};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    buffer_init(buffers[i], MESSAGE_LIMIT);
  bool ok = sending.sent != NULL && sending.returned != NULL ? flight_init(&sending.flight, push, error)
                                                             : error_set(error, FAILURE_RETRY, "out of memory");
  if (ok)
    ok = run(&sending, error);
  if (!ok) {
    rabbit_session_close(rabbit->session);
    rabbit->session = NULL;
  }
  flight_release(&sending.flight);
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    buffer_release(buffers[i]);
  free(sending.sent);
  free(sending.returned);
  return ok;
}
#else
typedef int rabbit_push_is_not_built;
#endif
