/* RabbitMQ: what consumers find in a real broker. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/optional.h"
#include "fixture.h"
#include "messages.h"
#include "served.h"
#include "streams.h"

#if HAVE_LIBRABBITMQ
#if __has_include(<rabbitmq-c/amqp.h>)
#include <rabbitmq-c/amqp.h>
#include <rabbitmq-c/tcp_socket.h>
#else
#include <amqp.h>
#include <amqp_tcp_socket.h>
#endif

static struct served server;
static amqp_connection_state_t client = NULL;

static void begin_server(bool shared) {
  served_begin(&server, "rabbit.sh", shared);
}

static const char *at(const char *path) {
  return served_url(&server, "amqp", path);
}

static amqp_bytes_t text(const char *text) {
  return amqp_cstring_bytes(text);
}

static void fine(const char *what) {
  amqp_rpc_reply_t reply = amqp_get_rpc_reply(client);
  cr_assert(reply.reply_type == AMQP_RESPONSE_NORMAL, "%s: %d %s", what, (int)reply.reply_type,
            amqp_error_string2(reply.library_error));
}

static void need_client(void) {
  if (client != NULL)
    return;
  client = amqp_new_connection();
  amqp_socket_t *socket = amqp_tcp_socket_new(client);
  cr_assert(amqp_socket_open(socket, "127.0.0.1", (int)strtol(strchr(server.address, ':') + 1, NULL, 10)) == 0);
  cr_assert(amqp_login(client, "/", 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest").reply_type ==
            AMQP_RESPONSE_NORMAL);
  amqp_channel_open(client, 1);
  fine("channel");
}

static void drop_client(void) {
  amqp_destroy_connection(client);
  client = NULL;
}

/* A queue of `most` messages that refuses more (0: any), bound to an exchange by a routing key. */
static void make_queue(const char *queue, const char *exchange, const char *key, int most) {
  amqp_table_entry_t limits[] = {
      {.key = text("x-max-length"), .value = {.kind = AMQP_FIELD_KIND_I32, .value = {.i32 = most}}},
      {.key = text("x-overflow"), .value = {.kind = AMQP_FIELD_KIND_UTF8, .value = {.bytes = text("reject-publish")}}}};
  amqp_table_t arguments = {.num_entries = most > 0 ? 2 : 0, .entries = limits};
  need_client();
  amqp_queue_declare(client, 1, text(queue), 0, 1, 0, 0, arguments);
  fine(queue);
  amqp_exchange_declare(client, 1, text(exchange), text("topic"), 0, 1, 0, 0, amqp_empty_table);
  fine(exchange);
  amqp_queue_bind(client, 1, text(queue), text(exchange), text(key), amqp_empty_table);
  fine(key);
}

static json_t *json_of(amqp_bytes_t bytes) {
  return json_stringn(bytes.len > 0 ? bytes.bytes : "", bytes.len);
}

static void add_message(struct fixture *f, const amqp_message_t *message, int64_t n) {
  json_t *headers = json_object();
  for (int i = 0; i < message->properties.headers.num_entries; i++) {
    const amqp_table_entry_t *entry = &message->properties.headers.entries[i];
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)entry->key.len, (const char *)entry->key.bytes);
    json_object_set_new(headers, name, json_of(entry->value.value.bytes));
  }
  json_t *line = json_pack("{s:I, s:o, s:o, s:o, s:o, s:i}", "n", (json_int_t)n, "value", json_of(message->body),
                           "headers", headers, "id", json_of(message->properties.message_id), "type",
                           json_of(message->properties.content_type), "mode", (int)message->properties.delivery_mode);
  cr_assert(line != NULL);
  char *dumped = json_dumps(line, JSON_COMPACT);
  messages_add(f, dumped, strlen(dumped));
  messages_add(f, "\n", 1);
  free(dumped);
  json_decref(line);
}

