/* NATS JetStream: what consumers find in a real server. */
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

#if HAVE_LIBNATS
#include <nats/nats.h>

static struct served server;
static natsConnection *connection = NULL;
static jsCtx *js = NULL;

static void begin_server(bool shared) {
  served_begin(&server, "nats.sh", shared);
}

static const char *at(const char *path) {
  return served_url(&server, "nats", path);
}

static void fine(natsStatus status, const char *what) {
  cr_assert(status == NATS_OK, "%s: %s: %s", what, natsStatus_GetText(status), nats_GetLastError(NULL));
}

static void need_client(void) {
  if (connection == NULL || natsConnection_IsClosed(connection)) {
    fine(natsConnection_ConnectTo(&connection, at("")), "connect");
    fine(natsConnection_JetStream(&js, connection, NULL), "JetStream");
  }
}

/* `most`: bytes of a message; 0: any. */
static void make_stream(const char *name, const char *subject, int most) {
  jsStreamConfig config;
  need_client();
  jsStreamConfig_Init(&config);
  config.Name = name;
  config.Subjects = &subject;
  config.SubjectsLen = 1;
  if (most > 0)
    config.MaxMsgSize = most;
  fine(js_AddStream(NULL, js, &config, NULL, NULL), name);
}

static int count_of(const char *stream) {
  jsStreamInfo *info = NULL;
  need_client();
  fine(js_GetStreamInfo(&info, js, stream, NULL, NULL), stream);
  int count = (int)info->State.Msgs;
  jsStreamInfo_Destroy(info);
  return count;
}

static void add_message(struct fixture *f, natsMsg *message, int64_t n) {
  const char **names = NULL;
  const char *value = NULL;
  int count = 0;
  json_t *headers = json_object();
  natsMsgHeader_Keys(message, &names, &count);
  for (int i = 0; i < count; i++)
    if (natsMsgHeader_Get(message, names[i], &value) == NATS_OK)
      json_object_set_new(headers, names[i], json_string(value));
  free(names);
  json_t *line = json_pack("{s:I, s:s#, s:o}", "n", (json_int_t)n, "value", natsMsg_GetData(message),
                           natsMsg_GetDataLength(message), "headers", headers);
  cr_assert(line != NULL);
  char *text = json_dumps(line, JSON_COMPACT);
  messages_add(f, text, strlen(text));
  messages_add(f, "\n", 1);
  free(text);
  json_decref(line);
}

/* What a stream has of a subject. */
static void load(struct fixture *f, const char *stream, const char *subject) {
  natsSubscription *subscription = NULL;
  natsMsg *message = NULL;
  jsSubOptions options;
  need_client();
  jsSubOptions_Init(&options);
  options.Stream = stream;
  options.Ordered = true;
  fine(js_SubscribeSync(&subscription, js, subject, NULL, &options, NULL), subject);
  messages_begin(f);
  for (int64_t n = 0; natsSubscription_NextMsg(&message, subscription, 1500) == NATS_OK; n++) {
    add_message(f, message, n);
    natsMsg_Destroy(message);
  }
  messages_end(f);
  natsSubscription_Destroy(subscription);
  messages_make(f, "select (line ->> 'n')::bigint as n, 0 as partition, line -> 'headers' ->> 'rowrelay_key' as key, "
                   "line ->> 'value' as value, line -> 'headers' as headers from line");
}

/* Of a table of schema public, whose changes have a subject of their own below the stream's name. */
static void is_complete(struct fixture *f, const char *stream, const char *relation) {
  char subject[128];
  snprintf(subject, sizeof subject, "%s.public.%s", stream, relation);
  load(f, stream, subject);
  messages_are_complete(f, relation);
}

/* Tables item, which has a key, and plain, which has none, go to target w: subjects and a stream of the test's own. */
static void begin_at(struct fixture *f, const char *name, const char *option) {
  char path[128];
  char subjects[128];
  snprintf(path, sizeof path, "/%s.{table}", name);
  snprintf(subjects, sizeof subjects, "%s.>", name);
  make_stream(name, subjects, 0);
  fixture_begin(f, name);
  streams_capture(f, at(path), option);
}

/* ---- order ----------------------------------------------------------------------------------------------------- */

