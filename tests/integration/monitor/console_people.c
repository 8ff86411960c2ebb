/* Who acts in the console, what they may do there, and what is done to a target as a whole. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "browser.h"
#include "console.h"
#include "fixture.h"
#include "visitor.h"

static struct fixture f;
static pid_t process;
static int port;

static char tokens[] = "/tmp/rowrelay-console-tokens-XXXXXX";

static const char *hash_of(const char *token) {
  static char hash[2][65];
  static int which;
  char command[128];
  which = 1 - which;
  snprintf(command, sizeof command, "printf %%s '%s' | sha256sum", token);
  FILE *pipe = popen(command, "r");
  cr_assert(pipe != NULL && fgets(hash[which], 65, pipe) != NULL);
  pclose(pipe);
  return hash[which];
}

static void write_tokens(const char *of_carla) {
  FILE *file = fopen(tokens, "w");
  cr_assert(file != NULL);
  fprintf(file, "# who may act here\nanna %s all\nben %s retry, pause\n", hash_of("open anna"), hash_of("open ben"));
  if (of_carla != NULL)
    fprintf(file, "carla@example.org - %s\n", of_carla);
  fclose(file);
}

static void begin(const char *name) {
  int file = mkstemp(tokens);
  cr_assert(file >= 0);
  close(file);
  write_tokens("skip");
  setenv("ROWRELAY_CONSOLE_TOKENS", tokens, 1);
  setenv("ROWRELAY_CONSOLE_USER_HEADER", "X-Forwarded-Email", 1);
  process = console_begin(&f, name, false, &port);
}

static void end(void) {
  stop_process(process, SIGTERM);
  remove(tokens);
  fixture_end(&f);
}

#define TYPE "Content-Type: application/json\r\n"
#define AS_ANNA TYPE "Authorization: Bearer open anna"
#define AS_BEN TYPE "Authorization: Bearer open ben"
#define AS_CARLA TYPE "X-Forwarded-Email: carla@example.org"
#define PAUSE "{\"action\": \"pause\", \"target\": \"w\"}"

static struct visit wish(const char *header, const char *body) {
  return visit(port, "POST", "/api/actions", header, body);
}

static struct visit who(const char *header) {
  return visit(port, "GET", "/api/who", header, NULL);
}

Test(console_people, each_token_has_a_name_and_rights_and_what_is_done_bears_the_name) {
  begin("people_tokens");
  cr_assert_str_eq(who(NULL).body, "{\"name\":null,\"by_proxy\":false,\"rights\":[]}");
  cr_assert_str_eq(who("Authorization: Bearer open ben").body,
                   "{\"name\":\"ben\",\"by_proxy\":false,\"rights\":[\"pause\",\"retry\"]}");
  cr_assert_eq(who("Authorization: Bearer open sesame").status, 401);
  cr_assert_eq(wish(TYPE, PAUSE).status, 401);
  cr_assert_eq(wish(AS_BEN, PAUSE).status, 200);
  cr_assert_str_eq(ask(f.at_source, "select state || ': ' || split_part(note, ' at ', 1) from rowrelay.status"),
                   "paused: paused by ben");
  wait_until_says(process, "console: ben: pause w", 10);
  cr_assert_eq(wish(AS_BEN, "{\"action\": \"resume\", \"target\": \"w\"}").status, 200);
  cr_assert_str_eq(ask(f.at_source, "select resumed_by from rowrelay.targets"), "ben");
  struct visit refused = wish(AS_BEN, "{\"action\": \"skip\", \"changes\": {\"w\": [\"1\"]}}");
  cr_assert_eq(refused.status, 403);
  cr_assert_not_null(strstr(refused.body, "ben has no right \\\"skip\\\" in this console"), "%s", refused.body);
  /* In the log's receipt stands who discarded a change. */
  sql(f.at_source, "insert into item values (-1, 'a')");
  wait_until_empty(&f, 10);
  sql(f.at_target, "alter table item add constraint no_bad check (name <> 'bad')");
  sql(f.at_source, "insert into item values (1, 'bad')");
  wait_until(f.at_source, "1", 10, "select count(*) from rowrelay.errors");
  const char *change = ask(f.at_source, "select change_id from rowrelay.errors");
  char skip[128];
  char retry[128];
  snprintf(retry, sizeof retry, "{\"action\": \"retry\", \"changes\": {\"w\": [\"%s\"]}}", change);
  snprintf(skip, sizeof skip, "{\"action\": \"skip\", \"changes\": {\"w\": [\"%s\"]}}", change);
  cr_assert_eq(wish(AS_BEN, retry).status, 200);
  cr_assert_str_eq(ask(f.at_source, "select actor from rowrelay.receipt where outcome = 'retried'"), "ben");
  wait_until(f.at_source, "1", 10, "select count(*) from rowrelay.errors");
  cr_assert_eq(wish(AS_ANNA, skip).status, 200);
  cr_assert_str_eq(ask(f.at_source, "select actor from rowrelay.receipt where outcome = 'skipped'"), "anna");
  cr_assert_not_null(
      strstr(visit(port, "GET", "/api/history?table=item&key=1", NULL, NULL).body, "\"settled_by\":{\"w\": \"anna\"}"),
      "%s", visit(port, "GET", "/api/history?table=item&key=1", NULL, NULL).body);
  cr_assert_not_null(strstr(rowrelay_ok(&f, "log", "item", "1", NULL), " by anna "), "%s",
                     rowrelay_ok(&f, "log", "item", "1", NULL));
  cr_assert_not_null(strstr(rowrelay_ok(&f, "log", "item", "1", NULL), "; retried by ben "));
  cr_assert_null(strstr(process_log(process), "open anna"));
  browser_begin(port);
  browser_do("go #/history?table=item&key=1");
  browser_do("see w: skipped by anna (retried by ben)");
  browser_do("go #/target/w");
  browser_do("see skipped by anna");
  browser_do("see retried by ben");
  browser_end();
  end();
}

