/* Kafka: what consumers find in a real broker. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker.h"
#include "fixture.h"
#include "receiver.h"
#include "streams.h"

/* The first of them waits until the broker is there, which may have to be fetched. */

static void begin(struct fixture *f, const char *name, const char *option) {
  broker_begin();
  broker_topics_begin(f, name, option);
}

static void is_complete(struct fixture *f, const char *topic, const char *relation) {
  broker_load(f, topic);
  messages_are_complete(f, relation);
}

/* ---- order ----------------------------------------------------------------------------------------------------- */

Test(kafka, several_processes_deliver_the_changes_of_busy_writers_in_order, .timeout = 400) {
  struct fixture f;
  broker_begin();
  fixture_begin(&f, "kafka_writers");
  streams_with_writers(&f, broker_url("/kafka_writers.{table}"));
  is_complete(&f, "kafka_writers.public.stock", "stock");
  cr_assert(ask_number(f.at_source, "select count(distinct partition) from message") == 4);
  is_complete(&f, "kafka_writers.public.ledger", "ledger");
  cr_assert_str_eq(ask(f.at_source, "select count(distinct partition) from message"), "1");
  fixture_end(&f);
}

/* Kills the process while it waits for the broker, and lets others deliver. */
Test(kafka, a_killed_process_loses_and_reorders_nothing, .timeout = 400) {
  struct fixture f;
  broker_begin_own(false);
  broker_topics_begin(&f, "kafka_killed", "batch_rows=200");
  streams_with_killed_processes(&f, broker_server(), 3, 0.1);
  is_complete(&f, "kafka_killed.public.item", "item");
  fixture_end(&f);
}

Test(kafka, a_killed_broker_loses_and_reorders_nothing, .timeout = 400) {
  struct fixture f;
  broker_begin_own(false);
  fixture_begin(&f, "kafka_broker_killed");
  streams_with_killed_server(&f, broker_url("/{table}"), broker_server(), 2);
  is_complete(&f, "public.stock", "stock");
  is_complete(&f, "public.ledger", "ledger");
  fixture_end(&f);
}

Test(kafka, broker_and_process_that_are_killed_together_lose_and_reorder_nothing, .timeout = 400) {
  struct fixture f;
  broker_begin_own(false);
  fixture_begin(&f, "kafka_all_killed");
  streams_with_all_killed(&f, broker_url("/{table}"), broker_server(), 3);
  is_complete(&f, "public.stock", "stock");
  streams_repeat_at_most(&f, "stock", 3 * STREAMS_IN_HAND);
  is_complete(&f, "public.ledger", "ledger");
  fixture_end(&f);
}

Test(kafka, processes_that_are_stopped_for_longer_than_their_lease_lose_and_reorder_nothing, .timeout = 400) {
  struct fixture f;
  broker_begin();
  fixture_begin(&f, "kafka_all_stopped");
  streams_with_stopped_processes(&f, broker_url("/kafka_all_stopped.{table}"), 3);
  is_complete(&f, "kafka_all_stopped.public.stock", "stock");
  streams_repeat_at_most(&f, "stock", 3 * STREAMS_IN_HAND);
  is_complete(&f, "kafka_all_stopped.public.ledger", "ledger");
  fixture_end(&f);
}

static void delete_topic(struct fixture *f) {
  broker_delete_topic("public.stock");
  if (getenv("AUTO_CREATE") == NULL)
    return;
  wait_until(f->at_source, "t", 60, "select exists (select from rowrelay.hold)");
  broker_make_topic("public.stock", 3, NULL);
  rowrelay_ok(f, "retry", "--all", NULL);
}

static void with_deleted_topic(const char *name) {
  struct fixture f;
  broker_begin_own(false);
  fixture_begin(&f, name);
  if (getenv("AUTO_CREATE") != NULL) {
    broker_make_topic("public.stock", 3, NULL);
    broker_make_topic("public.ledger", 1, NULL);
  }
  streams_with_a_fault(&f, broker_url("/{table}"), delete_topic);
  sql(f.at_source, "update stock set note = 'last'");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_nothing_waits(&f, 60);
  stop_process(process, SIGTERM);
  broker_load(&f, "public.stock");
  messages_are_complete_from_somewhere(&f, "stock");
  cr_assert_str_eq(ask(f.at_source,
                       "select (select count(distinct key) from message where value like '%%\"last\"%%') = "
                       "(select count(*) from stock)"),
                   "t");
  broker_load(&f, "public.ledger");
  messages_are_complete(&f, "ledger");
  fixture_end(&f);
}