/* What is in a queue, which is empty then. */
static void load(struct fixture *f, const char *queue) {
  need_client();
  messages_begin(f);
  for (int64_t n = 0;; n++) {
    amqp_message_t message;
    amqp_maybe_release_buffers(client);
    amqp_rpc_reply_t reply = amqp_basic_get(client, 1, text(queue), 1);
    cr_assert(reply.reply_type == AMQP_RESPONSE_NORMAL, "%s", queue);
    if (reply.reply.id == AMQP_BASIC_GET_EMPTY_METHOD)
      break;
    cr_assert(amqp_read_message(client, 1, &message, 0).reply_type == AMQP_RESPONSE_NORMAL);
    add_message(f, &message, n);
    amqp_destroy_message(&message);
  }
  messages_end(f);
  messages_make(f, "select (line ->> 'n')::bigint as n, 0 as partition, line -> 'headers' ->> 'rowrelay_key' as key, "
                   "line ->> 'value' as value, line -> 'headers' as headers, line ->> 'id' as message_id, line ->> "
                   "'type' as type, line ->> 'mode' as mode from line");
}

static void is_complete(struct fixture *f, const char *queue, const char *relation) {
  load(f, queue);
  messages_are_complete(f, relation);
}

/* Tables item, which has a key, and plain, which has none, go to target w: an exchange and a queue of the test's own.
 */
static void begin_at(struct fixture *f, const char *name, const char *option) {
  char path[128];
  snprintf(path, sizeof path, "/%s", name);
  make_queue(name, name, "#", 0);
  fixture_begin(f, name);
  streams_capture(f, at(path), option);
}

#define ERRORS "select string_agg(concat_ws('|', key, message, detail), ' ' order by key) from rowrelay.errors"

/* ---- order ----------------------------------------------------------------------------------------------------- */

Test(rabbit, several_processes_deliver_the_changes_of_busy_writers_in_order) {
  struct fixture f;
  begin_server(true);
  make_queue("writers.stock", "writers", "public.stock", 0);
  make_queue("writers.ledger", "writers", "public.ledger", 0);
  fixture_begin(&f, "rabbit_writers");
  streams_with_writers(&f, at("/writers"));
  is_complete(&f, "writers.stock", "stock");
  cr_assert(messages_repeated(&f) == 0);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(distinct concat_ws(' ', mode, type), ', ') from message"),
                   "2 application/cloudevents+json; charset=UTF-8");
  is_complete(&f, "writers.ledger", "ledger");
  fixture_end(&f);
}

Test(rabbit, a_killed_process_loses_and_reorders_nothing) {
  struct fixture f;
  begin_server(false);
  begin_at(&f, "rabbit_killed", "batch_rows=200");
  streams_with_killed_processes(&f, &server, 4, 0.05);
  is_complete(&f, "rabbit_killed", "item");
  cr_assert(messages_repeated(&f) <= 4 * 2 * 200);
  fixture_end(&f);
}

Test(rabbit, a_killed_broker_loses_and_reorders_nothing) {
  struct fixture f;
  begin_server(false);
  make_queue("stock", "killed", "public.stock", 0);
  make_queue("ledger", "killed", "public.ledger", 0);
  drop_client();
  fixture_begin(&f, "rabbit_broker_killed");
  streams_with_killed_server(&f, at("/killed"), &server, 2);
  is_complete(&f, "stock", "stock");
  cr_assert(messages_repeated(&f) <= 2 * 2 * STREAMS_KILLED_ROWS);
  is_complete(&f, "ledger", "ledger");
  fixture_end(&f);
}

Test(rabbit, broker_and_process_that_are_killed_together_lose_and_reorder_nothing) {
  struct fixture f;
  begin_server(false);
  make_queue("stock", "all_killed", "public.stock", 0);
  make_queue("ledger", "all_killed", "public.ledger", 0);
  drop_client();
  fixture_begin(&f, "rabbit_all_killed");
  streams_with_all_killed(&f, at("/all_killed"), &server, 2);
  is_complete(&f, "stock", "stock");
  streams_repeat_at_most(&f, "stock", 2 * STREAMS_IN_HAND);
  is_complete(&f, "ledger", "ledger");
  fixture_end(&f);
}

