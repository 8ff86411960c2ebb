/*
 * broker: Kafka in tests: a real broker (tests/support/kafka.sh), or librdkafka's own mock of one, which needs nothing
 * else; and what a consumer, Debian's kcat, reads from it. A test is skipped, with the reason, where what it needs
 * cannot be had.
 */
#ifndef ROWRELAY_TESTS_BROKER_H
#define ROWRELAY_TESTS_BROKER_H

#include "fixture.h"
#include "messages.h"
#include "served.h"

/* A real one that all tests of the run share, whose topics have 4 partitions. */
void broker_begin(void);
/* One of this test's own; `secure`: with TLS and SASL. */
void broker_begin_own(bool secure);
/* Whether it is a Kafka 4 (KAFKA=4.4.0), and the library one whose SCRAM that refuses. */
bool broker_refuses_old_scram(void);
/* The real one. */
struct served *broker_server(void);

/* Mock brokers in this process. It ends with the test. */
void broker_mock(int brokers);
/* The next requests that carry messages are answered with these codes of librdkafka; 0 ends them. */
void broker_mock_refuses(int code, ...);
/* One of them, from 1, is away; or all answer so late. */
void broker_mock_down(int broker, bool is_down);
void broker_mock_delay(int milliseconds);

/* "kafka://HOST:PORT" and `path`; valid until the next call. */
const char *broker_url(const char *path);

/* Makes a topic with one setting ("max.message.bytes=1000"; NULL: none). */
void broker_make_topic(const char *topic, int partitions, const char *setting);

void broker_delete_topic(const char *topic);

/* Reads a topic into table `message` (see messages.h); a value that is null is a tombstone. */
void broker_load(struct fixture *fixture, const char *topic);

/* Begins the fixture; tables item and plain go to topics NAME.public.TABLE, as streams_capture() says. */
void broker_topics_begin(struct fixture *fixture, const char *name, const char *option);
/* Reads the topic of one of these tables, or of another that was captured since. */
void broker_load_table(struct fixture *fixture, const char *table);

#endif