/* The broker makes it. */
Test(kafka, a_topic_that_is_deleted_and_made_again_gets_all_that_it_did_not_have_in_order, .timeout = 500) {
  with_deleted_topic("kafka_deleted");
}

Test(kafka, a_topic_that_is_deleted_and_not_made_again_holds_its_table_and_no_other, .timeout = 500) {
  setenv("AUTO_CREATE", "false", 1);
  with_deleted_topic("kafka_deleted_held");
}

static void delete_lost(struct fixture *f) {
  (void)f;
  broker_delete_topic("kafka_lost.public.item");
}

Test(kafka, a_topic_that_was_deleted_and_made_again_is_told_of, .timeout = 500) {
  struct fixture f;
  broker_begin_own(false);
  broker_topics_begin(&f, "kafka_lost", NULL);
  streams_tell_of_loss(&f, delete_lost);
  fixture_end(&f);
}

/* One request of it is on its way when the process is stopped, and many are not. */
Test(kafka, a_process_that_was_stopped_for_longer_than_its_lease_sends_no_more_of_its_batch, .timeout = 400) {
  struct fixture f;
  broker_begin_own(false);
  broker_make_topic("kafka_stopped.public.item", 1, NULL);
  broker_topics_begin(&f, "kafka_stopped", "request_bytes=1024");
  rowrelay_ok(&f, "target", "set", "w", "-o", "claim=lease", "-o", "lease=11", "-o", "push_timeout=10", NULL);
  sql(f.at_source, "insert into item values (1)");
  pid_t stopped = fixture_run(&f, NULL, NULL);
  wait_until_empty(&f, 40);
  served_control(broker_server(), "freeze");
  sql(f.at_source, "do $$ begin for i in 1..300 loop update item set n = i; end loop; end $$");
  wait_until(f.at_source, "t", 20, "select exists (select from rowrelay.lease where lease_until > clock_timestamp())");
  sleep_seconds(1); /* until all of it waits to be sent */
  kill(stopped, SIGSTOP);
  served_control(broker_server(), "thaw");
  pid_t other = fixture_run(&f, NULL, NULL);
  wait_until_empty(&f, 60);
  sql(f.at_source, "update item set name = 'last'");
  wait_until_empty(&f, 40);
  kill(stopped, SIGCONT);
  sleep_seconds(3);
  stop_process(stopped, SIGTERM);
  stop_process(other, SIGTERM);
  broker_load_table(&f, "item");
  messages_are_complete(&f, "item");
  cr_assert_str_eq(
      ask(f.at_source, "select value::json -> 'data' -> 'after' ->> 'name' from message order by n desc limit 1"),
      "last", "%s came after it",
      ask(f.at_source, "select count(*) from message where n > (select n from message where value like "
                       "'%%\"last\"%%')"));
  fixture_end(&f);
}

Test(kafka, spellings_of_one_key_stay_in_one_partition, .timeout = 400) {
  struct fixture f;
  begin(&f, "kafka_spellings", NULL);
  sql(f.at_source, "create collation nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
                   "create table named (name text collate nocase primary key, n int)");
  rowrelay_ok(&f, "capture", "named", "--to", "w", NULL);
  sql(f.at_source, "insert into named select 'name' || n, 1 from generate_series(1, 40) as n;"
                   "update named set name = upper(name); delete from named");
  sql(f.at_source, "insert into item values (1, 'a', 1.0); update item set n = 1.00");
  streams_deliver(&f);
  broker_load_table(&f, "named");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from (select lower(key) from message group by 1 having "
                                    "count(distinct partition) > 1) as k"),
                   "0");
  cr_assert(ask_number(f.at_source, "select count(distinct partition) from message") > 1);
  fixture_end(&f);
}