Test(nats, several_processes_deliver_the_changes_of_busy_writers_in_order) {
  struct fixture f;
  begin_server(true);
  make_stream("writers", "writers.>", 0);
  fixture_begin(&f, "nats_writers");
  streams_with_writers(&f, at("/writers.{table}"));
  is_complete(&f, "writers", "stock");
  cr_assert(messages_repeated(&f) == 0);
  is_complete(&f, "writers", "ledger");
  fixture_end(&f);
}

/* The stream has had what comes again. */
Test(nats, a_killed_process_loses_reorders_and_repeats_nothing) {
  struct fixture f;
  begin_server(false);
  begin_at(&f, "nats_killed", "batch_rows=200");
  streams_with_killed_processes(&f, &server, 4, 0.05);
  is_complete(&f, "nats_killed", "item");
  cr_assert(messages_repeated(&f) == 0);
  fixture_end(&f);
}

Test(nats, a_killed_server_loses_and_reorders_nothing) {
  struct fixture f;
  begin_server(false);
  make_stream("killed", "killed.>", 0);
  fixture_begin(&f, "nats_server_killed");
  streams_with_killed_server(&f, at("/killed.{table}"), &server, 3);
  natsConnection_Close(connection);
  is_complete(&f, "killed", "stock");
  cr_assert(messages_repeated(&f) <= 3 * 2 * STREAMS_KILLED_ROWS);
  is_complete(&f, "killed", "ledger");
  fixture_end(&f);
}

/* The stream has had what comes again. */
Test(nats, server_and_process_that_are_killed_together_lose_reorder_and_repeat_nothing) {
  struct fixture f;
  begin_server(false);
  make_stream("all_killed", "all_killed.>", 0);
  fixture_begin(&f, "nats_all_killed");
  streams_with_all_killed(&f, at("/all_killed.{table}"), &server, 4);
  natsConnection_Close(connection);
  is_complete(&f, "all_killed", "stock");
  streams_repeat_at_most(&f, "stock", 0);
  is_complete(&f, "all_killed", "ledger");
  fixture_end(&f);
}

Test(nats, processes_that_are_stopped_for_longer_than_their_lease_lose_reorder_and_repeat_nothing) {
  struct fixture f;
  begin_server(true);
  make_stream("stopped", "stopped.>", 0);
  fixture_begin(&f, "nats_stopped");
  streams_with_stopped_processes(&f, at("/stopped.{table}"), 3);
  is_complete(&f, "stopped", "stock");
  streams_repeat_at_most(&f, "stock", 0);
  is_complete(&f, "stopped", "ledger");
  fixture_end(&f);
}

static void forget_client(void) {
  natsConnection_Close(connection);
}

static void let_an_empty_server_take_over(struct fixture *f) {
  served_exchange(&server);
  forget_client();
  wait_until(f->at_source, "t", 60, "select exists (select from rowrelay.hold)");
  make_stream("empty", "empty.>", 0);
  rowrelay_ok(f, "retry", "--all", NULL);
}

/* Nothing is in neither, and on both together each row's changes are in order. */
Test(nats, a_failover_to_an_empty_server_loses_and_reorders_nothing_that_the_old_one_did_not_have) {
  struct fixture f;
  begin_server(false);
  make_stream("empty", "empty.>", 0);
  fixture_begin(&f, "nats_empty");
  streams_with_a_fault(&f, at("/empty.{table}"), let_an_empty_server_take_over);
  load(&f, "empty", "empty.public.stock");
  cr_assert(ask_number(f.at_source, "select count(*) from message") > 0);
  messages_put_aside(&f);
  served_exchange(&server);
  forget_client();
  load(&f, "empty", "empty.public.stock");
  cr_assert(ask_number(f.at_source, "select count(*) from message") > 0);
  messages_append(&f);
  messages_are_complete(&f, "stock");
  cr_assert(messages_repeated(&f) <= 2 * 2 * STREAMS_KILLED_ROWS);
  fixture_end(&f);
}

static void delete_stream(const char *name) {
  need_client();
  fine(js_DeleteStream(js, name, NULL, NULL), name);
}

