/*
 * What was refused and is retried may be older than what the target has, or may have: that must not come back.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "mirrored.h"
#include "proxy.h"

/* A mirror in target "w" that refuses the name "bad" while table `deny` has a row. */
static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text)");
  proxy_add_target(f, "retries=0");
  rowrelay_ok(f, "capture", "item", "--to", "w", "--create", NULL);
  sql(f->at_source, "insert into item values (1, 'old'), (2, 'old')");
  rowrelay_ok(f, "run", "--until-empty", NULL);
  sql(f->at_target,
      "create table deny (n int); insert into deny values (1);"
      "create function deny() returns trigger language plpgsql as "
      "'begin if new.name = ''bad'' and exists (select from deny) then raise check_violation; end if; return new; end';"
      "create trigger deny before insert or update on item for each row execute function deny()");
}

static void refuse_one(struct fixture *f) {
  sql(f->at_source, "update item set name = 'bad' where id = 1");
  wait_until(f->at_source, "1", 10, "select count(*) from rowrelay.errors");
}

static void refuse_now(struct fixture *f) {
  sql(f->at_source, "update item set name = 'bad' where id = 1");
  rowrelay_ok(f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f->at_source, "select count(*) from rowrelay.errors"), "1");
}

/* The target has what `statement` does, by a process that is killed before it has settled that. */
static void apply_and_die(struct fixture *f, struct proxy *proxy, pid_t process, const char *statement,
                          const char *arrived) {
  proxy_hold_answer_to(proxy, "commit");
  sql(f->at_source, "%s", statement);
  wait_until(f->at_target, "t", 10, "%s", arrived);
  stop_process(process, SIGKILL);
  wait_until(f->at_source, "0", 10,
             "select count(*) from pg_stat_activity "
             "where datname = current_database() and application_name = 'rowrelay'");
  proxy_let_go(proxy);
}

static void retry_and_compare(struct fixture *f) {
  sql(f->at_target, "delete from deny");
  rowrelay_ok(f, "retry", "--all", NULL);
  rowrelay_ok(f, "run", "--until-empty", NULL);
  same_rows(f, "item", "item", "id");
}

static void newer_wins(const char *name, const char *statement, const char *arrived) {
  struct fixture f;
  struct proxy proxy;
  begin(&f, name);
  proxy_begin(&proxy, f.at_target);
  pid_t process = proxy_run(&proxy, &f);
  refuse_one(&f);
  apply_and_die(&f, &proxy, process, statement, arrived);
  retry_and_compare(&f);
  proxy_end(&proxy);
  fixture_end(&f);
}

Test(retried, an_older_change_of_a_row_does_not_win_over_one_that_was_applied_and_not_settled) {
  newer_wins("retried_row", "update item set name = 'good' where id = 1",
             "select name = 'good' from item where id = 1");
}

Test(retried, nor_over_a_delete_that_was_applied_and_not_settled) {
  newer_wins("retried_delete", "delete from item where id = 1", "select count(*) = 1 from item");
}

Test(retried, nor_over_a_truncate_that_was_applied_and_not_settled) {
  newer_wins("retried_truncate", "truncate item", "select count(*) = 0 from item");
}

Test(retried, nor_when_it_comes_in_another_batch) {
  struct fixture f;
  struct proxy proxy;
  begin(&f, "retried_batch");
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=1", NULL);
  proxy_begin(&proxy, f.at_target);
  pid_t process = proxy_run(&proxy, &f);
  refuse_one(&f);
  apply_and_die(&f, &proxy, process, "update item set name = 'good' where id = 1",
                "select name = 'good' from item where id = 1");
  retry_and_compare(&f);
  proxy_end(&proxy);
  fixture_end(&f);
}

