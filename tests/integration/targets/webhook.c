/* Webhooks: what is on the wire, and what becomes of each answer. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hooked.h"
#include "proxy.h"

#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

static struct fixture f;
static struct receiver *receiver;

static void end(void) {
  hooked_end(&f, receiver);
}

/* "v1," and the signature that a secret ("whsec_" and base64 without padding) gives. */
static const char *expected_signature(const struct received *request, const char *secret) {
  static char expected[128];
  unsigned char key[128];
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int digest_length;
  const char *encoded = secret + strlen("whsec_");
  int key_length = EVP_DecodeBlock(key, (const unsigned char *)encoded, (int)strlen(encoded));
  cr_assert(key_length > 0);
  char *text;
  int length = asprintf(&text, "%s.%s.%s", received_header(request, "webhook-id"),
                        received_header(request, "webhook-timestamp"), request->body);
  cr_assert(length > 0);
  HMAC(EVP_sha256(), key, key_length, (const unsigned char *)text, (size_t)length, digest, &digest_length);
  free(text);
  memcpy(expected, "v1,", 3);
  EVP_EncodeBlock((unsigned char *)expected + 3, digest, (int)digest_length);
  return expected;
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

Test(webhook, each_change_arrives_as_a_cloud_event) {
  receiver = hooked_begin(&f, "hook_events", NULL);
  sql(f.at_source, "insert into item values (7, 'a', null)");
  sql(f.at_source, "set rowrelay.actor = 'anna'; update item set name = 'b'; reset rowrelay.actor; delete from item");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_eq(receiver_count(receiver), 3);
  for (int i = 0; i < 3; i++) {
    const struct received *request = receiver_at(receiver, i);
    cr_assert(strncmp(request->bytes, "POST /hook HTTP/1.1\r\n", 21) == 0, "%s", request->bytes);
    cr_assert_str_eq(received_header(request, "Content-Type"), "application/cloudevents+json");
    cr_assert_str_eq(received_header(request, "webhook-signature"), "");
    cr_assert(strncmp(received_header(request, "User-Agent"), "rowrelay/", 9) == 0);
  }
  receiver_load(receiver, f.at_source);
  /* These members and no others. */
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(distinct names, ' | ') from (select (select string_agg(name, ' ') "
                       "from json_object_keys(body::json) as name) as names from request) as x"),
                   "specversion id source type subject time datacontenttype data");
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(distinct names, ' | ') from (select (select string_agg(name, ' ') "
                       "from json_object_keys(body::json -> 'data') as name) as names from request) as x"),
                   "change_id relation op key txid actor before after changed");
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(concat_ws(' ', body::json ->> 'type', body::json ->> 'subject', body::json "
                       "-> 'data' ->> 'actor', body::json -> 'data' -> 'before' ->> 'name', body::json -> 'data' -> "
                       "'after' ->> 'name', body::json -> 'data' ->> 'changed'), ' | ' order by n) from request"),
                   "rowrelay.public.item.insert 7 postgres a | rowrelay.public.item.update 7 anna a b [\"name\"] | "
                   "rowrelay.public.item.delete 7 postgres b");
  cr_assert_str_eq(
      ask(f.at_source,
          "select count(*) from request r join rowrelay.history h on h.change_id = (body::json ->> 'id')::bigint "
          "and h.captured_at = (body::json ->> 'time')::timestamptz "
          "and h.txid = (body::json -> 'data' ->> 'txid')::xid8 and h.change_id = (body::json -> 'data' ->> "
          "'change_id')::bigint and body::json -> 'data' ->> 'key' = h.key and body::json -> 'data' ->> 'op' = h.op "
          "and body::json -> 'data' ->> 'relation' = 'public.item' and body::json ->> 'specversion' = '1.0' "
          "and body::json ->> 'datacontenttype' = 'application/json' "
          "and body::json ->> 'source' = 'urn:uuid:' || (select id from rowrelay.source) "
          "and head ~* ('webhook-id: ' || (select id from rowrelay.source) || '-' || h.change_id || '\\r')"),
      "3");
  end();
}

Test(webhook, odd_texts_arrive_as_they_are) {
  receiver = hooked_begin(&f, "hook_odd", NULL);
  sql(f.at_source,
      "create table \"An Odd \"\"Table\"\".\" (\"k\"\"1\" text, \"k 2\" timestamptz, \"Ã¼\" text, primary key "
      "(\"k\"\"1\", \"k 2\"))");
  sql(f.at_source, "select rowrelay.capture_table('\"An Odd \"\"Table\"\".\"', before => 'full'), "
                   "rowrelay.route('\"An Odd \"\"Table\"\".\"', 'w')");
  sql(f.at_source,
      "insert into item values (1, e'\"quoted\", \\\\back, \\t tab, \\u2028 \\U0001F600 Ã¼ ${HOME} </script>', "
      "e'{\\r\\n  \"a\\\\nb\": [1.50,\\n 1e400, \"\\\\u0000\"]\\n}'), (2, repeat('â¬\"', 300000), null), (3, '', "
      "'null')");
  sql(f.at_source,
      "insert into \"An Odd \"\"Table\"\".\" values (e'a\"\\n,b', '2020-01-01', 'x'), ('', '2020-01-01', ''); "
      "update item set more = null; delete from item");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(message || detail, ' ') from rowrelay.errors"), "");
  hooked_is_in_order(&f, receiver);
  cr_assert(ask_number(f.at_source, "select max(length(body)) from request") > 1000000);
  /* Every request is one JSON text on one line, with what was captured, byte by byte but for line breaks. */
  cr_assert_str_eq(
      ask(f.at_source,
          "select concat(count(*), ' ', count(*) filter (where body !~ '[\\r\\n]' and (body::json -> 'data' -> "
          "'after')::text is not distinct from coalesce(translate(h.new_row::text, e'\\r\\n', '  '), 'null') and "
          "(body::json -> 'data' -> 'before')::text is not distinct from coalesce(translate(h.old_row::text, "
          "e'\\r\\n', "
          "'  '), 'null') and body::json -> 'data' ->> 'key' = h.key)) from request join rowrelay.history h on "
          "h.change_id = (body::json ->> 'id')::bigint"),
      "11 11");
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(distinct body::json -> 'data' ->> 'changed', ' ') from request where "
                       "body::json ->> 'type' like '%%.item.update'"),
                   "[\"more\"] []");
  end();
}

