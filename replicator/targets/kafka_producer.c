#include "common/optional.h"
#if HAVE_RDKAFKA
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/text.h"
#include "common/url.h"
#include "postgres/number.h"
#include "targets/kafka_producer.h"
#include "targets/kafka_token.h"
#include "targets/loss.h"
#include "targets/tls_options.h"

/* Largest message; the broker's socket.request.max.bytes is 100 MiB. Bytes. */
#define LARGEST_MESSAGE "100000000"
/* Largest answer that is read, as of the metadata of a topic with many partitions. The same. */
#define LARGEST_ANSWER "16777216"
/* How long brokers may take to say what they have. Milliseconds. */
#define METADATA_TIME 10000
/* Milliseconds. */
#define TAKE_BACK_TIME 1000
/*
 * Whoever pushes takes everything back when the time of a push is over. If the process was stopped meanwhile, the
 * library would go on before that is known, and others may have the lanes by then: so it drops by itself what has
 * waited for so much longer, which is less than a lease does. Milliseconds.
 */
#define GIVEN_UP_BY 500

/* ---- errors ---------------------------------------------------------------------------------------------------- */

bool kafka_producer_is_refusal(rd_kafka_resp_err_t code) {
  switch (code) {
  case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
  case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
  case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
  case RD_KAFKA_RESP_ERR_INVALID_RECORD:
  case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
  case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
  case KAFKA_IS_DIVIDED:
    return true;
  default:
    return false;
  }
}

bool kafka_producer_is_of_topic(rd_kafka_resp_err_t code) {
  switch (code) {
  case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
  case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
  case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
  case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
  case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    return true;
  default:
    return false;
  }
}

/* Without what differs from one attempt to the next. */
static void keep_reason(struct kafka_producer *producer, const char *reason) {
  const char *end = strstr(reason, " (after ");
  size_t length = end != NULL ? (size_t)(end - reason) : strlen(reason);
  text_print(producer->reason, sizeof producer->reason, "%.*s", (int)length, reason);
}

/* A handshake that fails within the call that begins it is told as any lost connection is. */
static bool is_of_handshake(int code, const char *reason) {
  return code == RD_KAFKA_RESP_ERR__TRANSPORT &&
         (strstr(reason, "certificate verify failed") != NULL || strstr(reason, "wrong version number") != NULL);
}

/* Before 2.6.1 the library sent the nonce of the client twice (librdkafka#4895), which brokers of Kafka 4 refuse. */
static bool speaks_old_scram(const struct kafka_producer *producer) {
  return rd_kafka_version() < 0x020601ff &&
         strncmp(target_values_text(&producer->kafka->values, "sasl"), "SCRAM", 5) == 0;
}

/* The library's complaints; it goes on by itself unless this says otherwise. */
static void take_error(rd_kafka_t *library, int code, const char *reason, void *opaque) {
  struct kafka_producer *producer = opaque;
  char fatal[512];
  switch (is_of_handshake(code, reason) ? RD_KAFKA_RESP_ERR__SSL : code) {
  case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    if (producer->down.kind == FAILURE_NONE) /* it may be known why */
      error_set(&producer->down, FAILURE_RETRY, "no broker answers%s%s", producer->reason[0] != '\0' ? ": " : "",
                producer->reason);
    break;
  case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    if (producer->down.kind != FAILURE_NONE) /* no token */
      break;
    __attribute__((fallthrough));
  case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    keep_reason(producer, reason);
    error_set(&producer->down, FAILURE_FATAL, "the broker does not know us: %s", producer->reason);
    if (speaks_old_scram(producer))
      error_detail(&producer->down, "librdkafka %s fails SCRAM with Kafka 4.0 and later, whatever the password is.",
                   rd_kafka_version_str());
    error_hint(
        &producer->down, "see options sasl, sasl_username and sasl_password, and the environment of this process%s",
        speaks_old_scram(producer) ? "; with such a broker use librdkafka 2.6.1 or later, or sasl=PLAIN with tls" : "");
    break;
  case RD_KAFKA_RESP_ERR__SSL:
    keep_reason(producer, reason);
    error_set(&producer->down, FAILURE_FATAL, "no encrypted connection: %s", producer->reason);
    error_hint(&producer->down,
               "see options tls and ca_file; the broker's certificate must be valid for the host of the URL");
    break;
  case RD_KAFKA_RESP_ERR__FATAL:
    /* After a refusal, which the messages' own answers tell better, nothing else is wrong. */
    producer->stopped = true;
    if (rd_kafka_fatal_error(library, fatal, sizeof fatal) != RD_KAFKA_RESP_ERR__GAPLESS_GUARANTEE)
      error_set(&producer->down, FAILURE_FATAL, "the brokers refuse to go on: %s", fatal);
    break;
  default:
    keep_reason(producer, reason);
  }
}

