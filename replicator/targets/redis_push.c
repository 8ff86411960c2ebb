/*
 * Pushes to Redis.
 *
 * A batch is one transaction (MULTI … EXEC) of the server: it has all entries, in their order, or none. The server
 * gives entries their ids, because change ids do not rise in a stream that several workers write to, nor where a
 * refused change is tried again.
 *
 * For each lane of the source, a key of the server holds the number of its last claim. A push watches the keys of its
 * lanes and looks at them, and the transaction sets them: the server gives it up if a later claim has come in between.
 * So who was left behind, by the network or by its source, writes nothing behind its successor's back; however late its
 * bytes arrive.
 *
 * When the answer to a transaction is lost, nobody knows whether it was done. Its changes are pushed again, and may
 * then be there twice: once more as a whole and in order. The keys cannot tell that, because a change comes again for
 * good reasons, too (`rowrelay replay`). A reader who must know compares the change's id with the last one of the key.
 */
#include "common/optional.h"
#if HAVE_HIREDIS
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/url.h"
#include "postgres/number.h"
#include "targets/channel_name.h"
#include "targets/cloudevent.h"
#include "targets/loss.h"
#include "targets/redis_session.h"
#include "targets/row_order.h"

/* Texts of one entry. Bytes. */
#define ENTRY_LIMIT ((size_t)1200 * 1024 * 1024)
/* An entry, with all its fields, must be below 1 GiB. */
#define LONGEST_ENTRY ((size_t)1024 * 1024 * 1024 - 65536)
/* Of the push's time, what is left for the rest when replicas are waited for. Milliseconds. */
#define SPARE_TIME 500

/* A push on its way. */
struct sending {
  struct redis *redis;
  const struct push *push;
  size_t *next;        /* change of the same row that comes after */
  bool *waits;         /* an older change of its row is refused */
  struct buffer lanes; /* names of the lanes' keys, each with a NUL */
  struct buffer stream;
  struct buffer id;
  struct buffer key;
  struct buffer value;
  struct buffer headers; /* names and values, each with a NUL */
  int64_t deadline;
  bool sent; /* from then on it may arrive */
};

/* ---- claims of the lanes --------------------------------------------------------------------------------------- */

