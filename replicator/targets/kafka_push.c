/*
 * Pushes to Kafka.
 *
 * All messages of a batch are queued in their order, and all of them have to be answered before the batch is settled.
 * kafka_producer.h says why nothing can pass anything else meanwhile. When a request is refused, what was not sent is
 * taken back; if the request held several messages, they and the rest are sent again one by one, each after those of
 * its row (a careful producer). So it is known which message is at fault, and none arrives before an older one of its
 * row that does not arrive.
 *
 * What is still on its way when a batch is given up (the time is over, the claim is lost, a second SIGTERM, all brokers
 * are down)? Everything in the library's queues is purged, what is in flight too, and the producer is destroyed, which
 * closes its connections: nothing more is sent, and the next push, here or in another process, begins with a producer
 * of its own. What may still arrive is one request to each broker, that the kernel or the broker has already. Its
 * changes were not settled, so they are pushed again: then they are there twice. They cannot be told apart from new
 * ones by the broker, because another producer sends them again; nor can a late one be held off, as by a fence. A
 * broker takes requests from its connections into one queue, so the old request is ahead of those that come after it
 * was given up, unless the network delivers it later than that. A reader who must know compares the change's id with
 * the last one of the key: one that is not larger is a repeat. The same holds for a process that is killed.
 */
#include "common/optional.h"
#if HAVE_RDKAFKA
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/url.h"
#include "targets/channel_name.h"
#include "targets/debezium_transaction.h"
#include "targets/kafka_producer.h"
#include "targets/row_order.h"

#define MESSAGE_LIMIT ((size_t)1200 * 1024 * 1024)
/* How long answers are waited for at a time. Milliseconds. */
#define STEP 50
#define HINT_TOPIC                                                                                                     \
  "create that topic (auto.create.topics.enable of the brokers creates topics when they are needed), or allow this "   \
  "user to write to it"

/* A push on its way. */
struct sending {
  struct kafka *kafka;
  const struct push *push;
  /* One for each change, and then one for the beginning and one for the end of each transaction that is told of. */
  struct kafka_ticket *tickets;
  struct debezium_transactions transactions; /* without a push: they are not told of */
  size_t *next;                              /* change of the same row that comes after */
  bool *waits;                               /* an older change of its row has not arrived */
  size_t *ready;                             /* what a careful producer may send now */
  size_t ready_count;
  struct buffer topic;
  struct buffer key;
  struct buffer value;
  rd_kafka_headers_t *headers; /* of the message that is being made; NULL: it has none yet */
  int64_t began;               /* clock_now() */
};