/* Who was given up before its push has raised no fence, nor has who was refused after that. */
Test(retried, a_push_that_was_left_behind_brings_nothing_into_a_truncated_table) {
  struct fixture f;
  struct proxy proxy;
  begin(&f, "retried_behind");
  sql(f.at_target, "delete from deny");
  proxy_begin(&proxy, f.at_target);
  pid_t zombie = proxy_run(&proxy, &f);
  sql(f.at_source, "update item set name = 'through'");
  wait_until_empty(&f, 10);
  proxy_hold(&proxy);
  sql(f.at_source, "update item set name = 'bad' where id = 1");
  proxy_wait_until_stuck(&proxy, 10);
  cut_off_from_source(&f);

  sql(f.at_target, "insert into deny values (1)");
  pid_t other = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "1", 10, "select count(*) from rowrelay.errors");
  sql(f.at_target, "delete from deny");
  sql(f.at_source, "truncate item");
  wait_until(f.at_target, "0", 10, "select count(*) from item");
  wait_until_empty(&f, 10);
  proxy_let_go(&proxy);
  wait_until_says(zombie, "another process has claimed the same lanes since", 10);
  same_rows(&f, "item", "item", "id");
  cr_assert_eq(stop_process(other, SIGTERM), 0);
  stop_process(zombie, SIGTERM);
  proxy_end(&proxy);
  fixture_end(&f);
}

/* ---- rows that change lanes ------------------------------------------------------------------------------------ */

/* The same, and a row's lane is that of its column grp. */
static void begin_with_lanes(struct fixture *f, const char *name) {
  begin(f, name);
  sql(f->at_source, "alter table item add grp int default 5");
  sql(f->at_target, "alter table item add grp int default 5");
  rowrelay_ok(f, "capture", "item", "--lane", "grp", NULL);
}

static void barrier_wins(const char *name, const char *statement, const char *arrived) {
  struct fixture f;
  struct proxy proxy;
  begin_with_lanes(&f, name);
  proxy_begin(&proxy, f.at_target);
  pid_t process = proxy_run(&proxy, &f);
  sql(f.at_source, "update item set name = 'through'");
  wait_until_empty(&f, 10);
  refuse_one(&f);
  apply_and_die(&f, &proxy, process, statement, arrived);
  retry_and_compare(&f);
  proxy_end(&proxy);
  fixture_end(&f);
}

Test(retried, nor_over_a_delete_that_was_a_barrier) {
  barrier_wins("retried_gone", "delete from item where id = 1", "select count(*) = 1 from item");
}

Test(retried, nor_over_a_row_that_went_into_another_lane) {
  barrier_wins("retried_moved", "update item set name = 'good', grp = 7 where id = 1",
               "select name = 'good' from item where id = 1");
}

/* One lane, and what would be barriers elsewhere: all comes in one push. */
static pid_t begin_with_one_lane(struct fixture *f, struct proxy *proxy, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, grp int, name text)");
  proxy_add_target(f, "retries=0");
  rowrelay_ok(f, "target", "set", "w", "--option", "lanes=1", NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", "--create", NULL);
  sql(f->at_source, "insert into item values (1, 1, 'old'), (2, 2, 'old')");
  rowrelay_ok(f, "run", "--until-empty", NULL);
  sql(f->at_target, "create table deny (n int); alter table item add constraint deny check (name <> 'bad')");
  refuse_now(f);
  rowrelay_ok(f, "capture", "item", "--lane", "grp", NULL);
  rowrelay_ok(f, "run", "--until-empty", NULL);
  proxy_begin(proxy, f->at_target);
  pid_t process = proxy_run(proxy, f);
  sql(f->at_source, "update item set name = 'through' where id = 2");
  wait_until_empty(f, 10);
  return process;
}

Test(retried, nor_when_there_is_one_lane_and_its_table_was_captured_with_others) {
  struct fixture f;
  struct proxy proxy;
  pid_t process = begin_with_one_lane(&f, &proxy, "retried_one");
  apply_and_die(&f, &proxy, process, "update item set name = 'good' where id = 1",
                "select name = 'good' from item where id = 1");
  sql(f.at_target, "alter table item drop constraint deny");
  retry_and_compare(&f);
  proxy_end(&proxy);
  fixture_end(&f);
}

Test(retried, what_follows_a_barrier_in_a_push_comes_again_with_it) {
  struct fixture f;
  struct proxy proxy;
  pid_t process = begin_with_one_lane(&f, &proxy, "retried_follows");
  sql(f.at_target, "insert into item values (5, 5, 'extra')");
  apply_and_die(&f, &proxy, process,
                "begin; select rowrelay.requeue('item', 'w', '{5}'); insert into item values (5, 5, 'real'); commit",
                "select name = 'real' from item where id = 5");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_target, "select name from item where id = 5"), "real");
  proxy_end(&proxy);
  fixture_end(&f);
}

