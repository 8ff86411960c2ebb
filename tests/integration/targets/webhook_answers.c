/* Webhooks: what becomes of each answer, and that order holds all the while. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hooked.h"

static struct fixture f;
static struct receiver *receiver;

static void begin(const char *name, const char *const *options) {
  receiver = hooked_begin(&f, name, options);
}

static void end(void) {
  hooked_end(&f, receiver);
}

static double came_at(int index) {
  return receiver_at(receiver, index)->came_at;
}

static void deliver(void) {
  rowrelay_ok(&f, "run", "--until-empty", NULL);
}

static void assert_none_refused(void) {
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.refusal"), "0");
}

/* ---- accepted -------------------------------------------------------------------------------------------------- */

Test(webhook_answers, whatever_begins_with_2_is_delivered) {
  static const struct answer answers[] = {{.status = 200, .body = "<html>{{ \x01 garbage"},
                                          {.status = 200, .headers = "Content-Type: application/json\r\n", .body = "{"},
                                          {.status = 201},
                                          {.status = 202, .headers = "Location: http://127.0.0.1:1/\r\n"},
                                          {.status = 204},
                                          {.status = 299, .body = "fine", .closes = true}};
  begin("answers_2xx", NULL);
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
    receiver_recover(receiver);
    receiver_answer(receiver, NULL, 0, answers[i]);
    sql(f.at_source, "insert into item values (%zu)", i);
    deliver();
    cr_assert_eq(receiver_count(receiver), (int)i + 1);
  }
  assert_none_refused();
  end();
}

/* ---- tried again ----------------------------------------------------------------------------------------------- */

