#include "common/optional.h"
#if HAVE_LIBRABBITMQ
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/text.h"
#include "http/wire.h"
#include "targets/rabbit_session.h"

#define DEFAULT_PORT 5672
#define DEFAULT_TLS_PORT 5671
/* Of connecting. Milliseconds. */
#define CONNECT_TIME 10000
/* How often a wait checks for an interrupt. Milliseconds. */
#define STEP 100
/* Largest frame that is asked for. Bytes. */
#define LARGEST_FRAME 131072
/* What a frame has around its payload. Bytes. */
#define FRAME_EXTRA 8
#define OUT_LIMIT ((size_t)2 * 1024 * 1024 * 1024)
/* What is kept from one push to the next. Bytes. */
#define KEPT_CAPACITY ((size_t)16 * 1024 * 1024)
/* The one in use. */
#define CHANNEL 1
#define CONTENT_TOO_LARGE 311
#define ACCESS_REFUSED 403
#define NOT_FOUND 404
#define PRECONDITION_FAILED 406
#define NOT_ALLOWED 530

struct rabbit_session {
  const struct rabbit *rabbit;
  struct wire *wire;
  amqp_connection_state_t state; /* of what is received */
  struct buffer out;
  size_t sent; /* bytes of it */
  char in[65536];
  size_t in_begin;
  size_t in_end;
  char scratch[LARGEST_FRAME];
  size_t largest_frame;
  uint64_t published;
  struct rabbit_event returned; /* of which the header follows; reason "": none */
  char blocked[RABBIT_SHORT + 1];
};

/* ---- sending --------------------------------------------------------------------------------------------------- */

static void add_number(struct buffer *out, uint64_t number, int bytes) {
  while (bytes-- > 0)
    buffer_add(out, &(char){(char)(unsigned char)(number >> (8 * bytes))}, 1);
}

static void add_frame(struct rabbit_session *session, int type, int channel, const char *payload, size_t length) {
  add_number(&session->out, (uint64_t)type, 1);
  add_number(&session->out, (uint64_t)channel, 2);
  add_number(&session->out, length, 4);
  buffer_add(&session->out, payload, length);
  add_number(&session->out, AMQP_FRAME_END, 1);
}

static void put_number(char *into, uint64_t number, int bytes) {
  while (bytes-- > 0)
    *into++ = (char)(unsigned char)(number >> (8 * bytes));
}

/* False: it does not fit into a frame. */
static bool add_method(struct rabbit_session *session, int channel, amqp_method_number_t method, void *arguments) {
  const amqp_bytes_t room = {.len = session->largest_frame - FRAME_EXTRA - 4, .bytes = session->scratch + 4};
  put_number(session->scratch, method, 4);
  int length = amqp_encode_method(method, arguments, room);
  if (length < 0)
    return false;
  add_frame(session, AMQP_FRAME_METHOD, channel, session->scratch, (size_t)length + 4);
  return true;
}

/* The same for a message's properties. */
static bool add_header(struct rabbit_session *session, const amqp_basic_properties_t *properties, size_t body) {
  const amqp_bytes_t room = {.len = session->largest_frame - FRAME_EXTRA - 12, .bytes = session->scratch + 12};
  amqp_basic_properties_t copy = *properties;
  put_number(session->scratch, AMQP_BASIC_CLASS, 2);
  put_number(session->scratch + 2, 0, 2);
  put_number(session->scratch + 4, body, 8);
  int length = amqp_encode_properties(AMQP_BASIC_CLASS, &copy, room);
  if (length < 0)
    return false;
  add_frame(session, AMQP_FRAME_HEADER, CHANNEL, session->scratch, (size_t)length + 12);
  return true;
}

