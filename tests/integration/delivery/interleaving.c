/* What happens in between, at the worst moment: each test holds that moment by locks and open transactions. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "proxy.h"

/* A table of 40 rows in the source, and its mirror in target "w". */
static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", "--create", NULL);
  sql(f->at_source, "insert into item select n, 'old' from generate_series(1, 40) as n");
  rowrelay_ok(f, "run", "--until-empty", NULL);
  same_rows(f, "item", "item", "id");
}

/* How many transactions in the target's database wait for a lock. */
static int64_t held_pushes(struct fixture *f) {
  return ask_number(f->at_target,
                    "select count(distinct l.pid) from pg_locks l join pg_stat_activity a on a.pid = l.pid "
                    "where not l.granted and a.datname = current_database()");
}

static void wait_until_pushes_are_held(struct fixture *f, const char *count) {
  wait_until(f->at_target, count, 10,
             "select count(distinct l.pid) from pg_locks l join pg_stat_activity a on a.pid = l.pid "
             "where not l.granted and a.datname = current_database()");
}

/* Longer than until the next look for work, after the next look at the writers. */
static void give_it_time(void) {
  sleep_seconds(2.2);
}

static void stop_all(pid_t *processes, int count) {
  for (int i = 0; i < count; i++)
    cr_assert(stop_process(processes[i], SIGTERM) == 0);
}

/* ---- two claimers of one lane ---------------------------------------------------------------------------------- */

Test(interleaving, a_row_s_next_change_waits_while_another_process_pushes_the_one_before_it) {
  struct fixture f;
  begin(&f, "two_claimers");
  PGconn *holder = connect_to(f.target, NULL);
  sql(holder, "begin; select from item where id = 1 for update");
  pid_t processes[] = {fixture_run(&f, "--workers", "1", NULL), fixture_run(&f, "--workers", "1", NULL)};
  sql(f.at_source, "update item set name = 'first' where id = 1");
  wait_until_pushes_are_held(&f, "1");

  sql(f.at_source, "update item set name = 'second'");

  /* The other process brings what is in other lanes. */
  wait_until(f.at_source, "1", 10, "select count(distinct lane) from rowrelay.queue");
  give_it_time();
  cr_expect(held_pushes(&f) == 1, "two pushes of one row are in flight");
  cr_expect(strcmp(ask(f.at_target, "select name from item where id = 1"), "old") == 0);
  cr_expect(ask_number(f.at_source,
                       "select count(*) from rowrelay.queue q join rowrelay.change c on c.id = q.change_id "
                       "where c.key = '1'") == 2);
  cr_expect(ask_number(f.at_target, "select count(*) from item where name = 'second'") > 30);

  sql(holder, "commit");
  wait_until_empty(&f, 10);
  same_rows(&f, "item", "item", "id");
  cr_assert(ask_number(f.at_source, "select count(distinct instance) from rowrelay.receipt "
                                    "where instance in (select id from rowrelay.instance)") == 2);
  PQfinish(holder);
  stop_all(processes, 2);
  fixture_end(&f);
}

/* ---- late commits ---------------------------------------------------------------------------------------------- */

/* Gives ids to changes of others and sees them delivered, for longer than it takes to look who is writing. */
static void let_others_write(struct fixture *f, const char *name) {
  for (int i = 0; i < 8; i++) {
    sql(f->at_source, "update item set name = '%s' || clock_timestamp() where id > 1", name);
    sleep_seconds(0.15);
  }
  wait_until_empty(f, 10);
}

static int64_t stored_floor(struct fixture *f) {
  return ask_number(f->at_source, "select floor from rowrelay.floor");
}

