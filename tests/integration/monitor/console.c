/* console: the page that a process serves, as a browser shows it, and what may be done there. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browser.h"
#include "fixture.h"
#include "visitor.h"

#define TOKEN "open sesame"

static struct fixture f;
static pid_t process;
static int port;

static void begin(const char *name, bool with_token) {
  fixture_begin(&f, name);
  sql(f.at_source, "create table item (id int primary key, name text not null)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", "retries=0", NULL);
  rowrelay_ok(&f, "capture", "item", "--before", "--to", "w", "--create", NULL);
  unsetenv("ROWRELAY_CONSOLE_TOKEN");
  if (with_token)
    setenv("ROWRELAY_CONSOLE_TOKEN", TOKEN, 1);
  process = fixture_run(&f, "--listen", "127.0.0.1:0", NULL);
  port = visitor_port(process);
  visit_until(port, "/readyz", 200, 10);
}

static void end(void) {
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* A row that the target refuses until let_in(). */
static void refuse_one(int id) {
  sql(f.at_source, "insert into item values (-%d, 'first')", id);
  wait_until_empty(&f, 10);
  sql(f.at_target, "alter table item add constraint no_bad check (name not like 'bad%%')");
  sql(f.at_source, "insert into item values (%d, 'bad <b>egg</b>')", id);
  wait_until(f.at_source, "1", 10, "select count(*) from rowrelay.errors");
}

static void let_in(void) {
  sql(f.at_target, "alter table item drop constraint no_bad");
}

Test(console, a_page_shows_what_happens_and_does_what_it_is_told) {
  begin("console_page", true);
  sql(f.at_source, "insert into item select i, 'a' from generate_series(1, 20) i");
  refuse_one(100);
  browser_begin(port);
  browser_do("see 1 target, all running; read-only");
  browser_do("see (1)");
  browser_do("see violates check constraint");
  cr_assert_str_eq(browser_ask("disabled Retry change 22"), "true");
  browser_do("fill Token=" TOKEN);
  browser_do("key Enter");
  browser_do("see 1 target, all running");
  /* An error is retried. */
  let_in();
  browser_do("click Retry change 22");
  browser_do("see (none)");
  wait_until(f.at_target, "bad <b>egg</b>", 10, "select name from item where id = 100");
  /* History is searched; what the database says is text. */
  sql(f.at_source, "update item set name = 'teapot' where id = 7");
  browser_do("fill Contains=TEAPOT");
  browser_do("key Enter");
  browser_do("see update item 7");
  browser_do("gone bad <b>egg</b>");
  /* What the update did is in the row's own history, since the row before is not kept. */
  browser_do("click item 7");
  browser_do("see insert item 7");
  cr_assert_str_eq(browser_ask("focused"), "key");
  cr_assert_str_eq(browser_ask("accessible"), "ok");
  browser_do("fill Table=item");
  browser_do("fill Key=100");
  browser_do("key Enter");
  browser_do("see insert item 100");
  browser_do("see bad <b>egg</b>");
  /* A target is paused and resumed. */
  browser_do("click Pause w");
  browser_do("see paused");
  browser_do("click Resume w");
  browser_do("gone paused");
  cr_assert_str_eq(browser_ask("accessible"), "ok");
  cr_assert_str_eq(browser_ask("messages"), "ok");
  cr_assert_str_eq(browser_ask("elsewhere"), "ok");
  browser_end();
  end();
}

Test(console, a_target_that_goes_down_and_comes_back_is_seen) {
  own_server("target", NULL);
  begin("console_down", false);
  sql(f.at_source, "insert into item values (1, 'a')");
  wait_until_empty(&f, 10);
  browser_begin(port);
  browser_do("see 1 target, all running");
  PQfinish(f.at_target);
  stop_server("target", "immediate");
  sql(f.at_source, "insert into item values (2, 'b')");
  browser_do("see failing");
  browser_do("see w: failing, retrying");
  browser_do("see 1 not running");
  start_server("target");
  f.at_target = connect_to(f.target, NULL);
  browser_do("see all running");
  browser_do("see waiting for changes");
  browser_do("gone failing");
  browser_end();
  end();
}

