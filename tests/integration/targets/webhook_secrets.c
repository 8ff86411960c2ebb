/* Webhooks: nothing of a secret is ever stored or logged, and what is missing is said at the start. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hooked.h"

static struct fixture f;
static struct receiver *receiver;

static const char KEY[] = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
static const char TOKEN[] = "t0ken-that-nobody-may-see/+1";
static const char PASSWORD[] = "p@ss w0rd-that-nobody-may-see";

static bool database_holds(const char *secret) {
  needs_pg_dump(f.at_source);
  char command[1024];
  snprintf(command, sizeof command, "pg_dump --inserts '%s' | grep -qF -- '%s'", f.source, secret);
  return system(command) == 0;
}

Test(webhook_secrets, what_a_receiver_repeats_is_neither_stored_nor_logged) {
  char secret[64];
  snprintf(secret, sizeof secret, "whsec_%s", KEY);
  setenv("ROWRELAY_TEST_SECRET", secret, 1);
  setenv("ROWRELAY_TEST_TOKEN", TOKEN, 1);
  setenv("ROWRELAY_TEST_PASSWORD", PASSWORD, 1);
  receiver = hooked_begin(
      &f, "hook_repeats",
      (const char *[]){"secret=${ROWRELAY_TEST_SECRET}", "retries=0", "headers=X-Token: ${ROWRELAY_TEST_TOKEN}", NULL});
  char url[256];
  snprintf(url, sizeof url, "http://ann:${ROWRELAY_TEST_PASSWORD}@127.0.0.1:%d/?t=${ROWRELAY_TEST_TOKEN}",
           receiver_port(receiver));
  rowrelay_ok(&f, "target", "set", "w", "--url", url, NULL);
  static char body[4][512];
  /* the last one is cut in the middle of a secret */
  snprintf(body[0], sizeof body[0], "you said X-Token: %s and %s", TOKEN, PASSWORD);
  snprintf(body[1], sizeof body[1],
           "/?t=t0ken-that-nobody-may-see%%2F%%2B1 p%%40ss%%20w0rd-that-nobody-may-see and "
           "Basic YW5uOnBAc3MgdzByZC10aGF0LW5vYm9keS1tYXktc2Vl");
  snprintf(body[2], sizeof body[2], "%s %s", secret, secret);
  snprintf(body[3], sizeof body[3], "%280s%s", "", TOKEN);
  static char words[4][32];
  for (int i = 0; i < 4; i++) {
    snprintf(words[i], sizeof words[i], "\"key\":\"%d\"", i + 1);
    receiver_answer(receiver, words[i], 0, (struct answer){.status = i == 2 ? 503 : 400, .body = body[i]});
  }
  sql(f.at_source, "insert into item select n from generate_series(1, 4) as n");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "failing", 10, "select state from rowrelay.status");
  wait_until_says(process, "HTTP 503", 10);
  receiver_answer(receiver, NULL, 0, (struct answer){.status = 204});
  const struct received *request = receiver_at(receiver, 0);
  cr_assert_str_eq(received_header(request, "Authorization"), "Basic YW5uOnBAc3MgdzByZC10aGF0LW5vYm9keS1tYXktc2Vl");
  sleep_seconds(0.5);
  receiver_recover(receiver);
  for (int i = 0; i < 4; i++)
    if (i != 2)
      receiver_answer(receiver, words[i], 0, (struct answer){.status = 400, .body = body[i]});
  wait_until_empty(&f, 20);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "3");
  static const char *const parts[] = {"MfKQ9r8G", "t0ken-", "w0rd-that", "nobody-may", "YW5uOnBA"};
  const char *log = process_log(process);
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    cr_assert_null(strstr(log, parts[i]), "%s", log);
    cr_assert(!database_holds(parts[i]), "%s", parts[i]);
  }
  cr_assert(database_holds("you said X-Token: ${ROWRELAY_TEST_TOKEN} and ${ROWRELAY_TEST_PASSWORD}"));
  cr_assert(database_holds("ROWRELAY_TEST_SECRET"));
  stop_process(process, SIGTERM);
  hooked_end(&f, receiver);
}

/* ---- what is missing ------------------------------------------------------------------------------------------- */

static void assert_refuses_to_start(const char *option, const char *message) {
  const char *errors;
  rowrelay_ok(&f, "target", "set", "w", "--option", option, NULL);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "run", "--until-empty", NULL), 2, "%s", option);
  char expected[512];
  snprintf(expected, sizeof expected, "rowrelay: target w: %s\n", message);
  cr_assert(strncmp(errors, expected, strlen(expected)) == 0, "%s", errors);
  char reset[128];
  snprintf(reset, sizeof reset, "%.*s=", (int)strcspn(option, "="), option);
  rowrelay_ok(&f, "target", "set", "w", "--option", reset, NULL);
}