Test(kafka, a_truncate_is_told_in_each_partition_after_all_that_came_before, .timeout = 400) {
  struct fixture f;
  begin(&f, "kafka_truncate", NULL);
  sql(f.at_source, "truncate item"); /* also where there is no such topic yet */
  sql(f.at_source, "insert into item select n from generate_series(1, 100) as n");
  sql(f.at_source, "truncate item");
  sql(f.at_source, "insert into item select n from generate_series(1, 100) as n");
  streams_deliver(&f);
  broker_load_table(&f, "item");
  messages_are_complete(&f, "item");
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(concat(partition, ' ', truncates), ', ' order by partition) from "
                       "(select partition, count(*) as truncates from event where op = 'truncate' "
                       "group by 1) as t"),
                   "0 2, 1 2, 2 2, 3 2");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from (select id, lag(id) over (partition by partition order by n) "
                                    "as before, op, lag(op) over (partition by partition order by n) as op_before from "
                                    "event) as e where id < before and 'truncate' in (op, op_before)"),
                   "0");
  fixture_end(&f);
}

/* ---- what is refused ------------------------------------------------------------------------------------------- */

Test(kafka, a_message_that_is_too_large_is_refused_alone_with_the_brokers_words, .timeout = 400) {
  struct fixture f;
  begin(&f, "kafka_large", NULL);
  broker_make_topic("kafka_large.public.item", 2, "max.message.bytes=20000");
  /* its neighbours are more than one such request, too */
  sql(f.at_source,
      "insert into item select n, case n when 77 then (select string_agg(md5(i::text), '') from "
      "generate_series(1, 1000) as i) else 'small' end from generate_series(1, 500) as n; insert into plain "
      "values ('a'); update item set name = 'well' where id = 78");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(concat_ws('|', key, message, detail), ' ') from rowrelay.errors"),
      "77|Broker: Message size too large|Topic kafka_large.public.item.");
  broker_load_table(&f, "item");
  cr_assert_str_eq(ask(f.at_source, "select count(distinct value::json -> 'data' ->> 'change_id') from message"),
                   "500");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from message where key = '{\"id\":77}'"), "0");
  broker_load_table(&f, "plain");
  messages_are_complete(&f, "plain");
  fixture_end(&f);
}

Test(kafka, a_compacted_topic_refuses_what_has_no_key_and_takes_the_rest, .timeout = 400) {
  struct fixture f;
  begin(&f, "kafka_compacted", NULL);
  broker_make_topic("kafka_compacted.public.item", 2, "cleanup.policy=compact");
  broker_make_topic("kafka_compacted.public.plain", 1, "cleanup.policy=compact");
  sql(f.at_source, "insert into item values (1), (2); insert into plain values ('a')");
  sql(f.at_source, "truncate item");
  sql(f.at_source, "insert into item values (3)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', relation, op, message), ', ' order by change_id) "
                                    "from rowrelay.errors"),
                   "plain insert Broker: Broker failed to validate record, item truncate Broker: Broker failed to "
                   "validate record");
  broker_load_table(&f, "item");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(key, ' ' order by key) from message"),
                   "{\"id\":1} {\"id\":2} {\"id\":3}");
  rowrelay_ok(&f, "skip", "--all", "--target", "w", NULL);
  fixture_end(&f);
}

/* All changes are of one row, in many requests of one push. */
Test(kafka, nothing_of_a_row_arrives_behind_a_refused_change_that_blocks_it, .timeout = 400) {
  struct fixture f;
  broker_begin();
  fixture_begin(&f, "kafka_blocked");
  broker_make_topic("kafka_blocked", 1, "max.message.bytes=20000");
  sql(f.at_source, "create table item (id int primary key, name text)");
  rowrelay_ok(&f, "target", "add", "w", broker_url("/kafka_blocked"), "-o", "request_bytes=5000", "-o", "retries=2",
              "-o", "on_error=block", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  streams_block_a_row(&f, 999, 499, 32000);
  broker_load(&f, "kafka_blocked");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(distinct message, ', ') from rowrelay.errors where state = "
                                    "'error'"),
                   "Broker: Message size too large");
  cr_assert_str_eq(ask(f.at_source,
                       "select concat(count(*), ' ', count(*) filter (where key = '{\"id\":1}')) from (select "
                       "distinct key, value::json -> 'data' ->> 'change_id' from message) as m"),
                   "598 499");
  streams_nothing_is_behind(&f);
  fixture_end(&f);
}

/* Nothing is queued, and nothing is on its way, which counts as refused until there is an answer. */
static void wait_until_known(struct fixture *f) {
  wait_until(f->at_source, "0", 40,
             "select (select count(*) from rowrelay.queue) + (select count(*) from rowrelay.errors where message like "
             "'it was sent, and nobody knows%%')");
}

