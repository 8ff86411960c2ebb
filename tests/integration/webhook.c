/* Webhooks: what is on the wire, and what becomes of each answer. */
#include <criterion/criterion.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooked.h"

TestSuite(webhook, .timeout = 60);

#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

static struct fixture f;
static struct receiver *receiver;

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
    cr_assert_str_eq(received_header(request, "Content-Type"), "application/cloudevents+json; charset=UTF-8");
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
  hooked_end(&f, receiver);
}

/* ---- signatures ------------------------------------------------------------------------------------------------ */

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
  hooked_end(&f, receiver);
}