/* Its old lane tells nothing of its row any more. */
Test(retried, a_change_from_before_its_table_got_other_lanes_goes_before_newer_ones) {
  struct fixture f;
  begin(&f, "retried_lanes");
  sql(f.at_source, "alter table item add grp int default 5");
  sql(f.at_target, "alter table item add grp int default 5");
  refuse_now(&f);
  rowrelay_ok(&f, "capture", "item", "--lane", "grp", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_target,
      "delete from deny; create function wait() returns trigger language plpgsql as "
      "'begin if new.name = ''bad'' then perform pg_advisory_xact_lock(1); end if; return new; end';"
      "create trigger wait before insert on item for each row execute function wait(); select pg_advisory_lock(1)");
  rowrelay_ok(&f, "retry", "--all", NULL);
  pid_t one = fixture_run(&f, NULL, NULL);
  PGconn *watcher = connect_to(f.target, NULL);
  wait_until(watcher, "1", 10, "select count(*) from pg_locks where locktype = 'advisory' and not granted");
  sql(f.at_source, "update item set name = 'good' where id = 1");
  pid_t other = fixture_run(&f, NULL, NULL);
  sleep_seconds(1); /* the newer change would arrive now */
  sql(f.at_target, "select pg_advisory_unlock(1)");
  wait_until_empty(&f, 10);
  same_rows(&f, "item", "item", "id");
  stop_process(one, SIGTERM);
  stop_process(other, SIGTERM);
  PQfinish(watcher);
  fixture_end(&f);
}

Test(retried, a_push_that_was_left_behind_does_not_win_over_what_came_after_its_table_got_other_lanes) {
  struct fixture f;
  struct proxy proxy;
  begin_with_lanes(&f, "retried_other");
  sql(f.at_target, "delete from deny");
  proxy_begin(&proxy, f.at_target);
  pid_t zombie = proxy_run(&proxy, &f);
  sql(f.at_source, "update item set name = 'through'");
  wait_until_empty(&f, 10);
  proxy_hold(&proxy);
  sql(f.at_source, "update item set name = 'bad' where id = 1");
  proxy_wait_until_stuck(&proxy, 10);
  cut_off_from_source(&f);

  sql(f.at_target, "insert into deny values (1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_target, "delete from deny");
  rowrelay_ok(&f, "capture", "item", "--lane", "id", NULL);
  sql(f.at_source, "update item set name = 'good' where id = 1");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  proxy_let_go(&proxy);
  wait_until_says(zombie, "another process has claimed the same lanes since", 10);
  same_rows(&f, "item", "item", "id");
  stop_process(zombie, SIGTERM);
  proxy_end(&proxy);
  fixture_end(&f);
}

/* ---- truncates ------------------------------------------------------------------------------------------------- */

/* The table, or a part of it, is locked at the target for longer than a push may take. */
/* At the target, where push_timeout is 1: an error would hold the table. */
#define REFUSE_EMPTYING                                                                                                \
  "create function take_long() returns trigger language plpgsql as $$ begin perform pg_sleep(3); return null; end $$;" \
  "create trigger no before delete or truncate on item execute function take_long()"

static void truncate_is_late(const char *name, const char *statement) {
  struct fixture f;
  fixture_begin(&f, name);
  sql(f.at_source, "create table item (id int, n int, primary key (id)) partition by range (id);"
                   "create table low partition of item for values from (0) to (100);"
                   "create table high partition of item for values from (100) to (200)");
  sql(f.at_target, "create table item (id int primary key, n int)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", "retries=0", "--option", "push_timeout=1", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1, 1), (2, 2), (101, 1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_target, REFUSE_EMPTYING);
  sql(f.at_source, "%s", statement);
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "1", 20, "select count(*) from rowrelay.errors");
  sql(f.at_source, "insert into item values (10, 1), (11, 1), (110, 1)");
  wait_until_empty(&f, 20);
  sql(f.at_target, "drop trigger no on item");
  rowrelay_ok(&f, "retry", "--all", NULL);
  wait_until_empty(&f, 20);
  wait_until(f.at_source, "0", 20, "select count(*) from rowrelay.refusal");
  wait_until_nothing_waits(&f, 20);
  same_rows(&f, "item", "item", "id");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(retried, a_late_truncate_takes_nothing_newer_away) {
  truncate_is_late("retried_late", "truncate item");
}

Test(retried, nor_does_that_of_a_partition) {
  truncate_is_late("retried_part", "truncate low");
}

/* A batch was in flight when the truncate was retried, and had set rows aside behind it. */
Test(retried, what_is_set_aside_while_a_retry_waits_goes_with_it) {
  struct fixture f;
  fixture_begin(&f, "retried_aside");
  sql(f.at_source, "create table item (id int primary key, n int); create table slow (id int primary key, n int)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", "retries=0", "--option", "push_timeout=1", NULL);
  rowrelay_ok(&f, "capture", "item", "slow", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item values (1, 1); insert into slow values (1, 1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_target, REFUSE_EMPTYING);
  sql(f.at_source, "truncate item");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(op, ' ') from rowrelay.errors"), "truncate");
  PGconn *reader = connect_to(f.target, NULL);
  sql(reader, "drop trigger no on item; begin; select from slow for update");
  rowrelay_ok(&f, "target", "set", "w", "--option", "push_timeout=300", NULL);
  sql(f.at_source,
      "begin; insert into item select n, 1 from generate_series(10, 19) as n; update slow set n = 2; commit");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_target, "1", 10, "select count(*) from pg_locks where not granted and locktype = 'transactionid'");
  start(f.at_source, "select rowrelay.retry('w')");
  PGconn *watcher = connect_to(f.source, NULL);
  wait_until_blocked(watcher, f.at_source, 10);
  sql(reader, "commit");
  finish(f.at_source);
  wait_until_empty(&f, 20);
  same_rows(&f, "item", "item", "id");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.refusal"), "0");
  stop_process(process, SIGTERM);
  PQfinish(watcher);
  PQfinish(reader);
  fixture_end(&f);
}

/* As when it had arrived after its lease had ended, while others were set aside behind it. */
Test(retried, what_waits_behind_nothing_goes_on) {
  struct fixture f;
  begin(&f, "retried_nothing");
  rowrelay_ok(&f, "target", "set", "w", "--option", "on_error=block", NULL);
  refuse_now(&f);
  sql(f.at_source, "update item set name = 'good' where id = 1");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "delete from rowrelay.job; select rowrelay.maintain()");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(state, ' ' order by change_id) from rowrelay.errors"),
                   "error blocked");
  sql(f.at_source, "delete from rowrelay.refusal where state = 'error'; delete from rowrelay.job");
  cr_assert_str_eq(ask(f.at_source, "select rowrelay.maintain()"),
                   "1 change that waited behind a refused one that is gone was queued again");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