Test(kafka, what_may_have_arrived_is_not_sent_again_where_that_is_at_most_once, .timeout = 400) {
  struct fixture f;
  broker_begin_own(false);
  broker_topics_begin(&f, "kafka_once", "guarantee=at-most-once");
  sql(f.at_source, "insert into item select n from generate_series(1, 50) as n");
  streams_deliver(&f); /* a busy machine may take longer than what comes next */
  rowrelay_ok(&f, "target", "set", "w", "-o", "push_timeout=5", NULL);
  /* A producer that has no connection yet cannot have sent anything. */
  pid_t process = fixture_run(&f, NULL, NULL);
  sql(f.at_source, "update item set name = 'w'");
  wait_until_known(&f);
  /* What had not gone out by then is sent later, and no error: then it is tried again. */
  for (int round = 0; round < 4 && ask_number(f.at_source, "select count(*) from rowrelay.errors") == 0; round++) {
    served_control(broker_server(), "freeze");
    sql(f.at_source, "update item set name = 'x%d'", round);
    sleep(8);
    served_control(broker_server(), "thaw");
    wait_until_known(&f);
  }
  wait_until_says(process, "no answer within 5 s", 1);
  stop_process(process, SIGTERM);
  broker_load_table(&f, "item");
  cr_assert_str_eq(ask(f.at_source,
                       "select concat(count(*), ' ', count(distinct value)) from message where value is not "
                       "null"),
                   ask(f.at_source, "select concat(count(distinct value), ' ', count(distinct value)) from message"));
  cr_assert_str_eq(ask(f.at_source,
                       "select count(*) from rowrelay.history h where not exists (select from message where "
                       "(value::json -> 'data' ->> 'change_id')::bigint = h.change_id) and not exists "
                       "(select from rowrelay.errors e where e.change_id = h.change_id)"),
                   "0");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.errors") > 0);
  fixture_end(&f);
}

Test(kafka, a_topic_that_cannot_be_holds_its_table_and_no_other, .timeout = 400) {
  struct fixture f;
  broker_begin();
  fixture_begin(&f, "kafka_held");
  sql(f.at_source, "create table item (id int primary key); create table plain (what text)");
  rowrelay_ok(&f, "target", "add", "w", broker_url(""), NULL);
  rowrelay_ok(&f, "capture", "item", "plain", "--to", "w", NULL);
  rowrelay_ok(&f, "route", "item", "w", "--into", "..", NULL);
  rowrelay_ok(&f, "route", "plain", "w", "--into", "kafka_held.plain", NULL);
  pid_t process = streams_hold(&f, "Broker: Invalid topic");
  broker_load(&f, "kafka_held.plain");
  messages_are_complete(&f, "plain");
  rowrelay_ok(&f, "route", "item", "w", "--into", "kafka_held.item", NULL);
  streams_release(&f, process);
  broker_load(&f, "kafka_held.item");
  messages_are_complete(&f, "item");
  fixture_end(&f);
}

Test(kafka, a_table_waits_for_a_topic_that_brokers_do_not_create, .timeout = 400) {
  struct fixture f;
  setenv("AUTO_CREATE", "false", 1);
  broker_begin_own(false);
  broker_make_topic("kafka_waits.public.plain", 1, NULL);
  broker_topics_begin(&f, "kafka_waits", NULL);
  sql(f.at_source, "insert into item select n from generate_series(1, 100) as n; insert into plain values ('a')");
  sql(f.at_source, "truncate item");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "item waiting 101", 40, STREAMS_HELD);
  is_complete(&f, "kafka_waits.public.plain", "plain");
  broker_make_topic("kafka_waits.public.item", 2, NULL);
  streams_release(&f, process);
  broker_load_table(&f, "item");
  messages_are_complete(&f, "item");
  fixture_end(&f);
}

Test(kafka, one_topic_for_all_tables_that_cannot_be_is_an_outage, .timeout = 400) {
  struct fixture f;
  broker_begin();
  fixture_begin(&f, "kafka_no_topic");
  sql(f.at_source, "create table item (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", broker_url("/.."), NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1)");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "failing", 20, "select state from rowrelay.status");
  wait_until_says(process, "Broker: Invalid topic", 10);
  rowrelay_ok(&f, "target", "set", "w", "--url", broker_url("/kafka_a_topic"), NULL);
  wait_until_empty(&f, 40);
  stop_process(process, SIGTERM);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  fixture_end(&f);
}