Test(webhook_secrets, run_refuses_to_start_when_something_is_missing) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/rowrelay-%d-missing.pem", (int)getpid());
  char option[128];
  char message[256];
  receiver = hooked_begin(&f, "hook_missing", NULL);
  unsetenv("ROWRELAY_TEST_NOTHING");
  setenv("ROWRELAY_TEST_BAD", "whsec_short", 1);
  assert_refuses_to_start(
      "secret=${ROWRELAY_TEST_NOTHING}",
      "environment variable ROWRELAY_TEST_NOTHING, which the target's option secret uses, is not set");
  assert_refuses_to_start("secret=${ROWRELAY_TEST_BAD}", "a webhook secret cannot be read");
  assert_refuses_to_start(
      "headers=X-A: b\nAuthorization: Bearer ${ROWRELAY_TEST_NOTHING}",
      "environment variable ROWRELAY_TEST_NOTHING, which the target's option headers uses, is not set");
  assert_refuses_to_start(
      "proxy=http://u:${ROWRELAY_TEST_NOTHING}@127.0.0.1:1",
      "environment variable ROWRELAY_TEST_NOTHING, which the target's option proxy uses, is not set");
  static const char *const names[] = {"ca_file", "certificate", "private_key"};
  for (size_t i = 0; i < 3; i++) {
    snprintf(option, sizeof option, "%s=%s", names[i], path);
    snprintf(message, sizeof message, "option %s: cannot read %s: No such file or directory", names[i], path);
    assert_refuses_to_start(option, message);
  }
  /* Who serves other targets does not care. */
  rowrelay_ok(&f, "target", "set", "w", "--option", "secret=${ROWRELAY_TEST_NOTHING}", NULL);
  rowrelay_ok(&f, "target", "add", "other", "stdout:", NULL);
  rowrelay_ok(&f, "run", "--until-empty", "--target", "other", NULL);
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "run", "--until-empty", NULL), 2);
  /* Who runs already says it in status, and goes on with the others. */
  rowrelay_ok(&f, "target", "set", "w", "--option", "secret=", NULL);
  pid_t process = fixture_run(&f, NULL, NULL);
  sql(f.at_source, "insert into item values (1)");
  wait_until_empty(&f, 10);
  rowrelay_ok(&f, "target", "set", "w", "--option", "secret=${ROWRELAY_TEST_NOTHING}", NULL);
  sql(f.at_source, "insert into item values (2)");
  wait_until(
      f.at_source, "t", 10,
      "select note like '%%ROWRELAY_TEST_NOTHING, which %% is not set%%' from rowrelay.status where target = 'w'");
  rowrelay_ok(&f, "target", "set", "w", "--option", "secret=", NULL);
  wait_until_empty(&f, 10);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  hooked_end(&f, receiver);
}

/* ---- what is refused ------------------------------------------------------------------------------------------- */

static void assert_refused(const char *url, const char *option, const char *message) {
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "target", "add", "x", url, "--option", option, NULL), 2, "%s", option);
  cr_assert_not_null(strstr(errors, message), "%s", errors);
  cr_assert_null(strstr(errors, "geheim"), "%s", errors);
  /* The same when it is set later. */
  if (strncmp(url, "https://h", 9) == 0) {
    cr_assert_eq(rowrelay(&f, NULL, &errors, "target", "set", "w", "--option", option, NULL), 2, "%s", option);
    cr_assert_not_null(strstr(errors, message), "%s", errors);
  }
}

Test(webhook_secrets, what_cannot_work_or_holds_a_secret_is_refused_when_it_is_set) {
  receiver = hooked_begin(&f, "hook_refused", NULL);
  assert_refused("https://u:geheim@h/", "retries=1", "target URL contains a password");
  assert_refused("https://", "retries=1", "names no host");
  assert_refused("http:/x", "retries=1", "names no host");
  static const char url[] = "https://h/";
  assert_refused(url, "secret=whsec_geheim", "secret must be ${NAME}");
  assert_refused(url, "headers=Authorization: Bearer geheim", "option headers contains a secret in Authorization");
  assert_refused(url, "headers=A: b\nX-Api-Key: geheim", "option headers contains a secret in X-Api-Key");
  assert_refused(url, "headers=PRIVATE-TOKEN: geheim", "option headers contains a secret in PRIVATE-TOKEN");
  assert_refused(url, "headers=webhook-id: 1", "option headers must not set webhook-id");
  assert_refused(url, "headers=Content-Length: 1", "option headers must not set Content-Length");
  assert_refused(url, "headers=no colon", "headers must be one \"Name: value\" per line");
  assert_refused(url, "proxy=http://u:geheim@p:1", "proxy must be");
  assert_refused(url, "proxy=p:1", "proxy must be a URL");
  assert_refused(url, "method=GET", "method must be POST, PUT or PATCH");
  assert_refused(url, "concurrency=0", "concurrency must be a number of requests in flight from 1 to 256");
  assert_refused(url, "events=1001", "events must be a number");
  assert_refused(url, "timeout=0", "timeout must be a number of seconds");
  assert_refused(url, "ca_file=relative.pem", "ca_file must be the absolute path");
  assert_refused(url, "http2=maybe", "http2 must be true or false");
  assert_refused(url, "body= ", "body must be an SQL expression");
  assert_refused(url, "mode=append", "option \"mode\" does not exist for this kind of target");
  /* One after the other as well as together. */
  const char *errors;
  rowrelay_ok(&f, "target", "set", "w", "--option", "events=10", NULL);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "target", "set", "w", "--option", "body=key", NULL), 2);
  cr_assert_not_null(strstr(errors, "options body and events exclude each other"), "%s", errors);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "target", "set", "w", "--url", "stdout:", NULL), 2);
  cr_assert_not_null(strstr(errors, "option \"events\" does not exist for this kind of target"), "%s", errors);
  rowrelay_ok(&f, "target", "set", "w", "--url", "stdout:", "--option", "events=", NULL);
  hooked_end(&f, receiver);
}
