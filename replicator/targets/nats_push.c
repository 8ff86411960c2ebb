/*
 * Pushes to NATS.
 *
 * Each message is published with a reply subject, to which JetStream answers that the message is stored, or why not.
 * The next change of a row is not published before the one before it is stored: so nothing of a row is there without
 * what came before. Different rows are in flight together.
 *
 * A message has the change's id as Nats-Msg-Id, and so the stream ignores what it has had within its duplicate window:
 * a batch that is pushed again, because its answers were lost or its process has died, and what is still on its way of
 * a connection that was given up. Documents have no such id: one that is built again may differ.
 *
 * The server answers nothing to what a user may not publish, but complains about the subject. That, and a subject that
 * is in no stream, concerns the table as a whole.
 */
#include "common/optional.h"
#if HAVE_LIBNATS
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/json_tree.h"
#include "common/text.h"
#include "common/url.h"
#include "targets/flight.h"
#include "targets/loss.h"
#include "targets/nats_session.h"

#define MESSAGE_LIMIT ((size_t)1200 * 1024 * 1024)
/* How long answers are waited for at a time. Milliseconds. */
#define STEP 50
/* What may be in flight together: servers do not queue much more, and the network takes it at once. Messages, bytes. */
#define MOST_IN_FLIGHT 512
#define MOST_BYTES_IN_FLIGHT ((size_t)1024 * 1024)

/* Answers of JetStream, see https://docs.nats.io. */
#define TOO_LARGE 10054
#define ANOTHER_STREAM 10060
#define SEALED 10109

/* A push on its way. */
struct sending {
  struct nats *nats;
  struct flight flight;
  struct buffer subject;
  struct buffer value;
  struct buffer text;
  natsMsg *message; /* that is being made */
  bool no_memory;
  int64_t began; /* clock_now() */
};

/* ---- one message ----------------------------------------------------------------------------------------------- */

/* No line of a header ends within its value. */
static void add_header(void *context, const char *name, const char *value) {
  struct sending *sending = context;
  char *line = value != NULL ? strdup(value) : NULL;
  for (char *c = line; c != NULL && *c != '\0'; c++)
    if (*c == '\r' || *c == '\n')
      *c = ' ';
  if (line == NULL || natsMsgHeader_Set(sending->message, name, line) != NATS_OK)
    sending->no_memory = true;
  free(line);
}

static void add_headers(struct sending *sending, const struct change *change) {
  const struct nats *nats = sending->nats;
  struct buffer *text = &sending->text;
  if (!change->route->document) {
    buffer_clear(text);
    buffer_add_format(text, "%s:%d:%lld", nats->settings->source_id, nats->settings->target, (long long)change->id);
    add_header(sending, "Nats-Msg-Id", text->data);
  }
  if (nats->stream != NULL)
    add_header(sending, "Nats-Expected-Stream", nats->stream);
  buffer_clear(text);
  if (envelope_add_key(text, &nats->envelope, change))
    add_header(sending, "rowrelay_key", text->data);
  envelope_each_header(&nats->envelope, change, add_header, sending);
}

static void name_subject(struct sending *sending, const struct change *change) {
  buffer_clear(&sending->subject);
  nats_add_subject(&sending->subject, sending->nats->subject, change->route);
}

static void refuse(struct sending *sending, size_t index, enum flight_stage stage, const char *why) {
  struct error error;
  name_subject(sending, sending->flight.push->changes[index]);
  error_set(&error, FAILURE_REFUSED, "%s", why);
  if (sending->subject.data != NULL)
    error_detail(&error, "Subject %s.", sending->subject.data);
  if (stage == FLIGHT_HELD)
    error_hint(&error, "make a stream with that subject, and allow this user to publish to it; option create_stream "
                       "makes one");
  else
    error_hint(&error, "allow larger messages: max_payload of the server, max_msg_size of the stream");
  flight_refuse(&sending->flight, index, stage, &error);
}