Test(webhook, a_truncate_comes_alone_and_in_its_place) {
  receiver = hooked_begin(&f, "hook_truncate", NULL);
  receiver_answer(receiver, NULL, 0, (struct answer){.delay = 0.02});
  sql(f.at_source, "insert into item select n from generate_series(1, 20) as n");
  sql(f.at_source, "truncate item; insert into item select n from generate_series(11, 30) as n");
  rowrelay_ok(&f, "run", "--until-empty", "--workers", "2", NULL);
  receiver_load(receiver, f.at_source);
  cr_assert_str_eq(
      ask(f.at_source,
          "select concat_ws(' ', t.body::json ->> 'subject', t.body::json -> 'data' -> 'key', t.body::json -> "
          "'data' ->> 'op', (select count(*) from request r where r.answered < t.came), (select count(*) "
          "from request r where r.came > t.answered)) from request t where t.body::json ->> 'type' = "
          "'rowrelay.public.item.truncate'"),
      "null truncate 20 20");
  end();
}

Test(webhook, events_come_in_batches_if_that_is_wished) {
  setenv("ROWRELAY_TEST_SECRET", SECRET, 1);
  receiver = hooked_begin(&f, "hook_batches", (const char *[]){"secret=${ROWRELAY_TEST_SECRET}", "events=10", NULL});
  sql(f.at_source,
      "insert into item select n from generate_series(1, 95) as n; update item set name = 'y' where id < 12");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  hooked_is_in_order(&f, receiver);
  cr_assert_str_eq(ask(f.at_source,
                       "select concat(max(count), ' ', sum(count)) from (select count(*) from event group by n) "
                       "as x"),
                   "10 106");
  int count = receiver_count(receiver);
  cr_assert(count <= 20, "%d", count);
  for (int i = 0; i < count; i++) {
    const struct received *request = receiver_at(receiver, i);
    cr_assert_str_eq(received_header(request, "Content-Type"), "application/cloudevents-batch+json");
    cr_assert_str_eq(received_header(request, "webhook-signature"), expected_signature(request, SECRET));
  }
  cr_assert_str_eq(
      ask(f.at_source, "select count(distinct substring(head from '(?i)webhook-id: (\\S+)')) from request"),
      ask(f.at_source, "select '%d'", count));
  end();
}