/* From any of its threads. */
static void take_log(const rd_kafka_t *library, int level, const char *facility, const char *text) {
  const struct kafka_producer *producer = rd_kafka_opaque(library);
  struct error hidden;
  (void)level;
  error_set(&hidden, FAILURE_NONE, "%s", text);
  url_hide(producer->kafka->settings->url, &hidden);
  url_hide(producer->kafka->settings->options, &hidden);
  log_about(producer->kafka->settings->name, NULL); /* a thread of its own */
  log_message(LOG_LEVEL_DEBUG, "target %s: librdkafka: %s: %s", producer->kafka->settings->name, facility,
              hidden.message);
}

static void take_answer(rd_kafka_t *library, const rd_kafka_message_t *message, void *opaque) {
  struct kafka_producer *producer = opaque;
  struct kafka_ticket *ticket = message->_private;
  (void)library;
  if (message->err == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
      (message->err == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT &&
       rd_kafka_message_status(message) == RD_KAFKA_MSG_STATUS_NOT_PERSISTED)) {
    ticket->unsent = true;
  } else if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    ticket->failure = message->err;
    if (!kafka_producer_is_refusal(message->err) && !kafka_producer_is_of_topic(message->err))
      ticket->in_doubt = true;
  } else if (message->offset >= 0) {
    loss_look(producer->kafka->settings, rd_kafka_topic_name(message->rkt), message->partition, message->offset);
  }
  producer->pending--;
  if (--ticket->pending == 0 && producer->complete != NULL)
    producer->complete(producer->context, ticket);
}

/* Called while it is served. The library asks again where it fails, and says so meanwhile. */
static void take_token_request(rd_kafka_t *library, const char *config, void *opaque) {
  struct kafka_producer *producer = opaque;
  const struct target_values *values = &producer->kafka->values;
  struct kafka_token token = {.lifetime = 0};
  struct error error;
  char why[512];
  (void)config;
  bool ok = kafka_token_fetch(&token, values, &error);
  int64_t until = (int64_t)time(NULL) * 1000 + token.lifetime * 1000;
  if (ok && rd_kafka_oauthbearer_set_token(library, token.text.data, until, target_values_text(values, "sasl_username"),
                                           NULL, 0, why, sizeof why) != RD_KAFKA_RESP_ERR_NO_ERROR)
    ok = error_set(&error, FAILURE_FATAL, "%s", why);
  buffer_release(&token.text);
  if (ok)
    return;
  error_set(&producer->down, error.kind, "no token from %s: %s", target_values_text(values, "oauth_url"),
            error.message);
  rd_kafka_oauthbearer_set_token_failure(library, "no token");
}

/* ---- where a message goes -------------------------------------------------------------------------------------- */

/*
 * As Java's default partitioner does it: by the murmur2 hash of the key. Two exceptions keep order: changes of a table
 * without a key all go to one partition, and keys that may have several spellings (0 and -0, two cases in citext) go
 * where their common hash leads.
 */
static int32_t choose_partition(const rd_kafka_topic_t *topic, const void *key, size_t length, int32_t count,
                                void *opaque, void *private) {
  const struct kafka_ticket *ticket = private;
  const struct change *change = ticket->change;
  struct number hash;
  if (key == NULL) {
    key = change->route->relation;
    length = strlen(change->route->relation);
  } else if (change != NULL && change->has_hash) {
    hash = number(change->hash);
    key = hash.text;
    length = strlen(hash.text);
  }
  return rd_kafka_msg_partitioner_murmur2(topic, key, length, count, opaque, private);
}

/* ---- setting it up --------------------------------------------------------------------------------------------- */

static bool set(rd_kafka_conf_t *conf, const char *name, const char *value, struct error *error) {
  char why[256];
  if (value == NULL || rd_kafka_conf_set(conf, name, value, why, sizeof why) == RD_KAFKA_CONF_OK)
    return true;
  return error_set(error, FAILURE_FATAL, "librdkafka does not take %s: %s", name, why);
}

/* The value of an option that comes from the environment. */
static bool set_secret(rd_kafka_conf_t *conf, const char *name, const struct kafka *kafka, const char *option,
                       struct error *error) {
  const char *value = target_values_text(&kafka->values, option);
  char what[64];
  struct buffer filled;
  if (value == NULL)
    return true;
  text_print(what, sizeof what, "option %s", option);
  buffer_init(&filled, URL_LIMIT);
  bool ok = text_fill_in(value, what, &filled, error) && set(conf, name, filled.data, error);
  buffer_release(&filled);
  return ok;
}