static void delete_and_make_again(struct fixture *f) {
  delete_stream("deleted");
  wait_until(f->at_source, "t", 60, "select exists (select from rowrelay.hold)");
  make_stream("deleted", "deleted.>", 0);
  rowrelay_ok(f, "retry", "--all", NULL);
}

Test(nats, a_stream_that_is_deleted_and_made_again_gets_all_that_it_did_not_have_in_order) {
  struct fixture f;
  begin_server(false);
  make_stream("deleted", "deleted.>", 0);
  fixture_begin(&f, "nats_deleted");
  streams_with_a_fault(&f, at("/deleted.{table}"), delete_and_make_again);
  load(&f, "deleted", "deleted.public.stock");
  cr_assert(ask_number(f.at_source, "select count(*) from message") > 0);
  messages_are_complete_from_somewhere(&f, "stock");
  fixture_end(&f);
}

/* A process that has made it makes it again. */
Test(nats, a_stream_that_is_deleted_is_made_again_where_that_is_asked_for) {
  struct fixture f;
  begin_server(false);
  fixture_begin(&f, "nats_remade");
  streams_capture(&f, at("/remade.{table}"), NULL);
  rowrelay_ok(&f, "target", "set", "w", "-o", "stream=remade", "-o", "create_stream=true", NULL);
  sql(f.at_source, "insert into item values (1)");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_empty(&f, 30);
  delete_stream("remade");
  sql(f.at_source, "insert into item select n from generate_series(2, 100) as n");
  wait_until_nothing_waits(&f, 60);
  cr_assert_eq(count_of("remade"), 99);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

static void delete_lost(struct fixture *f) {
  (void)f;
  delete_stream("lost");
}

Test(nats, a_stream_that_was_deleted_and_made_again_is_told_of) {
  struct fixture f;
  begin_server(false);
  fixture_begin(&f, "nats_lost");
  streams_capture(&f, at("/lost.{table}"), NULL);
  rowrelay_ok(&f, "target", "set", "w", "-o", "stream=lost", "-o", "create_stream=true", NULL);
  streams_tell_of_loss(&f, delete_lost);
  fixture_end(&f);
}

/* ---- what is refused ------------------------------------------------------------------------------------------- */

/* All changes are of one row. */
Test(nats, nothing_of_a_row_is_stored_behind_a_refused_change_that_blocks_it) {
  struct fixture f;
  begin_server(true);
  make_stream("nats_blocked", "nats_blocked", 20000);
  fixture_begin(&f, "nats_blocked");
  sql(f.at_source, "create table item (id int primary key, name text)");
  rowrelay_ok(&f, "target", "add", "w", at("/nats_blocked"), "-o", "retries=2", "-o", "on_error=block", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  streams_block_a_row(&f, 999, 499, 30000);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(distinct concat_ws('|', key, message, detail), ', ') from "
                                    "rowrelay.errors where state = 'error'"),
                   "1|message size exceeds maximum allowed|Subject nats_blocked.");
  load(&f, "nats_blocked", "nats_blocked");
  cr_assert_str_eq(ask(f.at_source, "select concat(count(*), ' ', count(*) filter (where key = '{\"id\":1}')) from "
                                    "message"),
                   "598 499");
  streams_nothing_is_behind(&f);
  fixture_end(&f);
}

Test(nats, a_message_larger_than_the_server_takes_is_refused_alone) {
  struct fixture f;
  begin_server(true);
  begin_at(&f, "nats_large", NULL);
  sql(f.at_source, "insert into item select n, repeat('x', case n when 77 then 2000000 else 10 end) from "
                   "generate_series(1, 300) as n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(concat_ws('|', key, message ~ 'is larger than the server takes', "
                       "detail), ' ') from rowrelay.errors"),
                   "77|t|Subject nats_large.public.item.");
  cr_assert_eq(count_of("nats_large"), 299);
  rowrelay_ok(&f, "skip", "--all", "--target", "w", NULL);
  fixture_end(&f);
}

Test(nats, rows_of_5_MB_arrive_where_the_server_takes_them) {
  struct fixture f;
  setenv("SETTINGS", "max_payload: 8MB", 1);
  begin_server(false);
  begin_at(&f, "nats_5mb", NULL);
  streams_send_large_rows(&f, 5);
  load(&f, "nats_5mb", "nats_5mb.>");
  streams_has_large_rows(&f, 5);
  fixture_end(&f);
}