/* `end` ends the transaction that holds a change of row 1 and has inserted row 1001. */
static void check_late_commit(struct fixture *f, PGconn *late, const char *end) {
  int64_t late_id = ask_number(f->at_source, "select rowrelay.last_change_id()") - 1;
  pid_t process = fixture_run(f, "--workers", "2", NULL);
  let_others_write(f, "before");
  /* A process that leaves stores its floor. */
  cr_assert(stop_process(process, SIGTERM) == 0);
  cr_expect(stored_floor(f) < late_id, "the floor is %lld, and change %lld may still come", (long long)stored_floor(f),
            (long long)late_id);
  cr_expect(stored_floor(f) >= late_id - 5, "the floor stays far below what is still open");

  process = fixture_run(f, "--workers", "2", NULL);
  let_others_write(f, "between");

  sql(late, "%s", end);

  wait_until(f->at_target, "late", 5, "select name from item where id = 1");
  wait_until(f->at_target, "1", 5, "select count(*) from item where id = 1001");
  let_others_write(f, "after");
  give_it_time();
  same_rows(f, "item", "item", "id");
  cr_assert(stop_process(process, SIGTERM) == 0);
  cr_expect(stored_floor(f) == ask_number(f->at_source, "select rowrelay.last_change_id()"));
}

Test(interleaving, a_change_that_commits_after_later_ids_have_been_delivered_is_delivered) {
  struct fixture f;
  begin(&f, "late");
  PGconn *late = connect_to(f.source, NULL);
  sql(late, "begin; update item set name = 'late' where id = 1; insert into item values (1001, 'new')");
  check_late_commit(&f, late, "commit");
  PQfinish(late);
  fixture_end(&f);
}

/* These two have a source of their own because preparing is not allowed by default. */
Test(interleaving, a_prepared_transaction_that_commits_late_is_delivered) {
  struct fixture f;
  own_server("source", "max_prepared_transactions=4");
  begin(&f, "prepared");
  PGconn *late = connect_to(f.source, NULL);
  sql(late, "begin; update item set name = 'late' where id = 1; insert into item values (1001, 'new')");
  sql(late, "prepare transaction 'test_prepared'");
  PQfinish(late);
  check_late_commit(&f, f.at_source, "commit prepared 'test_prepared'");
  fixture_end(&f);
}

/* The list of who is writing is taken before and after. */
Test(interleaving, a_transaction_that_is_prepared_under_a_running_process_holds_the_floor) {
  struct fixture f;
  own_server("source", "max_prepared_transactions=4");
  begin(&f, "preparing");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  PGconn *late = connect_to(f.source, NULL);
  sql(late, "begin; update item set name = 'late' where id = 1");
  let_others_write(&f, "before");
  sql(late, "prepare transaction 'test_preparing'");
  PQfinish(late);
  let_others_write(&f, "after");

  sql(f.at_source, "commit prepared 'test_preparing'");

  wait_until(f.at_target, "late", 5, "select name from item where id = 1");
  wait_until_empty(&f, 5);
  same_rows(&f, "item", "item", "id");
  stop_all(&process, 1);
  fixture_end(&f);
}

Test(interleaving, a_rolled_back_change_leaves_a_gap_that_holds_nothing_back) {
  struct fixture f;
  begin(&f, "gap");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  sql(f.at_source, "begin; update item set name = 'never'; rollback");
  sql(f.at_source, "begin; update item set name = 'kept' where id = 1; savepoint s; update item set name = 'never'; "
                   "rollback to s; update item set name = 'kept' where id = 2; commit");
  wait_until_empty(&f, 10);
  give_it_time();
  same_rows(&f, "item", "item", "id");
  stop_all(&process, 1);
  cr_expect(stored_floor(&f) == ask_number(f.at_source, "select rowrelay.last_change_id()"));
  fixture_end(&f);
}

/* ---- an unrelated transaction ---------------------------------------------------------------------------------- */

