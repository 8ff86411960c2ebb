/* console: the page that a process serves, as a browser shows it, and what may be done there. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "browser.h"
#include "console.h"
#include "fixture.h"
#include "people.h"
#include "visitor.h"

static struct fixture f;
static pid_t process;
static int port;

static void begin(const char *name, bool with_token) {
  process = console_begin(&f, name, with_token, &port);
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

#define REFUSED "new row for relation \"item\" violates check constraint \"no_bad\""

static void sign_in(void) {
  browser_do("fill Token=" CONSOLE_TOKEN);
  browser_do("key Enter");
  browser_do("see Sign out");
}

Test(console, a_page_shows_what_happens_and_does_what_it_is_told) {
  begin("console_page", true);
  sql(f.at_source, "insert into item select i, 'a' from generate_series(1, 20) i");
  refuse_one(100);
  browser_begin(port);
  browser_do("see 1 target, 1 in trouble; read-only");
  browser_do("follow 1 error");
  browser_do("click %s", REFUSED);
  cr_assert_str_eq(browser_ask("disabled Retry change 22"), "true");
  sign_in();
  /* An error is retried. */
  let_in();
  browser_do("answer yes");
  browser_do("click Retry change 22");
  cr_assert_str_eq(browser_ask("asked"), "Retry 1 change: 22 of w? They are delivered again.");
  browser_do("see No errors.");
  wait_until(f.at_target, "bad <b>egg</b>", 10, "select name from item where id = 100");
  /* History is searched; what the database says is text. */
  sql(f.at_source, "update item set name = 'teapot' where id = 7");
  browser_do("follow History");
  browser_do("fill Contains=TEAPOT");
  browser_do("key Enter");
  browser_do("see update item 7");
  browser_do("gone bad <b>egg</b>");
  /* What the update did is in the row's own history, since the row before is not kept. */
  browser_do("follow item 7");
  browser_do("see insert item 7");
  cr_assert_str_eq(browser_ask("at"), "#/history?table=item&key=7");
  cr_assert_str_eq(browser_ask("focused"), "History");
  cr_assert_str_eq(browser_ask("accessible"), "ok");
  browser_do("fill Table=item");
  browser_do("fill Key=100");
  browser_do("key Enter");
  browser_do("see insert item 100");
  browser_do("see bad <b>egg</b>");
  cr_assert_str_eq(browser_ask("messages"), "ok");
  cr_assert_str_eq(browser_ask("elsewhere"), "ok");
  browser_end();
  end();
}

Test(console, a_target_has_a_page_of_its_own_where_it_is_paused_and_resumed) {
  begin("console_target", true);
  sql(f.at_source, "insert into item select i, 'a' from generate_series(1, 20) i");
  wait_until_empty(&f, 10);
  browser_begin(port);
  sign_in();
  browser_do("follow w");
  cr_assert_str_eq(browser_ask("at"), "#/target/w");
  browser_do("see option retries");
  browser_do("see public.item");
  browser_do("see delivered");
  browser_do("see waiting for changes");
  browser_do("choose Last=15 minutes");
  browser_do("click Pause w");
  browser_do("see paused");
  wait_until(f.at_source, "paused", 10, "select state from rowrelay.target");
  browser_do("click Resume w");
  browser_do("gone paused");
  cr_assert_str_eq(browser_ask("messages"), "ok");
  /* What it shows of the past is of that target alone. */
  cr_assert_not_null(strstr(visit(port, "GET", "/api/samples?target=w", NULL, NULL).body, "\"rate\":["));
  cr_assert_null(strstr(visit(port, "GET", "/api/samples?names=%5B%22w%22,%22x%22%5D", NULL, NULL).body, "\"rate\""));
  cr_assert_eq(visit(port, "GET", "/api/samples", NULL, NULL).status, 400);
  cr_assert_eq(visit(port, "GET", "/api/target?target=w&part=secrets", NULL, NULL).status, 400);
  browser_end();
  end();
}