Test(webhook_answers, a_receiver_that_is_busy_or_broken_is_tried_again_and_no_row_is_blamed) {
  static const struct answer answers[] = {
      {.status = 408, .body = "late"},
      {.status = 425},
      {.status = 429},
      {.status = 500, .body = "broken"},
      {.status = 502},
      {.status = 503, .headers = "Retry-After: never\r\n"},
      {.status = 504},
      {.status = 200, .body = "fine", .cut = 1},                     /* in the status line */
      {.status = 200, .body = "fine", .cut = 25},                    /* in the headers */
      {.status = 200, .body = "fine and long enough", .cut = 60},    /* in the body */
      {.raw = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!"}, /* the same, politely */
      {.raw = "HTTP/1.1 200 OK\r\nContent-Le"},                      /* in the headers, politely */
      {.raw = "HTTP/1.1 2"},                                         /* in the status line */
      {.raw = ""},                                                   /* nothing at all */
      {.raw = "this is not HTTP\r\n\r\n"},
      {.raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"},
  };
  begin("answers_again", (const char *[]){"retries=0", NULL});
  pid_t process = fixture_run(&f, NULL, NULL);
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
    int before = receiver_count(receiver);
    receiver_recover(receiver);
    receiver_answer(receiver, NULL, 2, answers[i]);
    sql(f.at_source, "insert into item values (%zu)", i);
    wait_until_empty(&f, 10);
    cr_assert_eq(receiver_count(receiver), before + 3, "answer %zu: %d requests", i, receiver_count(receiver) - before);
  }
  assert_none_refused();
  cr_assert_str_eq(ask(f.at_source, "select state from rowrelay.status"), "running");
  stop_process(process, SIGTERM);
  hooked_is_in_order(&f, receiver);
  /* Each is the same as often as it comes. */
  cr_assert_str_eq(ask(f.at_source, "select concat(count(distinct body), ' ', count(distinct substring(head from "
                                    "'(?i)webhook-id: (\\S+)'))) from request"),
                   "16 16");
  end();
}

Test(webhook_answers, pauses_grow_and_status_says_why) {
  begin("answers_pauses", NULL);
  receiver_answer(receiver, NULL, 6, (struct answer){.status = 503, .body = "gone\nfishing"});
  sql(f.at_source, "insert into item values (1)");
  pid_t process = fixture_run(&f, "--workers", "3", NULL);
  wait_until(f.at_source, "failing HTTP 503", 10,
             "select concat_ws(' ', state, substring(note from 'HTTP 503')) from rowrelay.status");
  wait_until_says(process, "detail: gone fishing", 5);
  wait_until_empty(&f, 20);
  wait_until(f.at_source, "running", 5, "select state from rowrelay.status");
  stop_process(process, SIGTERM);
  cr_assert_eq(receiver_count(receiver), 7);
  /* How much is left to chance; what it may be at most doubles. */
  double longest = 0;
  for (int i = 1; i < 7; i++) {
    double pause = came_at(i) - came_at(i - 1);
    double most = 0.1 * (1 << (i - 1));
    /* The two other workers may each have looked just before the first was told. */
    cr_assert((pause > 0.008 || i <= 2) && pause < most + 0.5, "pause %d: %f", i, pause);
    longest = pause > longest ? pause : longest;
  }
  cr_assert(longest > 0.1, "%f", longest);
  assert_none_refused();
  end();
}

/* Who asks for two seconds gets them, also from other workers, and from others whose own requests failed before. */
static void assert_waits(const char *headers, double least) {
  int before = receiver_count(receiver);
  receiver_recover(receiver);
  receiver_answer(receiver, "\"key\":\"2\"", 1, (struct answer){.status = 429, .headers = headers, .delay = 0.05});
  receiver_answer(receiver, "\"key\":\"1\"", 1, (struct answer){.status = 500});
  sql(f.at_source, "insert into item values (1), (2); delete from item where id < 3; insert into item values (3)");
  sleep_seconds(0.5);
  sql(f.at_source, "insert into item values (4)");
  wait_until_empty(&f, 15);
  sql(f.at_source, "delete from item");
  wait_until_empty(&f, 15);
  int asked = before;
  while (receiver_at(receiver, asked)->status != 429)
    asked++;
  double answered = receiver_at(receiver, asked)->answered_at;
  /* The two other workers may each have had a request on its way when they were told, on a busy machine two. */
  double next = 0;
  int under_way = 0;
  for (int i = before; next == 0; i++)
    if (came_at(i) > answered && (came_at(i) > answered + 0.2 || ++under_way > 4))
      next = came_at(i);
  cr_assert(next - answered > least && next - answered < least + 4, "%s: %f", headers, next - answered);
}

Test(webhook_answers, retry_after_is_obeyed_in_both_forms) {
  begin("answers_later", NULL);
  pid_t process = fixture_run(&f, "--workers", "3", NULL);
  assert_waits("Retry-After: 2\r\n", 1.95);
  /* Both times by the receiver's own clock, which may be wrong. */
  assert_waits("Date: Mon, 03 Jan 2000 10:00:00 GMT\r\nRetry-After: Mon, 03 Jan 2000 10:00:02 GMT\r\n", 1.95);
  char headers[128];
  time_t then = time(NULL) + 3; /* whole seconds: it may be nearly one less */
  strftime(headers, sizeof headers, "Retry-After: %a, %d %b %Y %H:%M:%S GMT\r\n", gmtime(&then));
  assert_waits(headers, 1.5);
  assert_none_refused();
  stop_process(process, SIGTERM);
  hooked_is_in_order(&f, receiver);
  end();
}

Test(webhook_answers, one_that_does_not_answer_is_given_up_after_the_timeout) {
  begin("answers_silent", (const char *[]){"timeout=1", NULL});
  receiver_answer(receiver, "\"key\":\"1\"", 1, (struct answer){.silent = true});
  receiver_answer(receiver, "\"key\":\"2\"", 1, (struct answer){.status = 200, .body = "late", .pause = 3});
  sql(f.at_source, "insert into item values (1), (2), (3)");
  double began = seconds_now();
  deliver();
  cr_assert(seconds_now() - began > 0.9 && seconds_now() - began < 8, "%f", seconds_now() - began);
  assert_none_refused();
  receiver_load(receiver, f.at_source);
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(concat(key, ' ', times), ', ' order by key) from (select body::json ->> "
                       "'subject' as key, count(*) as times from request group by 1) as x"),
                   "1 2, 2 2, 3 1");
  end();
}

/* ---- refused --------------------------------------------------------------------------------------------------- */

