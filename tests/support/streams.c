#include "streams.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "messages.h"
#include "writers.h"

void streams_capture(struct fixture *f, const char *url, const char *option) {
  sql(f->at_source, "create table item (id int primary key, name text, n numeric); create table plain (what text)");
  rowrelay_ok(f, "target", "add", "w", url, "--option", "retries=1", NULL);
  if (option != NULL)
    rowrelay_ok(f, "target", "set", "w", "--option", option, NULL);
  rowrelay_ok(f, "capture", "item", "plain", "--to", "w", "--before", NULL);
}

void streams_run(struct fixture *f) {
  double until = give_up_at(40);
  rowrelay_ok(f, "run", "--until-empty", "--workers", "2", NULL);
  while (ask_number(f->at_source, "select count(*) from rowrelay.errors where state = 'waiting'") > 0 &&
         seconds_now() < until) {
    rowrelay_ok(f, "retry", "--all", NULL);
    rowrelay_ok(f, "run", "--until-empty", "--workers", "2", NULL);
  }
}

void streams_deliver(struct fixture *f) {
  streams_run(f);
  cr_assert_str_eq(ask(f->at_source, "select string_agg(concat_ws(' ', relation, key, message, detail), e'\\n') "
                                     "from rowrelay.errors"),
                   "");
}

static void end_without_loss(pid_t process) {
  cr_assert(strstr(process_log(process), "has lost what it had") == NULL, "%s", process_log(process));
  cr_assert_eq(stop_process(process, SIGTERM), 0);
}

static void capture_written(struct fixture *f, const char *url, int batch_rows) {
  char option[32];
  snprintf(option, sizeof option, "batch_rows=%d", batch_rows);
  writers_make_tables(f->at_source);
  writers_fill_tables(f->at_source, 50);
  rowrelay_ok(f, "target", "add", "w", url, "--option", option, NULL);
  rowrelay_ok(f, "capture", "stock", "ledger", "--to", "w", NULL);
}

void streams_with_writers(struct fixture *f, const char *url) {
  struct writers writers;
  capture_written(f, url, 100);
  pid_t one = fixture_run(f, "--workers", "2", NULL);
  pid_t other = fixture_run(f, "--workers", "2", NULL);
  writers_start(&writers, f->source, 4, 2000, 5, 50);
  writers_finish(&writers, 60);
  wait_until_empty(f, 60);
  end_without_loss(one);
  end_without_loss(other);
}

void streams_with_a_fault(struct fixture *f, const char *url, void (*befall)(struct fixture *fixture)) {
  struct writers writers;
  capture_written(f, url, STREAMS_KILLED_ROWS);
  pid_t one = fixture_run(f, "--workers", "2", NULL);
  pid_t other = fixture_run(f, "--workers", "2", NULL);
  writers_start(&writers, f->source, 4, 3000, 5, 50);
  wait_until(f->at_source, "t", 60, "select count(*) > 10 from rowrelay.receipt where outcome = 'delivered'");
  befall(f);
  writers_finish(&writers, 60);
  wait_until_nothing_waits(f, 90);
  cr_assert_eq(stop_process(one, SIGTERM), 0);
  cr_assert_eq(stop_process(other, SIGTERM), 0);
  cr_assert_str_eq(ask(f->at_source, "select count(*) from rowrelay.errors"), "0");
}

void streams_with_killed_server(struct fixture *f, const char *url, struct served *server, int times) {
  struct writers writers;
  capture_written(f, url, STREAMS_KILLED_ROWS);
  pid_t process = fixture_run(f, "--workers", "2", NULL);
  writers_start(&writers, f->source, 4, 3000, 5, 50);
  for (int round = 0; round < times; round++) {
    sleep_seconds(1);
    served_control(server, "kill");
    sleep_seconds(0.5);
    served_control(server, "start");
  }
  writers_finish(&writers, 60);
  wait_until_empty(f, 90);
  end_without_loss(process);
  cr_assert_str_eq(ask(f->at_source, "select count(*) from rowrelay.errors"), "0");
}