Test(console, trouble_comes_first_and_many_targets_come_by_pages) {
  begin("console_many", true);
  sql(f.at_source, "select rowrelay.pause('w');"
                   "select rowrelay.add_target('t' || i, 'file:/tmp/never') from generate_series(1, 120) i;"
                   "select rowrelay.pause(name) from rowrelay.targets;"
                   "update rowrelay.target set state = 'halted', reason = 'no' where name = 't77'");
  struct visit few = visit(port, "GET", "/api/overview?limit=3", NULL, NULL);
  cr_assert_eq(few.status, 200, "%s", few.body);
  cr_assert_not_null(strstr(few.body, "\"count\" : 121"), "%s", few.body);
  cr_assert(console_has_before(few.body, "\"target\":\"t77\"", "\"target\":\"t1\""), "%s", few.body);
  cr_assert_null(strstr(few.body, "\"t101\""), "%s", few.body);
  struct visit found = visit(port, "GET", "/api/overview?find=T11", NULL, NULL);
  cr_assert_not_null(strstr(found.body, "\"matching\" : 11"), "%s", found.body);
  browser_begin(port);
  browser_do("see 50 of 121 targets, those in trouble first.");
  browser_do("see of 1 day, kept for ever.");
  browser_do("click Show 50 more");
  browser_do("see 100 of 121 targets");
  browser_do("fill Find=t77");
  browser_do("gone of 121 targets");
  browser_do("see halted");
  browser_end();
  end();
}

/* Names of the first targets of the overview, in their order. */
static const char *first_targets(void) {
  static char names[256];
  struct visit all = visit(port, "GET", "/api/overview?limit=6", NULL, NULL);
  names[0] = '\0';
  for (const char *at = all.body; (at = strstr(at, "\"target\":\"")) != NULL; at += 10) {
    size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, "%s%.*s", length > 0 ? " " : "", (int)strcspn(at + 10, "\""),
             at + 10);
  }
  return names;
}

Test(console, targets_in_any_trouble_come_before_those_without) {
  begin("console_order", false);
  sql(f.at_source, "select rowrelay.add_target(n, '%s') from unnest('{a,b,c,d,e}'::text[]) as n", f.target_url);
  wait_until(f.at_source, "6", 10, "select count(*) from rowrelay.status where state = 'running'");
  cr_expect_str_eq(first_targets(), "a b c d e w");
  browser_begin(port);
  browser_do("see 6 targets, all running");
  sql(f.at_source, "select rowrelay.pause('b');"
                   "update rowrelay.target set may_differ = 'it may differ' where name = 'c';"
                   "insert into rowrelay.hold (target, capture, released_to, retry_at, attempts, message) "
                   "select t.id, c.id, 0, now() + interval '50 s', 1, 'no' from rowrelay.target t, rowrelay.capture c "
                   "where t.name = 'd'");
  refuse_one(100);
  cr_expect_str_eq(first_targets(), "w c d b a e");
  browser_do("see 6 targets, 1 not running, 3 in trouble");
  browser_end();
  end();
}

Test(console, what_is_read_stays_while_the_rest_is_refreshed) {
  begin("console_open", true);
  refuse_one(1);
  browser_begin(port);
  browser_do("go #/errors");
  browser_do("click %s", REFUSED);
  browser_do("click change 2, key 1");
  browser_do("see Failing row contains (1, bad <b>egg</b>)");
  browser_do("see \"name\": \"bad <b>egg</b>\"");
  browser_do("see History of the row");
  cr_assert_str_eq(browser_ask("accessible"), "ok");
  sql(f.at_source, "insert into item values (2, 'bad too')");
  browser_do("see 2 changes in 1 group.");
  browser_do("see change 3, key 2");
  browser_do("see \"name\": \"bad <b>egg</b>\"");
  cr_assert_str_eq(browser_ask("focused"), "change 2, key 1");
  let_in();
  rowrelay_ok(&f, "retry", "--all", NULL);
  browser_do("see No errors.");
  browser_do("gone change 3, key 2");
  browser_do("see \"name\": \"bad <b>egg</b>\"");
  cr_assert_str_eq(browser_ask("messages"), "ok");
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
  browser_do("see 1 not running");
  browser_do("go #/processes");
  browser_do("see w: failing, retrying");
  start_server("target");
  f.at_target = connect_to(f.target, NULL);
  wait_until_empty(&f, 60); /* the longer it was away, the later it is tried again, up to half a minute */
  browser_do("see all running");
  browser_do("see waiting for changes");
  browser_do("gone failing");
  browser_end();
  end();
}