Test(webhook_answers, a_row_that_is_refused_is_alone_and_its_neighbours_are_delivered) {
  static const int statuses[] = {400, 401, 403, 404, 405, 409, 413, 415, 422, 451};
  static char words[10][32];
  begin("answers_4xx", (const char *[]){"retries=1", NULL});
  for (int i = 0; i < 10; i++) {
    snprintf(words[i], sizeof words[i], "\"subject\":\"%d\"", statuses[i]);
    receiver_answer(receiver, words[i], 0,
                    (struct answer){.status = statuses[i], .body = "{\"error\":\r\n\"\x1b[1mn\xc3\xb6 such thing\"}"});
  }
  sql(f.at_source, "insert into item select n, 'x' from generate_series(390, 460) as n; update item set name = 'y'");
  deliver();
  cr_assert_str_eq(ask(f.at_source, "select concat(count(*), ' ', count(distinct key)) from rowrelay.errors"), "20 10");
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(distinct concat_ws('|', state, attempts, replace(message, key, 'N'), detail, "
                       "replace(sqlstate, key, 'N')), ' & ') from rowrelay.errors"),
                   "error|2|HTTP N|{\"error\":  \" [1mn\xc3\xb6 such thing\"}|N");
  receiver_load(receiver, f.at_source);
  cr_assert_str_eq(ask(f.at_source, "select concat(count(*), ' ', count(distinct body)) from request"),
                   ask(f.at_source, "select concat(61 * 2 + 10 * 4, ' ', 71 * 2)"));
  const char *listed = rowrelay_ok(&f, "errors", NULL);
  cr_assert_not_null(strstr(listed, "HTTP 422"), "%s", listed);
  hooked_is_in_order(&f, receiver);
  /* When the receiver has come to its senses. */
  receiver_recover(receiver);
  rowrelay_ok(&f, "retry", "--all", NULL);
  deliver();
  assert_none_refused();
  end();
}

Test(webhook_answers, what_waits_behind_a_refused_row_waits_if_that_is_wished) {
  begin("answers_block", (const char *[]){"retries=0", "on_error=block", NULL});
  receiver_answer(receiver, "\"op\":\"insert\",\"key\":\"2\"", 0, (struct answer){.status = 400});
  sql(f.at_source, "insert into item select n, 'x' from generate_series(1, 3) as n; update item set name = 'y'");
  deliver();
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', key, op, state), ', ' order by change_id) "
                                    "from rowrelay.errors"),
                   "2 insert error, 2 update blocked");
  cr_assert_eq(receiver_count(receiver), 5);
  receiver_recover(receiver);
  rowrelay_ok(&f, "retry", "--all", NULL);
  deliver();
  cr_assert_eq(receiver_count(receiver), 7);
  hooked_is_in_order(&f, receiver);
  end();
}

Test(webhook_answers, a_long_answer_is_cut_between_letters) {
  static char body[3001];
  begin("answers_long", (const char *[]){"retries=0", NULL});
  for (int i = 0; i < 3000; i += 3)
    memcpy(body + i, "\xe2\x82\xac", 3);
  receiver_answer(receiver, NULL, 0, (struct answer){.status = 400, .body = body});
  sql(f.at_source, "insert into item values (1)");
  deliver();
  cr_assert_str_eq(ask(f.at_source, "select replace(detail, '\xe2\x82\xac', '') = '' and length(detail) between 90 and "
                                    "100 from rowrelay.errors"),
                   "t");
  end();
}

Test(webhook_answers, an_answer_that_is_not_text_is_shown_all_the_same) {
  begin("answers_bytes", (const char *[]){"retries=0", NULL});
  receiver_answer(receiver, NULL, 0, (struct answer){.status = 400, .body = "caf\xe9 \xff\xfe \xc3"});
  sql(f.at_source, "insert into item values (1)");
  deliver();
  cr_assert_str_eq(ask(f.at_source, "select message from rowrelay.errors"), "HTTP 400");
  cr_assert_not_null(strstr(ask(f.at_source, "select detail from rowrelay.errors"), "caf"));
  end();
}

/* ---- wants no more --------------------------------------------------------------------------------------------- */