static bool set_security(rd_kafka_conf_t *conf, const struct kafka *kafka, struct error *error) {
  const struct target_values *values = &kafka->values;
  const char *mechanism = target_values_text(values, "sasl");
  bool tls = target_values_flag(values, "tls");
  bool sasl = strcmp(mechanism, "none") != 0;
  const char *protocol = sasl ? (tls ? "sasl_ssl" : "sasl_plaintext") : (tls ? "ssl" : "plaintext");
  bool ok = set(conf, "security.protocol", protocol, error);
  if (tls)
    ok = ok && set(conf, "ssl.ca.location", target_values_text(values, "ca_file"), error) &&
         set(conf, "ssl.certificate.location", target_values_text(values, "certificate"), error) &&
         set(conf, "ssl.key.location", target_values_text(values, "private_key"), error) &&
         set_secret(conf, "ssl.key.password", kafka, "private_key_password", error);
  if (!sasl)
    return ok;
  ok = ok && set(conf, "sasl.mechanism", mechanism, error);
  if (strcmp(mechanism, "OAUTHBEARER") != 0)
    return ok && set(conf, "sasl.username", target_values_text(values, "sasl_username"), error) &&
           set_secret(conf, "sasl.password", kafka, "sasl_password", error);
  rd_kafka_conf_set_oauthbearer_token_refresh_cb(conf, take_token_request);
  return ok;
}

static bool set_order(rd_kafka_conf_t *conf, const struct kafka *kafka, bool careful, struct error *error) {
  const struct number request_bytes = number(target_values_number(&kafka->values, "request_bytes"));
  const struct number topic_time = number(KAFKA_TOPIC_TIME);
  const struct number lasting = number(kafka->settings->push_timeout + GIVEN_UP_BY);
  const struct {
    const char *name;
    const char *value;
  } wanted[] = {
      {"bootstrap.servers", kafka->brokers},
      {"client.id", "rowrelay"},
      {"enable.idempotence", "true"},
      {"acks", "all"},
      {"max.in.flight.requests.per.connection", "1"},
      {"message.timeout.ms", lasting.text},
      {"enable.gapless.guarantee", careful ? "false" : "true"},
      {"batch.num.messages", careful ? "1" : "100000"},
      {"message.max.bytes", LARGEST_MESSAGE},
      {"receive.message.max.bytes", LARGEST_ANSWER},
      {"batch.size", request_bytes.text},
      {"compression.type", target_values_text(&kafka->values, "compression")},
      {"queue.buffering.max.messages", "0"},
      {"queue.buffering.max.kbytes", "2147483647"},
      {"sticky.partitioning.linger.ms", "0"},
      {"topic.metadata.propagation.max.ms", topic_time.text},
      {"socket.keepalive.enable", "true"},
      {"socket.nagle.disable", "true"},
      {"socket.connection.setup.timeout.ms", "10000"},
      {"reconnect.backoff.max.ms", "1000"},
      {"log.connection.close", "false"},
  };
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof wanted / sizeof wanted[0]; i++)
    ok = set(conf, wanted[i].name, wanted[i].value, error);
  return ok;
}

bool kafka_producer_check(const struct kafka *kafka, struct error *error) {
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  bool ok = set_order(conf, kafka, false, error) && set_security(conf, kafka, error);
  rd_kafka_conf_destroy(conf);
  return ok;
}