Test(webhook, documents_are_events_too) {
  receiver = hooked_begin(&f, "hook_documents", NULL);
  sql(f.at_source,
      "create table part (id int primary key, item_id int, name text); create index on part (item_id); select "
      "rowrelay.add_document('doc', 'w', 'id', 'select i.id, i.name, (select json_agg(p.name order by p.id) from part "
      "p "
      "where p.item_id = i.id) as parts from item i where i.id = any ($1)', array['item:id', 'part:item_id'])");
  sql(f.at_source, "insert into part select n, n / 10, 'p' || n from generate_series(10, 29) as n");
  sql(f.at_source, "insert into item values (1, 'one'), (2, 'two')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "update part set name = 'new' where id = 10; delete from item where id = 2");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  receiver_load(receiver, f.at_source);
  sql(f.at_source, "delete from request where body::json -> 'data' ->> 'relation' = 'public.item'");
  cr_assert_str_eq(
      ask(f.at_source,
          "select string_agg(concat_ws(' ', body::json ->> 'type', body::json ->> 'subject', "
          "json_array_length(body::json -> 'data' -> 'after' -> 'parts')), ', ' order by body::json ->> 'subject', n) "
          "from request"),
      "rowrelay.doc.update 1 10, rowrelay.doc.update 1 10, rowrelay.doc.update 2 10, rowrelay.doc.delete 2");
  cr_assert_str_eq(ask(f.at_source,
                       "select concat(count(*), ' ', count(distinct body::json ->> 'id'), ' ', count(distinct "
                       "substring(head from '(?i)webhook-id: (\\S+)'))) from request"),
                   "4 4 4");
  end();
}

/* ---- what the user says ---------------------------------------------------------------------------------------- */

Test(webhook, a_body_can_be_an_expression_which_may_fail_for_one_row) {
  receiver = hooked_begin(
      &f, "hook_body",
      (const char *[]){
          "body=case when key = '5' then null else json_build_object('k', key::int, 'n', 100 / (key::int - 3), "
          "'op', op, 'was', old_row ->> 'name', 'now', new_row ->> 'name', 'who', actor, 'at', captured_at, "
          "'of', relation, 'id', change_id, 'from', source, 'tx', txid) end",
          "method=PUT", "retries=0", "headers=X-One: 1\nContent-Type: application/vnd.x+json", NULL});
  sql(f.at_source,
      "insert into item select n, 'a' from generate_series(1, 6) as n; update item set name = e'b\"' where id = 6");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', key, state, message), ', ' order by key) from "
                                    "rowrelay.errors"),
                   "3 error division by zero, 5 error option body returned null for this change");
  receiver_load(receiver, f.at_source);
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(concat_ws(' ', body::json ->> 'k', body::json ->> 'n', body::json ->> 'was', "
                       "body::json ->> 'now'), ', ' order by (body::json ->> 'k')::int, n) from request"),
                   "1 -50 a, 2 -100 a, 4 100 a, 6 33 a, 6 33 a b\"");
  cr_assert_str_eq(ask(f.at_source,
                       "select count(*) from request join rowrelay.history h on h.change_id = (body::json ->> "
                       "'id')::bigint and h.captured_at = (body::json ->> 'at')::timestamptz and h.txid::text "
                       "= body::json ->> 'tx' and h.actor = body::json ->> 'who' where body::json ->> 'of' = "
                       "'public.item' and body::json ->> 'from' = (select id::text from rowrelay.source)"),
                   "5");
  for (int i = 0; i < 5; i++) {
    const struct received *request = receiver_at(receiver, i);
    cr_assert(strncmp(request->bytes, "PUT /hook ", 10) == 0, "%s", request->bytes);
    cr_assert_str_eq(received_header(request, "X-One"), "1");
    cr_assert_str_eq(received_header(request, "Content-Type"), "application/vnd.x+json");
    cr_assert_null(strstr(request->bytes, "cloudevents"));
  }
  /* One that cannot work at all is not the rows' fault. */
  rowrelay_ok(&f, "target", "set", "w", "--option", "body=new_row -> nothing", NULL);
  sql(f.at_source, "insert into item values (7)");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "failing", 10, "select state from rowrelay.status");
  const char *note = ask(f.at_source, "select note from rowrelay.status");
  cr_assert_not_null(strstr(note, "column \"nothing\" does not exist"), "%s", note);
  cr_assert_not_null(strstr(note, "option body"), "%s", note);
  rowrelay_ok(&f, "target", "set", "w", "--option", "body=new_row ->> 'id'", NULL);
  wait_until_empty(&f, 10);
  cr_assert_str_eq(receiver_at(receiver, 5)->body, "7");
  stop_process(process, SIGTERM);
  end();
}