/* ---- connections ----------------------------------------------------------------------------------------------- */

Test(kafka, a_broker_that_asks_for_tls_and_a_password_gets_them_and_nobody_else_sees_it, .timeout = 400) {
  struct fixture f;
  static const char *const MECHANISMS[] = {"sasl=PLAIN", "sasl=SCRAM-SHA-256", "sasl=SCRAM-SHA-512"};
  broker_begin_own(true);
  fixture_begin(&f, "kafka_secure");
  sql(f.at_source, "create table item (id int primary key)");
  setenv("KAFKA_PASSWORD", "something else", 1);
  rowrelay_ok(&f, "target", "add", "w", broker_url("/in"), "-o", "tls=true", "-o", MECHANISMS[0], "-o",
              "sasl_username=rowrelay", "-o", "sasl_password=${KAFKA_PASSWORD}", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1)");
  streams_let_in(&f, broker_server(), "KAFKA_PASSWORD", "the broker does not know us: ");
  for (size_t i = 0; i < sizeof MECHANISMS / sizeof *MECHANISMS; i++) {
    rowrelay_ok(&f, "target", "set", "w", "-o", MECHANISMS[i], NULL);
    if (i > 0 && broker_refuses_old_scram()) {
      const char *errors;
      cr_assert_eq(rowrelay(&f, NULL, &errors, "target", "test", "w", NULL), 1);
      cr_assert(strstr(errors, "fails SCRAM with Kafka 4.0 and later") != NULL, "%s", errors);
      continue;
    }
    cr_assert(strstr(rowrelay_ok(&f, "target", "test", "w", NULL), "1 broker answered; nothing was sent") != NULL);
    sql(f.at_source, "update item set id = id + 1");
    pid_t process = fixture_run(&f, "--log-level", "debug", NULL);
    wait_until_empty(&f, 30);
    streams_never_said(process, getenv("KAFKA_PASSWORD"));
  }
  rowrelay_ok(&f, "target", "set", "w", "-o", MECHANISMS[0], NULL);
  streams_needs_variable(&f, "KAFKA_PASSWORD", "option sasl_password");
  fixture_end(&f);
}

/* Whoever gives tokens is asked with the client's id and secret. */
Test(kafka, a_broker_that_asks_for_a_certificate_gets_it, .timeout = 400) {
  struct fixture f;
  setenv("SECURE", "mutual", 1);
  broker_begin_own(false);
  fixture_begin(&f, "kafka_mutual");
  setenv("KAFKA_PASSWORD", served_says(broker_server(), "password"), 1);
  streams_capture(&f, broker_url("/in"), "tls=true");
  rowrelay_ok(&f, "target", "set", "w", "-o", "sasl=PLAIN", "-o", "sasl_username=rowrelay", "-o",
              "sasl_password=${KAFKA_PASSWORD}", NULL);
  streams_shows_certificate(&f, broker_server(), "");
  fixture_end(&f);
}

