#include "common/optional.h"
#if HAVE_HIREDIS
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "http/wire.h"
#include "postgres/number.h"
#include "targets/redis_session.h"

#define DEFAULT_PORT 6379
/* Of connecting; a push may take longer. Milliseconds. */
#define CONNECT_TIME 10000
/* How often a wait checks for an interrupt. Milliseconds. */
#define STEP 100
/* Commands of one batch. Bytes. */
#define COMMANDS_LIMIT ((size_t)4 * 1024 * 1024 * 1024)
/* What is kept from one push to the next. Bytes. */
#define KEPT_CAPACITY ((size_t)16 * 1024 * 1024)
/* Of the answers to a batch, and of the part of them for each command. Bytes. */
#define ANSWERS_LIMIT ((size_t)1024 * 1024)
#define ANSWER_LIMIT ((size_t)256)
/* Of a server that does not say it, proto-max-bulk-len as it is by default; and of an entry of a stream. Bytes. */
#define LONGEST_TEXT ((size_t)512 * 1024 * 1024)

struct redis_session {
  struct wire *wire;
  redisReader *reader;
  struct buffer commands; /* that are queued */
  size_t count;           /* how many */
  size_t received;        /* bytes of their answers */
  int64_t push_timeout;   /* for messages */
  size_t longest;
};

/* ---- commands -------------------------------------------------------------------------------------------------- */

static void queue(struct redis_session *session, const char **texts, const size_t *lengths, size_t count) {
  char *command = NULL;
  long long length = redisFormatCommandArgv(&command, (int)count, texts, lengths);
  if (length < 0)
    buffer_lack_memory(&session->commands);
  else
    buffer_add(&session->commands, command, (size_t)length);
  free(command);
  session->count++;
}

void redis_command_add(struct redis_command *command, const char *text, size_t length) {
  if (command->count == REDIS_ARGUMENTS)
    return;
  command->arguments[command->count] = text;
  command->lengths[command->count++] = length;
}

void redis_session_queue(struct redis_session *session, const struct redis_command *command) {
  struct redis_command copy = *command;
  queue(session, copy.arguments, copy.lengths, (size_t)copy.count);
}

void redis_session_queue_texts(struct redis_session *session, const char **texts, size_t count) {
  queue(session, texts, NULL, count);
}

void redis_session_queue_words(struct redis_session *session, const char *words) {
  struct redis_command command = {.count = 0};
  for (const char *word = words; *word != '\0'; word += *word == ' ') {
    size_t length = strcspn(word, " ");
    redis_command_add(&command, word, length);
    word += length;
  }
  redis_session_queue(session, &command);
}

size_t redis_session_count(const struct redis_session *session) {
  return session->count;
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

void redis_replies_free(redisReply **replies, size_t count) {
  for (size_t i = 0; replies != NULL && i < count; i++)
    freeReplyObject(replies[i]);
  free(replies);
}

bool redis_reply_is_error(const redisReply *reply, const char *word) {
  return reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, word, strlen(word)) == 0;
}

bool redis_reply_fails(const redisReply *reply, struct error *error) {
  static const char *const OURS[] = {"WRONGPASS", "NOAUTH", "NOPERM", "ERR invalid password", "ERR AUTH"};
  if (reply->type != REDIS_REPLY_ERROR)
    return error_set(error, FAILURE_RETRY, "the server gave an answer that was not expected");
  for (size_t i = 0; i < sizeof OURS / sizeof OURS[0]; i++)
    if (redis_reply_is_error(reply, OURS[i])) {
      error_set(error, FAILURE_FATAL, "the server does not let us in: %s", reply->str);
      return error_hint(error, "see user and password in the target's URL, the environment of this process, and the "
                               "server's ACL");
    }
  return error_set(error, FAILURE_RETRY, "%s", reply->str);
}

/* Takes what has arrived. */
static bool feed(struct redis_session *session, bool *moved, struct error *error) {
  char bytes[16384];
  size_t length;
  if (!wire_receive(session->wire, bytes, sizeof bytes, &length, error))
    return false;
  *moved = *moved || length > 0;
  session->received += length;
  if (session->received > ANSWERS_LIMIT + ANSWER_LIMIT * session->count)
    return error_set(error, FAILURE_RETRY, "the server's answer has more than %zu bytes", session->received);
  if (length > 0 && redisReaderFeed(session->reader, bytes, length) != REDIS_OK)
    return error_set(error, FAILURE_RETRY, "the server's answer cannot be read: %s", session->reader->errstr);
  return true;
}

/* Takes the answers that are complete, up to `count`. */
static bool take(struct redis_session *session, redisReply **replies, size_t count, size_t *taken,
                 struct error *error) {
  while (*taken < count) {
    void *reply = NULL;
    if (redisReaderGetReply(session->reader, &reply) != REDIS_OK)
      return error_set(error, FAILURE_RETRY, "the server's answer cannot be read: %s", session->reader->errstr);
    if (reply == NULL)
      return true;
    replies[(*taken)++] = reply;
    /* After that it says nothing more. */
    if (redis_reply_is_error(reply, "ERR Protocol error"))
      return error_set(error, FAILURE_REFUSED, "%s", ((redisReply *)reply)->str);
  }
  return true;
}