Test(webhook_answers, a_410_halts_the_target_until_it_is_resumed) {
  begin("answers_410", NULL);
  receiver_answer(receiver, "\"key\":\"3\"", 1, (struct answer){.status = 410, .body = "moved out"});
  sql(f.at_source, "insert into item select n from generate_series(1, 5) as n");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "halted", 10, "select state from rowrelay.status");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.status"),
                   "HTTP 410: set another URL, or run: rowrelay target resume w");
  sql(f.at_source, "insert into item values (6)");
  sleep_seconds(1.5);
  int count = receiver_count(receiver);
  cr_assert(count <= 5, "%d", count);
  assert_none_refused();
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  wait_until_empty(&f, 10);
  stop_process(process, SIGTERM);
  receiver_load(receiver, f.at_source);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(distinct body::json ->> 'subject', ' ' order by body::json ->> "
                                    "'subject') from request where status = 204"),
                   "1 2 3 4 5 6");
  end();
}

/* ---- redirects ------------------------------------------------------------------------------------------------- */

Test(webhook_answers, a_redirect_is_not_followed_unless_asked) {
  begin("answers_redirect", NULL);
  static char headers[128];
  snprintf(headers, sizeof headers, "Location: %s\r\n", receiver_url(receiver, "/elsewhere"));
  receiver_answer(receiver, "/hook", 0, (struct answer){.status = 302, .headers = headers});
  sql(f.at_source, "insert into item values (1)");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "failing", 10, "select state from rowrelay.status");
  const char *note = ask(f.at_source, "select note from rowrelay.status");
  cr_assert_not_null(strstr(note, "follow_redirects=true"), "%s", note);
  receiver_load(receiver, f.at_source);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from request where head like '%%elsewhere%%'"), "0");
  rowrelay_ok(&f, "target", "set", "w", "--option", "follow_redirects=true", NULL);
  wait_until_empty(&f, 10);
  stop_process(process, SIGTERM);
  const struct received *last = receiver_at(receiver, receiver_count(receiver) - 1);
  cr_assert(strncmp(last->bytes, "POST /elsewhere ", 16) == 0, "%s", last->bytes);
  cr_assert_str_eq(last->body, receiver_at(receiver, 0)->body);
  assert_none_refused();
  end();
}

/* ---- order ----------------------------------------------------------------------------------------------------- */

/* Whatever becomes of those in the middle. */
static void upset(void) {
  static char words[30][64];
  static const struct answer answers[] = {{.status = 500},
                                          {.status = 400},
                                          {.status = 200, .body = "half an answer", .cut = 30},
                                          {.status = 503, .headers = "Retry-After: 1\r\n"},
                                          {.status = 422, .delay = 0.2},
                                          {.status = 200, .body = "slow", .delay = 0.1, .pause = 0.1}};
  for (int i = 0; i < 30; i++) {
    const struct answer *answer = &answers[i % 6];
    bool refuses = answer->status / 100 == 4;
    snprintf(words[i], sizeof words[i], "%s\"key\":\"%d\"", refuses ? "\"op\":\"insert\"," : "", i * 3 + 1);
    receiver_answer(receiver, words[i], refuses ? 0 : 1 + i % 3, *answer);
  }
  receiver_answer(receiver, "7\",\"txid\"", 0, (struct answer){.delay = 0.02});
  receiver_answer(receiver, "3\",\"txid\"", 0, (struct answer){.delay = 0.005});
}

static void write_some(void) {
  sql(f.at_source, "insert into item select n, '0' from generate_series(1, 100) as n");
  for (int i = 1; i < 6; i++)
    sql(f.at_source, "update item set name = '%d'", i);
}