Test(nats, a_table_waits_for_a_stream_that_has_its_subject) {
  struct fixture f;
  begin_server(true);
  make_stream("nats_waits", "nats_waits.public.plain", 0);
  fixture_begin(&f, "nats_waits");
  sql(f.at_source, "create table item (id int primary key); create table plain (what text)");
  rowrelay_ok(&f, "target", "add", "w", at("/nats_waits.{table}"), NULL);
  rowrelay_ok(&f, "capture", "item", "plain", "--to", "w", NULL);
  pid_t process = streams_hold(&f, "no stream has this subject");
  cr_assert_eq(count_of("nats_waits"), 1);
  make_stream("nats_waits_item", "nats_waits.public.item", 0);
  streams_release(&f, process);
  load(&f, "nats_waits_item", "nats_waits.public.item");
  messages_are_complete(&f, "item");
  fixture_end(&f);
}

Test(nats, a_subject_that_may_not_be_published_to_holds_its_table_and_no_other) {
  struct fixture f;
  char url[256];
  setenv("SETTINGS",
         "authorization { users: [ { user: all, password: all }, { user: some, password: some, permissions: "
         "{ publish: [\"nats_acl.public.plain\"], subscribe: \"_INBOX.>\" } } ] }",
         1);
  begin_server(false);
  snprintf(url, sizeof url, "nats://all:all@%s", server.address);
  fine(natsConnection_ConnectTo(&connection, url), "connect");
  fine(natsConnection_JetStream(&js, connection, NULL), "JetStream");
  make_stream("nats_acl", "nats_acl.>", 0);
  fixture_begin(&f, "nats_acl");
  sql(f.at_source, "create table item (id int primary key); create table plain (what text)");
  setenv("NATS_WORD", "some", 1);
  snprintf(url, sizeof url, "nats://some:${NATS_WORD}@%s/nats_acl.{table}", server.address);
  rowrelay_ok(&f, "target", "add", "w", url, NULL);
  rowrelay_ok(&f, "capture", "item", "plain", "--to", "w", NULL);
  pid_t process = streams_hold(&f, NULL);
  wait_until(f.at_source, "100", 20, "select count(*) from rowrelay.errors where message ~* 'permissions violation'");
  cr_assert_eq(count_of("nats_acl"), 1);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

/* ---- outages --------------------------------------------------------------------------------------------------- */

Test(nats, a_server_that_is_away_or_hangs_is_an_outage_and_no_attempt_is_counted) {
  struct fixture f;
  begin_server(false);
  begin_at(&f, "nats_away", "push_timeout=2");
  streams_with_outages(&f, &server, NULL);
  natsConnection_Close(connection);
  is_complete(&f, "nats_away", "item");
  fixture_end(&f);
}

Test(nats, a_stream_that_is_full_is_an_outage) {
  struct fixture f;
  jsStreamConfig config;
  const char *subject = "nats_full";
  begin_server(true);
  need_client();
  jsStreamConfig_Init(&config);
  config.Name = subject;
  config.Subjects = &subject;
  config.SubjectsLen = 1;
  config.MaxMsgs = 50;
  config.Discard = js_DiscardNew;
  fine(js_AddStream(NULL, js, &config, NULL, NULL), subject);
  fixture_begin(&f, "nats_full");
  sql(f.at_source, "create table item (id int primary key, name text)");
  rowrelay_ok(&f, "target", "add", "w", at("/nats_full"), NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item select n from generate_series(1, 300) as n; update item set name = 'x'");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_says(process, "maximum messages exceeded", 20);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  config.MaxMsgs = -1;
  fine(js_UpdateStream(NULL, js, &config, NULL, NULL), subject);
  wait_until_empty(&f, 40);
  stop_process(process, SIGTERM);
  load(&f, "nats_full", "nats_full");
  messages_are_complete(&f, "item");
  cr_assert(messages_repeated(&f) == 0);
  fixture_end(&f);
}

Test(nats, what_was_not_sent_is_sent_later_where_that_is_at_most_once) {
  struct fixture f;
  begin_server(false);
  begin_at(&f, "nats_once", "guarantee=at-most-once");
  streams_send_later(&f, &server, "push_timeout=3");
  natsConnection_Close(connection);
  cr_assert_eq(count_of("nats_once"), 300);
  fixture_end(&f);
}

/* ---- what a message holds -------------------------------------------------------------------------------------- */

Test(nats, a_message_has_the_change_in_the_format_that_was_chosen) {
  struct fixture f;
  begin_server(true);
  begin_at(&f, "nats_format", "format=row");
  sql(f.at_source, "insert into item values (1, 'ü\n', 1.50); insert into plain values ('p')");
  sql(f.at_source, "delete from item; truncate plain");
  streams_deliver(&f);
  load(&f, "nats_format", "nats_format.public.item");
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(concat_ws(' ', key, value, headers ->> 'rowrelay_op', headers ->> "
                       "'rowrelay_relation', headers ->> 'Nats-Msg-Id' ~ ('^[0-9a-f-]{36}:[0-9]+:' || "
                       "(headers ->> 'rowrelay_change_id') || '$')), e'\\n' order by n) from message"),
                   "{\"id\":1} {\"id\":1,\"name\":\"ü\\n\",\"n\":1.50} insert public.item t\n"
                   "{\"id\":1}  delete public.item t");
  load(&f, "nats_format", "nats_format.public.plain");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', coalesce(key, '-'), value, headers ->> "
                                    "'rowrelay_op'), e'\\n' order by n) from message"),
                   "- {\"what\":\"p\"} insert\n-  truncate");
  rowrelay_ok(&f, "target", "set", "w", "--option", "format=cloudevents-binary", NULL);
  sql(f.at_source, "insert into item values (7)");
  streams_deliver(&f);
  load(&f, "nats_format", "nats_format.public.item");
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', headers ->> 'content-type', headers ->> 'ce-type', headers "
                                    "->> 'ce-subject', value::json ->> 'op') from message where key = '{\"id\":7}'"),
                   "application/json rowrelay.public.item.insert 7 insert");
  fixture_end(&f);
}