Test(rabbit, processes_that_are_stopped_for_longer_than_their_lease_lose_and_reorder_nothing) {
  struct fixture f;
  begin_server(true);
  make_queue("stopped.stock", "stopped", "public.stock", 0);
  make_queue("stopped.ledger", "stopped", "public.ledger", 0);
  fixture_begin(&f, "rabbit_stopped");
  streams_with_stopped_processes(&f, at("/stopped"), 3);
  is_complete(&f, "stopped.stock", "stock");
  streams_repeat_at_most(&f, "stock", 3 * STREAMS_IN_HAND);
  is_complete(&f, "stopped.ledger", "ledger");
  fixture_end(&f);
}

/* ---- what is refused ------------------------------------------------------------------------------------------- */

Test(rabbit, what_is_routed_nowhere_is_refused_alone) {
  struct fixture f;
  begin_server(true);
  make_queue("rabbit_routed", "rabbit_routed", "public.plain", 0);
  fixture_begin(&f, "rabbit_routed");
  sql(f.at_source, "create table item (id int primary key); create table plain (what text)");
  rowrelay_ok(&f, "target", "add", "w", at("/rabbit_routed"), "-o", "retries=1", NULL);
  rowrelay_ok(&f, "capture", "item", "plain", "--to", "w", NULL);
  sql(f.at_source, "insert into item select n from generate_series(1, 2) as n; insert into plain select n from "
                   "generate_series(1, 100) as n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, ERRORS), "1|312 NO_ROUTE|Exchange rabbit_routed, routing key public.item. "
                                             "2|312 NO_ROUTE|Exchange rabbit_routed, routing key public.item.");
  load(&f, "rabbit_routed");
  messages_are_complete(&f, "plain");
  make_queue("rabbit_routed", "rabbit_routed", "public.item", 0);
  rowrelay_ok(&f, "retry", "--all", NULL);
  streams_deliver(&f);
  load(&f, "rabbit_routed");
  messages_are_complete(&f, "item");
  fixture_end(&f);
}

/* All changes are of one row. */
Test(rabbit, nothing_of_a_row_is_queued_behind_a_refused_change_that_blocks_it) {
  struct fixture f;
  setenv("SETTINGS", "max_message_size = 1000000", 1);
  begin_server(false);
  begin_at(&f, "rabbit_blocked", "on_error=block");
  streams_block_a_row(&f, 99, 49, 2000000);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(distinct concat_ws('|', key, message ~ 'larger than'), ', ') "
                                    "from rowrelay.errors where state = 'error'"),
                   "1|t");
  load(&f, "rabbit_blocked");
  cr_assert_str_eq(ask(f.at_source, "select concat(count(distinct message_id), ' ', count(distinct message_id) filter "
                                    "(where key = '{\"id\":1}')) from message"),
                   "148 49");
  streams_nothing_is_behind(&f);
  fixture_end(&f);
}

Test(rabbit, rows_of_5_MB_arrive) {
  struct fixture f;
  begin_server(true);
  begin_at(&f, "rabbit_5mb", NULL);
  streams_send_large_rows(&f, 5);
  load(&f, "rabbit_5mb");
  streams_has_large_rows(&f, 5);
  fixture_end(&f);
}

/* ---- outages --------------------------------------------------------------------------------------------------- */

Test(rabbit, a_broker_that_is_away_or_hangs_is_an_outage_and_no_attempt_is_counted) {
  struct fixture f;
  begin_server(false);
  begin_at(&f, "rabbit_away", "push_timeout=2");
  drop_client();
  streams_with_outages(&f, &server, "no answer within 2 s");
  is_complete(&f, "rabbit_away", "item");
  fixture_end(&f);
}

Test(rabbit, a_queue_that_is_full_is_an_outage) {
  struct fixture f;
  begin_server(true);
  make_queue("rabbit_full", "rabbit_full", "#", 50);
  fixture_begin(&f, "rabbit_full");
  sql(f.at_source, "create table item (id int primary key, name text)");
  rowrelay_ok(&f, "target", "add", "w", at("/rabbit_full"), NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item select n from generate_series(1, 100) as n; update item set name = 'x'");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_says(process, "the broker has not accepted all messages", 20);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  make_queue("rabbit_room", "rabbit_full", "#", 0);
  amqp_queue_delete(client, 1, text("rabbit_full"), 0, 0);
  wait_until_empty(&f, 40);
  stop_process(process, SIGTERM);
  load(&f, "rabbit_room");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from message where value::json -> 'data' ->> 'op' = 'update'"),
                   "100");
  fixture_end(&f);
}