bool rabbit_session_publish(struct rabbit_session *session, const struct rabbit_message *message, uint64_t *tag,
                            struct error *error) {
  size_t before = session->out.length;
  amqp_basic_publish_t publish = {.exchange = amqp_cstring_bytes(session->rabbit->exchange),
                                  .routing_key = amqp_cstring_bytes(message->routing_key),
                                  .mandatory = 1};
  if (strlen(message->routing_key) > RABBIT_SHORT)
    return error_set(error, FAILURE_REFUSED, "the routing key is longer than %d bytes", RABBIT_SHORT);
  if (!add_method(session, CHANNEL, AMQP_BASIC_PUBLISH_METHOD, &publish) ||
      !add_header(session, message->properties, message->value->length)) {
    session->out.length = before;
    return error_set(error, FAILURE_REFUSED, "the headers do not fit into a frame of %zu bytes",
                     session->largest_frame);
  }
  size_t most = session->largest_frame - FRAME_EXTRA;
  for (size_t at = 0; at < message->value->length; at += most) {
    size_t left = message->value->length - at;
    add_frame(session, AMQP_FRAME_BODY, CHANNEL, message->value->data + at, left < most ? left : most);
  }
  *tag = ++session->published;
  return buffer_ok(&session->out, "a message", error);
}

static bool send_some(struct rabbit_session *session, bool *moved, struct error *error) {
  struct buffer *out = &session->out;
  size_t length = 0;
  if (session->sent == out->length)
    return true;
  if (!wire_send(session->wire, out->data + session->sent, out->length - session->sent, &length, error))
    return false;
  session->sent += length;
  *moved = *moved || length > 0;
  if (session->sent < out->length)
    return true;
  session->sent = 0;
  if (out->capacity > KEPT_CAPACITY)
    buffer_release(out);
  buffer_clear(out);
  return true;
}

/* ---- receiving ------------------------------------------------------------------------------------------------- */

static bool receive_some(struct rabbit_session *session, bool *moved, struct error *error) {
  size_t length = 0;
  if (session->in_begin == session->in_end)
    session->in_begin = session->in_end = 0;
  if (session->in_end == sizeof session->in)
    return true;
  if (!wire_receive(session->wire, session->in + session->in_end, sizeof session->in - session->in_end, &length, error))
    return false;
  session->in_end += length;
  *moved = *moved || length > 0;
  return true;
}

bool rabbit_session_serve(struct rabbit_session *session, int milliseconds, struct error *error) {
  bool moved = false;
  struct error why;
  /* If it cannot send, the broker may have said why. */
  bool ok = send_some(session, &moved, error);
  if (!receive_some(session, &moved, &why) && ok) {
    *error = why;
    ok = false;
  }
  if (ok && !moved)
    wire_wait(session->wire, session->sent < session->out.length, milliseconds);
  return ok || session->in_begin < session->in_end;
}

static bool lacks_sense(struct error *error) {
  return error_set(error, FAILURE_RETRY, "the broker's answer cannot be read");
}

/* The next frame that is complete; its type is 0 where there is none. */
static bool next_frame(struct rabbit_session *session, amqp_frame_t *frame, struct error *error) {
  frame->frame_type = 0;
  while (session->in_begin < session->in_end && frame->frame_type == 0) {
    const amqp_bytes_t received = {.len = session->in_end - session->in_begin,
                                   .bytes = session->in + session->in_begin};
    amqp_maybe_release_buffers(session->state);
    int used = amqp_handle_input(session->state, received, frame);
    if (used < 0)
      return lacks_sense(error);
    session->in_begin += (size_t)used;
    if (used == 0)
      break;
  }
  return true;
}

/* ---- what the broker says against it --------------------------------------------------------------------------- */

static bool was_closed(int code, amqp_bytes_t text, struct error *error) {
  char why[512];
  text_print(why, sizeof why, "%.*s", (int)text.len, (const char *)text.bytes);
  switch (code) {
  case ACCESS_REFUSED:
    error_set(error, FAILURE_FATAL, "the broker does not let us in: %s", why);
    return error_hint(error, "see user and password in the target's URL, the environment of this process, and the "
                             "user's permissions");
  case NOT_FOUND:
  case NOT_ALLOWED:
    error_set(error, FAILURE_FATAL, "%s", why);
    return error_hint(error, "make the exchange, or the virtual host, that the target's URL names");
  case CONTENT_TOO_LARGE:
    break;
  case PRECONDITION_FAILED:
    if (strstr(why, "larger than") != NULL)
      break;
    __attribute__((fallthrough));
  default:
    return error_set(error, FAILURE_RETRY, "the broker has closed the connection: %s", why);
  }
  error_set(error, FAILURE_REFUSED, "%s", why);
  return error_hint(error, "allow larger messages: max_message_size of the broker");
}

