/*
 * nats_session: a connection to a NATS server, logged in. It never connects again by itself, because the library would
 * then send once more what it had in hand, whatever has come since.
 */
#ifndef ROWRELAY_TARGETS_NATS_SESSION_H
#define ROWRELAY_TARGETS_NATS_SESSION_H

#include <nats/nats.h>

#include "targets/nats.h"

struct nats_session;

MUST_CHECK bool nats_session_open(struct nats_session **session, const struct nats *nats, struct error *error);
/* NULL is allowed. */
void nats_session_close(struct nats_session *session);

/* Whether the server has not closed it. */
bool nats_session_is_alive(const struct nats_session *session);

/* Whether JetStream, and the stream if it is named, are there; appends that. */
MUST_CHECK bool nats_session_test(struct nats_session *session, struct buffer *answer, struct error *error);
/* Makes the stream that is named, unless it is there. */
MUST_CHECK bool nats_session_make_stream(struct nats_session *session, struct error *error);

/* A message to `subject`, of which the answer will have this number. */
MUST_CHECK bool nats_session_message(struct nats_session *session, const char *subject, size_t number,
                                     const struct buffer *value, natsMsg **message);
MUST_CHECK natsStatus nats_session_publish(struct nats_session *session, natsMsg *message);
/* Forgets answers to what was sent before. */
void nats_session_begin_round(struct nats_session *session);

/*
 * Waits for an answer, up to `milliseconds`. False: there is none, and, if the connection is of no use any more,
 * `error` says why; else it is FAILURE_NONE. The answer is the caller's to free.
 */
MUST_CHECK bool nats_session_answer(struct nats_session *session, int milliseconds, natsMsg **answer, size_t *number,
                                    struct error *error);

/* Takes what the server has said against a message, of which it answers nothing: "" if it has not. */
void nats_session_complaint(struct nats_session *session, char *text, size_t size);

/* Makes an error of the library's status. Always false. */
bool nats_session_fails(natsStatus status, struct error *error);

#endif
