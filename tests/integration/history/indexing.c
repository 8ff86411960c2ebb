/*
 * A running process puts what it delivers into the index of the history too: on a thread and a connection of its own,
 * for which nothing else waits.
 */
#include <criterion/criterion.h>
#include <signal.h>

#include "fixture.h"
#include "people.h"

static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", "--create", NULL);
}

/* "1": some session waits to write into the index (maintenance may, too); "0": none does. */
static void wait_until_indexing(struct fixture *f, const char *count) {
  wait_until(
      f->at_source, count, 5,
      "select least(count(*), 1) from pg_locks where relation = 'rowrelay.change_key'::regclass and not granted");
}

/* A process whose piece of the index waits for `holder` to commit; it has delivered what the piece is about. */
static pid_t run_and_hold(struct fixture *f, PGconn *holder) {
  sql(f->at_source, "insert into item select n, 'first' from generate_series(1, 6000) as n");
  sql(holder, "begin; lock table rowrelay.change_key in exclusive mode");
  pid_t process = fixture_run(f, "--workers", "1", NULL);
  wait_until_empty(f, 10);
  wait_until_indexing(f, "1");
  return process;
}

Test(indexing, a_process_goes_on_with_all_else_while_a_piece_of_the_index_waits) {
  struct fixture f;
  begin(&f, "indexing_waits");
  PGconn *holder = connect_to(f.source, NULL);
  pid_t process = run_and_hold(&f, holder);
  /* A worker that waits finds new changes by itself within a second; the rest is up to who hears the doorbell. */
  rowrelay_ok(&f, "target", "add", "later", f.target_url, "--option", "mode=append", NULL);
  rowrelay_ok(&f, "route", "item", "later", NULL);
  sql(f.at_source, "insert into item values (0, 'second')");
  wait_until_empty(&f, 3);
  cr_expect(ask_number(f.at_target, "select count(*) from item_changes where new_row::json ->> 'name' = 'second'") ==
            1);
  wait_until(f.at_source, "t", 3, "select last_value > 0 from rowrelay.doorbell");
  /* And who searches the history need not wait either. */
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.history_of('item', '0')") == 1);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.change_key") == 0);
  sql(holder, "commit");
  wait_until(f.at_source, "6000", 10, "select count(*) from rowrelay.change_key");
  cr_assert(stop_process(process, SIGTERM) == 0);
  PQfinish(holder);
  fixture_end(&f);
}

/* A running process does so at a tick, while a restore or another program indexes a day. */
Test(indexing, two_sessions_that_need_the_same_month_make_it_once) {
  struct fixture f;
  begin(&f, "indexing_month");
  PGconn *first = connect_to(f.source, NULL);
  sql(f.at_source, "create table rowrelay.change_20010203 partition of rowrelay.change"
                   " for values from ('2001-02-03') to ('2001-02-04')");
  sql(first, "begin; select rowrelay.key_partitions()");
  start(f.at_source, "select rowrelay.index_day('2001-02-03')");
  PGconn *watcher = connect_to(f.source, NULL);
  wait_until_blocked(watcher, f.at_source, 5);
  sql(first, "commit");
  finish(f.at_source);
  cr_expect(ask_number(watcher, "select count(*) from pg_inherits where inhparent = 'rowrelay.change_key'::regclass"
                                " and inhrelid = to_regclass('rowrelay.change_key_200102')") == 1);
  PQfinish(first);
  PQfinish(watcher);
  fixture_end(&f);
}

Test(indexing, a_process_leaves_at_once_while_a_piece_of_the_index_waits) {
  struct fixture f;
  begin(&f, "indexing_leaves");
  PGconn *holder = connect_to(f.source, NULL);
  pid_t process = run_and_hold(&f, holder);
  kill(process, SIGTERM);
  cr_assert(wait_process(process, 3) == 0);
  wait_until_indexing(&f, "0");
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.instance") == 0);
  sql(holder, "commit");
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.change_key") == 0);
  PQfinish(holder);
  fixture_end(&f);
}

Test(indexing, a_process_that_ends_by_itself_has_indexed_what_was_there_before) {
  struct fixture f;
  begin(&f, "indexing_empty");
  PGconn *holder = connect_to(f.source, NULL);
  sql(f.at_source, "insert into item values (1, 'one'), (2, 'two')");
  sql(holder, "begin; lock table rowrelay.change_key in exclusive mode");
  pid_t process = fixture_run(&f, "--until-empty", NULL);
  wait_until_empty(&f, 10);
  wait_until_indexing(&f, "1");
  cr_assert(still_runs(process, 0.7), "everything is delivered, and nothing indexed");
  sql(holder, "commit");
  cr_assert(wait_process(process, 10) == 0);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.change_key") == 2);
  PQfinish(holder);
  fixture_end(&f);
}

/* A backfill has a connection of its own, too. */
Test(indexing, the_index_gives_its_connection_up_when_another_one_is_refused) {
  struct shop s;
  people_begin(&s, "indexing_gives_way");
  PGconn *super = s.fixture.at_source;
  PQfinish(s.as_hand);
  s.as_hand = NULL;
  sql(super, "insert into shop.item values (1, 'one', 1)");
  pid_t process = fixture_run(&s.hand, "--workers", "1", NULL);
  wait_until_empty(&s.fixture, 10);
  wait_until(super, "1", 10, "select count(*) from rowrelay.change_key");
  wait_until(super, "3", 10, "select count(*) from pg_stat_activity where usename = 'hand'");
  sql(super, "alter role hand connection limit 3");
  sql(super, "select rowrelay.backfill('shop.item', 'w')");
  wait_until(super, "done", 10, "select state from rowrelay.backfills");
  wait_until_says(process, "history index: the source refused another connection", 1);
  cr_assert(stop_process(process, SIGTERM) == 0);
  people_end(&s);
}