/* Everything that a browser shows of a source or a process that is away is of a while ago. */
Test(console, what_is_old_is_never_green) {
  own_server("source", NULL);
  begin("console_old", true);
  browser_begin(port);
  browser_do("see 1 target, all running");
  browser_do("see running");
  PQfinish(f.at_source);
  stop_server("source", "immediate");
  browser_do("see Nothing is known of the present state");
  browser_do("see unknown (was running)");
  cr_assert_str_eq(browser_ask("accessible"), "ok");
  start_server("source");
  f.at_source = connect_to(f.source, NULL);
  browser_do("gone Nothing is known of the present state");
  browser_do("gone unknown (was");
  stop_process(process, SIGKILL);
  browser_do("see Nothing is known of the present state: the rowrelay process does not answer.");
  browser_do("see unknown (was running)");
  browser_end();
  fixture_end(&f);
}

static void is_fine(const char *page, const char *question) {
  const char *answer = browser_ask("%s", question);
  cr_expect_str_eq(answer, "ok", "%s, %s: %s", page, question, answer);
}

static void look_at_every_page(const char *width) {
  static const char *const PAGES[] = {"targets",   "target/w",  "errors",    "captures",
                                      "documents", "backfills", "processes", "history"};
  static const char *const SHOWN[] = {
      "violates check constraint", "option retries",          "1 change in 1 group.", "public.item",
      "There are no documents.",   "There are no backfills.", "waiting for changes",  "insert item 1"};
  browser_do("width %s", width);
  for (size_t i = 0; i < sizeof PAGES / sizeof *PAGES; i++) {
    browser_do("go #/%s", PAGES[i]);
    browser_do("see %s", i == 0 ? "1 error" : SHOWN[i]);
    is_fine(PAGES[i], "wide");
    browser_do("scheme light");
    is_fine(PAGES[i], "accessible");
    browser_do("scheme dark");
    is_fine(PAGES[i], "accessible");
  }
}

Test(console, every_page_fits_its_window_and_can_be_read_by_all) {
  begin("console_pages", true);
  refuse_one(1);
  browser_begin(port);
  look_at_every_page("1400");
  look_at_every_page("390");
  /* Its charts are empty for some seconds. */
  rowrelay_ok(&f, "target", "add", "fresh", "stdout:", NULL);
  browser_do("go #/target/fresh");
  browser_do("see Tables that go there");
  is_fine("target/fresh", "accessible");
  cr_assert_str_eq(browser_ask("messages"), "ok");
  browser_end();
  end();
}

Test(console, it_works_by_keyboard) {
  begin("console_narrow", true);
  refuse_one(1);
  browser_begin(port);
  browser_do("width 340");
  browser_do("see 1 error");
  cr_assert_str_eq(browser_ask("wide"), "ok");
  browser_do("key Tab");
  cr_assert_str_eq(browser_ask("focused"), "Skip to the content");
  browser_do("key Tab");
  cr_assert_str_eq(browser_ask("focused"), "token");
  for (int i = 0; i < 3; i++)
    browser_do("key Tab"); /* Sign in, Targets, Errors */
  browser_do("key Enter");
  browser_do("see 1 change in 1 group.");
  cr_assert_str_eq(browser_ask("focused"), "Errors");
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

  setenv("ROWRELAY_CONSOLE_TOKEN", CONSOLE_TOKEN, 1);
  process = fixture_run(&f, "--listen", "127.0.0.1:0", NULL);
  port = visitor_port(process);
  visit_until(port, "/readyz", 200, 10);
  cr_assert_eq(wish("Authorization: Bearer open sesam", "{}").status, 401);
  cr_assert_eq(wish("Authorization: Bearer open sesame!", "{}").status, 401);
  /* What a form of another page could send. */
  cr_assert_eq(wish("Authorization: Bearer " CONSOLE_TOKEN, "{\"action\": \"pause\", \"target\": \"w\"}").status, 415);
  cr_assert_str_eq(ask(f.at_source, "select state from rowrelay.target"), "running");
  cr_assert(strstr(process_log(process), CONSOLE_TOKEN) == NULL);
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
  static const char *const PATHS[] = {"/api/overview", "/api/samples?target=w", "/api/errors",
                                      "/api/history",  "/api/target?target=w",  "/api/list?of=captures"};
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
  cr_assert_eq(visit(port, "GET", "/api/history?before=x", NULL, NULL).status, 400);
  cr_assert_str_eq(visit(port, "GET", "/api/history?text=%27%3B--%25", NULL, NULL).body, "[]");
  cr_assert_eq(visit(port, "GET", "/api/overview", NULL, NULL).status, 200);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.errors"), 1);
  end();
}