static bool exchange(struct redis_session *session, redisReply **replies, size_t *taken, int64_t deadline,
                     struct error *error) {
  const struct buffer *commands = &session->commands;
  size_t sent = 0;
  while (*taken < session->count) {
    bool moved = false;
    size_t length = 0;
    if (sent < commands->length &&
        !wire_send(session->wire, commands->data + sent, commands->length - sent, &length, error)) {
      /* It may have said why. */
      struct error hidden;
      (void)(feed(session, &moved, &hidden) && take(session, replies, session->count, taken, error));
      return false;
    }
    sent += length;
    moved = length > 0;
    if (!feed(session, &moved, error) || !take(session, replies, session->count, taken, error))
      return false;
    if (interrupted())
      return error_set(error, FAILURE_STOP, "interrupted");
    if (clock_now() >= deadline)
      return error_set(error, FAILURE_RETRY, "no answer within %lld s", (long long)(session->push_timeout / 1000));
    if (!moved)
      wire_wait(session->wire, sent < commands->length, STEP);
  }
  return true;
}

bool redis_session_run(struct redis_session *session, redisReply ***replies, int64_t deadline, struct error *error) {
  size_t taken = 0;
  session->received = 0;
  *replies = calloc(session->count + 1, sizeof **replies);
  bool ok = false;
  if (*replies == NULL)
    error_set(error, FAILURE_RETRY, "out of memory");
  else
    ok = buffer_ok(&session->commands, "a batch", error) && exchange(session, *replies, &taken, deadline, error);
  if (!ok) {
    redis_replies_free(*replies, taken);
    *replies = NULL;
  }
  if (session->commands.capacity > KEPT_CAPACITY)
    buffer_release(&session->commands);
  buffer_clear(&session->commands);
  session->count = 0;
  return ok;
}

/* ---- opening it ------------------------------------------------------------------------------------------------ */

static bool connect_wire(struct redis_session *session, const struct redis *redis, struct error *error) {
  const struct address *address = &redis->address;
  int64_t half = redis->settings->push_timeout / 2;
  const struct wire_options options = {.host = address->host,
                                       .port = address->port != 0 ? address->port : DEFAULT_PORT,
                                       .tls = strcmp(address->scheme, "rediss") == 0,
                                       .ca_file = target_values_text(&redis->values, "ca_file"),
                                       .certificate = target_values_text(&redis->values, "certificate"),
                                       .private_key = target_values_text(&redis->values, "private_key"),
                                       .timeout = half < CONNECT_TIME ? half : CONNECT_TIME};
  return wire_open(&session->wire, &options, error);
}

/* Its transactions, by which a batch arrives whole, cannot include streams and lanes that are on several servers. */
static bool is_of_cluster(const redisReply *information) {
  return information != NULL && information->type == REDIS_REPLY_STRING &&
         strstr(information->str, "cluster_enabled:1") != NULL;
}

/* Says who we are, and asks what it takes. The last three may be forbidden. */
static bool greet(struct redis_session *session, const struct redis *redis, int64_t deadline, struct error *error) {
  const struct address *address = &redis->address;
  redisReply **replies;
  if (address->password != NULL) {
    bool has_user = address->user != NULL && address->user[0] != '\0';
    const char *words[] = {"AUTH", has_user ? address->user : address->password, address->password};
    redis_session_queue_texts(session, words, has_user ? 3 : 2);
  }
  const struct number database = number(redis->database);
  const char *choice[] = {"SELECT", database.text};
  redis_session_queue_texts(session, choice, 2);
  redis_session_queue_words(session, "PING");
  size_t needed = session->count;
  redis_session_queue_words(session, "CLIENT SETNAME rowrelay");
  redis_session_queue_words(session, "INFO cluster");
  redis_session_queue_words(session, "CONFIG GET proto-max-bulk-len");
  size_t count = session->count;
  if (!redis_session_run(session, &replies, deadline, error))
    return false;
  bool ok = true;
  for (size_t i = 0; ok && i < needed; i++)
    if (replies[i] != NULL && replies[i]->type == REDIS_REPLY_ERROR)
      ok = redis_reply_fails(replies[i], error);
  if (ok && is_of_cluster(replies[count - 2])) {
    error_set(error, FAILURE_FATAL,
              "the server is one of a cluster, whose transactions cannot include several streams");
    ok = error_hint(error, "use a server of its own, with replicas for its failure");
  }
  const redisReply *said = replies[count - 1];
  if (said != NULL && said->type == REDIS_REPLY_ARRAY && said->elements == 2 &&
      said->element[1]->type == REDIS_REPLY_STRING && strtoull(said->element[1]->str, NULL, 10) < session->longest)
    session->longest = strtoull(said->element[1]->str, NULL, 10);
  redis_replies_free(replies, count);
  return ok;
}

bool redis_session_open(struct redis_session **session, const struct redis *redis, int64_t deadline,
                        struct error *error) {
  struct redis_session *made = calloc(1, sizeof *made);
  if (made == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  made->push_timeout = redis->settings->push_timeout;
  made->longest = LONGEST_TEXT;
  buffer_init(&made->commands, COMMANDS_LIMIT);
  made->reader = redisReaderCreate();
  bool ok = made->reader != NULL || error_set(error, FAILURE_RETRY, "out of memory");
  if (!ok || !connect_wire(made, redis, error) || !greet(made, redis, deadline, error)) {
    redis_session_close(made);
    return false;
  }
  *session = made;
  return true;
}

void redis_session_close(struct redis_session *session) {
  if (session == NULL)
    return;
  wire_close(session->wire);
  if (session->reader != NULL)
    redisReaderFree(session->reader);
  buffer_release(&session->commands);
  free(session);
}

size_t redis_session_longest(const struct redis_session *session) {
  return session->longest;
}
#else
typedef int redis_session_is_not_built;
#endif
