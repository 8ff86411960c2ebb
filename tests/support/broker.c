#include "broker.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/optional.h"
#include "messages.h"
#include "streams.h"

#if HAVE_RDKAFKA
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#define PRODUCE 0 /* requests of this kind carry messages */

static struct served broker;
static char address[512]; /* "HOST:PORT,…" */
static rd_kafka_t *client = NULL;
static rd_kafka_mock_cluster_t *mock = NULL;

static void needs_consumer(void) {
  if (!has_programs("kcat"))
    cr_skip("there is no kcat here (Debian's package kafkacat)");
}

static void begin(bool shared) {
  needs_consumer();
  served_begin(&broker, "kafka.sh", shared);
  snprintf(address, sizeof address, "%s", broker.address);
}

void broker_begin(void) {
  begin(true);
}

void broker_begin_own(bool secure) {
  if (secure)
    setenv("SECURE", "1", 1);
  begin(false);
}

bool broker_refuses_old_scram(void) {
  const char *version = getenv("KAFKA");
  return version != NULL && atoi(version) >= 4 && rd_kafka_version() < 0x020601ff;
}

struct served *broker_server(void) {
  return &broker;
}

static void say_nothing(const rd_kafka_t *library, int level, const char *facility, const char *text) {
  (void)library;
  (void)level;
  (void)facility;
  (void)text;
}

static void need_client(void) {
  char why[512];
  if (client != NULL)
    return;
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  rd_kafka_conf_set_log_cb(conf, say_nothing);
  if (address[0] != '\0')
    rd_kafka_conf_set(conf, "bootstrap.servers", address, why, sizeof why);
  client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
  cr_assert(client != NULL, "%s", why);
}

void broker_mock(int brokers) {
  needs_consumer();
  need_client();
  mock = rd_kafka_mock_cluster_new(client, brokers);
  cr_assert(mock != NULL);
  snprintf(address, sizeof address, "%s", rd_kafka_mock_cluster_bootstraps(mock));
}

void broker_mock_refuses(int code, ...) {
  rd_kafka_resp_err_t codes[64];
  size_t count = 0;
  va_list arguments;
  va_start(arguments, code);
  for (; code != 0 && count < sizeof codes / sizeof codes[0]; code = va_arg(arguments, int))
    codes[count++] = (rd_kafka_resp_err_t)code;
  va_end(arguments);
  rd_kafka_mock_push_request_errors_array(mock, PRODUCE, count, codes);
}

void broker_mock_down(int number, bool is_down) {
  if (is_down)
    rd_kafka_mock_broker_set_down(mock, number);
  else
    rd_kafka_mock_broker_set_up(mock, number);
}

void broker_mock_delay(int milliseconds) {
  for (int number = 1; rd_kafka_mock_broker_set_rtt(mock, number, milliseconds) == RD_KAFKA_RESP_ERR_NO_ERROR; number++)
    ;
}

const char *broker_url(const char *path) {
  static char url[768];
  snprintf(url, sizeof url, "kafka://%s%s", address, path);
  return url;
}

void broker_make_topic(const char *topic, int partitions, const char *setting) {
  char why[512];
  if (mock != NULL) {
    cr_assert_eq(rd_kafka_mock_topic_create(mock, topic, partitions, 1), RD_KAFKA_RESP_ERR_NO_ERROR);
    return;
  }
  need_client();
  rd_kafka_NewTopic_t *wanted = rd_kafka_NewTopic_new(topic, partitions, 1, why, sizeof why);
  cr_assert(wanted != NULL, "%s", why);
  if (setting != NULL) {
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(setting, "="), setting);
    rd_kafka_NewTopic_set_config(wanted, name, strchr(setting, '=') + 1);
  }
  rd_kafka_queue_t *answers = rd_kafka_queue_new(client);
  rd_kafka_CreateTopics(client, &wanted, 1, NULL, answers);
  rd_kafka_event_t *answer = rd_kafka_queue_poll(answers, 30000);
  size_t count = 0;
  const rd_kafka_CreateTopics_result_t *result = answer != NULL ? rd_kafka_event_CreateTopics_result(answer) : NULL;
  const rd_kafka_topic_result_t **topics = result != NULL ? rd_kafka_CreateTopics_result_topics(result, &count) : NULL;
  cr_assert(count == 1 && rd_kafka_topic_result_error(topics[0]) == RD_KAFKA_RESP_ERR_NO_ERROR, "%s: %s", topic,
            count == 1 ? rd_kafka_topic_result_error_string(topics[0]) : "no answer");
  rd_kafka_event_destroy(answer);
  rd_kafka_queue_destroy(answers);
  rd_kafka_NewTopic_destroy(wanted);
}