Test(console, what_is_not_there_is_named) {
  begin("console_missing", false);
  static const struct {
    const char *path;
    int status;
    const char *said;
  } CASES[] = {{"/api/target?target=x", 404, "there is no target \\\"x\\\""},
               {"/api/target?target=x&part=settings", 404, "there is no target \\\"x\\\""},
               {"/api/target?target=x&part=receipts", 404, "there is no target \\\"x\\\""},
               {"/api/errors?target=x", 404, "there is no target \\\"x\\\""},
               {"/api/errors?table=nothing", 404, "there is no captured table \\\"nothing\\\""},
               {"/api/history?table=nothing", 404, "there is no captured table \\\"nothing\\\""},
               {"/api/history?table=nothing&key=1", 404, "there is no captured table \\\"nothing\\\""},
               {"/api/history?table=plain", 404, "there is no captured table \\\"plain\\\""},
               {"/api/history?op=upsert", 400, "unknown operation \\\"upsert\\\""},
               {"/api/history?table=item&key=1&op=upsert", 400, "unknown operation \\\"upsert\\\""}};
  sql(f.at_source, "create table plain (id int primary key)");
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    struct visit answer = visit(port, "GET", CASES[i].path, NULL, NULL);
    cr_expect_eq(answer.status, CASES[i].status, "%s: %ld", CASES[i].path, answer.status);
    cr_expect_not_null(strstr(answer.body, CASES[i].said), "%s: %s", CASES[i].path, answer.body);
  }
  /* A table that is gone has a history still. */
  sql(f.at_source, "insert into item values (7, 'a')");
  wait_until_empty(&f, 10);
  sql(f.at_source, "drop table item");
  cr_assert_not_null(strstr(visit(port, "GET", "/api/history?table=item", NULL, NULL).body, "\"key\":\"7\""));
  cr_assert_not_null(
      strstr(visit(port, "GET", "/api/history?table=public.item&key=7", NULL, NULL).body, "\"key\":\"7\""));
  browser_begin(port);
  browser_do("go #/target/x");
  browser_do("see There is no target x.");
  browser_do("go #/errors?target=x");
  browser_do("see there is no target \"x\"");
  browser_do("go #/history?table=nothing");
  browser_do("see there is no captured table \"nothing\"");
  browser_end();
  end();
}

Test(console, a_skip_is_asked_for_and_reaches_what_is_named) {
  begin("console_skip", true);
  refuse_one(1);
  struct visit all =
      visit(port, "POST", "/api/actions", "Content-Type: application/json\r\nAuthorization: Bearer " CONSOLE_TOKEN,
            "{\"action\": \"skip\", \"changes\": {\"w\": null}}");
  cr_assert_eq(all.status, 400, "%ld %s", all.status, all.body);
  cr_assert_not_null(strstr(all.body, "rowrelay skip --all --target w"), "%s", all.body);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.errors"), 1);
  browser_begin(port);
  sign_in();
  browser_do("go #/errors");
  browser_do("see 1 change in 1 group.");
  browser_do("click Skip all");
  cr_assert_str_eq(browser_ask("asked"), "Skip 1 change? Skipped changes are never delivered.");
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.errors"), 1);
  browser_do("answer yes");
  browser_do("click Skip all");
  browser_do("see Skipped 1 of 1.");
  browser_do("see No errors.");
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.errors"), 0);
  browser_end();
  end();
}

