/* What status says of targets, tables and processes. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

/* Table item goes to target w. */
static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text)");
  sql(f->at_target, "create table item (id int primary key, name text)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", NULL);
}

static void wait_for_state(struct fixture *f, const char *target, const char *state) {
  wait_until(f->at_source, state, 10, "select state from rowrelay.status where target = '%s'", target);
}

Test(status, a_target_is_running_while_a_process_serves_it) {
  struct fixture f;
  begin(&f, "status_running");
  rowrelay_ok(&f, "target", "add", "v", "stdout:", NULL);
  wait_for_state(&f, "w", "not running");
  pid_t one = fixture_run(&f, "--target", "w", NULL);
  wait_for_state(&f, "w", "running");
  wait_for_state(&f, "v", "not running");
  pid_t all = fixture_run(&f, NULL, NULL);
  wait_for_state(&f, "v", "running");
  cr_assert_eq(stop_process(all, SIGTERM), 0);
  wait_for_state(&f, "v", "not running");
  wait_for_state(&f, "w", "running");
  cr_assert_eq(stop_process(one, SIGINT), 0);
  wait_for_state(&f, "w", "not running");
  fixture_end(&f);
}

Test(status, a_process_that_was_killed_counts_until_it_has_been_silent_for_half_a_minute) {
  struct fixture f;
  begin(&f, "status_killed");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_for_state(&f, "w", "running");
  stop_process(process, SIGKILL);
  wait_for_state(&f, "w", "running");
  sql(f.at_source, "update rowrelay.instance set heartbeat_at = heartbeat_at - interval '30 s'");
  wait_for_state(&f, "w", "not running");
  fixture_end(&f);
}

Test(status, what_waits_is_counted_and_the_oldest_has_an_age) {
  struct fixture f;
  begin(&f, "status_backlog");
  const char *question =
      "select concat_ws(' ', backlog, oldest_pending between interval '0' and interval '10 s', errors, blocked) "
      "from rowrelay.status";
  cr_assert_str_eq(ask(f.at_source, "%s", question), "0 0 0");
  sql(f.at_source, "insert into item values (1)");
  sleep_seconds(1.1);
  sql(f.at_source, "insert into item select generate_series(2, 500)");
  cr_assert_str_eq(ask(f.at_source, "%s", question), "500 t 0 0");
  cr_assert_str_eq(ask(f.at_source, "select oldest_pending >= interval '1 s' from rowrelay.status"), "t");
  cr_assert_not_null(strstr(rowrelay_ok(&f, "status", NULL), "w       not running      500  00:00:0"), "%s",
                     rowrelay_ok(&f, "status", NULL));

  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "%s", question), "0 0 0");
  cr_assert_str_eq(ask(f.at_source, "select rate from rowrelay.status"), "8.3");
  /* Also when most of what was queued is gone, and the floors have risen. */
  sql(f.at_source, "insert into item select generate_series(501, 510)");
  cr_assert_str_eq(ask(f.at_source, "%s", question), "10 t 0 0");
  sql(f.at_source, "update rowrelay.receipt set settled_at = settled_at - interval '1 min'");
  cr_assert_str_eq(ask(f.at_source, "select rate from rowrelay.status"), "0");
  fixture_end(&f);
}

/* What PostgreSQL reads of the queue for view status, by a scan of it or of an index. */
static const char READ_OF_QUEUE[] =
    "create function pg_temp.read_of_queue() returns bigint language plpgsql as $$ declare was bigint; "
    "of_queue constant oid[] := array(select 'rowrelay.queue'::regclass::oid union all "
    "select i.indexrelid from pg_index i where i.indrelid = 'rowrelay.queue'::regclass); begin "
    "was := (select sum(pg_stat_get_xact_tuples_returned(o)) from unnest(of_queue) o); "
    "perform s.backlog, s.oldest_pending from rowrelay.status s; "
    "return (select sum(pg_stat_get_xact_tuples_returned(o)) from unnest(of_queue) o) - was; end $$";

Test(status, a_backlog_is_read_once_however_many_targets_there_are) {
  struct fixture f;
  fixture_begin(&f, "status_read_once");
  sql(f.at_source, "create table item (id int primary key); "
                   "select rowrelay.add_target('t' || g, 'file:/dev/null') from generate_series(1, 50) g; "
                   "select rowrelay.capture_table('item', target => 't1'); "
                   "insert into item select generate_series(1, 20000); analyze rowrelay.queue");
  sql(f.at_source, "%s", READ_OF_QUEUE);
  int64_t read = ask_number(f.at_source, "select pg_temp.read_of_queue()");
  cr_assert(read > 10000 && read < 60000, "%ld rows", (long)read);
  fixture_end(&f);
}