Test(console, it_works_by_keyboard_in_a_narrow_window_and_in_the_dark) {
  begin("console_narrow", true);
  refuse_one(1);
  browser_begin(port);
  browser_do("width 340");
  browser_do("see violates check constraint");
  cr_assert_str_eq(browser_ask("wide"), "ok");
  cr_assert_str_eq(browser_ask("accessible"), "ok");
  browser_do("scheme dark");
  cr_assert_str_eq(browser_ask("accessible"), "ok");
  browser_do("key Tab");
  cr_assert_str_eq(browser_ask("focused"), "Skip to the targets");
  browser_do("key Tab");
  cr_assert_str_eq(browser_ask("focused"), "token");
  browser_end();
  end();
}

/* What the server answers to a wish with this header. */
static struct visit wish(const char *header, const char *body) {
  return visit(port, "POST", "/api/actions", header, body);
}

Test(console, who_has_no_token_may_look_and_not_touch) {
  begin("console_token", false);
  struct visit page = visit(port, "GET", "/", NULL, NULL);
  cr_assert_eq(page.status, 200);
  cr_assert(strstr(page.headers, "Content-Security-Policy: default-src 'none'; script-src 'self';") != NULL);
  cr_assert(strstr(page.headers, "X-Frame-Options: DENY") != NULL);
  cr_assert(strstr(page.body, "<script>") == NULL && strstr(page.body, "style=") == NULL);
  cr_assert_eq(visit(port, "GET", "/api/overview", NULL, NULL).status, 200);
  cr_assert_eq(wish("Content-Type: application/json", "{\"action\": \"pause\", \"target\": \"w\"}").status, 403);
  cr_assert_eq(wish("Authorization: Bearer ", "{\"action\": \"pause\", \"target\": \"w\"}").status, 403);
  cr_assert_eq(visit(port, "GET", "/api/actions", NULL, NULL).status, 405);
  stop_process(process, SIGTERM);

  setenv("ROWRELAY_CONSOLE_TOKEN", TOKEN, 1);
  process = fixture_run(&f, "--listen", "127.0.0.1:0", NULL);
  port = visitor_port(process);
  visit_until(port, "/readyz", 200, 10);
  cr_assert_eq(wish("Authorization: Bearer open sesam", "{}").status, 401);
  cr_assert_eq(wish("Authorization: Bearer open sesame!", "{}").status, 401);
  /* What a form of another page could send. */
  cr_assert_eq(wish("Authorization: Bearer " TOKEN, "{\"action\": \"pause\", \"target\": \"w\"}").status, 415);
  cr_assert_str_eq(ask(f.at_source, "select state from rowrelay.target"), "running");
  cr_assert(strstr(process_log(process), TOKEN) == NULL);
  end();
}

/* By which a page from elsewhere would read what only this machine can reach. */
Test(console, a_name_that_is_not_its_own_reads_nothing) {
  setenv("ROWRELAY_CONSOLE_HOST", "db.example.org, relay.example.org", 1);
  begin("console_host", true);
  static const struct {
    const char *host;
    long status;
  } CASES[] = {{"evil.example.com", 421},   {"evil.example.com:9187", 421},
               {"relay.example.org.", 421}, {"127.0.0.1.example.com", 421},
               {"127.0.0.1:9187", 200},     {"[::1]:9187", 200},
               {"localhost:9187", 200},     {"rowrelay", 200},
               {"Relay.example.org", 200},  {"db.example.org:80", 200}};
  static const char *const PATHS[] = {"/api/overview", "/api/samples", "/api/errors", "/api/history"};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
    for (size_t k = 0; k < sizeof PATHS / sizeof *PATHS; k++) {
      char header[128];
      snprintf(header, sizeof header, "Host: %s", CASES[i].host);
      cr_expect_eq(visit(port, "GET", PATHS[k], header, NULL).status, CASES[i].status, "%s %s", PATHS[k],
                   CASES[i].host);
    }
  struct visit refused = visit(port, "GET", "/api/history", "Host: evil.example.com", NULL);
  cr_assert_str_eq(refused.body,
                   "{\"error\":\"this console does not go by the name \\\"evil.example.com\\\"\","
                   "\"hint\":\"if it should, set ROWRELAY_CONSOLE_HOST to it in the environment of rowrelay run\"}");
  cr_assert_eq(wish("Host: evil.example.com", "{}").status, 421);
  cr_assert_eq(visit(port, "GET", "/metrics", "Host: scraped.example.com", NULL).status, 200);
  end();
}