Test(console, a_group_is_skipped_after_a_question_that_says_how_many) {
  begin("console_group", true);
  refuse_one(1);
  sql(f.at_target, "alter table item add constraint no_worse check (name not like 'worse%%')");
  sql(f.at_source, "insert into item values (2, 'bad'), (3, 'worse')");
  wait_until(f.at_source, "3", 10, "select count(*) from rowrelay.errors");
  browser_begin(port);
  sign_in();
  browser_do("go #/errors");
  browser_do("see 3 changes in 2 groups.");
  browser_do("click Skip all of w: %s", REFUSED);
  cr_assert_str_eq(browser_ask("asked"), "Skip 2 changes of item for w? Skipped changes are never delivered.");
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.errors"), 3);
  browser_do("answer yes");
  browser_do("click Skip all of w: %s", REFUSED);
  browser_do("see 1 change in 1 group.");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(key, ' ') from rowrelay.errors"), "3");
  /* And by a filter, whose address can be sent. */
  browser_do("fill Message contains=no_bad");
  browser_do("key Enter");
  browser_do("see No errors.");
  cr_assert_str_eq(browser_ask("at"), "#/errors?find=no_bad");
  browser_end();
  end();
}

#define KIND "no such name: ... (P0001)"

Test(console, errors_that_differ_in_values_alone_are_one_group) {
  begin("console_kind", true);
  sql(f.at_source, "insert into item values (0, 'first')");
  wait_until_empty(&f, 10);
  sql(f.at_target, "create function no() returns trigger language plpgsql as $$begin raise 'no such name: \"%%\"', "
                   "new.name; end$$; create trigger no before insert on item for each row execute function no()");
  sql(f.at_source, "insert into item values (1, 'x7')");
  wait_until(f.at_source, "1", 10, "select count(*) from rowrelay.errors");
  browser_begin(port);
  sign_in();
  browser_do("go #/errors");
  browser_do("click no such name: \"x7\"");
  sql(f.at_source, "insert into item values (2, 'x8'), (3, 'x9')");
  wait_until(f.at_source, KIND " 3", 10, "select concat_ws(' ', kind, count(*)) from rowrelay.errors group by kind");
  browser_do("see 3 changes in 1 group.");
  browser_do("see " KIND);
  browser_do("see change 3, key 2");
  browser_do("answer yes");
  browser_do("click Skip all of w: no such name: \"x7\""); /* as it was when it was opened */
  browser_do("see No errors.");
  browser_end();
  end();
}

static struct visit act_on_filter(const char *action, const char *until, const char *after) {
  char body[512];
  snprintf(body, sizeof body, "{\"action\": \"%s\", \"filter\": {\"find\": \"VIOLATES\", \"until\": \"%s\"}%s%s%s}",
           action, until, after != NULL ? ", \"after\": \"" : "", after != NULL ? after : "",
           after != NULL ? "\"" : "");
  return visit(port, "POST", "/api/actions", "Content-Type: application/json\r\nAuthorization: Bearer " CONSOLE_TOKEN,
               body);
}

Test(console, a_filter_reaches_all_that_it_finds_and_nothing_that_is_refused_later) {
  begin("console_filter", true);
  refuse_one(1);
  stop_process(process, SIGTERM);
  /* As many of them as come in two pieces, and one that is refused later. */
  sql(f.at_source,
      "insert into rowrelay.refusal (target, change_id, lane, day, bytes, capture, key, state, attempts, message, "
      "row_hash) select r.target, r.change_id + i, r.lane, r.day, r.bytes, r.capture, r.key, 'error', 1, r.message, "
      "r.row_hash from rowrelay.refusal r, generate_series(1, 2999) i;"
      "update rowrelay.refusal set refused_at = '2030-01-01' where change_id = 2;"
      "update rowrelay.refusal set message = 'else' where change_id = 3");
  process = fixture_run(&f, "--listen", "127.0.0.1:0", NULL);
  port = visitor_port(process);
  struct visit visited = act_on_filter("skip", "2029-01-01", NULL);
  cr_assert_str_eq(visited.body, "{\"count\":\"2000\",\"next\":\"2003\"}");
  cr_assert_str_eq(act_on_filter("skip", "2029-01-01", "2003").body, "{\"count\":\"998\",\"next\":null}");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(change_id::text, ' ' order by change_id) from rowrelay.errors"),
                   "2 3");
  cr_assert_str_eq(act_on_filter("retry", "2029-01-01", NULL).body, "{\"count\":\"0\",\"next\":null}");
  struct visit endless =
      visit(port, "POST", "/api/actions", "Content-Type: application/json\r\nAuthorization: Bearer " CONSOLE_TOKEN,
            "{\"action\": \"skip\", \"filter\": {}}");
  cr_assert_eq(endless.status, 400, "%ld %s", endless.status, endless.body);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "2");
  end();
}