Test(webhook, headers_and_url_are_filled_from_the_environment) {
  setenv("ROWRELAY_TEST_TOKEN", "t0ken/with space&=", 1);
  setenv("ROWRELAY_TEST_USER", "ann@home", 1);
  receiver =
      hooked_begin(&f, "hook_headers",
                   (const char *[]){"headers=Authorization: Bearer ${ROWRELAY_TEST_TOKEN}\r\nX-Two: a:b\n", NULL});
  char url[256];
  snprintf(url, sizeof url, "http://127.0.0.1:%d/a/${ROWRELAY_TEST_USER}/b?token=${ROWRELAY_TEST_TOKEN}",
           receiver_port(receiver));
  rowrelay_ok(&f, "target", "set", "w", "--url", url, "--option", "method=PATCH", NULL);
  sql(f.at_source, "insert into item values (1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  const struct received *request = receiver_at(receiver, 0);
  static const char line[] = "PATCH /a/ann@home/b?token=t0ken%2Fwith%20space%26%3D HTTP/1.1\r\n";
  cr_assert(strncmp(request->bytes, line, strlen(line)) == 0, "%s", request->bytes);
  cr_assert_str_eq(received_header(request, "Authorization"), "Bearer t0ken/with space&=");
  cr_assert_str_eq(received_header(request, "X-Two"), "a:b");
  end();
}

/* ---- signatures ------------------------------------------------------------------------------------------------ */

Test(webhook, url_and_options_may_have_any_length) {
  enum { LENGTH = 100 * 1000 };
  receiver = hooked_begin(&f, "hook_length", NULL);
  char *url;
  char *body;
  cr_assert(asprintf(&url, "%s?long=%0*d", receiver_url(receiver, "/hook"), LENGTH, 7) > LENGTH);
  cr_assert(asprintf(&body, "body=length('%0*d')", LENGTH, 7) > LENGTH);
  rowrelay_ok(&f, "target", "set", "w", "--url", url, "--option", body, NULL);
  rowrelay_ok(&f, "target", "test", "w", NULL);
  sql(f.at_source, "insert into item values (1, 'a', null)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_eq(receiver_count(receiver), 2);
  const struct received *request = receiver_at(receiver, 1);
  cr_assert_str_eq(request->body, "100000");
  cr_assert_not_null(strstr(request->bytes, strchr(url, '?')), "%.100s", request->bytes);
  free(url);
  free(body);
  end();
}

Test(webhook, requests_are_signed) {
  setenv("ROWRELAY_TEST_SECRET", SECRET, 1);
  receiver = hooked_begin(&f, "hook_signed", (const char *[]){"secret=${ROWRELAY_TEST_SECRET}", NULL});
  sql(f.at_source, "insert into item select n, repeat(e'ü\\n', n), '{}' from generate_series(1, 100) as n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_eq(receiver_count(receiver), 100);
  for (int i = 0; i < 100; i++) {
    const struct received *request = receiver_at(receiver, i);
    cr_assert_str_eq(received_header(request, "webhook-signature"), expected_signature(request, SECRET));
    long long age = (long long)time(NULL) - strtoll(received_header(request, "webhook-timestamp"), NULL, 10);
    cr_assert(age >= 0 && age < 30, "%lld", age);
  }
  end();
}

Test(webhook, two_secrets_sign_while_one_takes_the_others_place) {
  static const char other[] = "whsec_dGhpcyBpcyBhbm90aGVyIHNlY3JldCBrZXkhIQ==";
  setenv("ROWRELAY_TEST_SECRET", SECRET "\n", 1); /* as files of secrets end */
  setenv("ROWRELAY_TEST_OTHER", other, 1);
  receiver = hooked_begin(&f, "hook_secrets",
                          (const char *[]){"secret=${ROWRELAY_TEST_OTHER}\n ${ROWRELAY_TEST_SECRET}", NULL});
  sql(f.at_source, "insert into item values (1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  const struct received *request = receiver_at(receiver, 0);
  char both[256];
  snprintf(both, sizeof both, "%s ", expected_signature(request, other));
  strcat(both, expected_signature(request, SECRET));
  cr_assert_str_eq(received_header(request, "webhook-signature"), both);
  end();
}

/* ---- a lost claim ---------------------------------------------------------------------------------------------- */

/* Takes connections for so long; whether a request has come by one of them. */
static bool is_sent_within(int listener, double seconds) {
  static int taken[64];
  static int count;
  char text[16];
  for (double until = seconds_now() + seconds; seconds_now() < until; sleep_seconds(0.05)) {
    int connection = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (connection >= 0 && count < 64)
      taken[count++] = connection;
    for (int i = 0; i < count; i++)
      if (recv(taken[i], text, sizeof text, 0) > 0)
        return true;
  }
  return false;
}

/* While no connection is taken, the process waits for one; its session at the source ends meanwhile. It stands still
   until the target is paused: else it could rightly claim the row again before, and send it. A server says that it
   ends a session, and frees its locks, before it closes its end: that has to be enough. */
Test(webhook, a_process_that_lost_its_claim_while_it_connected_sends_nothing) {
  static const char *const claims = "from pg_stat_activity where datname = current_database()"
                                    " and application_name like 'rowrelay%' and state = 'idle in transaction'";
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  cr_assert(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 0) == 0 &&
            getsockname(listener, (struct sockaddr *)&address, &length) == 0);
  int fillers[3];
  for (int i = 0; i < 3; i++) {
    fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    (void)connect(fillers[i], (struct sockaddr *)&address, length);
  }
  char url[64];
  snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
  fixture_begin(&f, "hook_stale");
  sql(f.at_source, "create table item (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1)");
  struct proxy proxy;
  proxy_begin(&proxy, f.at_source);
  proxy_hide_ends(&proxy);
  struct fixture behind = f;
  snprintf(behind.source, sizeof behind.source, "host=%s port=5432 user=postgres dbname=%s", proxy.dir,
           PQdb(f.at_source));
  pid_t process = fixture_run(&behind, "--workers", "1", NULL);
  wait_until(f.at_source, "1", 10, "select count(*) %s", claims);
  sleep_seconds(1);
  kill(process, SIGSTOP);
  sql(f.at_source, "select pg_terminate_backend(pid) %s", claims);
  sql(f.at_source, "select rowrelay.pause('w')");
  kill(process, SIGCONT);
  cr_assert_not(is_sent_within(listener, 9));
  sql(f.at_source, "select rowrelay.resume('w')");
  cr_assert(is_sent_within(listener, 20));
  for (int i = 0; i < 3; i++)
    close(fillers[i]);
  close(listener);
  kill(process, SIGKILL);
  proxy_end(&proxy);
  fixture_end(&f);
}

/* ---- the test -------------------------------------------------------------------------------------------------- */

Test(webhook, target_test_sends_one_request_and_says_what_came_back) {
  setenv("ROWRELAY_TEST_SECRET", SECRET, 1);
  receiver = hooked_begin(&f, "hook_test", (const char *[]){"secret=${ROWRELAY_TEST_SECRET}", "events=5", NULL});
  sql(f.at_source, "insert into item values (1)");
  cr_assert_str_eq(rowrelay_ok(&f, "target", "test", "w", NULL), "target w: the receiver answered 204\n");
  cr_assert_eq(receiver_count(receiver), 1);
  const struct received *request = receiver_at(receiver, 0);
  cr_assert_str_eq(received_header(request, "webhook-signature"), expected_signature(request, SECRET));
  static const struct answer answers[] = {
      {.status = 401, .body = "who are you?"}, {.status = 410}, {.status = 301}, {.status = 503}, {.raw = ""}};
  static const char *const says[] = {"HTTP 401\ndetail: who are you?", "HTTP 410", "follow_redirects=true", "HTTP 503",
                                     "no answer: "};
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
    const char *errors;
    receiver_recover(receiver);
    receiver_answer(receiver, NULL, 0, answers[i]);
    cr_assert_eq(rowrelay(&f, NULL, &errors, "target", "test", "w", NULL), 1);
    cr_assert_not_null(strstr(errors, says[i]), "%s", errors);
  }
  /* Nothing of the queue has been touched. */
  cr_assert_str_eq(
      ask(f.at_source, "select concat((select count(*) from rowrelay.queue), ' ', state) from rowrelay.status"),
      "1 not running");
  end();
}