Test(console_people, a_name_that_a_proxy_gives_has_the_rights_of_its_line) {
  begin("people_proxy");
  cr_assert_str_eq(who("X-Forwarded-Email: carla@example.org").body,
                   "{\"name\":\"carla@example.org\",\"by_proxy\":true,\"rights\":[\"skip\"]}");
  cr_assert_eq(wish(AS_CARLA, PAUSE).status, 403);
  cr_assert_eq(wish(TYPE "X-Forwarded-Email: dora@example.org", PAUSE).status, 403);
  /* The proxy's word counts, whatever token is brought with it. */
  cr_assert_eq(wish(AS_ANNA "\r\nX-Forwarded-Email: dora@example.org", PAUSE).status, 403);
  /* What a form of another page could send with the proxy's cookie. */
  write_tokens("pause");
  cr_assert_eq(wish("X-Forwarded-Email: carla@example.org", PAUSE).status, 415);
  cr_assert_str_eq(ask(f.at_source, "select state from rowrelay.target"), "running");
  cr_assert_eq(wish(AS_CARLA, PAUSE).status, 200);
  /* Who is removed from the file can do nothing more. */
  write_tokens(NULL);
  cr_assert_eq(wish(AS_CARLA, PAUSE).status, 403);
  write_tokens("everything");
  cr_assert_eq(wish(AS_ANNA, PAUSE).status, 503);
  end();
}

static long status_of_header(const char *header, size_t length) {
  static const char BEGIN[] = "GET /api/who HTTP/1.1\r\nHost: localhost\r\n";
  static const char END[] = "\r\nX-More: a\r\n\r\n";
  char request[256];
  size_t at = strlen(BEGIN);
  memcpy(request, BEGIN, at);
  memcpy(request + at, header, length);
  memcpy(request + at + length, END, strlen(END));
  return visitor_status(port, request, at + length + strlen(END));
}

Test(console_people, the_name_of_a_token_gives_no_rights_without_the_token) {
  begin("people_name");
  cr_expect_str_eq(who("X-Forwarded-Email: anna").body, "{\"name\":\"anna\",\"by_proxy\":true,\"rights\":[]}");
  cr_expect_eq(wish(TYPE "X-Forwarded-Email: anna", PAUSE).status, 403);
  cr_expect_eq(wish(AS_BEN "\r\nX-Forwarded-Email: anna", PAUSE).status, 403);
  cr_expect_str_eq(ask(f.at_source, "select state from rowrelay.target"), "running");
  end();
}