bool kafka_producer_new(struct kafka_producer **made, const struct kafka *kafka, bool careful, struct error *error) {
  struct kafka_producer *producer = calloc(1, sizeof *producer);
  if (producer == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  /* The library ends the process when it has no memory. */
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  rd_kafka_topic_conf_t *of_topics = rd_kafka_topic_conf_new();
  producer->kafka = kafka;
  producer->careful = careful;
  rd_kafka_conf_set_opaque(conf, producer);
  rd_kafka_conf_set_error_cb(conf, take_error);
  rd_kafka_conf_set_log_cb(conf, take_log);
  rd_kafka_conf_set_dr_msg_cb(conf, take_answer);
  rd_kafka_topic_conf_set_partitioner_cb(of_topics, choose_partition);
  rd_kafka_conf_set_default_topic_conf(conf, of_topics); /* which owns them now */
  char why[512];
  if (!set_order(conf, kafka, careful, error) || !set_security(conf, kafka, error))
    goto failed;
  producer->library = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
  if (producer->library == NULL) {
    error_set(error, FAILURE_FATAL, "librdkafka cannot begin: %s", why);
    goto failed;
  }
  *made = producer;
  return true;

failed:
  rd_kafka_conf_destroy(conf);
  free(producer);
  return false;
}

void kafka_producer_free(struct kafka_producer *producer) {
  if (producer == NULL)
    return;
  rd_kafka_destroy(producer->library);
  free(producer);
}

/* ---- sending --------------------------------------------------------------------------------------------------- */

bool kafka_producer_send(struct kafka_producer *producer, const struct kafka_message *message, struct error *error) {
  static const char NOTHING = '\0'; /* an empty key or value is one */
  const struct buffer *key = message->key;
  const struct buffer *value = message->value;
  const char *key_data = key == NULL ? NULL : key->data != NULL ? key->data : &NOTHING;
  const char *value_data = value == NULL ? NULL : value->data != NULL ? value->data : &NOTHING;
  rd_kafka_vu_t parts[] = {
      {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = message->topic},
      {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = message->partition},
      {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {(void *)key_data, key != NULL ? key->length : 0}},
      {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {(void *)value_data, value != NULL ? value->length : 0}},
      {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
      {.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = message->ticket},
      {.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = message->headers},
  };
  rd_kafka_error_t *failed =
      rd_kafka_produceva(producer->library, parts, sizeof parts / sizeof parts[0] - (message->headers == NULL));
  if (failed == NULL) {
    message->ticket->tried = true;
    message->ticket->pending++;
    producer->pending++;
    return true;
  }
  rd_kafka_resp_err_t code = rd_kafka_error_code(failed);
  if (message->headers != NULL)
    rd_kafka_headers_destroy(message->headers);
  if (code == RD_KAFKA_RESP_ERR__FATAL)
    producer->stopped = true;
  else
    message->ticket->failure = code;
  error_set(error, FAILURE_RETRY, "%s", rd_kafka_err2str(code));
  rd_kafka_error_destroy(failed);
  return false;
}

void kafka_producer_serve(struct kafka_producer *producer, int milliseconds) {
  if (producer->pending > 0 && !producer->careful)
    rd_kafka_flush(producer->library, milliseconds); /* without the pause for more to come */
  else
    rd_kafka_poll(producer->library, milliseconds);
}

void kafka_producer_take_back(struct kafka_producer *producer) {
  rd_kafka_purge(producer->library, RD_KAFKA_PURGE_F_QUEUE);
}

void kafka_producer_give_up(struct kafka_producer *producer) {
  int64_t until = clock_now() + TAKE_BACK_TIME;
  rd_kafka_purge(producer->library, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  while (producer->pending > 0 && clock_now() < until)
    rd_kafka_poll(producer->library, 50);
}

/* ---- questions ------------------------------------------------------------------------------------------------- */

static bool no_answer(struct kafka_producer *producer, rd_kafka_resp_err_t code, struct error *error) {
  rd_kafka_poll(producer->library, 0);
  if (producer->down.kind != FAILURE_NONE) {
    *error = producer->down;
    return false;
  }
  return error_set(error, FAILURE_RETRY, "no broker answers: %s",
                   producer->reason[0] != '\0' ? producer->reason : rd_kafka_err2str(code));
}

static int metadata_time(const struct kafka_producer *producer) {
  int64_t most = producer->kafka->settings->push_timeout / 2;
  return most < METADATA_TIME ? (int)most : METADATA_TIME;
}

rd_kafka_resp_err_t kafka_producer_partitions(struct kafka_producer *producer, const char *topic, int32_t *count) {
  const struct rd_kafka_metadata *known = NULL;
  rd_kafka_topic_t *handle = rd_kafka_topic_new(producer->library, topic, NULL);
  if (handle == NULL)
    return RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION;
  rd_kafka_resp_err_t code = rd_kafka_metadata(producer->library, 0, handle, &known, 1000);
  rd_kafka_topic_destroy(handle);
  rd_kafka_poll(producer->library, 0);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return code;
  code = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
  if (known->topic_cnt == 1) {
    *count = known->topics[0].partition_cnt;
    code = known->topics[0].err;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && *count <= 0)
      code = RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
  }
  rd_kafka_metadata_destroy(known);
  return code;
}

bool kafka_producer_test(struct kafka_producer *producer, struct buffer *answer, struct error *error) {
  const struct rd_kafka_metadata *known = NULL;
  int64_t until = clock_now() + metadata_time(producer);
  rd_kafka_resp_err_t code;
  do { /* in small steps, so that what the library says ends it */
    code = rd_kafka_metadata(producer->library, 0, NULL, &known, 500);
    rd_kafka_poll(producer->library, 0);
  } while (code != RD_KAFKA_RESP_ERR_NO_ERROR && producer->down.kind == FAILURE_NONE && clock_now() < until);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return no_answer(producer, code, error);
  buffer_add_format(answer, "%d broker%s answered; nothing was sent", known->broker_cnt,
                    text_plural(known->broker_cnt));
  rd_kafka_metadata_destroy(known);
  return true;
}
#else
typedef int kafka_producer_is_not_built;
#endif