Test(rabbit, a_queue_that_is_full_repeats_nothing_in_another_one) {
  struct fixture f;
  begin_server(true);
  make_queue("rabbit_full_plain", "rabbit_beside", "public.plain", 1);
  make_queue("rabbit_item", "rabbit_beside", "public.item", 0);
  fixture_begin(&f, "rabbit_beside");
  streams_capture(&f, at("/rabbit_beside"), NULL);
  sql(f.at_source, "insert into plain select n from generate_series(1, 5) as n; insert into item select n from "
                   "generate_series(1, 1000) as n");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "4", 30, "select count(*) from rowrelay.queue");
  stop_process(process, SIGTERM);
  is_complete(&f, "rabbit_item", "item");
  cr_assert(messages_repeated(&f) == 0);
  fixture_end(&f);
}

Test(rabbit, what_was_not_sent_is_sent_later_where_that_is_at_most_once) {
  struct fixture f;
  begin_server(false);
  begin_at(&f, "rabbit_once", "guarantee=at-most-once");
  drop_client();
  streams_send_later(&f, &server, "push_timeout=20");
  load(&f, "rabbit_once");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from message"), "300");
  fixture_end(&f);
}

/* ---- what a message holds -------------------------------------------------------------------------------------- */

Test(rabbit, a_message_has_the_change_in_the_format_that_was_chosen) {
  struct fixture f;
  begin_server(true);
  begin_at(&f, "rabbit_format", "format=row");
  sql(f.at_source, "insert into item values (1, 'ü\n', 1.50)");
  streams_deliver(&f);
  sql(f.at_source, "delete from item");
  streams_deliver(&f);
  sql(f.at_source, "truncate plain");
  streams_deliver(&f);
  load(&f, "rabbit_format");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', coalesce(key, '-'), value, headers ->> "
                                    "'rowrelay_op', headers ->> 'rowrelay_relation', message_id = headers ->> "
                                    "'rowrelay_change_id', type), e'\\n' order by n) from message"),
                   "{\"id\":1} {\"id\":1,\"name\":\"ü\\n\",\"n\":1.50} insert public.item t application/json\n"
                   "{\"id\":1}  delete public.item t application/json\n"
                   "-  truncate public.plain t application/json");
  rowrelay_ok(&f, "target", "set", "w", "--option", "format=cloudevents-binary", NULL);
  sql(f.at_source, "insert into item values (7)");
  streams_deliver(&f);
  load(&f, "rabbit_format");
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', headers ->> 'cloudEvents:type', headers ->> "
                                    "'cloudEvents:subject', headers ->> 'cloudEvents:id' = message_id, value::json ->> "
                                    "'op') from message"),
                   "rowrelay.public.item.insert 7 t insert");
  fixture_end(&f);
}

Test(rabbit, odd_names_of_tables_and_keys_find_their_queue) {
  struct fixture f;
  begin_server(true);
  make_queue("all.__x.b___c.", "odd ex/change", "nothing", 0);
  make_queue("odd", "odd ex/change", "k:__x.b___c.", 0);
  fixture_begin(&f, "rabbit_odd");
  sql(f.at_source, "create schema \"Ä x\"; create table \"Ä x\".\"b*>\nc.\" (\"k \"\"1\" text, b int, primary key (\"k "
                   "\"\"1\", b))");
  rowrelay_ok(&f, "target", "add", "w", at(""), "-o", "routing_key=all.{table}", NULL);
  rowrelay_ok(&f, "target", "add", "v", at("/%2F/odd%20ex%2Fchange"), "-o", "routing_key=k:{table}", NULL);
  rowrelay_ok(&f, "capture", "\"Ä x\".\"b*>\nc.\"", "--to", "w", NULL);
  rowrelay_ok(&f, "capture", "\"Ä x\".\"b*>\nc.\"", "--to", "v", NULL);
  sql(f.at_source, "insert into \"Ä x\".\"b*>\nc.\" values (E'\\r\\n$5 \"\\\\', 1), ('', 2), (repeat('k', 2000), 3)");
  streams_deliver(&f);
  for (int i = 0; i < 2; i++) {
    load(&f, i == 0 ? "all.__x.b___c." : "odd");
    cr_assert_str_eq(ask(f.at_source, "select string_agg(left(key, 30), ' ' order by n) from message"),
                     "{\"k \\\"1\":\"\\r\\n$5 \\\"\\\\\",\"b\":1} {\"k \\\"1\":\"\",\"b\":2} "
                     "{\"k \\\"1\":\"kkkkkkkkkkkkkkkkkkkk");
  }
  fixture_end(&f);
}

