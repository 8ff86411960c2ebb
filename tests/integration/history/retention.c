/* How long changes stay in the log, and what their going must not do: lose what is not delivered, or make anybody wait.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "past.h"

/* Tables item and note are captured; item goes to target w. */
static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text); create table note (id int primary key)");
  sql(f->at_target, "create table item (id int primary key, name text)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, "--option", "retries=0", NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", NULL);
  rowrelay_ok(f, "capture", "note", NULL);
}

static void add_items(struct fixture *f, int first, int last) {
  sql(f->at_source, "insert into item select n, n from generate_series(%d, %d) as n", first, last);
}

static int64_t changes(struct fixture *f, const char *day) {
  return ask_number(f->at_source, "select count(*) from rowrelay.change where day = '%s'", day);
}

static bool has_partition(struct fixture *f, const char *day) {
  return ask_number(f->at_source, "select count(*) from rowrelay.partition_days() where day = '%s'", day) == 1;
}

Test(retention, whole_days_go_when_they_are_old_enough_and_delivered) {
  struct fixture f;
  begin(&f, "retention_days");
  add_items(&f, 1, 10);
  const char *old = past_move(f.at_source, 40);
  add_items(&f, 11, 20);
  const char *younger = past_move(f.at_source, 20);
  add_items(&f, 21, 30);
  past_close(f.at_source);
  rowrelay_ok(&f, "run", "--until-empty", NULL);

  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "prune", NULL), 0);
  cr_assert_str_eq(errors, "nothing is old enough to be dropped\n", "nothing was said, so everything is kept");
  rowrelay_ok(&f, "keep", "30 days", NULL);
  const char *said = rowrelay_ok(&f, "prune", NULL);
  cr_assert(strstr(said, old) != NULL && strstr(said, "dropped") != NULL, "%s", said);
  cr_assert(!has_partition(&f, old));
  cr_assert_eq(changes(&f, younger), 10);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.history"), "20");

  rowrelay_ok(&f, "prune", "--older-than", "10 days", NULL);
  cr_assert(!has_partition(&f, younger));
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.history"), "10");
  add_items(&f, 31, 31);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.history"), "11");
  fixture_end(&f);
}

Test(retention, what_is_queued_or_refused_holds_its_day_until_it_is_given_up) {
  struct fixture f;
  begin(&f, "retention_held");
  sql(f.at_target, "alter table item add constraint not_13 check (id <> 13)");
  add_items(&f, 1, 20);
  const char *day = past_move(f.at_source, 40);
  past_close(f.at_source);

  const char *said = rowrelay_ok(&f, "prune", "--older-than", "30 days", NULL);
  cr_assert_not_null(strstr(said, "kept: changes are queued for target w"), "%s", said);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  said = rowrelay_ok(&f, "prune", "--older-than", "30 days", NULL);
  cr_assert_not_null(strstr(said, "kept: 1 change refused by target w"), "%s", said);
  cr_assert_eq(changes(&f, day), 20);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "1");

  rowrelay_ok(&f, "prune", "--older-than", "30 days", "--force", NULL);
  cr_assert(!has_partition(&f, day));
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  fixture_end(&f);
}

Test(retention, with_force_what_is_queued_is_given_up_and_what_is_younger_is_delivered) {
  struct fixture f;
  begin(&f, "retention_force");
  add_items(&f, 1, 20);
  const char *day = past_move(f.at_source, 40);
  past_close(f.at_source);
  add_items(&f, 21, 30);
  rowrelay_ok(&f, "prune", "--older-than", "30 days", "--force", NULL);
  cr_assert(!has_partition(&f, day));
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_target, "select min(id) || ' ' || count(*) from item"), "21 10");
  fixture_end(&f);
}

Test(retention, a_table_may_be_kept_for_shorter_or_longer_than_the_others) {
  struct fixture f;
  begin(&f, "retention_tables");
  add_items(&f, 1, 10);
  sql(f.at_source, "insert into note select generate_series(1, 10)");
  const char *old = past_move(f.at_source, 40);
  add_items(&f, 11, 20);
  sql(f.at_source, "insert into note select generate_series(11, 20)");
  const char *younger = past_move(f.at_source, 20);
  past_close(f.at_source);
  rowrelay_ok(&f, "run", "--until-empty", NULL);

  rowrelay_ok(&f, "keep", "10 days", "note", NULL);
  const char *said = rowrelay_ok(&f, "prune", NULL);
  cr_assert_not_null(strstr(said, "deleted: public.note"), "%s", said);
  cr_assert(changes(&f, old) == 10 && changes(&f, younger) == 10);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.history where relation = 'note'::regclass"), "0");
  cr_assert_str_eq(rowrelay_ok(&f, "prune", NULL), "", "once is enough");

  rowrelay_ok(&f, "keep", "30 days", NULL);
  rowrelay_ok(&f, "keep", "forever", "item", NULL);
  rowrelay_ok(&f, "prune", NULL);
  cr_assert_eq(changes(&f, old), 10);
  rowrelay_ok(&f, "keep", "default", "item", NULL);
  rowrelay_ok(&f, "prune", NULL);
  cr_assert(!has_partition(&f, old));
  cr_assert_eq(changes(&f, younger), 10);
  fixture_end(&f);
}