Test(nats, odd_names_of_tables_and_keys_find_their_subject_in_a_stream_that_is_made) {
  struct fixture f;
  const char *errors;
  begin_server(true);
  fixture_begin(&f, "nats_odd");
  sql(f.at_source,
      "create schema \"Ä x\"; create table \"Ä x\".\"..b*>\nc.\" (\"k \"\"1\" text, b int, primary key (\"k "
      "\"\"1\", b)); create table item (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", at("/odd.all-{table}"), "-o", "stream=odd", NULL);
  rowrelay_ok(&f, "capture", "\"Ä x\".\"..b*>\nc.\"", "item", "--to", "w", NULL);
  cr_assert(rowrelay(&f, NULL, &errors, "target", "test", "w", NULL) == 1);
  cr_assert(strstr(errors, "there is no stream odd") != NULL, "%s", errors);
  rowrelay_ok(&f, "target", "set", "w", "-o", "create_stream=true", NULL);
  cr_assert(strstr(rowrelay_ok(&f, "target", "test", "w", NULL), "there is not yet stream odd") != NULL);
  sql(f.at_source,
      "insert into \"Ä x\".\"..b*>\nc.\" values (E'\\r\\n$5 \"\\\\', 1), ('', 2); insert into item select n "
      "from generate_series(1, 100) as n");
  streams_deliver(&f);
  cr_assert(strstr(rowrelay_ok(&f, "target", "test", "w", NULL), "there is stream odd; nothing was sent") != NULL);
  load(&f, "odd", "odd.all-public.item");
  messages_are_complete(&f, "item");
  load(&f, "odd", "odd.all-__x._.b___c_");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(key, ' ' order by n) from message"),
                   "{\"k \\\"1\":\"\\r\\n$5 \\\"\\\\\",\"b\":1} {\"k \\\"1\":\"\",\"b\":2}");
  fixture_end(&f);
}

/* ---- connections ----------------------------------------------------------------------------------------------- */