/* ---- connections ----------------------------------------------------------------------------------------------- */

/* What the broker says of a path that is not there. */
static void is_not_there(struct fixture *f, const char *path, const char *words) {
  const char *errors;
  char url[300];
  snprintf(url, sizeof url, "amqps://rowrelay:${AMQP_PASSWORD}@%s/%s", server.address, path);
  rowrelay_ok(f, "target", "set", "w", "--url", url, NULL);
  cr_assert(rowrelay(f, NULL, &errors, "target", "test", "w", NULL) != 0);
  cr_assert(strstr(errors, words) != NULL, "%s", errors);
}

Test(rabbit, a_broker_that_asks_for_tls_and_a_password_gets_them_and_nobody_else_sees_it) {
  struct fixture f;
  char url[300];
  setenv("SECURE", "1", 1);
  begin_server(false);
  fixture_begin(&f, "rabbit_secure");
  snprintf(url, sizeof url, "amqps://rowrelay:${AMQP_PASSWORD}@%s/amq.topic", server.address);
  streams_capture_secure(&f, &server, url, "AMQP_PASSWORD", "the broker does not let us in: ACCESS_REFUSED");
  rowrelay_ok(&f, "target", "set", "w", "-o", "retries=0", NULL);
  cr_assert(strstr(rowrelay_ok(&f, "target", "test", "w", NULL), "nothing was sent") != NULL);
  pid_t process = fixture_run(&f, "--log-level", "debug", NULL);
  wait_until(f.at_source, "312 NO_ROUTE", 30, "select message from rowrelay.errors"); /* nothing is bound */
  streams_never_said(process, getenv("AMQP_PASSWORD"));
  is_not_there(&f, "none", "no exchange 'none'");
  is_not_there(&f, "none/amq.topic", "vhost none not found");
  streams_needs_variable(&f, "AMQP_PASSWORD", "URL");
  fixture_end(&f);
}

Test(rabbit, a_broker_that_asks_for_a_certificate_gets_it) {
  struct fixture f;
  char url[300];
  setenv("SECURE", "mutual", 1);
  begin_server(false);
  fixture_begin(&f, "rabbit_mutual");
  setenv("RABBIT_PASSWORD", served_says(&server, "password"), 1);
  snprintf(url, sizeof url, "amqps://rowrelay:${RABBIT_PASSWORD}@%s/amq.topic", server.address);
  streams_capture(&f, url, "retries=0");
  streams_shows_certificate(&f, &server, "312 NO_ROUTE"); /* nothing is bound */
  fixture_end(&f);
}

Test(rabbit, what_cannot_work_is_said_where_it_is_set) {
  struct fixture f;
  fixture_begin(&f, "rabbit_wrong");
  REFUSES(&f, "names no host", "amqp://");
  REFUSES(&f, "names no host", "amqp://a,b/c");
  REFUSES(&f, "names an exchange that cannot be", "amqp://a/b c");
  REFUSES(&f, "names an exchange that cannot be", "amqp://a/b/c/d");
  REFUSES(&f, "target URL contains a password", "amqp://a:b@c/d");
  REFUSES(&f, "routing_key must be letters", "amqp://a/b", "-o", "routing_key={tables}");
  REFUSES(&f, "option schema=true needs option format=debezium", "amqp://a", "-o", "schema=true");
  streams_cannot_reach(&f, "amqp://127.0.0.1:1", "no connection: ");
  fixture_end(&f);
}
#endif