Test(console_people, two_names_or_control_characters_in_the_proxys_header_are_rejected) {
#define STATUS_OF(text) status_of_header(text, sizeof(text) - 1)
  begin("people_header");
  cr_expect_eq(STATUS_OF("X-Forwarded-Email: carla@example.org"), 200);
  cr_expect_eq(STATUS_OF("X-Forwarded-Email: carla@example.org\r\nX-Forwarded-Email: dora"), 400);
  cr_expect_eq(STATUS_OF("X-Forwarded-Email: dora\r\nx-forwarded-email: carla@example.org"), 400);
  cr_expect_eq(STATUS_OF("X-Forwarded-Email:\r\nX-Forwarded-Email: carla@example.org"), 400);
  cr_expect_eq(STATUS_OF("X-Forwarded-Email: carla@example.org\0@evil.example"), 400);
  cr_expect_eq(STATUS_OF("X-Forwarded-Email: carla@example.org\001"), 400);
  cr_expect_eq(STATUS_OF("X-Forwarded-Email: carla\r@example.org"), 400);
  cr_expect_eq(STATUS_OF("X-Forwarded-Email: carla@example.org\177"), 400);
  end();
}

Test(console_people, a_file_that_cannot_be_read_is_told_at_the_start) {
  begin("people_start");
  const char *said;
  write_tokens("everything");
  cr_assert_eq(rowrelay(&f, NULL, &said, "run", "--listen", "127.0.0.1:0", "--until-empty", NULL), 2);
  cr_assert_not_null(strstr(said, ", line 4: \"everything\" are no rights"), "%s", said);
  cr_assert_not_null(strstr(said, "rights are all, or some of pause, retry, skip"), "%s", said);
  unsetenv("ROWRELAY_CONSOLE_TOKENS");
  cr_assert_eq(rowrelay(&f, NULL, &said, "run", "--listen", "127.0.0.1:0", "--until-empty", NULL), 2);
  cr_assert_not_null(strstr(said, "ROWRELAY_CONSOLE_USER_HEADER is set"), "%s", said);
  end();
}

Test(console_people, the_page_knows_who_acts_and_offers_what_they_may) {
  begin("people_page");
  browser_begin(port);
  browser_do("see 1 target, all running; read-only");
  browser_do("fill Token=wrong");
  browser_do("key Enter");
  browser_do("see that is not a token of this console");
  browser_do("fill Token=open ben");
  browser_do("key Enter");
  browser_do("see Sign out");
  double since = seconds_now();
  browser_do("gone that is not a token of this console");
  cr_assert(seconds_now() - since < 4, "what was said of another token stays until its time is over");
  browser_do("see ben");
  browser_do("go #/target/w");
  browser_do("see option retries");
  cr_assert_str_eq(browser_ask("disabled Pause w"), "false");
  cr_assert_str_eq(browser_ask("disabled Verify w"), "true");
  browser_do("click Pause w");
  browser_do("see paused by ben");
  browser_do("click Sign out");
  browser_do("see read-only");
  cr_assert_str_eq(browser_ask("disabled Resume w"), "true");
  browser_end();
  end();
}

Test(console_people, a_target_is_verified_and_repaired_with_what_was_found) {
  begin("people_verify");
  sql(f.at_source, "insert into item select i, 'a' from generate_series(1, 20) i");
  wait_until_empty(&f, 10);
  sql(f.at_target, "delete from item where id = 7; update item set name = 'b' where id = 9");
  browser_begin(port);
  browser_do("fill Token=open anna");
  browser_do("key Enter");
  browser_do("see Sign out");
  browser_do("go #/target/w");
  browser_do("click Verify w");
  browser_do("see Differences were found");
  browser_do("see asked by anna");
  browser_do("see 1 missing, 1 different");
  browser_do("see (name)");
  cr_assert_str_eq(browser_ask("accessible"), "ok");
  browser_do("answer yes");
  browser_do("click Verify and repair w");
  browser_do("see 2 queued again");
  wait_until(f.at_target, "20", 10, "select count(*) from item where name = 'a'");
  browser_do("click Verify w");
  browser_do("see No difference was found");
  /* Another page sees it, too; of another target there is nothing. */
  struct visit seen = visit(port, "GET", "/api/verify?target=w", NULL, NULL);
  cr_assert_not_null(strstr(seen.body, "\"by\":\"anna\",\"repair\":false,\"running\":false"), "%s", seen.body);
  cr_assert_str_eq(visit(port, "GET", "/api/verify?target=x", NULL, NULL).body, "null");
  cr_assert_eq(wish(AS_BEN, "{\"action\": \"verify\", \"target\": \"w\"}").status, 403);
  cr_assert_str_eq(browser_ask("messages"), "ok");
  browser_end();
  end();
}