/* Where a server compiles costly statements, as it does by default, status took seconds with a thousand targets. */
Test(status, the_server_compiles_nothing_for_a_thousand_targets) {
  struct fixture f;
  fixture_begin(&f, "status_compiled");
  sql(f.at_source, "create table item (id int primary key);"
                   "select rowrelay.add_target('t' || g, 'file:/dev/null') from generate_series(1, 1000) g;"
                   "select rowrelay.capture_table('item', target => 't1');"
                   "insert into item select generate_series(1, 20000); analyze");
  cr_assert_str_eq(ask(f.at_source, "select setting from pg_settings where name = 'jit_above_cost'"), "100000");
  sql(f.at_source, "create function pg_temp.cost() returns numeric language plpgsql as $$ declare plan json; begin "
                   "execute 'explain (format json) select * from rowrelay.status' into plan; "
                   "return plan #>> '{0,Plan,Total Cost}'; end $$");
  int64_t cost = ask_number(f.at_source, "select round(pg_temp.cost())");
  cr_assert(cost < 100000, "cost %ld", (long)cost);
  fixture_end(&f);
}

Test(status, what_the_log_takes_is_shown_and_how_long_it_is_kept) {
  struct fixture f;
  begin(&f, "status_log");
  sql(f.at_source, "insert into item select generate_series(1, 20000)");
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', days, first_day = (now() at time zone 'UTC')::date, "
                                    "  bytes between 2e6 and 10e6) from rowrelay.log_size()"),
                   "1 t t");
  const char *size = ask(f.at_source, "select pg_size_pretty(bytes) from rowrelay.log_size()");
  char line[100];
  snprintf(line, sizeof line, "\nThe log has %s of 1 day, kept for ever.\n", size);
  cr_assert_not_null(strstr(rowrelay_ok(&f, "status", NULL), line), "%s", rowrelay_ok(&f, "status", NULL));
  rowrelay_ok(&f, "keep", "90 days", NULL);
  snprintf(line, sizeof line, "\nThe log has %s of 1 day, kept for 90 days.\n", size);
  cr_assert_not_null(strstr(rowrelay_ok(&f, "keep", NULL), line), "%s", rowrelay_ok(&f, "keep", NULL));
  fixture_end(&f);
}

static void ends_with(const char *said, const char *end) {
  size_t length = strlen(said);
  cr_assert(length >= strlen(end) && strcmp(said + length - strlen(end), end) == 0, "no \"%s\" at the end of:\n%s", end,
            said);
}

Test(status, a_process_says_what_it_serves_and_why_it_ends) {
  struct fixture f;
  begin(&f, "status_says");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_says(process, "rowrelay 0.1.0 delivers from ", 10);
  wait_until_says(process, "target w: 1 worker", 10);
  kill(process, SIGTERM);
  wait_until_says(process, "told to stop: current batches end first", 10);
  wait_until_says(process, " ends because of SIGTERM: 0 changes delivered, 0 refused\n", 10);
  ends_with(process_log(process), " 0 refused\n");
  cr_assert_eq(stop_process(process, 0), 0);
  sql(f.at_source, "insert into item values (1, 'a')");
  const char *said;
  cr_assert_eq(rowrelay(&f, NULL, &said, "run", "--until-empty", NULL), 0);
  ends_with(said, " info: rowrelay 0.1.0 ends because nothing is pending: 1 change delivered, 0 refused\n");
  sql(f.at_source, "select rowrelay.pause('w')");
  cr_assert_eq(rowrelay(&f, NULL, &said, "run", "--until-empty", NULL), 1);
  cr_assert_not_null(strstr(said, " ends because it failed: 0 changes delivered, 0 refused\nrowrelay: target w is not "
                                  "running"),
                     "%s", said);
  fixture_end(&f);
}

Test(status, a_list_of_targets_says_what_status_says) {
  struct fixture f;
  begin(&f, "status_list");
  cr_assert_not_null(strstr(rowrelay_ok(&f, "target", "list", NULL), " not running "), "%s",
                     rowrelay_ok(&f, "target", "list", NULL));
  cr_assert_not_null(strstr(rowrelay_ok(&f, "target", "show", "w", NULL), " not running\n"), "%s",
                     rowrelay_ok(&f, "target", "show", "w", NULL));
  fixture_run(&f, NULL, NULL);
  wait_for_state(&f, "w", "running");
  cr_assert_null(strstr(rowrelay_ok(&f, "target", "list", NULL), " not running "));
  rowrelay_ok(&f, "target", "pause", "w", NULL);
  cr_assert_not_null(strstr(rowrelay_ok(&f, "target", "list", NULL), " paused "));
  fixture_end(&f);
}