static bool is_done(const struct kafka_ticket *ticket) {
  return ticket->tried && ticket->pending == 0 && !ticket->unsent && !ticket->in_doubt &&
         ticket->failure == RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* ---- messages of a change -------------------------------------------------------------------------------------- */

static void add_header(void *context, const char *name, const char *value) {
  struct sending *sending = context;
  if (sending->headers == NULL)
    sending->headers = rd_kafka_headers_new(8);
  if (value == NULL)
    buffer_lack_memory(&sending->value);
  else
    rd_kafka_header_add(sending->headers, name, -1, value, -1);
}

static bool send_one(struct sending *sending, const struct kafka_message *model, bool has_value, struct error *error) {
  const struct envelope *envelope = &sending->kafka->envelope;
  struct kafka_message message = *model;
  message.value = has_value ? &sending->value : NULL;
  sending->headers = NULL;
  /* A tombstone says nothing but its key, unless it is all that there is. */
  if (has_value || envelope->format == ENVELOPE_ROW)
    envelope_each_header(envelope, message.ticket->change, add_header, sending);
  if (!buffer_ok(&sending->value, "a message", error)) {
    if (sending->headers != NULL)
      rd_kafka_headers_destroy(sending->headers);
    return false;
  }
  message.headers = sending->headers;
  return kafka_producer_send(sending->kafka->producer, &message, error);
}

/* Asks until a topic that is being created is there. */
static bool find_partitions(struct sending *sending, struct kafka_ticket *ticket, int32_t *count, struct error *error) {
  struct kafka_producer *producer = sending->kafka->producer;
  int64_t began = clock_now();
  for (;;) {
    rd_kafka_resp_err_t code = kafka_producer_partitions(producer, sending->topic.data, count);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
      return true;
    error_set(error, FAILURE_RETRY, "topic %s: %s", sending->topic.data, rd_kafka_err2str(code));
    if (kafka_producer_is_of_topic(code) &&
        (code != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || clock_now() - began > KAFKA_TOPIC_TIME)) {
      ticket->failure = code;
      return false;
    }
    if (interrupted())
      return error_set(error, FAILURE_STOP, "interrupted");
    if (producer->down.kind != FAILURE_NONE) {
      *error = producer->down;
      return false;
    }
    if (clock_now() - sending->began > sending->kafka->settings->push_timeout / 2)
      return false;
    clock_sleep(STEP);
  }
}

/*
 * A truncate concerns all keys, so that each partition gets it. All that came before it has been answered. Who applies
 * Debezium's envelope empties its whole table at each, and with it rows that came after the truncate in other
 * partitions: there only a topic of one partition can tell of it.
 */
static bool send_everywhere(struct sending *sending, struct kafka_message *message, bool has_value,
                            struct error *error) {
  int32_t partitions = 0;
  bool ok = find_partitions(sending, message->ticket, &partitions, error);
  if (ok && partitions > 1 && sending->kafka->envelope.format == ENVELOPE_DEBEZIUM) {
    message->ticket->failure = KAFKA_IS_DIVIDED;
    return error_set(error, FAILURE_REFUSED, "topic %s has %d partitions", sending->topic.data, (int)partitions);
  }
  for (message->partition = 0; ok && message->partition < partitions; message->partition++)
    ok = send_one(sending, message, has_value, error);
  return ok;
}

static bool send_change(struct sending *sending, size_t index, struct error *error) {
  struct kafka *kafka = sending->kafka;
  const struct change *change = sending->push->changes[index];
  struct kafka_message message = {.partition = RD_KAFKA_PARTITION_UA, .ticket = &sending->tickets[index]};
  *message.ticket = (struct kafka_ticket){.change = change};
  buffer_clear(&sending->topic);
  buffer_clear(&sending->key);
  buffer_clear(&sending->value);
  channel_name_add(&sending->topic, kafka->topic, change->route);
  if (envelope_add_key(&sending->key, &kafka->envelope, change))
    message.key = &sending->key;
  kafka->envelope.debezium.mark = debezium_transactions_mark(&sending->transactions, index);
  bool has_value = envelope_add_value(&sending->value, &kafka->envelope, change);
  if (!buffer_ok(&sending->topic, "the name of a topic", error) || !buffer_ok(&sending->key, "a key", error))
    return false;
  message.topic = sending->topic.data;
  if (change->operation == OPERATION_TRUNCATE)
    return send_everywhere(sending, &message, has_value, error);
  bool has_tombstone = change->operation == OPERATION_DELETE && has_value && message.key != NULL && kafka->tombstones;
  return send_one(sending, &message, has_value, error) && (!has_tombstone || send_one(sending, &message, false, error));
}

/* ---- transactions ---------------------------------------------------------------------------------------------- */

static struct kafka_ticket *ticket_of(const struct sending *sending, size_t transaction, bool is_end) {
  return &sending->tickets[sending->push->count + 2 * transaction + is_end];
}

/* Tells where one begins or ends. */
static bool send_boundary(struct sending *sending, size_t transaction, bool is_end, struct error *error) {
  struct kafka *kafka = sending->kafka;
  const struct debezium_boundary boundary = {.transaction = &sending->transactions.all[transaction],
                                             .is_end = is_end,
                                             .has_schema = kafka->envelope.has_schema,
                                             .now = envelope_now()};
  struct kafka_message message = {.partition = RD_KAFKA_PARTITION_UA,
                                  .ticket = ticket_of(sending, transaction, is_end),
                                  .key = &sending->key,
                                  .value = &sending->value};
  *message.ticket = (struct kafka_ticket){.change = NULL};
  buffer_clear(&sending->topic);
  buffer_clear(&sending->key);
  buffer_clear(&sending->value);
  channel_name_add(&sending->topic, kafka->topic, &(struct route){.into_table = "transaction"});
  buffer_add_string(&sending->topic, kafka->per_table ? "" : ".transaction");
  debezium_transaction_add_key(&sending->key, &boundary);
  debezium_transaction_add_value(&sending->value, &sending->transactions, &boundary);
  if (!buffer_ok(&sending->topic, "the name of a topic", error) || !buffer_ok(&sending->key, "a key", error) ||
      !buffer_ok(&sending->value, "a message", error))
    return false;
  message.topic = sending->topic.data;
  return kafka_producer_send(kafka->producer, &message, error) || kafka->producer->stopped;
}

static bool send_beginnings(struct sending *sending, struct error *error) {
  for (size_t i = 0; i < sending->transactions.count; i++)
    if (!send_boundary(sending, i, false, error))
      return false;
  return true;
}

/* ---- waiting for answers --------------------------------------------------------------------------------------- */

/* Whether there is a reason to wait for more answers. */
static bool may_wait(const struct sending *sending, struct error *error) {
  const struct kafka_producer *producer = sending->kafka->producer;
  int64_t push_timeout = sending->kafka->settings->push_timeout;
  if (interrupted())
    return error_set(error, FAILURE_STOP, "interrupted");
  if (producer->down.kind != FAILURE_NONE) {
    *error = producer->down;
    return false;
  }
  if (clock_now() - sending->began >= push_timeout) {
    error_set(error, FAILURE_RETRY, "no answer within %lld s", (long long)(push_timeout / 1000));
    return producer->reason[0] == '\0' ? false : error_detail(error, "%s", producer->reason);
  }
  return push_is_still_ours(sending->push, error);
}

static void drop_producer(struct kafka *kafka) {
  kafka_producer_free(kafka->producer);
  kafka->producer = NULL;
}

/* Waits until all messages are answered or taken back. False: they were given up, and nothing more is sent. */
static bool await(struct sending *sending, struct error *error) {
  struct kafka_producer *producer = sending->kafka->producer;
  bool taken_back = false;
  while (producer->pending > 0) {
    kafka_producer_serve(producer, STEP);
    if (producer->stopped && !taken_back) {
      kafka_producer_take_back(producer);
      taken_back = true;
    } else if (producer->pending > 0 && !may_wait(sending, error)) {
      kafka_producer_give_up(producer);
      return false;
    }
    if (producer->complete != NULL)
      break; /* there may be more to send */
  }
  return true;
}

/* A producer that is fit for the next messages. */
static bool need_producer(struct kafka *kafka, bool careful, struct error *error) {
  if (kafka->producer != NULL) {
    kafka_producer_serve(kafka->producer, 0);
    if (kafka->producer->stopped || kafka->producer->down.kind != FAILURE_NONE || careful)
      drop_producer(kafka);
  }
  if (kafka->producer == NULL && !kafka_producer_new(&kafka->producer, kafka, careful, error))
    return false;
  return kafka->producer != NULL;
}

/* Waits until all beginnings, or ends, are in their topic. */
static bool await_boundaries(struct sending *sending, bool is_end, struct error *error) {
  if (sending->transactions.count == 0)
    return true;
  if (!await(sending, error))
    return false;
  for (size_t i = 0; i < sending->transactions.count; i++) {
    const struct kafka_ticket *ticket = ticket_of(sending, i, is_end);
    if (is_done(ticket))
      continue;
    error_set(error, FAILURE_RETRY, "topic of transactions: %s",
              rd_kafka_err2str(ticket->failure != RD_KAFKA_RESP_ERR_NO_ERROR ? ticket->failure
                                                                             : RD_KAFKA_RESP_ERR__MSG_TIMED_OUT));
    return kafka_producer_is_of_topic(ticket->failure) ? error_hint(error, HINT_TOPIC) : false;
  }
  return push_is_still_ours(sending->push, error);
}

/* ---- all at once ----------------------------------------------------------------------------------------------- */

static bool send_all(struct sending *sending, struct error *error) {
  struct kafka_producer *producer = sending->kafka->producer;
  if (!send_beginnings(sending, error) || !await_boundaries(sending, false, error)) {
    kafka_producer_give_up(producer);
    return false;
  }
  for (size_t i = 0; i < sending->push->count && !producer->stopped; i++) {
    struct kafka_ticket *ticket = &sending->tickets[i];
    if (sending->waits[i] || send_change(sending, i, error))
      continue;
    if (producer->stopped)
      break;
    if (!kafka_producer_is_refusal(ticket->failure) && !kafka_producer_is_of_topic(ticket->failure)) {
      kafka_producer_give_up(producer);
      return false;
    }
    row_order_let_wait(sending->next, i, sending->waits);
  }
  return await(sending, error);
}

/* ---- one by one ------------------------------------------------------------------------------------------------ */

/* Called when a message of a careful producer has been answered. */
static void go_on_with_row(void *context, struct kafka_ticket *ticket) {
  struct sending *sending = context;
  size_t next = ticket->change != NULL ? sending->next[ticket - sending->tickets] : LATEST_NONE;
  if (is_done(ticket) && next != LATEST_NONE)
    sending->ready[sending->ready_count++] = next;
}

/* A refused request says nothing of each of its messages: those that will not be sent now have not been tried. */
static void forget_refusals(struct sending *sending) {
  for (size_t i = 0; i < sending->push->count; i++) {
    struct kafka_ticket *ticket = &sending->tickets[i];
    if (!kafka_producer_is_refusal(ticket->failure))
      continue;
    ticket->failure = RD_KAFKA_RESP_ERR_NO_ERROR;
    ticket->unsent = true;
  }
}

/* Finds what may be sent again: what has not arrived, if all before it of its row has. */
static void find_ready(struct sending *sending) {
  memset(sending->waits, 0, sending->push->count * sizeof *sending->waits);
  for (size_t i = 0; i < sending->push->count; i++)
    if (!is_done(&sending->tickets[i])) {
      if (!sending->waits[i])
        sending->ready[sending->ready_count++] = i;
      row_order_let_wait(sending->next, i, sending->waits);
    }
}

static bool send_carefully(struct sending *sending, struct error *error) {
  struct kafka *kafka = sending->kafka;
  drop_producer(kafka);
  if (!push_is_still_ours(sending->push, error) || !need_producer(kafka, true, error))
    return false;
  kafka->producer->complete = go_on_with_row;
  kafka->producer->context = sending;
  forget_refusals(sending);
  find_ready(sending);
  bool ok = true;
  while (ok && (sending->ready_count > 0 || kafka->producer->pending > 0)) {
    while (ok && sending->ready_count > 0) {
      size_t index = sending->ready[--sending->ready_count];
      if (!is_done(&sending->tickets[index]) && !send_change(sending, index, error))
        ok = kafka_producer_is_refusal(sending->tickets[index].failure);
    }
    ok = ok && await(sending, error);
  }
  if (!ok)
    kafka_producer_give_up(kafka->producer);
  drop_producer(kafka);
  return ok;
}

/* ---- the outcome ----------------------------------------------------------------------------------------------- */

/* Whether it is still unknown which of several messages a broker refuses, or others were taken back for that. */
static bool is_open(const struct sending *sending) {
  size_t refused = 0;
  bool unsent = false;
  for (size_t i = 0; i < sending->push->count; i++) {
    const struct kafka_ticket *ticket = &sending->tickets[i];
    refused += kafka_producer_is_refusal(ticket->failure);
    unsent = unsent || (ticket->tried ? ticket->unsent : !sending->waits[i]);
  }
  return refused > 1 || unsent;
}

static void explain(const struct sending *sending, const struct kafka_ticket *ticket, struct error *why) {
  struct buffer topic;
  buffer_init(&topic, URL_LIMIT);
  channel_name_add(&topic, sending->kafka->topic, ticket->change->route);
  if (ticket->failure == KAFKA_IS_DIVIDED)
    error_set(why, FAILURE_REFUSED,
              "in Debezium's format a truncate can only be told to a topic of one partition: a "
              "consumer empties its table at each");
  else
    error_set(why, FAILURE_REFUSED, "%s", rd_kafka_err2str(ticket->failure));
  if (topic.data != NULL)
    error_detail(why, "Topic %s.", topic.data);
  if (kafka_producer_is_of_topic(ticket->failure))
    error_hint(why, HINT_TOPIC);
  else if (ticket->failure == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
    error_hint(why, "allow larger messages: max.message.bytes of the topic, message.max.bytes of the brokers");
  else if (ticket->failure == RD_KAFKA_RESP_ERR_INVALID_RECORD &&
           (change_is_keyless(ticket->change) || ticket->change->operation == OPERATION_TRUNCATE))
    error_hint(why, "a compacted topic takes no message without a key, as truncates and tables without a key have");
  else if (ticket->failure == KAFKA_IS_DIVIDED)
    error_hint(why,
               "empty the consumer's table where only rows from before the truncate are in it, then skip this change; "
               "or let the topic have one partition");
  buffer_release(&topic);
}

/* Says what became of a change. False, with an error, when that is the fault of the target as a whole. */
static bool tell(const struct sending *sending, size_t index, struct error *error) {
  const struct kafka_ticket *ticket = &sending->tickets[index];
  struct verdict *verdict = &sending->push->verdicts[index];
  struct error why;
  if (is_done(ticket)) {
    verdict->kind = VERDICT_DELIVERED;
    verdict_answer(verdict, "acknowledged");
    return true;
  }
  if (kafka_producer_is_refusal(ticket->failure)) {
    explain(sending, ticket, &why);
    verdict_refuse(verdict, &why);
    return true;
  }
  if (kafka_producer_is_of_topic(ticket->failure)) {
    explain(sending, ticket, &why);
    if (sending->kafka->per_table && !ticket->change->route->document) {
      verdict_refuse(verdict, &why);
      verdict->kind = VERDICT_HELD;
      return true;
    }
    *error = why;
    error->kind = FAILURE_FATAL;
    return false;
  }
  if (!ticket->in_doubt && ticket->pending == 0)
    verdict->kind = VERDICT_LATER; /* it was not sent */
  else if (ticket->failure != RD_KAFKA_RESP_ERR_NO_ERROR)
    return error_set(error, FAILURE_RETRY, "%s", rd_kafka_err2str(ticket->failure));
  return true;
}

/*
 * All else has been answered: what has arrived is counted in the verdicts. If an end does not arrive, all of it is sent
 * again, with beginnings and ends: nobody would tell of it later. What is sent at most once has no end then.
 */
static bool end_transactions(struct sending *sending, struct error *error) {
  struct kafka *kafka = sending->kafka;
  if (sending->transactions.count == 0)
    return true;
  bool ok = push_is_still_ours(sending->push, error) && need_producer(kafka, false, error);
  for (size_t i = 0; ok && i < sending->transactions.count; i++)
    ok = send_boundary(sending, i, true, error);
  if (ok && await_boundaries(sending, true, error))
    return true;
  for (size_t i = 0; !kafka->settings->at_most_once && i < sending->push->count; i++)
    if (sending->push->verdicts[i].kind == VERDICT_DELIVERED)
      sending->push->verdicts[i].kind = VERDICT_NONE;
  return false;
}

static bool run(struct sending *sending, struct error *error) {
  struct kafka *kafka = sending->kafka;
  struct error why;
  for (size_t i = 0; i < sending->push->count; i++)
    sending->tickets[i].change = sending->push->changes[i];
  bool ok = need_producer(kafka, false, error) && push_is_still_ours(sending->push, error) && send_all(sending, error);
  bool in_time = clock_now() - sending->began < kafka->settings->push_timeout / 2;
  if (ok && in_time && is_open(sending))
    ok = send_carefully(sending, error);
  for (size_t i = 0; i < sending->push->count; i++)
    if (!tell(sending, i, &why) && ok) {
      *error = why;
      ok = false;
    }
  return ok && end_transactions(sending, error);
}

bool kafka_push(void *handle, const struct push *push, struct error *error) {
  struct kafka *kafka = handle;
  struct sending sending = {.kafka = kafka,
                            .push = push,
                            .tickets =
                                calloc((kafka->whole_transactions ? 3 : 1) * push->count + 1, sizeof *sending.tickets),
                            .next = calloc(push->count + 1, sizeof *sending.next),
                            .waits = calloc(push->count + 1, sizeof *sending.waits),
                            .ready = calloc(push->count + 1, sizeof *sending.ready),
                            .began = clock_now()};
  buffer_init(&sending.topic, URL_LIMIT);
  buffer_init(&sending.key, MESSAGE_LIMIT);
  buffer_init(&sending.value, MESSAGE_LIMIT);
  bool ok = sending.tickets != NULL && sending.next != NULL && sending.waits != NULL && sending.ready != NULL;
  if (ok)
    ok = envelope_learn(&kafka->envelope, kafka->source, error) &&
         (!kafka->whole_transactions || debezium_transactions_init(&sending.transactions, push, error)) &&
         row_order_chain(push->changes, push->count, sending.next, error) && run(&sending, error);
  else
    error_set(error, FAILURE_RETRY, "out of memory");
  /* It knows the tickets as long as it has not answered all of them. */
  if (kafka->producer != NULL && (!ok || kafka->producer->pending > 0))
    drop_producer(kafka);
  kafka->envelope.debezium.mark = NULL;
  debezium_transactions_release(&sending.transactions);
  free(sending.tickets);
  free(sending.next);
  free(sending.waits);
  free(sending.ready);
  buffer_release(&sending.topic);
  buffer_release(&sending.key);
  buffer_release(&sending.value);
  return ok;
}
#else
typedef int kafka_push_is_not_built;
#endif