/* False: nothing more can be sent. */
static bool send_change(struct sending *sending, size_t index, struct error *error) {
  struct nats_session *session = sending->nats->session;
  const struct change *change = sending->flight.push->changes[index];
  char why[128];
  name_subject(sending, change);
  buffer_clear(&sending->value);
  envelope_add_value(&sending->value, &sending->nats->envelope, change);
  if (!buffer_ok(&sending->subject, "a subject", error) || !buffer_ok(&sending->value, "a message", error))
    return false;
  if (!nats_session_message(session, sending->subject.data, index, &sending->value, &sending->message))
    return error_set(error, FAILURE_RETRY, "out of memory");
  add_headers(sending, change);
  natsStatus status = sending->no_memory || !buffer_ok(&sending->text, "a header", error)
                          ? NATS_NO_MEMORY
                          : nats_session_publish(session, sending->message);
  natsMsg_Destroy(sending->message);
  sending->message = NULL;
  if (status == NATS_MAX_PAYLOAD) {
    text_print(why, sizeof why, "a message of %zu bytes is larger than the server takes", sending->value.length);
    refuse(sending, index, FLIGHT_REFUSED, why);
    return true;
  }
  /* It may have gone nevertheless. */
  flight_send(&sending->flight, index, sending->value.length);
  return status == NATS_OK || nats_session_fails(status, error);
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

/* {"error":{"code":…,"err_code":…,"description":…}} */
static void take_refusal(struct sending *sending, size_t index, const json_t *said) {
  struct error why;
  int64_t code = json_integer_value(json_object_get(said, "err_code"));
  const char *text = json_string_value(json_object_get(said, "description"));
  if (text == NULL)
    text = "the stream does not take it";
  if (code == TOO_LARGE) {
    refuse(sending, index, FLIGHT_REFUSED, text);
  } else if (code == ANOTHER_STREAM || code == SEALED) {
    refuse(sending, index, FLIGHT_HELD, text);
  } else {
    error_set(&why, FAILURE_RETRY, "%s", text);
    flight_reject(&sending->flight, index, &why);
  }
}

/* {"stream":"S","seq":7,"duplicate":true} */
static void take_receipt(struct sending *sending, size_t index, const json_t *said) {
  char receipt[VERDICT_ANSWER_SIZE];
  const char *stream = json_string_value(json_object_get(said, "stream"));
  int64_t place = json_integer_value(json_object_get(said, "seq"));
  bool is_duplicate = json_is_true(json_object_get(said, "duplicate"));
  if (!is_duplicate)
    loss_look(sending->nats->settings, stream, 0, place);
  text_print(receipt, sizeof receipt, "%s%lld of %s", is_duplicate ? "duplicate of " : "", (long long)place, stream);
  flight_store(&sending->flight, index, receipt);
}

static bool take_answer(struct sending *sending, size_t index, natsMsg *answer, struct error *error) {
  bool no_memory = false;
  if (!flight_awaits(&sending->flight, index))
    return true;
  if (natsMsg_IsNoResponders(answer)) {
    refuse(sending, index, FLIGHT_HELD, "no stream has this subject");
    return true;
  }
  json_t *said = json_tree_parse(natsMsg_GetData(answer), (size_t)natsMsg_GetDataLength(answer), 0, &no_memory);
  const json_t *refusal = json_object_get(said, "error");
  bool ok = true;
  if (refusal != NULL)
    take_refusal(sending, index, refusal);
  else if (json_string_value(json_object_get(said, "stream")) != NULL)
    take_receipt(sending, index, said);
  else
    ok = error_set(error, FAILURE_RETRY, "the server gave an answer that was not expected");
  json_decref(said);
  return ok;
}

/* Permissions Violation for Publish to "SUBJECT" */
static void take_complaint(struct sending *sending) {
  char said[512];
  nats_session_complaint(sending->nats->session, said, sizeof said);
  for (size_t i = 0; said[0] != '\0' && i < sending->flight.push->count; i++) {
    if (!flight_awaits(&sending->flight, i))
      continue;
    name_subject(sending, sending->flight.push->changes[i]);
    buffer_clear(&sending->text);
    buffer_add_format(&sending->text, "\"%s\"", sending->subject.data != NULL ? sending->subject.data : "");
    if (sending->text.data != NULL && strcasestr(said, sending->text.data) != NULL)
      refuse(sending, i, FLIGHT_HELD, said);
  }
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

static bool may_wait(const struct sending *sending, struct error *error) {
  int64_t push_timeout = sending->nats->settings->push_timeout;
  if (interrupted())
    return error_set(error, FAILURE_STOP, "interrupted");
  if (clock_now() - sending->began >= push_timeout)
    return error_set(error, FAILURE_RETRY, "no answer within %lld s", (long long)(push_timeout / 1000));
  return true;
}

/* Waits for one answer at least, if any is missing, and takes all that are there. */
static bool take_answers(struct sending *sending, struct error *error) {
  natsMsg *answer = NULL;
  size_t index = 0;
  int wait = STEP;
  while (sending->flight.in_flight > 0) {
    if (!nats_session_answer(sending->nats->session, wait, &answer, &index, error)) {
      if (error->kind != FAILURE_NONE)
        return false;
      take_complaint(sending);
      return true;
    }
    bool ok = take_answer(sending, index, answer, error);
    natsMsg_Destroy(answer);
    if (!ok)
      return false;
    wait = 0;
  }
  return true;
}

static bool send_all(struct sending *sending, struct error *error) {
  struct flight *flight = &sending->flight;
  while (flight_goes_on(flight)) {
    /* Many at a time: one by one the threads of library and server wake each other for each. */
    bool begins = flight_has_room(flight, MOST_IN_FLIGHT / 2, MOST_BYTES_IN_FLIGHT / 2);
    if (begins && !push_is_still_ours(flight->push, error))
      return false;
    while (begins && flight_has_room(flight, MOST_IN_FLIGHT, MOST_BYTES_IN_FLIGHT))
      if (!send_change(sending, flight_next(flight), error))
        return false;
    if (!take_answers(sending, error) || !may_wait(sending, error))
      return false;
  }
  return true;
}

static bool need_session(struct nats *nats, struct error *error) {
  if (nats->session != NULL && nats_session_is_alive(nats->session))
    return true;
  nats_session_close(nats->session);
  nats->session = NULL;
  return nats_session_open(&nats->session, nats, error) &&
         (!nats->create_stream || nats_session_make_stream(nats->session, error));
}

static bool run(struct sending *sending, struct error *error) {
  struct nats *nats = sending->nats;
  bool ok = envelope_learn(&nats->envelope, nats->source, error) && need_session(nats, error);
  if (ok) {
    nats_session_begin_round(nats->session);
    ok = send_all(sending, error);
  }
  return flight_end(&sending->flight, nats->per_table, ok, error);
}

bool nats_push(void *handle, const struct push *push, struct error *error) {
  struct nats *nats = handle;
  struct sending sending = {.nats = nats, .began = clock_now()};
  if (!flight_init(&sending.flight, push, error))
    return false;
  buffer_init(&sending.subject, URL_LIMIT);
  buffer_init(&sending.value, MESSAGE_LIMIT);
  buffer_init(&sending.text, MESSAGE_LIMIT);
  bool ok = run(&sending, error);
  if (!ok) {
    nats_session_close(nats->session);
    nats->session = NULL;
  }
  flight_release(&sending.flight);
  buffer_release(&sending.subject);
  buffer_release(&sending.value);
  buffer_release(&sending.text);
  return ok;
}
#else
typedef int nats_push_is_not_built;
#endif