/* What was refused of a dropped table is not what is refused of the one that has its name now. */
Test(console, a_filter_by_a_table_reaches_no_other_one_that_had_its_name) {
  static const char SKIP[] = "{\"action\": \"skip\", \"filter\": {\"table\": \"%s\", \"until\": \"2030-01-01\"}}";
  static const char HEADERS[] = "Content-Type: application/json\r\nAuthorization: Bearer " CONSOLE_TOKEN;
  char body[128];
  begin("console_name", true);
  refuse_one(1);
  sql(f.at_source, "create schema s; create table s.again (id int primary key)");
  rowrelay_ok(&f, "capture", "s.again", "--to", "w", NULL);
  sql(f.at_source, "drop table s.again; create table s.again (id int primary key)");
  rowrelay_ok(&f, "capture", "s.again", "--to", "w", NULL);
  sql(f.at_source,
      "insert into rowrelay.refusal (target, change_id, lane, day, bytes, capture, key, state, attempts, message, "
      "row_hash) select r.target, r.change_id + c.id, r.lane, r.day, r.bytes, c.id, r.key, 'error', 1, r.message, "
      "r.row_hash from rowrelay.refusal r, rowrelay.capture c where c.relation_name = 's.again'");
  snprintf(body, sizeof body, SKIP, "s.again");
  cr_expect_str_eq(visit(port, "POST", "/api/actions", HEADERS, body).body, "{\"count\":\"1\",\"next\":null}");
  const char *dropped = ask(f.at_source, "select relation::oid from rowrelay.errors where relation_name = 's.again'");
  cr_expect_str_neq(dropped, ask(f.at_source, "select 's.again'::regclass::oid"));
  snprintf(body, sizeof body, SKIP, dropped);
  cr_expect_str_eq(visit(port, "POST", "/api/actions", HEADERS, body).body, "{\"count\":\"1\",\"next\":null}");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "1");
  end();
}

Test(console, a_group_is_read_by_pages) {
  begin("console_group_pages", false);
  refuse_one(1);
  sql(f.at_source,
      "insert into rowrelay.refusal (target, change_id, lane, day, bytes, capture, key, state, attempts, message, "
      "row_hash) select r.target, r.change_id + i, r.lane, r.day, r.bytes, r.capture, r.key, 'error', 1, r.message, "
      "r.row_hash from rowrelay.refusal r, generate_series(1, 119) i");
  browser_begin(port);
  browser_do("go #/errors");
  browser_do("see 120 changes in 1 group.");
  browser_do("click %s", REFUSED);
  browser_do("see change 72, key 1");
  browser_do("gone change 71, key 1");
  browser_do("click Older");
  browser_do("see change 71, key 1");
  browser_do("gone change 72, key 1");
  browser_do("click Older");
  browser_do("see change 2, key 1");
  browser_do("gone change 22, key 1");
  browser_do("click Newer");
  browser_do("see change 71, key 1");
  cr_assert_str_eq(browser_ask("messages"), "ok");
  browser_end();
  end();
}