Test(retention, a_day_into_which_a_transaction_may_still_write_stays) {
  struct fixture f;
  begin(&f, "retention_open");
  add_items(&f, 1, 10);
  const char *day = past_move(f.at_source, 40);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; insert into note values (1)");
  past_close(f.at_source);
  cr_assert_str_eq(rowrelay_ok(&f, "prune", "--older-than", "30 days", NULL), "");
  cr_assert(has_partition(&f, day));
  sql(writer, "commit");
  rowrelay_ok(&f, "prune", "--older-than", "30 days", NULL);
  cr_assert(!has_partition(&f, day));
  PQfinish(writer);
  fixture_end(&f);
}

/* As pg_dump does: it locks all tables when it begins, and ends hours later. */
Test(retention, a_dump_is_not_disturbed_and_nobody_queues_behind_it) {
  struct fixture f;
  begin(&f, "retention_dump");
  add_items(&f, 1, 10);
  const char *day = past_move(f.at_source, 40);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  past_close(f.at_source);
  PGconn *dump = connect_to(f.source, NULL);
  sql(dump, "begin isolation level repeatable read; lock table rowrelay.change in access share mode");

  pid_t prune = fixture_start(&f, "prune", "--older-than", "30 days", "--lock-wait", "3", NULL);
  double longest = 0;
  for (int id = 100; strstr(process_log(prune), "busy") == NULL; id++) {
    double from = seconds_now();
    add_items(&f, id, id);
    double took = seconds_now() - from;
    longest = took > longest ? took : longest;
  }
  cr_assert(longest < 1.5, "a writer waited for %f s", longest);
  cr_assert_eq(wait_process(prune, 10), 0);
  cr_assert_eq(changes(&f, day), 10);
  sql(dump, "select count(*) from rowrelay.change; commit");
  rowrelay_ok(&f, "prune", "--older-than", "30 days", NULL);
  cr_assert(!has_partition(&f, day));
  PQfinish(dump);
  fixture_end(&f);
}

/* Its changes are gone already; only its name is still there. */
Test(retention, an_empty_partition_waits_until_nobody_holds_the_log_for_long) {
  struct fixture f;
  begin(&f, "retention_shell");
  add_items(&f, 1, 10);
  const char *day = past_move(f.at_source, 40);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  past_close(f.at_source);
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; insert into note values (1)");
  int status = rowrelay(&f, NULL, NULL, "prune", "--older-than", "30 days", "--lock-wait", "0", NULL);
  cr_assert_eq(status, 0);
  cr_assert(has_partition(&f, day) && changes(&f, day) == 0);
  cr_assert_str_eq(
      ask(f.at_source, "select count(*) from pg_locks where relation = 'rowrelay.change'::regclass and not granted"),
      "0");
  sql(writer, "commit");
  rowrelay_ok(&f, "prune", NULL);
  cr_assert(!has_partition(&f, day));
  PQfinish(writer);
  fixture_end(&f);
}

/* No answer is given from half of the history. */
Test(retention, the_past_begins_where_the_log_begins_also_for_who_began_before) {
  struct fixture f;
  begin(&f, "retention_past");
  sql(f.at_source, "insert into note select generate_series(1, 10)");
  const char *day = past_move(f.at_source, 40);
  past_close(f.at_source);
  sql(f.at_source, "update rowrelay.day set closed_at = clock_timestamp(); insert into note values (11);"
                   "update rowrelay.capture set log_since = now() - interval '50 days'");
  const char *then = "select count(*) from rowrelay.as_of(null::note, now() - interval '45 days')";
  const char *since = "(select closed_at from rowrelay.day)";
  PGconn *older = connect_to(f.source, NULL);
  sql(older, "begin isolation level repeatable read");
  cr_assert_str_eq(ask(older, "%s", then), "0");
  sql(older, "commit; begin isolation level repeatable read; select count(*) from note");
  rowrelay_ok(&f, "prune", "--older-than", "30 days", NULL);
  cr_assert(!has_partition(&f, day));
  cr_assert_str_eq(sql_fails(older, "%s", then), "40001");
  cr_assert_str_eq(sql_fails(f.at_source, "%s", then), "22023");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.as_of(null::note, %s)", since), "10");
  PQfinish(older);
  fixture_end(&f);
}

Test(retention, what_belongs_to_dropped_changes_goes_too) {
  struct fixture f;
  begin(&f, "retention_rest");
  add_items(&f, 1, 10);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "select rowrelay.tick(at_once => true)");
  past_move(f.at_source, 70);
  add_items(&f, 11, 20);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "select rowrelay.tick(at_once => true)");
  sql(f.at_source, "update rowrelay.receipt set claimed_at = claimed_at - interval '2 days', settled_at = settled_at - "
                   "interval '2 days'");
  add_items(&f, 21, 30);
  sql(f.at_source, "select rowrelay.tick(at_once => true)");
  past_close(f.at_source);
  rowrelay_ok(&f, "prune", "--older-than", "60 days", NULL);
  cr_assert_str_eq(ask(f.at_source, "select min(change_id) from rowrelay.change_key"), "11");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.empty_months()"), "0");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.tick") == 3);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.changes_of_key('item', '15')"), "1");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(c.status ->> 'w', ' ' order by change_id) from rowrelay.history "
                                    "c where change_id in (11, 30)"),
                   "complete new");
  fixture_end(&f);
}