Test(status, a_failing_target_says_since_when_how_often_and_why) {
  struct fixture f;
  begin(&f, "status_failing");
  rowrelay_ok(&f, "target", "add", "v", "file:/dev/null", NULL);
  rowrelay_ok(&f, "route", "item", "v", NULL);
  sql(f.at_source, "select rowrelay.set_target('w', 'postgresql:///nothing?host=/nowhere')");
  sql(f.at_source, "insert into item values (1)");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_for_state(&f, "w", "failing");
  wait_until(f.at_source, "t", 10, "select attempts >= 2 from rowrelay.trouble");
  const char *note = ask(f.at_source, "select note from rowrelay.status where target = 'w'");
  cr_assert_str_eq(
      ask(f.at_source,
          "select $$%s$$ ~ '^since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d \\(\\d+ attempts\\): .*nowhere'", note),
      "t", "%s", note);
  /* The other target works, and has everything. */
  wait_until(f.at_source, "running 0", 10,
             "select concat(state, ' ', backlog, note) from rowrelay.status where target = 'v'");
  rowrelay_ok(&f, "target", "pause", "w", NULL);
  wait_for_state(&f, "w", "paused");
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  /* Without processes it does not count as failing; the last failure is still shown. */
  stop_process(process, SIGTERM);
  cr_assert_str_eq(ask(f.at_source, "select concat(state, ' ', left(note, 8)) from rowrelay.status where target = 'w'"),
                   "not running since 20");
  fixture_end(&f);
}

Test(status, a_target_that_does_not_answer_is_failing_until_it_does) {
  struct fixture f;
  own_server("target", NULL);
  begin(&f, "status_away");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "insert into item values (1)");
  wait_until_empty(&f, 10);
  PQfinish(f.at_target);
  stop_server("target", "fast");
  sql(f.at_source, "insert into item values (2)");
  wait_for_state(&f, "w", "failing");
  cr_assert_not_null(strstr(ask(f.at_source, "select note from rowrelay.status"), "onnection"), "%s",
                     ask(f.at_source, "select note from rowrelay.status"));
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  start_server("target");
  f.at_target = connect_to(f.target, NULL);
  wait_until_empty(&f, 10);
  wait_for_state(&f, "w", "running");
  wait_until_says(process, "target w: delivering again", 2);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item"), "2");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(status, tables_say_where_they_go_and_what_is_wrong_with_them) {
  struct fixture f;
  begin(&f, "status_tables");
  sql(f.at_source, "create table line (a int, b text, primary key (a, b)); create table bare (n int)");
  rowrelay_ok(&f, "capture", "line", "bare", NULL);
  cr_assert_str_eq(rowrelay_ok(&f, "status", "--tables", NULL), "table  key   targets  captured by  note\n"
                                                                "-----  ----  -------  -----------  ----\n"
                                                                "bare                  PL/pgSQL     \n"
                                                                "item   id    w        PL/pgSQL     \n"
                                                                "line   a, b           PL/pgSQL     \n");
  sql(f.at_source, "alter table item disable trigger all");
  sql(f.at_source, "drop table line");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.captures where relation_name = 'public.item'"),
                   "triggers are missing or disabled: capture the table again");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.status"),
                   "public.item: triggers are missing or disabled: capture the table again");
  rowrelay_ok(&f, "capture", "item", NULL);
  cr_assert_str_eq(ask(f.at_source, "select left(note, 32) from rowrelay.status"), "public.item lacks changes made b");
  rowrelay_ok(&f, "verify", "w", "--repair", NULL);
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.status"), "");
  /* A dropped table can be released by its name. */
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', relation_name, note), ', ' order by 1) from "
                                    "rowrelay.captures where note <> ''"),
                   "public.line the table is gone: release it");
  cr_assert_not_null(strstr(rowrelay_ok(&f, "status", "--tables", NULL),
                            "public.line                PL/pgSQL     the table is gone: release it"),
                     "%s", rowrelay_ok(&f, "status", "--tables", NULL));
  cr_assert_str_eq(rowrelay_ok(&f, "release", "line", NULL), "public.line: released\n");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.captures where note <> ''"), "0");
  fixture_end(&f);
}

Test(status, watch_shows_it_again_and_again) {
  struct fixture f;
  begin(&f, "status_watch");
  char command[700];
  snprintf(command, sizeof command,
           "timeout -s INT 8 \"$ROWRELAY_BIN\" -d '%s' status --json --watch=1 > /tmp/rowrelay-%d.watch", f.source,
           (int)getpid());
  cr_assert_neq(system(command), 0);
  snprintf(
      command, sizeof command,
      /* once a second, however busy the machine is */
      "n=$(grep -c '\"target\":\"w\"' /tmp/rowrelay-%d.watch); rm /tmp/rowrelay-%d.watch; test $n -ge 3 -a $n -le 8",
      (int)getpid(), (int)getpid());
  cr_assert_eq(system(command), 0);
  fixture_end(&f);
}