Test(kafka, a_broker_that_asks_for_a_token_gets_one, .timeout = 400) {
  struct fixture f;
  struct receiver *receiver = receiver_begin();
  char body[1024];
  char ca_file[300];
  char url[300];
  broker_begin_own(true);
  fixture_begin(&f, "kafka_token");
  const char *token = ask(f.at_source, "select string_agg(translate(encode(convert_to(part, 'UTF8'), 'base64'), "
                                       "e'+/=\\n', '-_'), '.') || '.' from unnest(array['{\"alg\":\"none\"}', "
                                       "format('{\"sub\":\"rowrelay\",\"iat\":%%s,\"exp\":%%s}', floor(extract(epoch "
                                       "from now())), floor(extract(epoch from now())) + 3600)]) as part");
  snprintf(body, sizeof body, "{\"access_token\":\"%s\",\"token_type\":\"Bearer\",\"expires_in\":3600}", token);
  receiver_answer(receiver, NULL, 0,
                  (struct answer){.status = 200, .headers = "Content-Type: application/json\r\n", .body = body});
  snprintf(ca_file, sizeof ca_file, "ca_file=%s", served_path(broker_server(), "ca.pem"));
  snprintf(url, sizeof url, "oauth_url=%s", receiver_url(receiver, "/token"));
  setenv("CLIENT_SECRET", "geheim/9", 1);
  sql(f.at_source, "create table item (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", broker_url("/in"), "-o", "tls=true", "-o", ca_file, "-o", "sasl=OAUTHBEARER",
              "-o", "sasl_username=client7", "-o", "sasl_password=${CLIENT_SECRET}", "-o", "oauth_scope=all", "-o", url,
              NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1)");
  streams_deliver(&f);
  receiver_load(receiver, f.at_source);
  cr_assert_str_eq(ask(f.at_source, "select concat(substring(head from '^[^ ]+ [^ ]+'), ' ', substring(head from "
                                    "'Authorization: Basic (.*?)\\r') = encode('client7:geheim%%2F9', 'base64'), ' ', "
                                    "body) from request limit 1"),
                   "POST /token t grant_type=client_credentials&scope=all");
  /* one that gives none is an outage, and what it says is not shown */
  receiver_recover(receiver);
  receiver_answer(receiver, NULL, 0, (struct answer){.status = 401, .body = "geheim/9 is wrong"});
  const char *errors;
  cr_assert(rowrelay(&f, NULL, &errors, "target", "test", "w", NULL) == 1);
  cr_assert(strstr(errors, "no token from http://") != NULL && strstr(errors, "/token: HTTP 401") != NULL, "%s",
            errors);
  cr_assert(strstr(errors, "geheim") == NULL, "%s", errors);
  fixture_end(&f);
  receiver_end(receiver);
}

Test(kafka, what_cannot_work_is_said_where_it_is_set) {
  struct fixture f;
  const char *errors;
  fixture_begin(&f, "kafka_wrong");
  REFUSES(&f, "names no broker", "kafka://");
  REFUSES(&f, "names no broker", "kafka://a,,b/c");
  REFUSES(&f, "names a topic that cannot be", "kafka://a/b c");
  REFUSES(&f, "names a topic that cannot be", "kafka://a/{tables}");
  REFUSES(&f, "names a user", "kafka://a@b/c");
  REFUSES(&f, "target URL contains a password", "kafka://a:b@c/d");
  REFUSES(&f, "format must be rowrelay, cloudevents-binary, debezium or row, not \"avro\"", "kafka://a", "-o",
          "format=avro");
  REFUSES(&f, "options format=row and tombstones=false exclude each other", "kafka://a", "-o", "format=row", "-o",
          "tombstones=false");
  REFUSES(&f, "option schema=true needs option format=debezium", "kafka://a", "-o", "schema=true");
  REFUSES(&f, "option whole_transactions=true needs option format=debezium", "kafka://a", "-o",
          "whole_transactions=true", "-o", "lanes=1");
  REFUSES(&f, "option whole_transactions=true needs option lanes=1", "kafka://a", "-o", "whole_transactions=true", "-o",
          "format=debezium");
  REFUSES(&f, "option sasl=PLAIN needs option sasl_username", "kafka://a", "-o", "sasl=PLAIN");
  REFUSES(&f, "option sasl=OAUTHBEARER needs option oauth_url", "kafka://a", "-o", "sasl=OAUTHBEARER", "-o",
          "sasl_username=a", "-o", "sasl_password=${B}");
  REFUSES(&f, "option ca_file needs option tls=true", "kafka://a", "-o", "ca_file=/b");
  REFUSES(&f, "sasl_password must be ${NAME}, taken from the environment of rowrelay run, not \"...\"", "kafka://a",
          "-o", "sasl=PLAIN", "-o", "sasl_username=a", "-o", "sasl_password=geheim");
  REFUSES(&f, "option \"http2\" does not exist for this kind of target", "kafka://a", "-o", "http2=true");
  streams_cannot_reach(&f, "kafka://127.0.0.1:1", "no broker answers: ");
  cr_expect(rowrelay(&f, NULL, &errors, "target", "test", "w", NULL) == 1);
  cr_expect(strstr(errors, "Connection refused") != NULL, "%s", errors);
  cr_expect(rowrelay(&f, NULL, &errors, "capture", "item", "--to", "w", "--create", NULL) == 0);
  cr_expect(strstr(errors, "warning: target \"w\" has no tables: nothing is created there for table") != NULL, "%s",
            errors);
  cr_expect(rowrelay(&f, NULL, &errors, "verify", "w", NULL) == 2, "%s", errors);
  fixture_end(&f);
}