/* ---- rows without a key ---------------------------------------------------------------------------------------- */

/* Table note has no key; a process with one worker runs. */
static pid_t begin_keyless(struct fixture *f, struct proxy *proxy, const char *name, const char *option) {
  fixture_begin(f, name);
  sql(f->at_source, "create table note (n int, text text); create table other (id int primary key)");
  sql(f->at_target, "create table note (n int, text text)");
  proxy_add_target(f, option);
  rowrelay_ok(f, "capture", "note", "--lane", "n", "--to", "w", NULL);
  rowrelay_ok(f, "capture", "other", "--to", "w", "--create", NULL);
  proxy_begin(proxy, f->at_target);
  pid_t process = proxy_run(proxy, f);
  sql(f->at_source, "insert into note values (0, 'first')");
  wait_until_empty(f, 10);
  return process;
}

static void apply_thrice_and_die(struct fixture *f, struct proxy *proxy, pid_t process) {
  apply_and_die(f, proxy, process, "insert into note select 1, 'thrice' from generate_series(1, 3)",
                "select count(*) = 3 from note where text = 'thrice'");
  proxy_end(proxy);
}

/* Others of all its lanes are delivered, so that their fences need not know it any more. */
static void others_pass(struct fixture *f) {
  sql(f->at_source, "insert into other select generate_series(1, 2000)");
  rowrelay_ok(f, "run", "--until-empty", NULL);
  sql(f->at_source, "delete from other");
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

Test(retried, a_row_without_a_key_that_was_applied_comes_once_though_its_table_was_gone_meanwhile) {
  struct fixture f;
  struct proxy proxy;
  pid_t process = begin_keyless(&f, &proxy, "retried_keyless", "lanes=1");
  apply_thrice_and_die(&f, &proxy, process);
  sql(f.at_target, "alter table note rename to gone");
  sql(f.at_source, "insert into note values (1, 'new')");
  others_pass(&f);
  cr_assert_str_eq(ask(f.at_source,
                       "select concat(count(*), ' ', count(h.message)) from rowrelay.errors, rowrelay.hold h"
                       " where state = 'waiting'"),
                   "1 1");
  sql(f.at_target, "alter table gone rename to note");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "note", "note", "n, text");
  fixture_end(&f);
}

