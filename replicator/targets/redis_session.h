/*
 * redis_session: a connection to a Redis server, logged in, that sends commands together and takes their answers in
 * order. hiredis writes commands and reads answers; the bytes are carried by a wire.
 */
#ifndef ROWRELAY_TARGETS_REDIS_SESSION_H
#define ROWRELAY_TARGETS_REDIS_SESSION_H

#include <hiredis/hiredis.h>

#include "targets/redis.h"

struct redis_session;

/* Most arguments of a command that redis_command_add() takes. */
#define REDIS_ARGUMENTS 64

/* A command that is being put together; its texts are borrowed until it is sent. */
struct redis_command {
  const char *arguments[REDIS_ARGUMENTS];
  size_t lengths[REDIS_ARGUMENTS];
  int count;
};

/* Connects, logs in and asks whether it may go on. */
MUST_CHECK bool redis_session_open(struct redis_session **session, const struct redis *redis, int64_t deadline,
                                   struct error *error);
/* NULL is allowed. */
void redis_session_close(struct redis_session *session);

void redis_command_add(struct redis_command *command, const char *text, size_t length);
/* Adds a command to those that are sent next: one that was put together, or words with blanks between them. */
void redis_session_queue(struct redis_session *session, const struct redis_command *command);
void redis_session_queue_words(struct redis_session *session, const char *words);
/* The same for any number of arguments, each a text. */
void redis_session_queue_texts(struct redis_session *session, const char **texts, size_t count);

/*
 * Sends what is queued and waits for as many answers, which are the caller's to free with redis_replies_free(). False:
 * the connection is of no use any more.
 */
MUST_CHECK bool redis_session_run(struct redis_session *session, redisReply ***replies, int64_t deadline,
                                  struct error *error);
/* How many commands are queued. */
size_t redis_session_count(const struct redis_session *session);
void redis_replies_free(redisReply **replies, size_t count);

/* Whether it is an error that begins with this word. */
bool redis_reply_is_error(const redisReply *reply, const char *word);
/* Makes an error of it. Always false. */
bool redis_reply_fails(const redisReply *reply, struct error *error);

/* Longest text that the server takes. Bytes. */
size_t redis_session_longest(const struct redis_session *session);

#endif
