/*
 * Kafka: each change is a message in a topic, by librdkafka. The program is built without that where it is not
 * installed; such a URL is then refused.
 */
#include "targets/kafka.h"

#include <stdlib.h>
#include <string.h>

#include "common/optional.h"
#include "targets/channel_name.h"
#include "targets/tls_options.h"
#if HAVE_RDKAFKA
#include "targets/kafka_producer.h"
#endif

static const struct target_option OWN_OPTIONS[] = {
    {.name = "tombstones",
     .help = "whether a message without a value follows each delete, for topics that are compacted",
     .choices = "true|false",
     .initial = "true"},
    {.name = "whole_transactions",
     .help = "whether Debezium's envelope tells its place in its transaction, and topic transaction where each begins "
             "and ends; with lanes=1",
     .choices = "true|false",
     .initial = "false"},
    {.name = "compression",
     .help = "how requests are compressed",
     .choices = "none|gzip|snappy|lz4|zstd",
     .initial = "none"},
    {.name = "request_bytes",
     .help = "largest request of several messages; not above max.message.bytes of the topic",
     .number = "a number of bytes",
     .least = 1024,
     .most = 100000000,
     .initial = "1000000"},
    {.name = "tls", .help = "whether to encrypt connections", .choices = "true|false", .initial = "false"},
    {.name = "private_key_password",
     .help = "password of that private key",
     .pattern = "^" TARGET_OPTION_VARIABLE "$",
     .words = "${NAME}, taken from the environment of rowrelay run",
     .secret = true},
    {.name = "sasl",
     .help = "how to log in",
     .choices = "none|PLAIN|SCRAM-SHA-256|SCRAM-SHA-512|OAUTHBEARER",
     .initial = "none"},
    {.name = "sasl_username",
     .help = "user to log in as; with OAUTHBEARER the client's id",
     .pattern = "\\S",
     .words = "a name"},
    {.name = "sasl_password",
     .help = "password of that user; with OAUTHBEARER the client's secret",
     .pattern = "^" TARGET_OPTION_VARIABLE "$",
     .words = "${NAME}, taken from the environment of rowrelay run",
     .secret = true},
    {.name = "oauth_url",
     .help = "where OAUTHBEARER gets its tokens",
     .pattern = "^https?://[^/?#@]+",
     .words = "a URL such as https://HOST/token"},
    {.name = "oauth_scope", .help = "scope of those tokens", .pattern = "\\S", .words = "a text"},
    TARGET_OPTION_END,
};
static const struct target_option *const OPTIONS[] = {TARGET_ENVELOPE_OPTIONS, TARGET_TLS_OPTIONS, OWN_OPTIONS, NULL};

static bool kafka_wants_details(const struct settings *settings) {
  (void)settings;
  return true;
}

#if HAVE_RDKAFKA
static void kafka_close(void *handle) {
  struct kafka *kafka = handle;
  if (kafka == NULL)
    return;
  kafka_producer_free(kafka->producer);
  target_values_release(&kafka->values);
  free(kafka->brokers);
  free(kafka->topic);
  envelope_release(&kafka->envelope);
  free(kafka);
}

/* kafka://BROKER,BROKER/TOPIC */
static bool read_url(struct kafka *kafka, const char *url, struct error *error) {
  const char *brokers = strstr(url, "://") + 3;
  const char *slash = strchr(brokers, '/');
  kafka->brokers = strndup(brokers, slash != NULL ? (size_t)(slash - brokers) : strlen(brokers));
  kafka->topic = strdup(slash != NULL && slash[1] != '\0' ? slash + 1 : CHANNEL_NAME_TABLE);
  if (kafka->brokers == NULL || kafka->topic == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  kafka->per_table = strstr(kafka->topic, CHANNEL_NAME_TABLE) != NULL;
  return true;
}

static bool kafka_open(void **handle, const struct settings *settings, const char *url, struct source *source,
                       struct error *error) {
  struct kafka *kafka = calloc(1, sizeof *kafka);
  if (kafka == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  kafka->settings = settings;
  kafka->source = source;
  bool ok = read_url(kafka, url, error) && target_values_init(&kafka->values, settings, OPTIONS, error);
  if (ok) {
    kafka->tombstones = target_values_flag(&kafka->values, "tombstones");
    kafka->whole_transactions = target_values_flag(&kafka->values, "whole_transactions");
    envelope_init(&kafka->envelope, settings, &kafka->values);
  }
  ok = ok && tls_options_check(&kafka->values, error) && kafka_producer_check(kafka, error);
  if (!ok) {
    kafka_close(kafka);
    return false;
  }
  *handle = kafka;
  return true;
}

/* Asks the brokers who they are. */
static bool kafka_test(void *handle, struct buffer *answer, struct error *error) {
  struct kafka *kafka = handle;
  return (kafka->producer != NULL || kafka_producer_new(&kafka->producer, kafka, false, error)) &&
         kafka_producer_test(kafka->producer, answer, error);
}
#endif

static const struct target_url URLS[] = {
    {"kafka", "kafka://HOST:9092,HOST:9092/TOPIC", "Kafka; without a topic, each table's own, SCHEMA.TABLE"},
    {NULL, NULL, NULL},
};

#define A_TOPIC "([A-Za-z0-9._-]|\\{table\\}|" TARGET_OPTION_VARIABLE ")"

static const struct target_url_rule URL_RULES[] = {
    {.pattern = "@", .forbidden = true, .problem = "names a user", .hint = "Set options sasl and sasl_username."},
    {.pattern = "^kafka://[^/?#,]+(,[^/?#,]+)*(/|$)",
     .problem = "names no broker",
     .hint = "Write kafka://HOST:9092/TOPIC, with a comma between brokers."},
    {.pattern = "^kafka://[^/]+(/" A_TOPIC "*)?$",
     .problem = "names a topic that cannot be",
     .hint = "Use letters, digits, '.', '_' and '-'; {table} stands for a table's name."},
    {.pattern = NULL},
};

const struct target_kind TARGET_KAFKA = {.name = "kafka",
                                         .urls = URLS,
                                         .url_rules = URL_RULES,
                                         .options = OPTIONS,
                                         .opens_alone = true,
                                         .test_sends_nothing = true,
                                         .batch_rows = "1000", /* larger ones bring no more, and take memory */
                                         .wants_details = kafka_wants_details,
#if HAVE_RDKAFKA
                                         .open = kafka_open,
                                         .push = kafka_push,
                                         .test = kafka_test,
                                         .close = kafka_close
#else
                                         .lacks = "librdkafka"
#endif
};
