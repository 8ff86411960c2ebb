/* Webhooks: redirects within a server and to others, and when at-most-once knows that nothing was sent. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooked.h"

static struct fixture f;
static struct receiver *receiver;

static void begin(const char *name, const char *const *options) {
  receiver = hooked_begin(&f, name, options);
}

static void end(void) {
  hooked_end(&f, receiver);
}

/* A header that leads to `place`, which is a URL or a path. */
static const char *leads_to(const char *place) {
  static char headers[4][256];
  static int next;
  next = (next + 1) % 4;
  snprintf(headers[next], sizeof headers[next], "Location: %s\r\n", place);
  return headers[next];
}

/* ---- redirects ------------------------------------------------------------------------------------------------- */

Test(webhook_redirects, redirect_within_the_server_keeps_method_headers_and_body) {
  setenv("ROWRELAY_TEST_KEY", "key/1", 1);
  setenv("ROWRELAY_TEST_PASSWORD", "pass", 1);
  begin("redirect_same",
        (const char *[]){"follow_redirects=true", "headers=X-Api-Key: ${ROWRELAY_TEST_KEY}", "retries=0", NULL});
  char url[128];
  snprintf(url, sizeof url, "http://ann:${ROWRELAY_TEST_PASSWORD}@127.0.0.1:%d/hook", receiver_port(receiver));
  rowrelay_ok(&f, "target", "set", "w", "--url", url, NULL);
  receiver_answer(receiver, "POST /hook", 0, (struct answer){.status = 301, .headers = leads_to("/second?a=b%20c")});
  receiver_answer(receiver, "POST /second", 0,
                  (struct answer){.status = 307, .headers = leads_to(receiver_url(receiver, "/third"))});
  sql(f.at_source, "insert into item values (1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  cr_assert_eq(receiver_count(receiver), 3);
  cr_expect(strncmp(receiver_at(receiver, 1)->bytes, "POST /second?a=b%20c ", 21) == 0);
  const struct received *last = receiver_at(receiver, 2);
  cr_expect(strncmp(last->bytes, "POST /third ", 12) == 0, "%s", last->bytes);
  cr_expect_str_eq(last->body, receiver_at(receiver, 0)->body);
  cr_expect_str_eq(received_header(last, "X-Api-Key"), "key/1");
  cr_expect_str_eq(received_header(last, "Authorization"), "Basic YW5uOnBhc3M=");
  end();
}

/* The headers may hold secrets, and the body holds rows: nobody else may have them, in no kind of target. */
Test(webhook_redirects, redirect_to_another_server_is_named_and_not_followed) {
  static const char *const KINDS[] = {"", "ndjson+", "clickhouse+", "elasticsearch+"};
  setenv("ROWRELAY_TEST_KEY", "key/1", 1);
  begin("redirect_other",
        (const char *[]){"follow_redirects=true", "headers=X-Api-Key: ${ROWRELAY_TEST_KEY}", "retries=0", NULL});
  struct receiver *other = receiver_begin();
  char server[64];
  char same_port[64];
  snprintf(server, sizeof server, "http://127.0.0.1:%d", receiver_port(other));
  snprintf(same_port, sizeof same_port, "http://localhost:%d", receiver_port(receiver));
  for (int i = 0; i < 8; i++) {
    const char *place = i % 2 == 0 ? server : same_port;
    const char *errors;
    char name[16];
    char url[128];
    char headers[256];
    snprintf(headers, sizeof headers, "Location: %s/elsewhere?token=x\r\n", place);
    receiver_recover(receiver);
    receiver_answer(receiver, NULL, 0, (struct answer){.status = 307, .headers = headers});
    snprintf(name, sizeof name, "kind%d", i);
    snprintf(url, sizeof url, "%s%s", KINDS[i / 2], receiver_url(receiver, "/item"));
    rowrelay_ok(&f, "target", "add", name, url, "--option", "follow_redirects=true", "--option",
                "headers=X-Api-Key: ${ROWRELAY_TEST_KEY}", NULL);
    cr_expect(rowrelay(&f, NULL, &errors, "target", "test", name, NULL) == 1, "%s", url);
    cr_expect_not_null(strstr(errors, place), "%s: %s", url, errors);
    cr_expect_null(strstr(errors, "token"), "%s: %s", url, errors);
  }
  receiver_recover(receiver);
  receiver_answer(receiver, NULL, 0, (struct answer){.status = 308, .headers = leads_to(server)});
  sql(f.at_source, "insert into item values (1)");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "failing", 10, "select state from rowrelay.status where target = 'w'");
  stop_process(process, SIGTERM);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "1");
  receiver_load(receiver, f.at_source);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from request where head like '%%elsewhere%%'"), "0");
  cr_expect_eq(receiver_connections(other), 0);
  receiver_end(other);
  end();
}