static void copy_bytes(char *into, amqp_bytes_t bytes) {
  text_print(into, RABBIT_SHORT + 1, "%.*s", (int)bytes.len, (const char *)bytes.bytes);
}

/* Takes what concerns the whole connection. */
static bool take_method(struct rabbit_session *session, const amqp_method_t *method, struct error *error) {
  const amqp_connection_close_t *closed = method->decoded;
  const amqp_connection_blocked_t *blocked = method->decoded;
  switch (method->id) {
  case AMQP_CONNECTION_CLOSE_METHOD:
  case AMQP_CHANNEL_CLOSE_METHOD: /* which has the same members */
    return was_closed(closed->reply_code, closed->reply_text, error);
  case AMQP_CONNECTION_BLOCKED_METHOD:
    copy_bytes(session->blocked, blocked->reason);
    return true;
  case AMQP_CONNECTION_UNBLOCKED_METHOD:
    session->blocked[0] = '\0';
    return true;
  default:
    return true;
  }
}

const char *rabbit_session_blocked(const struct rabbit_session *session) {
  return session->blocked;
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

static bool is_confirm(const amqp_method_t *method, struct rabbit_event *event) {
  const amqp_basic_ack_t *ack = method->decoded;
  const amqp_basic_nack_t *nack = method->decoded;
  if (method->id == AMQP_BASIC_ACK_METHOD)
    *event = (struct rabbit_event){.kind = RABBIT_ACCEPTED, .tag = ack->delivery_tag, .multiple = ack->multiple};
  else if (method->id == AMQP_BASIC_NACK_METHOD)
    *event = (struct rabbit_event){.kind = RABBIT_REJECTED, .tag = nack->delivery_tag, .multiple = nack->multiple};
  else
    return false;
  return true;
}

/* A message that is returned comes as a whole; its id is in its header. */
static bool is_return(struct rabbit_session *session, const amqp_frame_t *frame, struct rabbit_event *event) {
  if (frame->frame_type == AMQP_FRAME_METHOD && frame->payload.method.id == AMQP_BASIC_RETURN_METHOD) {
    const amqp_basic_return_t *returned = frame->payload.method.decoded;
    session->returned = (struct rabbit_event){.kind = RABBIT_RETURNED};
    text_print(session->returned.reason, sizeof session->returned.reason, "%d %.*s", returned->reply_code,
               (int)returned->reply_text.len, (const char *)returned->reply_text.bytes);
    return false;
  }
  if (frame->frame_type != AMQP_FRAME_HEADER || session->returned.reason[0] == '\0')
    return false;
  const amqp_basic_properties_t *properties = frame->payload.properties.decoded;
  *event = session->returned;
  copy_bytes(event->message_id, properties->message_id);
  session->returned.reason[0] = '\0';
  return true;
}

bool rabbit_session_event(struct rabbit_session *session, struct rabbit_event *event, struct error *error) {
  amqp_frame_t frame;
  error_clear(error);
  for (;;) {
    if (!next_frame(session, &frame, error) || frame.frame_type == 0)
      return false;
    if (is_return(session, &frame, event))
      return true;
    if (frame.frame_type != AMQP_FRAME_METHOD)
      continue;
    if (is_confirm(&frame.payload.method, event))
      return true;
    if (!take_method(session, &frame.payload.method, error))
      return false;
  }
}

/* ---- logging in ------------------------------------------------------------------------------------------------ */

/* Waits for a method, which is valid until more is received. */
static bool await(struct rabbit_session *session, amqp_method_number_t wanted, amqp_frame_t *frame, int64_t deadline,
                  struct error *error) {
  int64_t push_timeout = session->rabbit->settings->push_timeout;
  for (;;) {
    if (!next_frame(session, frame, error))
      return false;
    if (frame->frame_type == AMQP_FRAME_METHOD && frame->payload.method.id == wanted)
      return true;
    if (frame->frame_type == AMQP_FRAME_METHOD && !take_method(session, &frame->payload.method, error))
      return false;
    if (interrupted())
      return error_set(error, FAILURE_STOP, "interrupted");
    if (clock_now() >= deadline)
      return error_set(error, FAILURE_RETRY, "no answer within %lld s", (long long)(push_timeout / 1000));
    if (frame->frame_type == 0 && !rabbit_session_serve(session, STEP, error))
      return false;
  }
}

static amqp_table_entry_t able(const char *what) {
  return (amqp_table_entry_t){.key = amqp_cstring_bytes(what),
                              .value = {.kind = AMQP_FIELD_KIND_BOOLEAN, .value = {.boolean = 1}}};
}

static bool say_who(struct rabbit_session *session, struct error *error) {
  const struct address *address = &session->rabbit->address;
  const char *user = address->user != NULL ? address->user : "guest";
  const char *password = address->password != NULL ? address->password : "guest";
  amqp_table_entry_t abilities[] = {able("publisher_confirms"), able("basic.nack"), able("connection.blocked"),
                                    able("authentication_failure_close")};
  amqp_table_entry_t ours[] = {
      {.key = amqp_cstring_bytes("product"),
       .value = {.kind = AMQP_FIELD_KIND_UTF8, .value = {.bytes = amqp_cstring_bytes("rowrelay")}}},
      {.key = amqp_cstring_bytes("capabilities"),
       .value = {.kind = AMQP_FIELD_KIND_TABLE,
                 .value = {.table = {.num_entries = sizeof abilities / sizeof abilities[0], .entries = abilities}}}}};
  struct buffer response;
  buffer_init(&response, LARGEST_FRAME);
  buffer_add(&response, "", 1);
  buffer_add_string(&response, user);
  buffer_add(&response, "", 1);
  buffer_add_string(&response, password);
  amqp_connection_start_ok_t start = {.client_properties = {.num_entries = 2, .entries = ours},
                                      .mechanism = amqp_cstring_bytes("PLAIN"),
                                      .response = {.len = response.length, .bytes = response.data},
                                      .locale = amqp_cstring_bytes("en_US")};
  bool ok = buffer_ok(&response, "user and password", error);
  if (ok && !add_method(session, 0, AMQP_CONNECTION_START_OK_METHOD, &start))
    ok = error_set(error, FAILURE_FATAL, "user and password are too long");
  buffer_release(&response);
  return ok;
}

static bool tune(struct rabbit_session *session, const amqp_connection_tune_t *wanted, struct error *error) {
  amqp_connection_tune_ok_t tuned = {.channel_max = wanted->channel_max, .frame_max = LARGEST_FRAME};
  if (wanted->frame_max != 0 && wanted->frame_max < LARGEST_FRAME)
    tuned.frame_max = wanted->frame_max;
  if (amqp_tune_connection(session->state, tuned.channel_max, (int)tuned.frame_max, 0) != AMQP_STATUS_OK)
    return error_set(error, FAILURE_RETRY, "out of memory");
  bool ok = add_method(session, 0, AMQP_CONNECTION_TUNE_OK_METHOD, &tuned);
  session->largest_frame = tuned.frame_max;
  return ok || lacks_sense(error);
}

/* What is asked once it is known who we are. */
struct question {
  int channel;
  amqp_method_number_t method;
  amqp_method_number_t answer;
  void *arguments;
};

static bool ask(struct rabbit_session *session, const struct question *question, int64_t deadline,
                struct error *error) {
  amqp_frame_t frame;
  if (!add_method(session, question->channel, question->method, question->arguments))
    return error_set(error, FAILURE_FATAL, "the name of exchange or virtual host is too long");
  return await(session, question->answer, &frame, deadline, error);
}

static bool log_in(struct rabbit_session *session, int64_t deadline, struct error *error) {
  const struct rabbit *rabbit = session->rabbit;
  amqp_frame_t frame;
  amqp_connection_open_t open = {.virtual_host = amqp_cstring_bytes(rabbit->virtual_host)};
  amqp_channel_open_t channel = {.out_of_band = amqp_empty_bytes};
  amqp_confirm_select_t confirm = {.nowait = 0};
  amqp_exchange_declare_t declare = {.exchange = amqp_cstring_bytes(rabbit->exchange), .passive = 1};
  const struct question questions[] = {
      {0, AMQP_CONNECTION_OPEN_METHOD, AMQP_CONNECTION_OPEN_OK_METHOD, &open},
      {CHANNEL, AMQP_CHANNEL_OPEN_METHOD, AMQP_CHANNEL_OPEN_OK_METHOD, &channel},
      {CHANNEL, AMQP_CONFIRM_SELECT_METHOD, AMQP_CONFIRM_SELECT_OK_METHOD, &confirm},
      {CHANNEL, AMQP_EXCHANGE_DECLARE_METHOD, AMQP_EXCHANGE_DECLARE_OK_METHOD, &declare},
  };
  /* Nobody may declare the default exchange. */
  size_t count = sizeof questions / sizeof questions[0] - (rabbit->exchange[0] == '\0');
  if (strlen(rabbit->virtual_host) > RABBIT_SHORT || strlen(rabbit->exchange) > RABBIT_SHORT)
    return error_set(error, FAILURE_FATAL, "the name of exchange or virtual host is too long");
  buffer_add(&session->out, "AMQP\0\0\x09\x01", 8);
  bool ok = await(session, AMQP_CONNECTION_START_METHOD, &frame, deadline, error) && say_who(session, error) &&
            await(session, AMQP_CONNECTION_TUNE_METHOD, &frame, deadline, error);
  if (ok) {
    /* It is in memory that is given away for larger frames. */
    const amqp_connection_tune_t wanted = *(amqp_connection_tune_t *)frame.payload.method.decoded;
    ok = tune(session, &wanted, error);
  }
  for (size_t i = 0; ok && i < count; i++)
    ok = ask(session, &questions[i], deadline, error);
  return ok;
}

static bool connect_wire(struct rabbit_session *session, struct error *error) {
  const struct rabbit *rabbit = session->rabbit;
  const struct address *address = &rabbit->address;
  int64_t half = rabbit->settings->push_timeout / 2;
  bool tls = strcmp(address->scheme, "amqps") == 0;
  int usual = tls ? DEFAULT_TLS_PORT : DEFAULT_PORT;
  const struct wire_options options = {.host = address->host,
                                       .port = address->port != 0 ? address->port : usual,
                                       .tls = tls,
                                       .ca_file = target_values_text(&rabbit->values, "ca_file"),
                                       .certificate = target_values_text(&rabbit->values, "certificate"),
                                       .private_key = target_values_text(&rabbit->values, "private_key"),
                                       .timeout = half < CONNECT_TIME ? half : CONNECT_TIME};
  return wire_open(&session->wire, &options, error);
}

bool rabbit_session_open(struct rabbit_session **session, const struct rabbit *rabbit, int64_t deadline,
                         struct error *error) {
  struct rabbit_session *made = calloc(1, sizeof *made);
  if (made == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  made->rabbit = rabbit;
  made->largest_frame = 4096; /* until it is tuned */
  buffer_init(&made->out, OUT_LIMIT);
  made->state = amqp_new_connection();
  bool ok = made->state != NULL || error_set(error, FAILURE_RETRY, "out of memory");
  if (!ok || !connect_wire(made, error) || !log_in(made, deadline, error)) {
    rabbit_session_close(made);
    return false;
  }
  *session = made;
  return true;
}

void rabbit_session_close(struct rabbit_session *session) {
  if (session == NULL)
    return;
  wire_close(session->wire);
  if (session->state != NULL)
    amqp_destroy_connection(session->state);
  buffer_release(&session->out);
  free(session);
}
#else
typedef int rabbit_session_is_not_built;
#endif