Test(webhook_answers, of_one_key_there_is_one_in_flight_and_the_order_holds) {
  begin("answers_order", (const char *[]){"retries=0", "batch_rows=150", NULL});
  upset();
  pid_t processes[] = {fixture_run(&f, "--workers", "2", NULL), fixture_run(&f, "--workers", "2", NULL)};
  write_some();
  wait_until_empty(&f, 40);
  for (int i = 0; i < 2; i++)
    stop_process(processes[i], SIGTERM);
  hooked_is_in_order(&f, receiver);
  /* Everything is there or listed, and what was accepted was not sent again. */
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.refusal") == 10);
  cr_assert_str_eq(ask(f.at_source,
                       "select count(*) from rowrelay.history h where h.change_id not in (select change_id from event "
                       "join request using (n) where status between 200 and 299) and h.change_id not in (select "
                       "change_id from rowrelay.refusal)"),
                   "0");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from (select change_id from event join request using (n) where "
                                    "status between 200 and 299 and event.answered is not null group by 1 having "
                                    "count(*) > 1) as x"),
                   "0");
  end();
}

Test(webhook_answers, of_one_key_there_is_one_in_flight_also_in_batches) {
  begin("answers_batches", (const char *[]){"retries=0", "batch_rows=150", "events=7", NULL});
  upset();
  pid_t processes[] = {fixture_run(&f, "--workers", "2", NULL), fixture_run(&f, "--workers", "2", NULL)};
  write_some();
  wait_until_empty(&f, 40);
  for (int i = 0; i < 2; i++)
    stop_process(processes[i], SIGTERM);
  hooked_is_in_order(&f, receiver);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from (select n from event group by n having count(*) > 7 or "
                                    "count(*) <> count(distinct key)) as x"),
                   "0");
  cr_assert_str_eq(ask(f.at_source,
                       "select count(*) from rowrelay.history h where h.change_id not in (select change_id from event "
                       "join request using (n) where status between 200 and 299) and h.change_id not in (select "
                       "change_id from rowrelay.refusal)"),
                   "0");
  end();
}

/* ---- how many -------------------------------------------------------------------------------------------------- */

Test(webhook_answers, so_many_are_in_flight_as_were_asked_for_over_connections_that_are_kept) {
  begin("answers_many", (const char *[]){"concurrency=5", NULL});
  receiver_answer(receiver, NULL, 0, (struct answer){.delay = 0.02});
  sql(f.at_source, "insert into item select n from generate_series(1, 200) as n");
  deliver();
  cr_assert_eq(receiver_count(receiver), 200);
  cr_assert_eq(receiver_most_at_once(receiver), 5);
  cr_assert(receiver_connections(receiver) <= 5, "%d", receiver_connections(receiver));
  double took = came_at(199) - came_at(0);
  cr_assert(took < 200 * 0.02, "%f", took);
  end();
}

Test(webhook_answers, a_slow_receiver_gets_each_change_once) {
  begin("answers_slow", (const char *[]){"concurrency=2", "push_timeout=2", NULL});
  receiver_answer(receiver, NULL, 0, (struct answer){.delay = 0.1});
  sql(f.at_source,
      "insert into item select n from generate_series(1, 40) as n; update item set name = 'y' where id < 8");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_empty(&f, 20);
  cr_assert_eq(receiver_count(receiver), 47);
  cr_assert_null(strstr(process_log(process), "warning"), "%s", process_log(process));
  stop_process(process, SIGTERM);
  hooked_is_in_order(&f, receiver);
  end();
}

/* ---- a claim that is lost ---------------------------------------------------------------------------------------- */

/* One row changes five times, and the claim is lost by `how` when the first of them has come. */
static void lose_claim(const char *how) {
  receiver_answer(receiver, NULL, 0, (struct answer){.delay = 1.2});
  sql(f.at_source, "insert into item values (1, 'v1')");
  for (int i = 2; i <= 5; i++)
    sql(f.at_source, "update item set name = 'v%d'", i);
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  receiver_wait(receiver, 1, 10);
  sql(f.at_source, "%s", how);
  wait_until_empty(&f, 20);
  stop_process(process, SIGTERM);
}

/* What was on its way came, and came again; nothing after it was sent by who had lost the claim. */
static void assert_only_the_first_came_twice(void) {
  receiver_load(receiver, f.at_source);
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(body::json #>> '{data,after,name}', ' ' order by n) from request"),
      "v1 v1 v2 v3 v4 v5");
}