Test(retention, a_running_process_drops_what_is_old_and_says_what_it_keeps) {
  struct fixture f;
  begin(&f, "retention_run");
  sql(f.at_target, "alter table item add constraint not_13 check (id <> 13)");
  add_items(&f, 1, 10);
  const char *delivered = past_move(f.at_source, 50);
  add_items(&f, 11, 20);
  const char *refused = past_move(f.at_source, 40);
  add_items(&f, 21, 30);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  rowrelay_ok(&f, "keep", "30 days", NULL);
  past_close(f.at_source);
  sql(f.at_source, "delete from rowrelay.job");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "0", 20, "select count(*) from rowrelay.partition_days() where day = '%s'", delivered);
  wait_until_says(process, "kept: 1 change refused by target w", 10);
  cr_assert_eq(changes(&f, refused), 10);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

Test(retention, how_long_changes_are_kept_is_shown_and_nonsense_is_refused) {
  struct fixture f;
  begin(&f, "retention_keep");
  const char *errors;
  rowrelay_ok(&f, "keep", "90 days", NULL);
  rowrelay_ok(&f, "keep", "forever", "item", NULL);
  const char *shown = rowrelay_ok(&f, "keep", NULL);
  cr_assert(strstr(shown, "90 days") != NULL && strstr(shown, "forever") != NULL, "%s", shown);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "keep", "1 hour", NULL), 2);
  cr_assert_not_null(strstr(errors, "at least a day"), "%s", errors);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "keep", "soon", NULL), 2);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "keep", "default", NULL), 2);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "keep", "1 day", "nothing", NULL), 2);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "prune", "--older-than", "soon", NULL), 2);
  fixture_end(&f);
}

Test(retention, two_that_take_away_the_same_empty_month_do_not_disturb_each_other) {
  struct fixture f;
  begin(&f, "retention_months");
  PGconn *first = connect_to(f.source, NULL);
  PGconn *second = connect_to(f.source, NULL);
  sql(f.at_source, "create table rowrelay.change_key_200001 partition of rowrelay.change_key for values from "
                   "('2000-01-01') to ('2000-02-01')");
  cr_assert_str_eq(ask(first, "begin; select rowrelay.drop_empty_months()"), "1");
  start(second, "select rowrelay.drop_empty_months()");
  wait_until(f.at_source, "1", 10, "select count(*) from pg_locks where not granted and mode = 'AccessExclusiveLock'");
  sql(first, "commit");
  finish(second);
  cr_assert_str_eq(ask(f.at_source, "select to_regclass('rowrelay.change_key_200001') is null"), "t");
  PQfinish(first);
  PQfinish(second);
  fixture_end(&f);
}

/* Above all partitions are made: without them there is a day on which nobody can write. */
Test(retention, what_fails_in_maintenance_keeps_nothing_else_from_being_done) {
  struct fixture f;
  fixture_begin(&f, "retention_jobs");
  sql(f.at_source, "create table item (id int primary key); select rowrelay.capture_table('item')");
  sql(f.at_source, "create or replace function rowrelay.close_days() returns integer language plpgsql as $$ begin "
                   "raise exception 'no days'; end $$;"
                   "create or replace function rowrelay.make_trigger_function(capture_id integer, lock_wait interval "
                   "default '10 s') returns void language plpgsql as $$ begin raise exception 'no function'; end $$");
  sql(f.at_source, "do $$ declare last text := 'rowrelay.change_' || to_char((now() at time zone 'UTC')::date + 14, "
                   "'YYYYMMDD'); begin execute 'drop table ' || last; end $$");
  sql(f.at_source, "alter table item add column name text;"
                   "insert into rowrelay.instance (id, host, pid, version, workers, heartbeat_at) values "
                   "(gen_random_uuid(), 'h', 1, '1', 1, now() - interval '2 d');"
                   "delete from rowrelay.job");
  cr_expect_str_eq(
      ask(f.at_source, "select string_agg(m, '; ') from rowrelay.maintain() as m"),
      "created 1 partition of rowrelay.change; days of the log could not be closed: no days; table public.item "
      "was altered, and its trigger function could not be replaced: no function");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.instance"), "0");
  /* Of what fails, only the news is told. */
  sql(f.at_source, "create or replace function rowrelay.maintain_partitions(days_ahead integer default 14) returns "
                   "integer language plpgsql as $$ begin raise exception 'no space'; end $$");
  sql(f.at_source, "update rowrelay.job set held_until = now()");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(m, '; ') from rowrelay.maintain() as m"),
                   "partitions of rowrelay.change could not be created: no space");
  fixture_end(&f);
}
