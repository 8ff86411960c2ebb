/*
 * kafka_producer: one of librdkafka's, set so that nothing passes anything else on the way.
 *
 * It is idempotent, and has at most one request in flight to each broker: as long as one is not answered, nothing that
 * comes after it is sent, and when one is refused, all that is left stops (enable.gapless.guarantee). So what has
 * arrived in a partition is always a beginning of what was sent there, in its order. librdkafka repeats requests that
 * were not answered for ever; when to give up is the caller's decision.
 *
 * A careful one is for finding which of several messages the broker refuses: it sends each in a request of its own, and
 * goes on after a refusal. The caller then sends what must come after a message when that has arrived.
 */
#ifndef ROWRELAY_TARGETS_KAFKA_PRODUCER_H
#define ROWRELAY_TARGETS_KAFKA_PRODUCER_H

#include <librdkafka/rdkafka.h>

#include "targets/kafka.h"

/* What becomes of a change, which may be several messages. It stays where it is until all are answered. */
struct kafka_ticket {
  const struct change *change; /* NULL: it is of none, and has a key */
  int pending;                 /* messages that are not answered */
  bool tried;                  /* one was queued at least */
  bool unsent;                 /* one was taken back before it was sent */
  bool in_doubt;               /* one may have arrived, or may still */
  rd_kafka_resp_err_t failure; /* what the broker, or the library, said against one */
};

struct kafka_producer {
  rd_kafka_t *library;
  const struct kafka *kafka;
  bool careful;
  size_t pending;                                               /* messages that are not answered */
  void (*complete)(void *context, struct kafka_ticket *ticket); /* called when a ticket is answered; NULL */
  void *context;
  bool stopped;      /* it sends no more, because something was refused */
  struct error down; /* why it is of no use any more; FAILURE_NONE: it is */
  char reason[512];  /* what it complained of last; "": nothing */
};

struct kafka_message {
  const char *topic;
  int32_t partition;           /* -1: by the key */
  const struct buffer *key;    /* NULL: none */
  const struct buffer *value;  /* NULL: none */
  rd_kafka_headers_t *headers; /* it owns them; NULL */
  struct kafka_ticket *ticket;
};

/* Whether options and environment have all that it takes. */
MUST_CHECK bool kafka_producer_check(const struct kafka *kafka, struct error *error);
MUST_CHECK bool kafka_producer_new(struct kafka_producer **producer, const struct kafka *kafka, bool careful,
                                   struct error *error);
/* Nothing of it is sent any more, but for what the network already has. NULL is allowed. */
void kafka_producer_free(struct kafka_producer *producer);

/* Queues a message. False when it cannot; the ticket's failure says why if it never could be, or it has stopped. */
MUST_CHECK bool kafka_producer_send(struct kafka_producer *producer, const struct kafka_message *message,
                                    struct error *error);
/* Waits for answers, up to `milliseconds`, and calls whom they concern. */
void kafka_producer_serve(struct kafka_producer *producer, int milliseconds);
/* Takes back what has not been sent. */
void kafka_producer_take_back(struct kafka_producer *producer);
/* Takes back everything: what is in flight remains in doubt. */
void kafka_producer_give_up(struct kafka_producer *producer);

/* How many partitions a topic has, as brokers say within a second; an error code, also while it is being created. */
rd_kafka_resp_err_t kafka_producer_partitions(struct kafka_producer *producer, const char *topic, int32_t *count);
/* Appends which brokers answer. */
MUST_CHECK bool kafka_producer_test(struct kafka_producer *producer, struct buffer *answer, struct error *error);

/* How long an unknown topic may take to be there, as while it is created. Milliseconds. */
#define KAFKA_TOPIC_TIME 5000

/* No answer of a broker: a truncate that must not go to several partitions. */
#define KAFKA_IS_DIVIDED RD_KAFKA_RESP_ERR__CONFLICT

/* Whether the message is at fault, or else its topic; neither: the brokers are. */
bool kafka_producer_is_refusal(rd_kafka_resp_err_t code);
bool kafka_producer_is_of_topic(rd_kafka_resp_err_t code);

#endif