/* Which of both is gone first takes turns. */
static void kill_both(pid_t process, struct served *server, bool process_first) {
  if (process_first)
    kill(process, SIGKILL);
  served_control(server, "kill");
  stop_process(process, SIGKILL);
  served_control(server, "start");
}

void streams_with_all_killed(struct fixture *f, const char *url, struct served *server, int times) {
  struct writers writers;
  capture_written(f, url, STREAMS_KILLED_ROWS);
  pid_t process = fixture_run(f, "--workers", "2", NULL);
  for (int round = 0; round < times; round++) {
    writers_start(&writers, f->source, 4, 1500, 5, 50);
    sleep_seconds(0.7);
    kill_both(process, server, round % 2 == 0);
    process = fixture_run(f, "--workers", "2", NULL);
    writers_finish(&writers, 60);
  }
  wait_until_empty(f, 90);
  end_without_loss(process);
  cr_assert_str_eq(ask(f->at_source, "select count(*) from rowrelay.errors"), "0");
}

void streams_with_stopped_processes(struct fixture *f, const char *url, int times) {
  struct writers writers;
  pid_t processes[2];
  capture_written(f, url, STREAMS_KILLED_ROWS);
  rowrelay_ok(f, "target", "set", "w", "-o", "claim=lease", "-o", "lease=3", "-o", "push_timeout=2", NULL);
  for (int i = 0; i < 2; i++)
    processes[i] = fixture_run(f, "--workers", "2", NULL);
  for (int round = 0; round < times; round++) {
    writers_start(&writers, f->source, 4, 1500, 5, 50);
    sleep_seconds(0.7);
    kill(processes[round % 2], SIGSTOP);
    writers_finish(&writers, 60);
    sleep_seconds(4); /* which the lease does not last */
    kill(processes[round % 2], SIGCONT);
  }
  wait_until_empty(f, 90);
  for (int i = 0; i < 2; i++)
    end_without_loss(processes[i]);
  cr_assert_str_eq(ask(f->at_source, "select count(*) from rowrelay.errors"), "0");
}

void streams_repeat_at_most(struct fixture *f, const char *what, int64_t most) {
  int64_t repeated = messages_repeated(f);
  cr_log_info("%s: %lld repeated", what, (long long)repeated);
  cr_assert(repeated <= most, "%s: %lld repeated", what, (long long)repeated);
}

void streams_with_killed_processes(struct fixture *f, struct served *server, int times, double seconds) {
  sql(f->at_source, "insert into item select n, 'new' from generate_series(1, 500) as n");
  streams_deliver(f);
  for (int round = 0; round < times; round++) {
    sql(f->at_source, "update item set n = %d; update item set name = 'r%d' where id %% 3 = 0", round, round);
    pid_t process = fixture_run(f, "--workers", "2", NULL);
    if (round > 0) {
      sleep_seconds(seconds * round);
      served_control(server, "freeze");
      sleep_seconds(0.5);
    }
    stop_process(process, SIGKILL);
    if (round > 0)
      served_control(server, "thaw");
  }
  streams_deliver(f);
}

void streams_tell_of_loss(struct fixture *f, void (*befall)(struct fixture *fixture)) {
  sql(f->at_source, "insert into item select n from generate_series(1, 100) as n");
  pid_t process = fixture_run(f, "--workers", "1", NULL);
  wait_until_empty(f, 60);
  befall(f);
  sql(f->at_source, "update item set name = 'x'");
  wait_until_nothing_waits(f, 60);
  wait_until_says(process, "target w: the server has lost what it had: ", 10);
  wait_until_says(process, "rowrelay replay w --since TIME", 10);
  wait_until(f->at_source, "t", 10,
             "select note like 'at 20%% the server has lost what it had: %%rowrelay replay w --since TIME' "
             "from rowrelay.status");
  const char *said;
  cr_assert(rowrelay(f, &said, NULL, "doctor", NULL) <= 1);
  cr_assert_not_null(strstr(said, "warn  target w — at 20"), "%s", said);
  sql(f->at_source, "update item set name = 'y'");
  wait_until_empty(f, 60); /* what waits is not sent again */
  rowrelay_ok(f, "replay", "w", "--since", "yesterday", NULL);
  wait_until_empty(f, 60);
  cr_assert_str_eq(ask(f->at_source, "select note from rowrelay.status"), "");
  const char *first = strstr(process_log(process), "has lost what it had");
  cr_assert(strstr(first + 1, "has lost what it had") == NULL, "%s", process_log(process));
  cr_assert_eq(stop_process(process, SIGTERM), 0);
}