/* WATCH or MGET of the lanes' keys, or MSET of them to the claim's number. */
static bool queue_for_lanes(struct sending *sending, const char *word, const char *value, struct error *error) {
  size_t count = 0;
  const char **texts = calloc(2 * sending->push->lane_count + 1, sizeof *texts);
  if (texts == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  const char *name = sending->lanes.data;
  texts[count++] = word;
  for (size_t i = 0; i < sending->push->lane_count; i++, name += strlen(name) + 1) {
    texts[count++] = name;
    if (value != NULL)
      texts[count++] = value;
  }
  redis_session_queue_texts(sending->redis->session, texts, count);
  free(texts);
  return true;
}

static bool name_lanes(struct sending *sending, struct error *error) {
  for (size_t i = 0; i < sending->push->lane_count; i++) {
    buffer_add_format(&sending->lanes, "rowrelay:%s:%d", sending->redis->settings->source_id, sending->push->lanes[i]);
    buffer_add(&sending->lanes, "", 1);
  }
  return buffer_ok(&sending->lanes, "the list of lanes", error);
}

/* Whether a later claim has been here; `known`, whether all lanes are this claim's already. */
static bool look_at_claims(const struct sending *sending, const redisReply *said, bool *known, struct error *error) {
  if (said->type != REDIS_REPLY_ARRAY)
    return redis_reply_fails(said, error);
  const char *name = sending->lanes.data;
  *known = true;
  for (size_t i = 0; i < said->elements; i++, name += strlen(name) + 1) {
    int64_t token = said->element[i]->type == REDIS_REPLY_STRING ? strtoll(said->element[i]->str, NULL, 10) : 0;
    loss_look(sending->redis->settings, name, 0, token);
    if (token > sending->push->token) {
      error_set(error, FAILURE_FENCED, "another process has claimed the same lanes since claim %lld",
                (long long)sending->push->token);
      error->newer = token;
      return false;
    }
    *known = *known && token == sending->push->token;
  }
  return true;
}

static bool lacks_replicas(const struct redis *redis, const redisReply *said, struct error *error) {
  if (said->type != REDIS_REPLY_INTEGER)
    return !redis_reply_fails(said, error);
  if (said->integer >= redis->replicas)
    return false;
  error_set(error, FAILURE_RETRY, "%lld of %lld replicas answer", (long long)said->integer, (long long)redis->replicas);
  error_hint(error, "see option replicas");
  return true;
}

/* The first round: whose the lanes are, and whether there are replicas. */
static bool look(struct sending *sending, bool *known, struct error *error) {
  struct redis *redis = sending->redis;
  redisReply **replies;
  if (sending->push->lane_count > 0 &&
      (!queue_for_lanes(sending, "WATCH", NULL, error) || !queue_for_lanes(sending, "MGET", NULL, error)))
    return false;
  if (sending->push->lane_count == 0)
    redis_session_queue_words(redis->session, "PING");
  if (redis->replicas > 0) {
    const struct number replicas = number(redis->replicas);
    redis_session_queue_texts(redis->session, (const char *[]){"WAIT", replicas.text, "1"}, 3);
  }
  size_t count = redis_session_count(redis->session);
  if (!redis_session_run(redis->session, &replies, sending->deadline, error))
    return false;
  bool ok = replies[0]->type != REDIS_REPLY_ERROR || redis_reply_fails(replies[0], error);
  if (ok && sending->push->lane_count > 0)
    ok = look_at_claims(sending, replies[1], known, error);
  ok = ok && (redis->replicas == 0 || !lacks_replicas(redis, replies[count - 1], error));
  redis_replies_free(replies, count);
  return ok;
}

/* ---- an entry -------------------------------------------------------------------------------------------------- */

static void add_header(void *context, const char *name, const char *value) {
  struct sending *sending = context;
  if (value == NULL) {
    buffer_lack_memory(&sending->headers);
    return;
  }
  buffer_add(&sending->headers, name, strlen(name) + 1);
  buffer_add(&sending->headers, value, strlen(value) + 1);
}

static void add_field(struct redis_command *command, const char *name, const struct buffer *value) {
  redis_command_add(command, name, strlen(name));
  redis_command_add(command, value->data != NULL ? value->data : "", value->length);
}

/* Whether the server would not take the entry. */
static bool is_too_long(const struct sending *sending, const struct redis_command *command, struct error *error) {
  size_t longest = redis_session_longest(sending->redis->session);
  size_t total = 0;
  for (int i = 0; i < command->count; i++) {
    total += command->lengths[i];
    if (command->lengths[i] <= longest)
      continue;
    error_set(error, FAILURE_REFUSED, "a text of %zu bytes is longer than the server takes", command->lengths[i]);
    error_detail(error, "Stream %s.", sending->stream.data);
    error_hint(error, "allow longer ones: proto-max-bulk-len of the server");
    return true;
  }
  if (total <= LONGEST_ENTRY)
    return false;
  error_set(error, FAILURE_REFUSED, "%zu bytes are more than an entry of a stream can have", total);
  return true;
}

/* XADD STREAM [MAXLEN ~ n] * id … key … HEADERS value … */
static bool queue_entry(struct sending *sending, const struct change *change, struct error *error) {
  const struct redis *redis = sending->redis;
  const struct number maxlen = number(redis->maxlen);
  struct redis_command command = {.count = 0};
  struct buffer *const buffers[] = {&sending->stream, &sending->id, &sending->key, &sending->value, &sending->headers};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    buffer_clear(buffers[i]);
  channel_name_add(&sending->stream, redis->stream, change->route);
  cloudevent_add_id(&sending->id, change);
  bool has_key = envelope_add_key(&sending->key, &redis->envelope, change);
  bool has_value = envelope_add_value(&sending->value, &redis->envelope, change);
  envelope_each_header(&redis->envelope, change, add_header, sending);
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    if (!buffer_ok(buffers[i], "an entry", error))
      return false;
  redis_command_add(&command, "XADD", 4);
  redis_command_add(&command, sending->stream.data, sending->stream.length);
  if (redis->maxlen > 0) {
    redis_command_add(&command, "MAXLEN", 6);
    redis_command_add(&command, "~", 1);
    redis_command_add(&command, maxlen.text, strlen(maxlen.text));
  }
  redis_command_add(&command, "*", 1);
  add_field(&command, "id", &sending->id);
  if (has_key)
    add_field(&command, "key", &sending->key);
  for (size_t at = 0; at < sending->headers.length; at += strlen(sending->headers.data + at) + 1)
    redis_command_add(&command, sending->headers.data + at, strlen(sending->headers.data + at));
  if (has_value)
    add_field(&command, "value", &sending->value);
  if (is_too_long(sending, &command, error))
    return false;
  redis_session_queue(redis->session, &command);
  return true;
}

/* Those that the server would not take are refused without it, and what comes after them of their rows goes back. */
static bool queue_entries(struct sending *sending, size_t *count, struct error *error) {
  const struct push *push = sending->push;
  *count = 0;
  for (size_t i = 0; i < push->count; i++) {
    if (sending->waits[i]) {
      push->verdicts[i].kind = VERDICT_LATER;
    } else if (queue_entry(sending, push->changes[i], error)) {
      (*count)++;
    } else if (error->kind == FAILURE_REFUSED) {
      verdict_refuse(&push->verdicts[i], error);
      row_order_let_wait(sending->next, i, sending->waits);
    } else {
      return false;
    }
  }
  return true;
}

/* ---- the outcome ----------------------------------------------------------------------------------------------- */

/* What the server says against one entry. False, with an error, when that is the fault of the target as a whole. */
static bool tell(const struct sending *sending, size_t index, const redisReply *said, struct error *error) {
  const struct change *change = sending->push->changes[index];
  struct verdict *verdict = &sending->push->verdicts[index];
  struct error why;
  if (said->type == REDIS_REPLY_STRING || said->type == REDIS_REPLY_STATUS) {
    verdict->kind = VERDICT_DELIVERED;
    verdict_answer(verdict, said->str);
    return true;
  }
  redis_reply_fails(said, &why);
  struct buffer stream;
  buffer_init(&stream, URL_LIMIT);
  channel_name_add(&stream, sending->redis->stream, change->route);
  if (stream.data != NULL)
    error_detail(&why, "Stream %s.", stream.data);
  buffer_release(&stream);
  if (redis_reply_is_error(said, "ERR Elements are too large")) {
    verdict_refuse(verdict, &why);
    return true;
  }
  bool is_of_stream = redis_reply_is_error(said, "WRONGTYPE") || redis_reply_is_error(said, "NOPERM") ||
                      redis_reply_is_error(said, "ERR The stream has exhausted");
  if (is_of_stream && sending->redis->per_table && !change->route->document) {
    verdict_refuse(verdict, &why);
    verdict->kind = VERDICT_HELD;
    return true;
  }
  *error = why;
  return false;
}

/* The next change that was sent, from `index` on. */
static size_t next_sent(const struct push *push, size_t index) {
  while (index < push->count && push->verdicts[index].kind != VERDICT_NONE)
    index++;
  return index;
}

/* A command was not even queued: nothing was done. */
static bool explain_abort(const struct sending *sending, redisReply **queued, size_t count, struct error *error) {
  const struct push *push = sending->push;
  size_t at = next_sent(push, 0);
  bool held = false;
  for (size_t i = 0; i < count; i++, at = next_sent(push, at + 1))
    if (queued[i]->type == REDIS_REPLY_ERROR) {
      if (!tell(sending, at, queued[i], error))
        return false;
      *error = *push->verdicts[at].why;
      held = true;
    }
  if (!held)
    return error_set(error, FAILURE_RETRY, "the server gave up the transaction");
  /* The others are pushed again without them. */
  error->kind = FAILURE_TABLE;
  return false;
}

static bool read_outcome(const struct sending *sending, redisReply **queued, size_t count, const redisReply *done,
                         struct error *error) {
  const struct push *push = sending->push;
  if (done->type == REDIS_REPLY_NIL)
    return error_set(error, FAILURE_FENCED, "another process has claimed the same lanes since claim %lld",
                     (long long)push->token);
  if (redis_reply_is_error(done, "EXECABORT"))
    return explain_abort(sending, queued, count, error);
  if (done->type != REDIS_REPLY_ARRAY || done->elements < count)
    return redis_reply_fails(done, error);
  bool ok = true;
  struct error why;
  size_t at = next_sent(push, 0);
  for (size_t i = 0; i < count; i++, at = next_sent(push, at + 1))
    if (!tell(sending, at, done->element[i], &why) && ok) {
      *error = why;
      ok = false;
    }
  return ok;
}

static void note_claims(const struct sending *sending) {
  const char *name = sending->lanes.data;
  for (size_t i = 0; i < sending->push->lane_count; i++, name += strlen(name) + 1)
    loss_look(sending->redis->settings, name, 0, sending->push->token);
}

/* ---- a push ---------------------------------------------------------------------------------------------------- */

/* How long the server may wait for its replicas. Milliseconds. */
static int64_t time_for_replicas(const struct sending *sending) {
  int64_t left = sending->deadline - clock_now() - SPARE_TIME;
  return left > 1 ? left : 1;
}

static bool transact(struct sending *sending, bool known, struct error *error) {
  struct redis *redis = sending->redis;
  struct redis_session *session = redis->session;
  const struct number token = number(sending->push->token);
  const struct number replicas = number(redis->replicas);
  const struct number time_left = number(time_for_replicas(sending));
  redisReply **replies;
  size_t entries;
  redis_session_queue_words(session, "MULTI");
  if (!queue_entries(sending, &entries, error))
    return false;
  if (!known && !queue_for_lanes(sending, "MSET", token.text, error))
    return false;
  size_t last = redis_session_count(session);
  redis_session_queue_words(session, "EXEC");
  if (redis->replicas > 0)
    redis_session_queue_texts(session, (const char *[]){"WAIT", replicas.text, time_left.text}, 3);
  size_t count = redis_session_count(session);
  if (!push_is_still_ours(sending->push, error))
    return false;
  sending->sent = true;
  if (!redis_session_run(session, &replies, sending->deadline, error))
    return false;
  bool ok = redis->replicas == 0 || !lacks_replicas(redis, replies[last + 1], error);
  ok = ok && read_outcome(sending, replies + 1, entries, replies[last], error);
  if (ok)
    note_claims(sending);
  redis_replies_free(replies, count);
  return ok;
}

/* A connection that was there may have been closed since by the server; nothing has been sent yet. */
static bool look_with_session(struct sending *sending, bool *known, struct error *error) {
  struct redis *redis = sending->redis;
  if (redis->session != NULL) {
    if (look(sending, known, error))
      return true;
    if (error->kind != FAILURE_RETRY || clock_now() >= sending->deadline)
      return false;
    redis_session_close(redis->session);
    redis->session = NULL;
  }
  return redis_session_open(&redis->session, redis, sending->deadline, error) && look(sending, known, error);
}

static bool run(struct sending *sending, struct error *error) {
  bool known = false;
  return name_lanes(sending, error) && look_with_session(sending, &known, error) &&
         (sending->push->count == 0 || transact(sending, known, error));
}

bool redis_push(void *handle, const struct push *push, struct error *error) {
  struct redis *redis = handle;
  struct sending sending = {.redis = redis,
                            .push = push,
                            .next = calloc(push->count + 1, sizeof *sending.next),
                            .waits = calloc(push->count + 1, sizeof *sending.waits),
                            .deadline = clock_now() + redis->settings->push_timeout};
  struct buffer *const buffers[] = {&sending.lanes, &sending.stream, &sending.id,
                                    &sending.key,   &sending.value,  &sending.headers};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    buffer_init(buffers[i], ENTRY_LIMIT);
  bool ok = sending.next != NULL && sending.waits != NULL;
  if (ok)
    ok = envelope_learn(&redis->envelope, redis->source, error) &&
         row_order_chain(push->changes, push->count, sending.next, error) && run(&sending, error);
  else
    error_set(error, FAILURE_RETRY, "out of memory");
  if (!ok) {
    redis_session_close(redis->session);
    redis->session = NULL;
  }
  for (size_t i = 0; !ok && !sending.sent && i < push->count; i++)
    if (push->verdicts[i].kind == VERDICT_NONE)
      push->verdicts[i].kind = VERDICT_LATER;
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    buffer_release(buffers[i]);
  free(sending.next);
  free(sending.waits);
  return ok;
}
#else
typedef int redis_push_is_not_built;
#endif