Test(console, what_cannot_be_is_said_and_changes_nothing) {
  begin("console_wrong", true);
  refuse_one(1);
  cr_assert_eq(visit(port, "GET", "/api/history?key=1", NULL, NULL).status, 400);
  cr_assert_eq(visit(port, "GET", "/api/history?table=nothing&key=1", NULL, NULL).status, 400);
  cr_assert_eq(visit(port, "GET", "/api/history?before=x", NULL, NULL).status, 400);
  cr_assert_str_eq(visit(port, "GET", "/api/history?text=%27%3B--%25", NULL, NULL).body, "[]");
  cr_assert_eq(visit(port, "GET", "/api/overview", NULL, NULL).status, 200);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.errors"), 1);
  end();
}

/* As numbers a browser would round them. */
Test(console, values_are_shown_as_they_are) {
  begin("console_values", false);
  sql(f.at_source, "create table big (id bigint primary key, v numeric, more json, t text);"
                   "select rowrelay.capture_table('big', before => 'full')");
  sql(f.at_source, "insert into big values (9007199254740993, 900.50, "
                   "'{\"b\":1.00,\"a\":12345678901234567890,\"b\":null}', '1.00')");
  sql(f.at_source, "update big set v = 900.500");
  cr_assert_not_null(
      strstr(visit(port, "GET", "/api/history?table=big", NULL, NULL).body,
             "[[\"id\", \"9007199254740993\"], [\"v\", \"900.50\"], [\"more\", "
             "\"{\\\"b\\\":1.00,\\\"a\\\":12345678901234567890,\\\"b\\\":null}\"], [\"t\", \"\\\"1.00\\\"\"]]"),
      "%s", visit(port, "GET", "/api/history?table=big", NULL, NULL).body);
  cr_assert_not_null(strstr(visit(port, "GET", "/api/history?table=big&key=9007199254740993", NULL, NULL).body,
                            "\"changed\":[[\"v\", \"900.50\", \"900.500\"]]"));
  browser_begin(port);
  browser_do("see 9007199254740993");
  browser_do("see 900.500");
  browser_do("see {\"b\":1.00,\"a\":12345678901234567890,\"b\":null}");
  cr_assert_str_eq(browser_ask("messages"), "ok");
  browser_end();
  end();
}

Test(console, a_skip_is_asked_for_and_reaches_what_is_named) {
  begin("console_skip", true);
  refuse_one(1);
  struct visit all =
      visit(port, "POST", "/api/actions", "Content-Type: application/json\r\nAuthorization: Bearer " TOKEN,
            "{\"action\": \"skip\", \"changes\": {\"w\": null}}");
  cr_assert_eq(all.status, 400, "%ld %s", all.status, all.body);
  cr_assert_not_null(strstr(all.body, "rowrelay skip --all --target w"), "%s", all.body);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.errors"), 1);
  browser_begin(port);
  browser_do("see (1)");
  browser_do("fill Token=" TOKEN);
  browser_do("key Enter");
  browser_do("see 1 target, all running");
  browser_do("click Skip all shown");
  cr_assert_str_eq(browser_ask("asked"), "Skip change 2 of w? Skipped changes are never delivered.");
  sleep_seconds(1);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.errors"), 1);
  browser_do("answer yes");
  browser_do("click Skip all shown");
  browser_do("see (none)");
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.errors"), 0);
  browser_end();
  end();
}