Test(nats, a_server_that_asks_for_tls_and_a_password_gets_them_and_nobody_else_sees_it) {
  struct fixture f;
  const char *errors;
  char url[300];
  const char *port;
  setenv("SECURE", "1", 1);
  begin_server(false);
  port = strchr(server.address, ':') + 1;
  fixture_begin(&f, "nats_secure");
  snprintf(url, sizeof url, "nats+tls://rowrelay:${NATS_PASSWORD}@localhost:%s/in", port);
  streams_capture_secure(&f, &server, url, "NATS_PASSWORD", "the server does not let us in: ");
  rowrelay_ok(&f, "target", "set", "w", "-o", "stream=in", "-o", "create_stream=true", NULL);
  cr_assert(strstr(rowrelay_ok(&f, "target", "test", "w", NULL), "nothing was sent") != NULL);
  pid_t process = fixture_run(&f, "--log-level", "debug", NULL);
  wait_until_empty(&f, 30);
  streams_never_said(process, getenv("NATS_PASSWORD"));
  /* the certificate is not for another name */
  snprintf(url, sizeof url, "nats+tls://rowrelay:${NATS_PASSWORD}@127.0.0.2:%s/in", port);
  rowrelay_ok(&f, "target", "set", "w", "--url", url, NULL);
  cr_assert(rowrelay(&f, NULL, &errors, "target", "test", "w", NULL) != 0);
  streams_needs_variable(&f, "NATS_PASSWORD", "URL");
  fixture_end(&f);
}

Test(nats, a_server_that_asks_for_a_token_gets_it) {
  struct fixture f;
  const char *errors;
  setenv("SETTINGS", "authorization { token: \"geheim/7\" }", 1);
  begin_server(false);
  fixture_begin(&f, "nats_token");
  sql(f.at_source, "create table item (id int primary key)");
  setenv("NATS_TOKEN", "wrong/one", 1);
  rowrelay_ok(&f, "target", "add", "w", at("/in"), "-o", "stream=in", "-o", "create_stream=true", "-o",
              "token=${NATS_TOKEN}", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1)");
  cr_assert(rowrelay(&f, NULL, &errors, "target", "test", "w", NULL) != 0);
  cr_assert(strstr(errors, "the server does not let us in: ") != NULL && strstr(errors, "wrong/one") == NULL, "%s",
            errors);
  setenv("NATS_TOKEN", "geheim/7", 1);
  streams_deliver(&f);
  fixture_end(&f);
}

Test(nats, a_server_that_asks_for_a_certificate_gets_it) {
  struct fixture f;
  char url[300];
  setenv("SECURE", "mutual", 1);
  begin_server(false);
  fixture_begin(&f, "nats_mutual");
  setenv("NATS_PASSWORD", served_says(&server, "password"), 1);
  snprintf(url, sizeof url, "nats+tls://rowrelay:${NATS_PASSWORD}@%s/in", server.address);
  streams_capture(&f, url, "stream=in");
  rowrelay_ok(&f, "target", "set", "w", "-o", "create_stream=true", NULL);
  streams_shows_certificate(&f, &server, "");
  fixture_end(&f);
}

Test(nats, what_cannot_work_is_said_where_it_is_set) {
  struct fixture f;
  fixture_begin(&f, "nats_wrong");
  REFUSES(&f, "names no server", "nats://");
  REFUSES(&f, "names no server", "nats://a,,b/c");
  REFUSES(&f, "names a subject that cannot be", "nats://a/b c");
  REFUSES(&f, "names a subject that cannot be", "nats://a/b..c");
  REFUSES(&f, "names a subject that cannot be", "nats://a/b.>");
  REFUSES(&f, "names a subject that cannot be", "nats://a/b.{tables}");
  REFUSES(&f, "target URL contains a password", "nats://a:b@c/d");
  REFUSES(&f, "token must be ${NAME}, taken from the environment of rowrelay run, not \"...\"", "nats://a", "-o",
          "token=geheim");
  REFUSES(&f, "option create_stream=true needs option stream", "nats://a/b.{table}", "-o", "create_stream=true");
  REFUSES(&f, "option schema=true needs option format=debezium", "nats://a", "-o", "schema=true");
  streams_cannot_reach(&f, "nats://127.0.0.1:1,localhost:2", "no connection: ");
  fixture_end(&f);
}
#endif