Test(interleaving, an_unrelated_open_transaction_holds_back_neither_delivery_nor_floors) {
  struct fixture f;
  begin(&f, "unrelated");
  sql(f.at_source, "create table unrelated (n int)");
  PGconn *reader = connect_to(f.source, NULL);
  PGconn *writer = connect_to(f.source, NULL);
  sql(reader, "begin isolation level repeatable read; select count(*) from rowrelay.change, item");
  sql(writer, "begin; insert into unrelated values (1); select count(*) from item");
  int64_t before = stored_floor(&f);
  pid_t processes[] = {fixture_run(&f, "--workers", "2", NULL), fixture_run(&f, "--workers", "2", NULL)};

  let_others_write(&f, "changed");
  sql(f.at_source, "delete from item where id %% 5 = 0; update item set id = id + 100 where id < 10");
  wait_until_empty(&f, 10);
  give_it_time();

  same_rows(&f, "item", "item", "id");
  stop_all(processes, 2);
  cr_expect(stored_floor(&f) > before);
  cr_expect(stored_floor(&f) == ask_number(f.at_source, "select rowrelay.last_change_id()"));
  sql(reader, "commit");
  sql(writer, "commit");
  PQfinish(reader);
  PQfinish(writer);
  fixture_end(&f);
}

/* ---- truncate -------------------------------------------------------------------------------------------------- */

Test(interleaving, a_truncate_waits_for_what_came_before_it_and_what_came_after_waits_for_it) {
  struct fixture f;
  begin(&f, "barrier");
  PGconn *holder = connect_to(f.target, NULL);
  sql(holder, "begin; select from item where id = 1 for update");
  pid_t processes[] = {fixture_run(&f, "--workers", "2", NULL), fixture_run(&f, "--workers", "2", NULL)};
  sql(f.at_source, "update item set name = 'first' where id = 1");
  wait_until_pushes_are_held(&f, "1");

  sql(f.at_source, "update item set name = 'before' where id > 1");
  sql(f.at_source, "truncate item");
  sql(f.at_source, "insert into item select n, 'after' from generate_series(1, 60) as n");

  /* All but row 1's lane go on up to the truncate, and not beyond. */
  int64_t truncate_id = ask_number(f.at_source, "select change_id from rowrelay.history where op = 'truncate'");
  wait_until(f.at_source, "1", 10, "select count(distinct lane) from rowrelay.queue where change_id < %lld",
             (long long)truncate_id);
  give_it_time();
  cr_expect(held_pushes(&f) == 1);
  cr_expect(ask_number(f.at_target, "select count(*) from item where name = 'after'") == 0);
  cr_expect(ask_number(f.at_target, "select count(*) from item") == 40, "the truncate has overtaken");
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.queue where change_id >= %lld",
                       (long long)truncate_id) == 61);

  /* Now the truncate itself is held: rows of the table cannot be removed while a reader has it open. */
  PGconn *reader = connect_to(f.target, NULL);
  sql(reader, "begin; select count(*) from item");
  sql(holder, "commit");
  wait_until(f.at_source, "0", 10, "select count(*) from rowrelay.queue where change_id < %lld",
             (long long)truncate_id);
  wait_until_pushes_are_held(&f, "1");
  give_it_time();
  cr_expect(held_pushes(&f) == 1, "something overtakes the truncate");
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.queue") == 61);

  sql(reader, "commit");
  wait_until_empty(&f, 10);
  same_rows(&f, "item", "item", "id");
  cr_assert(ask_number(f.at_target, "select count(*) from item where name = 'after'") == 60);
  PQfinish(holder);
  PQfinish(reader);
  stop_all(processes, 2);
  fixture_end(&f);
}

