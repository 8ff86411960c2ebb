/*
 * Redis: each change is an entry of a stream, by hiredis. The program is built without that where it is not installed;
 * such a URL is then refused.
 */
#include "targets/redis.h"

#include <stdlib.h>
#include <string.h>

#include "common/optional.h"
#include "targets/channel_name.h"
#include "targets/tls_options.h"
#if HAVE_HIREDIS
#include "common/clock.h"
#include "targets/redis_session.h"
#endif

static const struct target_option OWN_OPTIONS[] = {
    {.name = "maxlen",
     .help = "about how many entries a stream keeps; 0 keeps all",
     .number = "a number of entries",
     .least = 0,
     .most = 999999999,
     .initial = "0"},
    {.name = "replicas",
     .help = "how many replicas of the server must have a batch before it counts as delivered",
     .number = "a number of replicas",
     .least = 0,
     .most = 100,
     .initial = "0"},
    TARGET_OPTION_END,
};
static const struct target_option *const OPTIONS[] = {TARGET_ENVELOPE_OPTIONS, TARGET_TLS_OPTIONS, OWN_OPTIONS, NULL};

static bool redis_wants_details(const struct settings *settings) {
  (void)settings;
  return true;
}

#if HAVE_HIREDIS
static void redis_close(void *handle) {
  struct redis *redis = handle;
  if (redis == NULL)
    return;
  redis_session_close(redis->session);
  target_values_release(&redis->values);
  envelope_release(&redis->envelope);
  address_release(&redis->address);
  free(redis->stream);
  free(redis);
}

/* redis://USER:PASSWORD@HOST:PORT/DATABASE/STREAM, where all but the host may be missing. */
static bool read_url(struct redis *redis, const char *url, struct error *error) {
  if (!address_init(&redis->address, url, error))
    return false;
  const char *stream = redis->address.path;
  size_t digits = strspn(stream, "0123456789");
  if (digits > 0 && (stream[digits] == '/' || stream[digits] == '\0')) {
    redis->database = (int)strtol(stream, NULL, 10);
    stream += digits + (stream[digits] == '/');
  }
  redis->stream = strdup(stream[0] != '\0' ? stream : CHANNEL_NAME_TABLE);
  if (redis->stream == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  redis->per_table = strstr(redis->stream, CHANNEL_NAME_TABLE) != NULL;
  return true;
}

static bool redis_open(void **handle, const struct settings *settings, const char *url, struct source *source,
                       struct error *error) {
  struct redis *redis = calloc(1, sizeof *redis);
  if (redis == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  redis->settings = settings;
  redis->source = source;
  bool ok = read_url(redis, url, error) && target_values_init(&redis->values, settings, OPTIONS, error);
  if (ok) {
    redis->maxlen = target_values_number(&redis->values, "maxlen");
    redis->replicas = target_values_number(&redis->values, "replicas");
    envelope_init(&redis->envelope, settings, &redis->values);
  }
  if (!ok || !tls_options_check(&redis->values, error)) {
    redis_close(redis);
    return false;
  }
  *handle = redis;
  return true;
}

/* A new session begins with questions. */
static bool redis_test(void *handle, struct buffer *answer, struct error *error) {
  struct redis *redis = handle;
  redis_session_close(redis->session);
  redis->session = NULL;
  if (!redis_session_open(&redis->session, redis, clock_now() + redis->settings->push_timeout, error))
    return false;
  buffer_add_string(answer, "the server answered; nothing was sent");
  return true;
}
#endif

static const struct target_url URLS[] = {
    {"redis", "redis://HOST:6379/STREAM", "Redis Streams; without a stream, each table's own, SCHEMA.TABLE"},
    {"rediss", "rediss://HOST:6379/STREAM", "the same with TLS"},
    {NULL, NULL, NULL},
};

#define A_STREAM "([A-Za-z0-9._:-]|[{]table[}]|[$][{]\\w+[}])"

static const struct target_url_rule URL_RULES[] = {
    {.pattern = "^rediss?://([^/?#@]*@)?[^/?#@:,][^/?#@,]*(/|$)",
     .problem = "names no host, or more than one",
     .hint = "Write SCHEME://HOST:6379/STREAM, or SCHEME://USER:${PASSWORD}@HOST:6379/STREAM."},
    {.pattern = "^rediss?://[^/]+(/[0-9]+)?(/" A_STREAM "*)?$",
     .problem = "names a stream that cannot be",
     .hint = "Write letters, digits, ._:- or {table}, the table's name; /2/NAME is one in database 2."},
    {.pattern = NULL},
};

const struct target_kind TARGET_REDIS = {.name = "redis",
                                         .urls = URLS,
                                         .url_rules = URL_RULES,
                                         .options = OPTIONS,
                                         .opens_alone = true,
                                         .test_sends_nothing = true,
                                         .wants_details = redis_wants_details,
#if HAVE_HIREDIS
                                         .open = redis_open,
                                         .push = redis_push,
                                         .test = redis_test,
                                         .close = redis_close
#else
                                         .lacks = "libhiredis"
#endif
};