Test(webhook_redirects, redirects_in_a_circle_end) {
  begin("redirect_circle", (const char *[]){"follow_redirects=true", NULL});
  receiver_answer(receiver, NULL, 0, (struct answer){.status = 302, .headers = leads_to("/hook")});
  const char *errors;
  cr_expect(rowrelay(&f, NULL, &errors, "target", "test", "w", NULL) == 1);
  cr_expect_not_null(strstr(errors, "HTTP 302"), "%s", errors);
  cr_expect_eq(receiver_count(receiver), 6);
  end();
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

Test(webhook_redirects, answer_with_bare_line_feeds_counts_as_curl_takes_it) {
  static const char *const RAW[] = {"HTTP/1.1 204 No Content\n\n", "HTTP/1.1 200 OK\nContent-Length: 4\n\nfine",
                                    "HTTP/1.1 200 OK\r\nContent-Length: 4\n\nfine",
                                    "HTTP/1.0 200 OK\nServer: old\n\nfine"};
  begin("answers_bare", NULL);
  for (int i = 0; i < 4; i++) {
    receiver_recover(receiver);
    receiver_answer(receiver, NULL, 0, (struct answer){.raw = RAW[i]});
    sql(f.at_source, "insert into item values (%d)", i);
    rowrelay_ok(&f, "run", "--until-empty", NULL);
    cr_expect_eq(receiver_count(receiver), i + 1, "%s: %d", RAW[i], receiver_count(receiver));
  }
  end();
}

/* ---- at most once ---------------------------------------------------------------------------------------------- */

/* Pushes in vain by these means, and then well: nothing may be set aside as perhaps sent, or lost. */
static void assert_unsent(const char *url, const char *proxy, int key) {
  rowrelay_ok(&f, "target", "set", "w", "--url", url, "--option", proxy, NULL);
  sql(f.at_source, "insert into item values (%d)", key);
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "failing", 15, "select state from rowrelay.status where target = 'w'");
  stop_process(process, SIGTERM);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0", "%s by %s: %s", url, proxy,
                   ask(f.at_source, "select message from rowrelay.errors"));
  receiver_recover(receiver);
  rowrelay_ok(&f, "target", "set", "w", "--url", receiver_url(receiver, "/hook"), "--option", "proxy=", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  receiver_load(receiver, f.at_source);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from request where body like '%%\"subject\":\"%d\"%%'", key), "1",
                   "%s by %s", url, proxy);
}

Test(webhook_redirects, at_most_once_keeps_what_no_proxy_or_handshake_let_out) {
  begin("once_unsent", (const char *[]){"guarantee=at-most-once", "timeout=1", NULL});
  char url[64];
  char proxy[64];
  snprintf(url, sizeof url, "https://127.0.0.1:%d/hook", receiver_port(receiver));
  snprintf(proxy, sizeof proxy, "proxy=http://127.0.0.1:%d", receiver_port(receiver));
  receiver_answer(receiver, "CONNECT", 0, (struct answer){.status = 403});
  assert_unsent(url, proxy, 1);
  receiver_answer(receiver, "CONNECT", 0, (struct answer){.silent = true});
  assert_unsent(url, proxy, 2);
  receiver_answer(receiver, "CONNECT", 0, (struct answer){.status = 200, .closes = true});
  assert_unsent(url, proxy, 3);
  assert_unsent(url, "proxy=", 4); /* its handshake is never answered */
  snprintf(proxy, sizeof proxy, "proxy=socks5h://127.0.0.1:%d", receiver_port(receiver));
  assert_unsent(receiver_url(receiver, "/hook"), proxy, 5);
  snprintf(url, sizeof url, "http://127.0.0.1:1/hook");
  assert_unsent(url, "proxy=", 6);
  end();
}

Test(webhook_redirects, at_most_once_sets_aside_what_was_sent_without_an_answer) {
  begin("once_sent", (const char *[]){"guarantee=at-most-once", "timeout=1", NULL});
  receiver_answer(receiver, NULL, 0, (struct answer){.silent = true});
  sql(f.at_source, "insert into item values (1)");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "1", 10, "select string_agg(key, ' ') from rowrelay.errors");
  stop_process(process, SIGTERM);
  cr_expect_eq(receiver_count(receiver), 1);
  end();
}