/* It waits for a row that somebody has locked at the target. */
Test(console_people, a_comparison_is_seen_at_work_and_can_be_stopped) {
  begin("people_stop");
  sql(f.at_source, "insert into item select i, 'a' from generate_series(1, 20) i");
  wait_until_empty(&f, 10);
  sql(f.at_target, "begin; lock table item in access exclusive mode");
  cr_assert_eq(wish(AS_ANNA, "{\"action\": \"verify\", \"target\": \"w\"}").status, 200);
  struct visit second = wish(AS_ANNA, "{\"action\": \"verify\", \"target\": \"w\"}");
  cr_assert_eq(second.status, 400);
  cr_assert_not_null(strstr(second.body, "one is compared at a time"), "%s", second.body);
  browser_begin(port);
  browser_do("fill Token=open anna");
  browser_do("key Enter");
  browser_do("see Sign out");
  browser_do("go #/target/w");
  browser_do("see Comparing");
  browser_do("click Stop verifying w");
  browser_do("gone Comparing");
  cr_assert_not_null(strstr(visit(port, "GET", "/api/verify?target=w", NULL, NULL).body, "\"running\":false"));
  browser_end();
  /* What runs when the process ends does not outlive it. */
  cr_assert_eq(wish(AS_ANNA, "{\"action\": \"verify\", \"target\": \"w\"}").status, 200);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  sql(f.at_target, "rollback");
  remove(tokens);
  fixture_end(&f);
}

Test(console_people, changes_are_replayed_after_a_question) {
  begin("people_replay");
  rowrelay_ok(&f, "target", "add", "lines", "file:/tmp/rowrelay-people-replay", NULL);
  rowrelay_ok(&f, "route", "item", "lines", NULL);
  sql(f.at_source, "insert into item values (1, 'a'), (2, 'b')");
  wait_until_empty(&f, 10);
  browser_begin(port);
  browser_do("fill Token=open anna");
  browser_do("key Enter");
  browser_do("see Sign out");
  browser_do("go #/target/lines");
  browser_do("see file:/tmp/rowrelay-people-replay");
  browser_do("fill Since=2020-01-01T00:00:00");
  browser_do("fill Until=2100-01-01T00:00:00");
  browser_do("click Replay changes to lines");
  cr_assert_not_null(strstr(browser_ask("asked"), "They are delivered to lines again, before newer ones."));
  browser_do("answer yes");
  browser_do("click Replay changes to lines");
  browser_do("see 2 changes queued again.");
  wait_until(f.at_source, "4", 10,
             "select sum(cardinality(change_ids)) from rowrelay.receipt r "
             "join rowrelay.target t on t.id = r.target where t.name = 'lines' and r.outcome = 'delivered'");
  cr_assert_str_eq(ask(f.at_source, "select actor from rowrelay.receipt where outcome = 'replayed'"), "anna");
  struct visit mirror = wish(AS_ANNA, "{\"action\": \"replay\", \"target\": \"w\", \"since\": \"2020-01-01\", "
                                      "\"until\": \"2100-01-01\"}");
  cr_assert_eq(mirror.status, 400);
  cr_assert_not_null(strstr(mirror.body, "keeps the last state of rows"), "%s", mirror.body);
  cr_assert_eq(wish(AS_ANNA, "{\"action\": \"replay\", \"target\": \"lines\"}").status, 400);
  browser_end();
  remove("/tmp/rowrelay-people-replay");
  end();
}

Test(console_people, a_target_that_fails_shows_its_breaker) {
  begin("people_breaker");
  rowrelay_ok(&f, "target", "add", "hook", "http://127.0.0.1:9/", NULL);
  rowrelay_ok(&f, "route", "item", "hook", NULL);
  sql(f.at_source, "insert into item values (1, 'a')");
  browser_begin(port);
  browser_do("go #/target/hook");
  browser_do("see Circuit breaker open");
  browser_do("see Failed to connect");
  cr_assert_str_eq(browser_ask("accessible"), "ok");
  browser_do("choose Last=1 day");
  browser_do("see the highest of each five minutes");
  cr_assert_not_null(strstr(visit(port, "GET", "/api/samples?target=hook&range=day", NULL, NULL).body, "{\"at\":["));
  browser_end();
  end();
}

Test(console_people, who_signs_in_before_the_page_knows_who_came_stays_signed_in) {
  begin("people_early");
  browser_begin(port);
  browser_do("slow who");
  browser_do("fill Token=open anna");
  browser_do("key Enter");
  browser_do("see Sign out");
  sleep_seconds(1.5);
  cr_expect_str_eq(browser_ask("gone read-only"), "ok");
  browser_do("see Sign out");
  browser_end();
  end();
}