/* It stands behind one of another lane, whose lane was locked and which is refused. */
Test(retried, a_row_without_a_key_that_was_applied_comes_once_though_it_is_blocked) {
  struct fixture f;
  struct proxy proxy;
  pid_t process = begin_keyless(&f, &proxy, "retried_blocked", "retries=0");
  PGconn *holder = connect_to(f.source, NULL);
  sql(f.at_target, "alter table note add constraint deny check (text <> 'bad')");
  rowrelay_ok(&f, "target", "pause", "w", NULL);
  sql(f.at_source, "insert into note values (7, 'bad')");
  sql(holder, "begin; select from rowrelay.lane where lane = (select lane from rowrelay.queue) for update");
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  sql(f.at_source, "insert into note values (0, 'again')");
  wait_until(f.at_target, "2", 10, "select count(*) from note");
  apply_thrice_and_die(&f, &proxy, process);
  sql(holder, "commit");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(distinct state, ' ') from rowrelay.errors"), "error");
  others_pass(&f);
  sql(f.at_target, "alter table note drop constraint deny");
  rowrelay_ok(&f, "retry", "--all", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "note", "note", "n, text");
  PQfinish(holder);
  fixture_end(&f);
}

/* Another transaction's truncate comes first then, as a barrier: in one lane it is not the end of all that is older. */
Test(retried, a_row_without_a_key_that_was_applied_comes_once_though_a_barrier_came_between) {
  struct fixture f;
  struct proxy proxy;
  pid_t process = begin_keyless(&f, &proxy, "retried_between", "lanes=1");
  PGconn *other = connect_to(f.source, NULL);
  sql(f.at_source, "begin; insert into note values (1, 'before')");
  sql(other, "begin; truncate other");
  apply_and_die(&f, &proxy, process, "insert into note values (1, 'after'); commit", "select count(*) = 3 from note");
  sql(other, "commit");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "note", "note", "n, text");
  PQfinish(other);
  proxy_end(&proxy);
  fixture_end(&f);
}

/* ---- of one table ---------------------------------------------------------------------------------------------- */

Test(retried, errors_are_listed_retried_and_skipped_by_table) {
  struct fixture f;
  const char *errors;
  mirrored_begin(&f, "retried_table",
                 "create table item (id int primary key); create table other (id int primary key)");
  mirrored_capture(&f, "item");
  mirrored_capture(&f, "other");
  rowrelay_ok(&f, "target", "set", "w", "--option", "retries=0", NULL);
  sql(f.at_source, "insert into item values (0); insert into other values (0)");
  mirrored_deliver(&f);
  sql(f.at_target, "alter table item add check (id < 1); alter table other add check (id < 1)");
  sql(f.at_source, "insert into item values (1), (2); insert into other values (1), (2), (3)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  const char *listed = rowrelay_ok(&f, "errors", "--table", "item", NULL);
  cr_expect(strstr(listed, "item") != NULL && strstr(listed, "other") == NULL, "%s", listed);
  listed = rowrelay_ok(&f, "errors", "--table", "public.other", "--json", NULL);
  cr_expect(strstr(listed, "other") != NULL && strstr(listed, "item") == NULL, "%s", listed);
  cr_expect_eq(rowrelay(&f, NULL, &errors, "errors", "--table", "othr", NULL), 2);
  cr_expect_not_null(strstr(errors, "no table \"othr\" was ever captured"), "%s", errors);
  cr_expect_eq(rowrelay(&f, NULL, &errors, "retry", "--table", "item", NULL), 2);
  cr_expect_not_null(strstr(errors, "option --table needs --all"), "%s", errors);
  cr_expect_str_eq(rowrelay_ok(&f, "retry", "--all", "--table", "item", "--target", "w", NULL), "2 queued again\n");
  cr_expect_str_eq(rowrelay_ok(&f, "retry", "--all", "--table", "item", NULL), "0 queued again\n");
  cr_expect_str_eq(rowrelay_ok(&f, "skip", "--all", "--table", "other", NULL), "3 discarded\n");
  sql(f.at_source, "drop table other");
  cr_expect_str_eq(rowrelay_ok(&f, "retry", "--all", "--table", "public.other", NULL), "0 queued again\n");
  fixture_end(&f);
}