void streams_block_a_row(struct fixture *f, int updates, int bad, int bytes) {
  sql(f->at_source,
      "insert into item values (1); do $$ begin for i in 1 .. %d loop update item set name = case i when %d then "
      "(select left(string_agg(md5(n::text), ''), %d) from generate_series(1, 1 + %d / 32) as n) else 'small' end; "
      "end loop; end $$; insert into item select n from generate_series(2, 100) as n",
      updates, bad, bytes, bytes);
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

void streams_nothing_is_behind(struct fixture *f) {
  cr_assert_str_eq(ask(f->at_source, "select max((value::json -> 'data' ->> 'change_id')::bigint) < (select "
                                     "min(change_id) from rowrelay.errors) from message where key = '{\"id\":1}'"),
                   "t");
  rowrelay_ok(f, "skip", "--all", "--target", "w", NULL);
}

void streams_send_large_rows(struct fixture *f, int rows) {
  sql(f->at_source, "insert into item select n, repeat('x', 5000000) from generate_series(1, %d) as n", rows);
  streams_deliver(f);
}

void streams_has_large_rows(struct fixture *f, int rows) {
  cr_assert_str_eq(ask(f->at_source,
                       "select string_agg(length(value::json -> 'data' -> 'after' ->> 'name')::text, ' ') "
                       "from message"),
                   ask(f->at_source, "select string_agg('5000000', ' ') from generate_series(1, %d)", rows));
}

pid_t streams_hold(struct fixture *f, const char *words) {
  sql(f->at_source, "insert into item select n from generate_series(1, 100) as n; insert into plain values ('a')");
  pid_t process = fixture_run(f, NULL, NULL);
  wait_until(f->at_source, "item waiting 100", 20, STREAMS_HELD);
  if (words != NULL)
    wait_until_says(process, words, 10);
  return process;
}

void streams_release(struct fixture *f, pid_t process) {
  rowrelay_ok(f, "retry", "--all", NULL);
  wait_until(f->at_source, "0", 60, "select count(*) from rowrelay.errors");
  wait_until_empty(f, 20);
  stop_process(process, SIGTERM);
}

void streams_with_outages(struct fixture *f, struct served *server, const char *frozen) {
  sql(f->at_source, "insert into item select n from generate_series(1, 300) as n");
  streams_deliver(f);
  pid_t process = fixture_run(f, NULL, NULL);
  served_control(server, "freeze");
  sql(f->at_source, "update item set name = 'x'");
  if (frozen != NULL)
    wait_until_says(process, frozen, 20);
  wait_until(f->at_source, "failing", 20, "select state from rowrelay.status");
  served_control(server, "thaw");
  wait_until_empty(f, 40);
  served_control(server, "stop");
  sql(f->at_source, "update item set name = 'y'");
  wait_until_says(process, "no connection: ", 20);
  cr_assert_str_eq(ask(f->at_source, "select count(*) from rowrelay.errors"), "0");
  served_control(server, "start");
  wait_until_empty(f, 40);
  /* And a second SIGTERM waits for nobody. */
  rowrelay_ok(f, "target", "set", "w", "--option", "push_timeout=60", NULL);
  sql(f->at_source, "update item set name = 'z'");
  wait_until_empty(f, 40);
  served_control(server, "freeze");
  sql(f->at_source, "update item set name = 'again'");
  sleep_seconds(1);
  kill(process, SIGTERM);
  sleep_seconds(0.5);
  double began = seconds_now();
  stop_process(process, SIGTERM);
  cr_assert(seconds_now() - began < 5, "it took %.1f s", seconds_now() - began);
  served_control(server, "thaw");
  streams_deliver(f);
}

void streams_send_later(struct fixture *f, struct served *server, const char *push_timeout) {
  rowrelay_ok(f, "target", "set", "w", "-o", push_timeout, NULL);
  served_control(server, "stop");
  sql(f->at_source, "insert into item select n from generate_series(1, 300) as n");
  pid_t process = fixture_run(f, NULL, NULL);
  wait_until_says(process, "no connection: ", 20);
  served_control(server, "start");
  wait_until_empty(f, 40);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  cr_assert_str_eq(
      ask(f->at_source, "select string_agg(distinct concat_ws(' ', message, detail), e'\\n') from rowrelay.errors"),
      "");
}

void streams_capture_secure(struct fixture *f, const struct served *server, const char *url, const char *variable,
                            const char *refused) {
  setenv(variable, "something/else", 1);
  sql(f->at_source, "create table item (id int primary key)");
  rowrelay_ok(f, "target", "add", "w", url, NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", NULL);
  sql(f->at_source, "insert into item values (1)");
  streams_let_in(f, server, variable, refused);
}

void streams_let_in(struct fixture *f, const struct served *server, const char *variable, const char *refused) {
  const char *errors;
  char ca_file[300];
  snprintf(ca_file, sizeof ca_file, "ca_file=%s", served_path(server, "ca.pem"));
  cr_assert(rowrelay(f, NULL, &errors, "target", "test", "w", NULL) != 0);
  cr_assert(strstr(errors, "no encrypted connection: ") != NULL, "%s", errors);
  rowrelay_ok(f, "target", "set", "w", "-o", ca_file, NULL);
  cr_assert(rowrelay(f, NULL, &errors, "target", "test", "w", NULL) != 0);
  cr_assert(strstr(errors, refused) != NULL, "%s", errors);
  cr_assert(strstr(errors, "something") == NULL, "%s", errors);
  setenv(variable, served_says(server, "password"), 1);
}

void streams_shows_certificate(struct fixture *f, const struct served *server, const char *refused) {
  char options[3][300];
  snprintf(options[0], sizeof options[0], "ca_file=%s", served_path(server, "ca.pem"));
  snprintf(options[1], sizeof options[1], "certificate=%s", served_path(server, "certificate.pem"));
  snprintf(options[2], sizeof options[2], "private_key=%s", served_path(server, "key.pem"));
  rowrelay_ok(f, "target", "set", "w", "-o", options[0], NULL);
  cr_assert(rowrelay(f, NULL, NULL, "target", "test", "w", NULL) != 0);
  rowrelay_ok(f, "target", "set", "w", "-o", options[1], "-o", options[2], NULL);
  rowrelay_ok(f, "target", "test", "w", NULL);
  sql(f->at_source, "insert into item values (1)");
  rowrelay_ok(f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f->at_source, "select string_agg(message, ' ') from rowrelay.errors"), refused);
}

void streams_never_said(pid_t process, const char *secret) {
  cr_assert(strstr(process_log(process), secret) == NULL);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
}

void streams_needs_variable(struct fixture *f, const char *variable, const char *user) {
  const char *errors;
  char words[200];
  unsetenv(variable);
  snprintf(words, sizeof words, "environment variable %s, which the target's %s uses, is not set", variable, user);
  cr_assert(rowrelay(f, NULL, &errors, "run", "--until-empty", NULL) != 0);
  cr_assert(strstr(errors, words) != NULL, "%s", errors);
}

void streams_cannot_reach(struct fixture *f, const char *url, const char *words) {
  const char *errors;
  const char *output;
  char line[100];
  snprintf(line, sizeof line, "target w — %s", words);
  sql(f->at_source, "create table item (id int primary key)");
  rowrelay_ok(f, "target", "add", "w", url, NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", NULL);
  cr_expect(rowrelay(f, NULL, &errors, "target", "test", "w", NULL) == 1);
  cr_expect(strstr(errors, words) != NULL, "%s", errors);
  cr_expect(rowrelay(f, &output, NULL, "doctor", NULL) == 1);
  cr_expect(strstr(output, line) != NULL, "%s", output);
}
