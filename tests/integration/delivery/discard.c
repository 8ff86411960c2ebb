/* Discarding what is queued of one table for a target: others go on; the log says what was discarded, and by whom. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "fixture.h"

/* Tables item and other go to "w", and item's is gone there, so that the target fails. */
static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text); create table other (id int primary key)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  rowrelay_ok(f, "capture", "item", "other", "--to", "w", "--create", NULL);
  sql(f->at_source, "insert into item values (1, 'kept'); insert into other values (1)");
  rowrelay_ok(f, "run", "--until-empty", NULL);
  sql(f->at_target, "drop table item");
  sql(f->at_source, "select rowrelay.route('item', 'w', create_table => false)");
  sql(f->at_source, "insert into item select n, 'lost' from generate_series(2, 30) as n; truncate item;"
                    "insert into item values (1, 'lost'); insert into other select generate_series(2, 30)");
}

/* Which table's changes are how at the target, by whom, and how many. */
static const char *statuses(struct fixture *f) {
  return ask(f->at_source,
             "select string_agg(concat_ws(' ', relation, status, actor, n), ', ' order by relation, status) "
             "from (select relation, status ->> 'w' as status, deliveries -> 'w' ->> 'actor' as "
             "actor, count(*) as n from rowrelay.history group by 1, 2, 3) as x");
}

Test(discard, what_holds_up_a_target_is_given_up_while_a_process_tries_it) {
  struct fixture f;
  begin(&f, "discard");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_source, "1", 10, "select count(*) from rowrelay.hold");
  sql(f.at_source, "alter database %s set rowrelay.actor = 'anna'", f.name);
  cr_expect_str_eq(rowrelay_ok(&f, "route", "item", "w", "--remove", "--discard", NULL),
                   "item: no longer routed to w; 31 queued changes discarded\n");
  wait_until_empty(&f, 20);
  cr_expect(ask_number(f.at_target, "select count(*) from other") == 30);
  cr_expect_str_eq(statuses(&f), "item complete 1, item skipped anna 31, other complete 30");
  sql(f.at_source, "update item set name = 'more'");
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.queue") == 0);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/* It is in no snapshot yet, so only a second call discards it. */
Test(discard, what_a_writer_adds_meanwhile_is_given_up_by_asking_again) {
  struct fixture f;
  begin(&f, "discard_writer");
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; insert into item values (50, 'late')");
  rowrelay_ok(&f, "route", "item", "w", "--remove", "--discard", NULL);
  sql(writer, "insert into item values (51, 'later'); commit");
  const char *said = rowrelay_ok(&f, "route", "item", "w", "--remove", "--discard", NULL);
  cr_expect_str_eq(said, "item: no longer routed to w; 1 queued change discarded\n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect(ask_number(f.at_target, "select count(*) from other") == 30);
  PQfinish(writer);
  fixture_end(&f);
}

/* A batch in flight is settled first, so that no change that arrived is recorded as discarded. */
Test(discard, a_batch_in_flight_is_waited_for) {
  struct fixture f;
  begin(&f, "discard_flight");
  sql(f.at_target, "create table item (id int primary key, name text)");
  PGconn *holder = connect_to(f.target, NULL);
  sql(holder, "begin; lock table item, other in share mode");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_target, "t", 10, "select count(*) > 0 from pg_locks where not granted");
  PGconn *other = connect_to(f.source, NULL);
  start(other, "select rowrelay.discard('item', 'w')");
  wait_until_blocked(f.at_source, other, 10);
  sql(holder, "commit");
  finish(other);
  wait_until_empty(&f, 10);
  int64_t arrived = ask_number(f.at_target, "select count(*) from item where name = 'lost'");
  int64_t skipped = ask_number(f.at_source, "select count(*) from rowrelay.history where status ->> 'w' = "
                                            "'skipped' and new_row ->> 'name' = 'lost'");
  /* Before the truncate, which was not claimed yet, and after it. */
  cr_expect(arrived == 29 && skipped == 1, "%lld arrived, %lld were given up", (long long)arrived, (long long)skipped);
  cr_assert(stop_process(process, SIGTERM) == 0);
  PQfinish(holder);
  PQfinish(other);
  fixture_end(&f);
}

Test(discard, refused_changes_are_given_up_with_what_waits_behind_them) {
  struct fixture f;
  begin(&f, "discard_refused");
  rowrelay_ok(&f, "target", "set", "w", "--option", "retries=0", "--option", "on_error=block", NULL);
  sql(f.at_target, "create table item (id int primary key, name text check (name <> 'lost'))");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.refusal") > 0);
  rowrelay_ok(&f, "route", "item", "w", "--remove", "--discard", NULL);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.refusal") == 0);
  cr_expect_str_eq(ask(f.at_source, "select state from rowrelay.status"), "not running");
  fixture_end(&f);
}

Test(discard, what_cannot_be_given_up_is_said) {
  struct fixture f;
  const char *errors;
  begin(&f, "discard_wrong");
  sql(f.at_source, "create table third (id int primary key)");
  rowrelay_ok(&f, "capture", "third", NULL);
  cr_expect_eq(rowrelay(&f, NULL, &errors, "route", "item", "w", "--discard", NULL), 2);
  cr_expect(strstr(errors, "--remove") != NULL, "%s", errors);
  cr_expect_eq(rowrelay(&f, NULL, &errors, "route", "third", "w", "--remove", "--discard", NULL), 2);
  cr_expect(strstr(errors, "third is not routed to target \"w\"") != NULL, "%s", errors);
  cr_expect_eq(rowrelay(&f, NULL, &errors, "route", "item", "v", "--remove", "--discard", NULL), 2);
  cr_expect(strstr(errors, "target \"v\" does not exist") != NULL, "%s", errors);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.queue") == 60);
  fixture_end(&f);
}