/* The claim has found its lane, and what its row waited for is delivered before it reads the row. */
Test(interleaving, a_claim_that_stands_still_while_a_barrier_passes_is_not_taken_for_an_older_one) {
  struct fixture f;
  begin(&f, "claim_stands_still");
  PGconn *writer = connect_to(f.source, NULL);
  sql(f.at_source, "begin; lock table rowrelay.lane in access exclusive mode");
  sql(writer, "update item set name = 'new' where id = 7");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(writer, "1", 20,
             "select count(*) from pg_locks where not granted and relation = 'rowrelay.lane'::regclass");
  sql(writer, "begin; lock table rowrelay.change in access exclusive mode");
  sql(f.at_source, "commit");
  wait_until(f.at_source, "1", 20,
             "select count(*) from pg_locks where not granted and relation = 'rowrelay.change'::regclass");

  sql(f.at_target, "update rowrelay_target.fence set token = %lld",
      (long long)ask_number(f.at_source, "select nextval('rowrelay.claim_token')"));
  sql(writer, "commit");

  wait_until_empty(&f, 20);
  same_rows(&f, "item", "item", "id");
  cr_assert_null(strstr(process_log(process), "claimed the same lanes"), "%s", process_log(process));
  PQfinish(writer);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

Test(interleaving, truncates_between_inserts_under_parallel_workers_leave_what_the_source_has) {
  struct fixture f;
  begin(&f, "truncates");
  sql(f.at_source, "create table other (id int primary key, name text)");
  rowrelay_ok(&f, "capture", "other", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=50", NULL);
  /* Somebody who writes elsewhere has a lower id than the truncates and commits after them. */
  PGconn *late = connect_to(f.source, NULL);
  sql(late, "begin; insert into other values (0, 'late')");
  pid_t processes[3];
  for (int i = 0; i < 3; i++)
    processes[i] = fixture_run(&f, "--workers", "4", NULL);
  for (int round = 0; round < 12; round++) {
    sql(f.at_source,
        "insert into item select n, 'round %d' from generate_series(1, 300) as n "
        "on conflict (id) do update set name = excluded.name",
        round);
    sql(f.at_source, "insert into other values (%d, 'r')", round + 1);
    sql(f.at_source,
        "begin; delete from item where id %% 3 = 0; truncate item; "
        "insert into item select n, 'within %d' from generate_series(%d, 200) as n; commit",
        round, round);
    sql(f.at_source, "update item set name = name || '!' where id %% 2 = 0; delete from item where id %% 7 = 0");
    if (round == 6)
      sql(late, "insert into other values (1000, 'later'); commit");
  }
  wait_until_empty(&f, 30);
  same_rows(&f, "item", "item", "id");
  same_rows(&f, "other", "other", "id");
  cr_assert(ask_number(f.at_target, "select count(*) from item") > 100);
  PQfinish(late);
  stop_all(processes, 3);
  fixture_end(&f);
}

/* ---- a row that changes lanes ---------------------------------------------------------------------------------- */

Test(interleaving, a_row_that_moves_to_another_lane_keeps_its_order) {
  struct fixture f;
  begin(&f, "moves");
  sql(f.at_source, "create table order_line (id int primary key, order_id int, n int)");
  rowrelay_ok(&f, "capture", "order_line", "--to", "w", "--create", "--lane", "order_id", NULL);
  sql(f.at_source, "insert into order_line select n, n, 0 from generate_series(1, 20) as n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  PGconn *holder = connect_to(f.target, NULL);
  sql(holder, "begin; select from order_line where id = 1 for update");
  pid_t processes[] = {fixture_run(&f, "--workers", "2", NULL), fixture_run(&f, "--workers", "2", NULL)};
  sql(f.at_source, "update order_line set n = 1 where id = 1");
  wait_until_pushes_are_held(&f, "1");

  /* The old lane is held; in the new one nobody would know. */
  sql(f.at_source, "update order_line set order_id = 2, n = 2 where id = 1");
  sql(f.at_source, "update order_line set n = 3 where id = 1");
  give_it_time();
  cr_expect(held_pushes(&f) == 1, "the row is pushed from two lanes");
  cr_expect(ask_number(f.at_target, "select n from order_line where id = 1") == 0);
  sql(holder, "commit");
  wait_until_empty(&f, 10);
  same_rows(&f, "order_line", "order_line", "id");

  for (int round = 0; round < 30; round++)
    sql(f.at_source,
        "update order_line set order_id = (order_id * 7 + id + %d) %% 40, n = n + 1 where id %% 4 = %d;"
        "update order_line set n = n + 1",
        round, round % 4);
  wait_until_empty(&f, 20);
  same_rows(&f, "order_line", "order_line", "id");
  PQfinish(holder);
  stop_all(processes, 2);
  fixture_end(&f);
}

/* ---- retries and claims ---------------------------------------------------------------------------------------- */

Test(interleaving, a_retry_and_a_batch_that_halts_the_target_do_not_wait_for_each_other) {
  struct fixture f;
  begin(&f, "retry_and_halt");
  sql(f.at_target, "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;"
                   "create trigger refuse before update on item for each row when (new.name like 'bad%%') "
                   "execute function refuse()");
  rowrelay_ok(&f, "target", "set", "w", "--option", "retries=0", NULL);
  sql(f.at_source, "update item set name = 'bad' where id < 9");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert(ask_number(f.at_source, "select count(distinct lane) from rowrelay.refusal") > 1);
  /* The retry comes to this row's lane last. */
  int64_t row = ask_number(f.at_source, "select key from rowrelay.refusal order by lane desc limit 1");
  rowrelay_ok(&f, "target", "set", "w", "--option", "on_error=halt", NULL);
  PGconn *holder = connect_to(f.target, NULL);
  PGconn *retrier = connect_to(f.source, NULL);
  sql(holder, "begin; select from item where id = %lld for update", (long long)row);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  sql(f.at_source, "update item set name = 'bad again' where id = %lld", (long long)row);
  wait_until_pushes_are_held(&f, "1");
  start(retrier, "select rowrelay.retry('w')");
  wait_until_blocked(f.at_source, retrier, 10);

  sql(holder, "commit");

  finish(retrier);
  wait_until(f.at_source, "halted", 10, "select state from rowrelay.target");
  cr_expect(strstr(process_log(process), "deadlock") == NULL, "%s", process_log(process));
  sql(f.at_target, "drop trigger refuse on item");
  sql(f.at_source, "select rowrelay.retry('w'); select rowrelay.resume('w')");
  wait_until_empty(&f, 10);
  same_rows(&f, "item", "item", "id");
  PQfinish(holder);
  PQfinish(retrier);
  stop_all(&process, 1);
  fixture_end(&f);
}

Test(interleaving, a_target_that_is_dropped_before_its_worker_has_read_it_stops_nothing_else) {
  struct fixture f;
  struct fixture behind;
  struct proxy proxy;
  fixture_begin(&f, "interleaving_dropped");
  sql(f.at_source, "create table item (id int primary key)");
  rowrelay_ok(&f, "target", "add", "stays", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "stays", "--create", NULL);
  proxy_begin(&proxy, f.at_source);
  behind = f;
  snprintf(behind.source, sizeof behind.source, "host=%s port=5432 user=postgres dbname=%s", proxy.dir,
           PQdb(f.at_source));
  pid_t process = fixture_run(&behind, "--workers", "1", NULL);
  sql(f.at_source, "insert into item values (0)");
  wait_until_empty(&f, 10);

  kill(process, SIGSTOP);
  rowrelay_ok(&f, "target", "add", "goes", "file:/dev/null", NULL);
  proxy_hold_answer_to(&proxy, "target_settings"); /* the list of targets, with the one that goes */
  kill(process, SIGCONT);
  proxy_wait_until_stuck(&proxy, 10);
  rowrelay_ok(&f, "target", "drop", "goes", NULL);
  proxy_let_go(&proxy);

  wait_until_says(process, "target goes", 10);
  sql(f.at_source, "insert into item values (1)");
  wait_until_empty(&f, 10);
  same_rows(&f, "item", "item", "id");
  cr_expect(stop_process(process, SIGTERM) == 0);
  proxy_end(&proxy);
  fixture_end(&f);
}
