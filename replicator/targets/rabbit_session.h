/*
 * rabbit_session: a connection to an AMQP broker, logged in, with one channel that confirms what is published there.
 * librabbitmq writes and reads what is in frames; the bytes are carried by a wire, so that nothing waits longer than it
 * may.
 */
#ifndef ROWRELAY_TARGETS_RABBIT_SESSION_H
#define ROWRELAY_TARGETS_RABBIT_SESSION_H

#if __has_include(<rabbitmq-c/amqp.h>) /* librabbitmq 0.12 moved them, and 0.15 warns of the former names */
#include <rabbitmq-c/amqp.h>
#include <rabbitmq-c/framing.h>
#else
#include <amqp.h>
#include <amqp_framing.h>
#endif

#include "targets/rabbit.h"

struct rabbit_session;

/* Longest name, routing key and message id. Bytes. */
#define RABBIT_SHORT 255

struct rabbit_message {
  const char *routing_key;
  const amqp_basic_properties_t *properties;
  const struct buffer *value;
};

enum rabbit_kind { RABBIT_ACCEPTED, RABBIT_REJECTED, RABBIT_RETURNED };

/* What the broker says of messages. */
struct rabbit_event {
  enum rabbit_kind kind;
  uint64_t tag;                      /* the first message of the session is 1; not of one that is returned */
  bool multiple;                     /* all up to this one */
  char message_id[RABBIT_SHORT + 1]; /* of one that is returned */
  char reason[RABBIT_SHORT + 1];
};

/* Connects, logs in and looks for the exchange. */
MUST_CHECK bool rabbit_session_open(struct rabbit_session **session, const struct rabbit *rabbit, int64_t deadline,
                                    struct error *error);
/* NULL is allowed. */
void rabbit_session_close(struct rabbit_session *session);

/* Adds a message to what is sent next, and gives its tag. FAILURE_REFUSED: it cannot be a message. */
MUST_CHECK bool rabbit_session_publish(struct rabbit_session *session, const struct rabbit_message *message,
                                       uint64_t *tag, struct error *error);
/* Sends and receives what can be, and waits for that up to `milliseconds`. False: it is of no use any more. */
MUST_CHECK bool rabbit_session_serve(struct rabbit_session *session, int milliseconds, struct error *error);
/* The next event of those that have been received. False: there is none; then `error` is FAILURE_NONE, or it is of no
 * use any more. */
MUST_CHECK bool rabbit_session_event(struct rabbit_session *session, struct rabbit_event *event, struct error *error);

/* Why the broker takes nothing now; "": it does. */
const char *rabbit_session_blocked(const struct rabbit_session *session);

#endif