void broker_delete_topic(const char *topic) {
  size_t count = 0;
  need_client();
  rd_kafka_DeleteTopic_t *unwanted = rd_kafka_DeleteTopic_new(topic);
  rd_kafka_queue_t *answers = rd_kafka_queue_new(client);
  rd_kafka_DeleteTopics(client, &unwanted, 1, NULL, answers);
  rd_kafka_event_t *answer = rd_kafka_queue_poll(answers, 60000);
  const rd_kafka_DeleteTopics_result_t *result = answer != NULL ? rd_kafka_event_DeleteTopics_result(answer) : NULL;
  const rd_kafka_topic_result_t **topics = result != NULL ? rd_kafka_DeleteTopics_result_topics(result, &count) : NULL;
  cr_assert(count == 1 && rd_kafka_topic_result_error(topics[0]) == RD_KAFKA_RESP_ERR_NO_ERROR, "%s: %s", topic,
            count == 1 ? rd_kafka_topic_result_error_string(topics[0]) : "no answer");
  rd_kafka_event_destroy(answer);
  rd_kafka_queue_destroy(answers);
  rd_kafka_DeleteTopic_destroy(unwanted);
}

void broker_load(struct fixture *fixture, const char *topic) {
  char command[1024];
  snprintf(command, sizeof command, "timeout 60 kcat -b %s -C -t '%s' -e -J -q 2>&1", address, topic);
  messages_read(fixture, command);
  messages_make(fixture,
                "select (line ->> 'offset')::bigint as n, (line ->> 'partition')::int as partition, line ->> 'key' as "
                "key, line ->> 'payload' as value, (select json_object(array_agg(h order by o)) from "
                "json_array_elements_text(line -> 'headers') with ordinality as e(h, o)) as headers from line");
}
#else
static void skip(void) {
  cr_skip("rowrelay was built without librdkafka");
}

void broker_begin(void) {
  skip();
}
void broker_begin_own(bool secure) {
  (void)secure;
  skip();
}
bool broker_refuses_old_scram(void) {
  return false;
}
struct served *broker_server(void) {
  static struct served none;
  return &none;
}
void broker_mock(int brokers) {
  (void)brokers;
  skip();
}
void broker_mock_refuses(int code, ...) {
  (void)code;
}
void broker_mock_down(int number, bool is_down) {
  (void)number;
  (void)is_down;
}
void broker_mock_delay(int milliseconds) {
  (void)milliseconds;
}
const char *broker_url(const char *path) {
  return path;
}
void broker_make_topic(const char *topic, int partitions, const char *setting) {
  (void)topic;
  (void)partitions;
  (void)setting;
}
void broker_delete_topic(const char *topic) {
  (void)topic;
}
void broker_load(struct fixture *fixture, const char *topic) {
  (void)fixture;
  (void)topic;
}
#endif

static const char *topics; /* what they begin with */

void broker_topics_begin(struct fixture *fixture, const char *name, const char *option) {
  char path[128];
  topics = name;
  snprintf(path, sizeof path, "/%s.{table}", name);
  fixture_begin(fixture, name);
  streams_capture(fixture, broker_url(path), option);
}

void broker_load_table(struct fixture *fixture, const char *table) {
  char topic[128];
  snprintf(topic, sizeof topic, "%s.public.%s", topics, table);
  broker_load(fixture, topic);
}