Test(webhook_answers, who_has_lost_the_source_sends_nothing_more) {
  begin("answers_claim_lost", NULL);
  lose_claim("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and "
             "application_name = 'rowrelay' and state = 'idle in transaction'");
  assert_only_the_first_came_twice();
  end();
}

/* The lease is renewed while the push goes on, so who has lost it finds out. */
Test(webhook_answers, who_has_lost_a_lease_sends_nothing_more) {
  begin("answers_lease_lost", (const char *[]){"push_timeout=9", "lease=10", "claim=lease", NULL});
  lose_claim("update rowrelay.lease set lease_until = clock_timestamp()");
  assert_only_the_first_came_twice();
  end();
}

/* ---- killed ---------------------------------------------------------------------------------------------------- */

Test(webhook_answers, a_killed_process_sends_again_what_was_not_settled_with_the_same_ids) {
  begin("answers_killed", NULL);
  receiver_answer(receiver, "\"key\":\"3\"", 1, (struct answer){.silent = true});
  sql(f.at_source, "insert into item select n, 'x' from generate_series(1, 4) as n");
  pid_t process = fixture_run(&f, NULL, NULL);
  receiver_wait(receiver, 4, 10);
  sleep_seconds(0.2); /* all others are answered, and nothing is settled */
  stop_process(process, SIGKILL);
  deliver();
  cr_assert_eq(receiver_count(receiver), 8);
  receiver_load(receiver, f.at_source);
  cr_assert_str_eq(
      ask(f.at_source,
          "select concat_ws(' ', count(distinct body), count(distinct substring(head from '(?i)webhook-id: "
          "(\\S+)')), count(distinct body::json ->> 'id'), min(times)) from (select *, count(*) over "
          "(partition by body) as times from request) as x"),
      "4 4 4 2");
  end();
}

Test(webhook_answers, what_is_to_be_sent_at_most_once_is_not_sent_again_when_a_connection_dies) {
  begin("answers_once", (const char *[]){"guarantee=at-most-once", NULL});
  receiver_answer(receiver, "\"key\":\"2\"", 0, (struct answer){.raw = ""});
  pid_t process = fixture_run(&f, NULL, NULL);
  sql(f.at_source, "insert into item values (1)");
  wait_until_empty(&f, 10);
  sql(f.at_source, "insert into item values (2)");
  wait_until_empty(&f, 10);
  wait_until(f.at_source, "2", 5, "select string_agg(key, ' ') from rowrelay.errors");
  stop_process(process, SIGTERM);
  cr_assert_eq(receiver_count(receiver), 2);
  end();
}

Test(webhook_answers, a_slow_receiver_gets_each_document_once) {
  begin("answers_documents", (const char *[]){"concurrency=2", "push_timeout=2", NULL});
  receiver_answer(receiver, NULL, 0, (struct answer){.delay = 0.1});
  sql(f.at_source,
      "select rowrelay.unroute('item', 'w'); select rowrelay.add_document('doc', 'w', 'id', 'select id, name "
      "from item where id = any ($1)', array['item:id'])");
  sql(f.at_source, "insert into item select n from generate_series(1, 50) as n");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_empty(&f, 20);
  cr_assert_eq(receiver_count(receiver), 50);
  stop_process(process, SIGTERM);
  hooked_is_in_order(&f, receiver);
  end();
}

Test(webhook_answers, the_second_signal_leaves_at_once_and_nothing_is_lost) {
  begin("answers_leave", NULL);
  receiver_answer(receiver, "\"key\":\"3\"", 1, (struct answer){.silent = true});
  sql(f.at_source, "insert into item select n, 'x' from generate_series(1, 4) as n");
  pid_t process = fixture_run(&f, NULL, NULL);
  receiver_wait(receiver, 4, 10);
  kill(process, SIGTERM);
  cr_assert(still_runs(process, 0.5));
  kill(process, SIGTERM);
  cr_assert_neq(wait_process(process, 5), -1);
  cr_assert_str_eq(ask(f.at_source, "select count(*) > 0 from rowrelay.queue"), "t");
  deliver();
  receiver_load(receiver, f.at_source);
  cr_assert_str_eq(ask(f.at_source, "select count(distinct body) from request where answered is not null"), "4");
  end();
}