/* The console tells a worker figures and states, and errors of tables that it may read. */
Test(console, who_has_fewer_rights_is_told_what_is_not_shown) {
  struct shop shop;
  people_begin(&shop, "console_rights");
  sql(shop.fixture.at_target, "create schema if not exists shop");
  process = fixture_run(&shop.hand, "--listen", "127.0.0.1:0", NULL);
  port = visitor_port(process);
  visit_until(port, "/readyz", 200, 10);
  sql(shop.as_app, "insert into shop.item values (1, 'a', 1); insert into shop.secret values (1, 'b')");
  wait_until_empty(&shop.fixture, 10);
  sql(shop.fixture.at_source,
      "insert into rowrelay.refusal (target, change_id, lane, day, bytes, capture, key, state, attempts, message, "
      "row_hash) select 1, i, 1, current_date, 1, (select id from rowrelay.capture where relation_name = "
      "case i when 1 then 'shop.item' else 'shop.secret' end), '1', 'error', 1, 'no to ' || i, 1 "
      "from generate_series(1, 2) i");
  struct visit groups = visit(port, "GET", "/api/errors", NULL, NULL);
  cr_assert_not_null(strstr(groups.body, "no to 1"), "%s", groups.body);
  cr_assert_null(strstr(groups.body, "no to 2"), "%s", groups.body);
  cr_assert_not_null(strstr(groups.body, "\"unreadable\" : \"1\""), "%s", groups.body);
  static const char *const FORBIDDEN[] = {"/api/history", "/api/list?of=captures", "/api/target?target=w&part=settings",
                                          "/api/errors?target=w&change=1"};
  for (size_t i = 0; i < sizeof FORBIDDEN / sizeof *FORBIDDEN; i++)
    cr_expect_eq(visit(port, "GET", FORBIDDEN[i], NULL, NULL).status, 403, "%s", FORBIDDEN[i]);
  static const char *const ALLOWED[] = {"/api/overview", "/api/list?of=processes", "/api/target?target=w",
                                        "/api/target?target=w&part=receipts"};
  for (size_t i = 0; i < sizeof ALLOWED / sizeof *ALLOWED; i++)
    cr_expect_eq(visit(port, "GET", ALLOWED[i], NULL, NULL).status, 200, "%s", ALLOWED[i]);
  browser_begin(port);
  browser_do("see 1 target, 1 in trouble");
  browser_do("go #/errors");
  browser_do("see 1 more change of tables that the database user of rowrelay run may not read.");
  browser_do("go #/history");
  browser_do("see Not shown: permission denied for view history");
  browser_do("go #/captures");
  browser_do("see a member of rowrelay_admin may");
  browser_do("go #/target/w");
  browser_do("see Not shown: permission denied for view targets");
  browser_end();
  stop_process(process, SIGTERM);
  people_end(&shop);
}

#define CARD "/tmp/rowrelay-console-card.sql"

Test(console, captures_documents_and_backfills_have_lists) {
  begin("console_lists", false);
  sql(f.at_source, "insert into item select i, 'a' from generate_series(1, 20) i");
  FILE *file = fopen(CARD, "w");
  cr_assert(file != NULL);
  fputs("select id, name from item where id = any ($1)", file);
  fclose(file);
  rowrelay_ok(&f, "document", "add", "card", "--target", "w", "--key", "id", "--query", CARD, "--create", "--from",
              "item:id", NULL);
  remove(CARD);
  rowrelay_ok(&f, "backfill", "item", "--to", "w", "--no-copy", NULL);
  browser_begin(port);
  browser_do("go #/documents");
  browser_do("see public.item:id");
  browser_do("follow card");
  browser_do("see It is a document");
  browser_do("go #/backfills");
  browser_do("see 100 %%");
  cr_assert_str_eq(browser_ask("accessible"), "ok");
  browser_do("go #/captures");
  browser_do("see public.item");
  browser_do("fill Table=nothing");
  browser_do("see None has that in its name.");
  cr_assert_str_eq(browser_ask("messages"), "ok");
  cr_assert_not_null(strstr(visit(port, "GET", "/api/list?of=captures&find=ITE", NULL, NULL).body, "public.item"));
  cr_assert_str_eq(visit(port, "GET", "/api/list?of=captures&find=ite_", NULL, NULL).body, "[]");
  cr_assert_eq(visit(port, "GET", "/api/list?of=secrets", NULL, NULL).status, 400);
  browser_end();
  end();
}
