/*
 * Who decides about the order of a lane holds its lock, and looks afterwards: claims, barriers, leases, copies, and
 * people who retry, skip and replay. Each test holds the moment between the two.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "proxy.h"
#include "queries.h"

/* Table item, and target "w" with these options, to which it goes. */
static void begin(struct fixture *f, const char *name, const char *options) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, v text)");
  sql(f->at_source,
      "select rowrelay.add_target('w', '%s', '%s'); select rowrelay.capture_table('item'); "
      "select rowrelay.route('item', 'w', create_table => true)",
      f->target_url, options);
}

static void until_empty(struct fixture *f) {
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

static int64_t number_of_w(struct fixture *f) {
  return ask_number(f->at_source, "select id from rowrelay.target where name = 'w'");
}

static void wait_until_pushing(struct fixture *f, const char *pushes) {
  wait_until(f->at_target, pushes, 20,
             "select count(distinct l.pid) from pg_locks l join pg_stat_activity a on a.pid = l.pid "
             "where not l.granted and a.datname = current_database()");
}

/* A lease of all lanes of "w" by a process that is at work, for so many seconds. */
static void lease_lanes(struct fixture *f, double seconds) {
  sql(f->at_source, "delete from rowrelay.lease");
  sql(f->at_source,
      "insert into rowrelay.lease (lane, process_id, instance, token, claimed_at, lease_until, lasts) "
      "select l, gen_random_uuid(), gen_random_uuid(), 1, clock_timestamp(), clock_timestamp() + '%f s', '1 min' "
      "from rowrelay.target t, unnest(rowrelay.lanes_of(t.id)) as l where t.name = 'w'",
      seconds);
}

/* ---- barriers -------------------------------------------------------------------------------------------------- */

/* What claim_barriers.sql would let a holder of the lock have now: ids, with blanks between them. */
static const char *ready_barriers(struct fixture *f, PGconn *holder) {
  const char *lanes = ask(f->at_source, "select rowrelay.lanes_of(%lld)", (long long)number_of_w(f));
  const char *floors = ask(f->at_source, "select array(select 0 from unnest('%s'::int[]))", lanes);
  const char *target = ask(f->at_source, "select %lld", (long long)number_of_w(f));
  const char *version = ask(f->at_source, "select version from rowrelay.target where name = 'w'");
  const char *values[] = {target, lanes, floors, "100", version, "false"};
  static char ids[1024];
  PGresult *result = PQexecParams(holder, QUERY_claim_barriers.text, 6, NULL, values, NULL, NULL, 0);
  cr_assert(PQresultStatus(result) == PGRES_TUPLES_OK, "%s", PQerrorMessage(holder));
  ids[0] = '\0';
  for (int row = 0; row < PQntuples(result); row++)
    snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%s%s", row > 0 ? " " : "", PQgetvalue(result, row, 0));
  PQclear(result);
  return ids;
}

Test(lanes, a_truncate_that_was_seen_ready_is_looked_at_again_under_the_lock) {
  struct fixture f;
  begin(&f, "lanes_truncate", "{}");
  until_empty(&f);
  sql(f.at_source, "truncate item");
  const char *first = ask(f.at_source, "select min(change_id) from rowrelay.queue");
  PGconn *other = connect_to(f.source, NULL);
  cr_assert_str_eq(ready_barriers(&f, f.at_source), first);
  /* A process delivers it, and before it commits there are rows, and another truncate behind them. */
  sql(other, "begin; delete from rowrelay.queue");
  sql(f.at_source, "insert into item select n, 'x' from generate_series(1, 40) as n; truncate item");
  cr_expect_str_eq(ready_barriers(&f, f.at_source), first, "what is in hand still stands before what comes after");
  sql(other, "commit");
  /* Who gets the lock now has seen the first truncate; the second has rows before it. */
  cr_expect_str_eq(ready_barriers(&f, f.at_source), "");
  /* One of the rows is left, and in hand. */
  sql(other,
      "delete from rowrelay.queue where change_id in (select id from rowrelay.change where op = 'i' and key <> '7'); "
      "begin; delete from rowrelay.queue where change_id in (select id from rowrelay.change where op = 'i')");
  cr_expect_str_eq(ready_barriers(&f, f.at_source), "");
  sql(other, "commit");
  cr_expect(strcmp(ready_barriers(&f, f.at_source), "") != 0);
  PQfinish(other);
  fixture_end(&f);
}

Test(lanes, truncates_and_inserts_by_turns_end_equal_with_four_processes) {
  struct fixture f;
  begin(&f, "lanes_turns", "{}");
  pid_t processes[4];
  for (int i = 0; i < 4; i++)
    processes[i] = fixture_run(&f, "--workers", "4", NULL);
  for (int i = 0; i < 150; i++) {
    sql(f.at_source, "truncate item");
    sql(f.at_source, "insert into item select n, 'round %d' from generate_series(1, 40) as n", i);
    sql(f.at_source, "truncate item");
  }
  wait_until_empty(&f, 60);
  cr_expect_eq(ask_number(f.at_target, "select count(*) from item"), 0);
  for (int i = 0; i < 4; i++)
    cr_expect_eq(stop_process(processes[i], SIGTERM), 0);
  fixture_end(&f);
}

Test(lanes, changes_of_a_table_arrive_in_the_order_of_its_truncates_in_an_append_target) {
  struct fixture f;
  begin(&f, "lanes_append", "{\"mode\": \"append\"}");
  pid_t processes[4];
  for (int i = 0; i < 4; i++)
    processes[i] = fixture_run(&f, "--workers", "4", NULL);
  for (int i = 0; i < 60; i++)
    sql(f.at_source, "truncate item; insert into item select n, '%d' from generate_series(1, 40) as n", i);
  wait_until_empty(&f, 60);
  /* No row came after a truncate with a larger id, or before one with a smaller. */
  cr_expect_eq(ask_number(f.at_target,
                          "select count(*) from (select op, change_id, max(change_id) filter (where op = 'truncate') "
                          "over (order by position) as last from item_changes) as c where change_id < last"),
               0);
  cr_expect_eq(ask_number(f.at_target, "select count(*) from item_changes"), 60 * 41);
  for (int i = 0; i < 4; i++)
    cr_expect_eq(stop_process(processes[i], SIGTERM), 0);
  fixture_end(&f);
}

/* ---- chosen lanes ---------------------------------------------------------------------------------------------- */

/* Values of a column whose hashes are in different lanes. */
#define ONE 1
static int64_t in_another_lane(struct fixture *f) {
  return ask_number(f->at_source,
                    "select min(n) from generate_series(2, 100) as n "
                    "where mod(hashint4(n) & 2147483647, 64) <> mod(hashint4(%d) & 2147483647, 64)",
                    ONE);
}

static void begin_with_lanes(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source,
      "create table line (id int primary key, part_of int not null, v text); "
      "select rowrelay.add_target('w', '%s'); select rowrelay.capture_table('line', lane => '{part_of}'); "
      "select rowrelay.route('line', 'w', create_table => true)",
      f->target_url);
  sql(f->at_source, "insert into line select n, %d, 'old' from generate_series(1, 20) as n", ONE);
  until_empty(f);
}

/* Pushes of lanes that were used before, and of barriers, are held up at the target's fence until the connection is
 * closed. */
static PGconn *hold_used_lanes(struct fixture *f) {
  PGconn *holder = connect_to(f->target, NULL);
  sql(holder, "insert into rowrelay_target.fence (source, lane, token) "
              "select source, min(lane) & ~4095, 0 from rowrelay_target.fence group by source on conflict do nothing");
  sql(holder, "begin; select from rowrelay_target.fence for update");
  return holder;
}

/* The delete is held up at the target, and nothing holds up the lane into which the row comes back. */
Test(lanes, a_row_that_is_deleted_and_comes_back_in_another_lane_is_there) {
  struct fixture f;
  begin_with_lanes(&f, "lanes_back");
  PGconn *holder = hold_used_lanes(&f);
  pid_t process = fixture_run(&f, "--workers", "4", NULL);
  sql(f.at_source, "delete from line where id = 1");
  wait_until_pushing(&f, "1");
  sql(f.at_source, "insert into line values (1, %lld, 'new')", (long long)in_another_lane(&f));
  sleep_seconds(1.5);
  sql(holder, "commit");
  wait_until_empty(&f, 20);
  same_rows(&f, "line", "line", "id");
  cr_expect_eq(stop_process(process, SIGTERM), 0);
  PQfinish(holder);
  fixture_end(&f);
}

Test(lanes, many_rows_deleted_at_once_in_chosen_lanes_are_few_batches) {
  struct fixture f;
  begin_with_lanes(&f, "lanes_deletes");
  sql(f.at_source, "insert into line select n, n %% 7, 'x' from generate_series(100, 3000) as n");
  until_empty(&f);
  int64_t token = ask_number(f.at_source, "select max(token) from rowrelay.receipt");
  sql(f.at_source, "delete from line where id %% 2 = 0");
  until_empty(&f);
  same_rows(&f, "line", "line", "id");
  cr_expect(ask_number(f.at_source, "select count(distinct token) from rowrelay.receipt where token > %lld",
                       (long long)token) < 10);
  fixture_end(&f);
}

/* What was queued under the lanes of before is held up, and must come before what is captured now. */
Test(lanes, a_table_that_is_captured_anew_by_other_lanes_keeps_the_order_of_what_was_queued) {
  static const char *const WAYS[] = {
      "select rowrelay.release_table('line'); select rowrelay.capture_table('line'); "
      "select rowrelay.route('line', 'w', create_table => true)",
      "select rowrelay.unroute('line', 'w'); select rowrelay.capture_table('line', lane => '{v}'); "
      "select rowrelay.route('line', 'w', create_table => true)",
  };
  for (size_t way = 0; way < 2; way++) {
    struct fixture f;
    begin_with_lanes(&f, way == 0 ? "lanes_anew_0" : "lanes_anew_1");
    sql(f.at_source, "update line set v = 'queued' where id = 1");
    PGconn *holder = hold_used_lanes(&f);
    pid_t process = fixture_run(&f, "--workers", "4", NULL);
    wait_until_pushing(&f, "1");
    sql(f.at_source, "%s", WAYS[way]);
    sql(f.at_source, "delete from line where id = 1");
    sleep_seconds(1.5);
    sql(holder, "commit");
    wait_until_empty(&f, 20);
    same_rows(&f, "line", "line", "id");
    cr_expect_eq(stop_process(process, SIGTERM), 0);
    PQfinish(holder);
    fixture_end(&f);
  }
}

/* ---- leases ---------------------------------------------------------------------------------------------------- */

Test(lanes, a_copy_waits_for_rows_of_its_table_that_are_leased) {
  struct fixture f;
  begin(&f, "lanes_copy_lease", "{\"claim\": \"lease\"}");
  sql(f.at_source, "insert into item select n, 'old' from generate_series(1, 10) as n");
  sql(f.at_source, "select rowrelay.backfill('item', 'w'); select pg_sleep(0.1)");
  for (int i = 0; i < 100 && ask_number(f.at_source,
                                        "select (rowrelay.copy_switch(id)).switched::int from rowrelay.backfill") == 0;
       i++)
    sleep_seconds(0.05);
  lease_lanes(&f, 60);
  cr_assert_str_eq(
      ask(f.at_source, "select busy from rowrelay.copy_hold((select id from rowrelay.backfill), null, 1000)"), "t");
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.queue where lane > 0"), 10);
  sql(f.at_source, "delete from rowrelay.lease");
  cr_assert_str_eq(
      ask(f.at_source, "select busy from rowrelay.copy_hold((select id from rowrelay.backfill), null, 1000)"), "f");
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.queue where lane > 0"), 0);
  rowrelay_ok(&f, "backfill", "item", "--to", "w", NULL);
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

/* Each of these would put older changes before what is being pushed under a lease, or decide what it decides. */
Test(lanes, retry_skip_and_replay_wait_for_leases) {
  static const char *const CALLS[] = {"select rowrelay.retry('w')", "select rowrelay.skip('w')",
                                      "select rowrelay.replay('w', now() - interval '1 hour')",
                                      "select rowrelay.discard('item', 'w')"};
  struct fixture f;
  begin(&f, "lanes_lease_calls", "{\"mode\": \"append\", \"claim\": \"lease\"}");
  sql(f.at_source, "insert into item select n, 'x' from generate_series(1, 10) as n");
  until_empty(&f);
  sql(f.at_source, "update item set v = 'y'");
  sql(f.at_source,
      "with q as (delete from rowrelay.queue where change_id = (select min(change_id) from rowrelay.queue) returning "
      "*) "
      "insert into rowrelay.refusal (target, change_id, lane, day, bytes, capture, key, row_hash, state, attempts, "
      "message) select t.id, q.change_id, q.lane, q.day, q.bytes, 1, '1', 7, 'error', 1, 'no' from rowrelay.target t, "
      "q");
  for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
    PGconn *caller = connect_to(f.source, NULL);
    sql(caller, "set client_min_messages to error; begin");
    lease_lanes(&f, 600);
    start(caller, "%s", CALLS[i]);
    sleep_seconds(0.5);
    cr_expect(is_running(caller), "%s did not wait for a lease", CALLS[i]);
    sql(f.at_source, "delete from rowrelay.lease");
    finish(caller);
    sql(caller, "rollback");
    PQfinish(caller);
  }
  fixture_end(&f);
}

Test(lanes, a_lease_ends_in_time_though_the_clock_was_ahead_when_it_was_taken) {
  struct fixture f;
  begin(&f, "lanes_clock", "{\"claim\": \"lease\"}");
  sql(f.at_source, "insert into item values (1, 'a')");
  lease_lanes(&f, 86400);
  sql(f.at_source, "update rowrelay.lease set lasts = '3 s'; delete from rowrelay.job; select rowrelay.maintain()");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_empty(&f, 20);
  same_rows(&f, "item", "item", "id");
  cr_expect_eq(stop_process(process, SIGTERM), 0);
  /* People do not wait longer either, even if no process runs. */
  lease_lanes(&f, 86400);
  sql(f.at_source, "update rowrelay.lease set lasts = '1 s'");
  double before = seconds_now();
  sql(f.at_source, "select rowrelay.discard('item', 'w')");
  cr_expect(seconds_now() - before < 30);
  fixture_end(&f);
}

/* ---- what a copy brought --------------------------------------------------------------------------------------- */

/* A process that lost the source is still on its way with an old change of a table that is being copied. */
Test(lanes, a_push_that_was_left_behind_does_not_overwrite_what_a_copy_brought) {
  struct fixture f;
  struct proxy proxy;
  fixture_begin(&f, "lanes_left_behind");
  sql(f.at_source, "create table other (id int primary key); create table item (id int primary key, v text)");
  proxy_add_target(&f, NULL);
  rowrelay_ok(&f, "capture", "item", "other", "--to", "w", "--create", NULL);
  sql(f.at_target, "create table item (id int primary key, v text)");
  sql(f.at_source, "insert into other values (1)");
  proxy_begin(&proxy, f.at_target);
  pid_t zombie = proxy_run(&proxy, &f);
  wait_until_empty(&f, 20);
  proxy_hold(&proxy);
  sql(f.at_source, "insert into item values (1, 'old'), (2, 'old')");
  proxy_wait_until_stuck(&proxy, 10);
  cut_off_from_source(&f);
  sql(f.at_source, "update item set v = 'new'; delete from item where id = 2");

  rowrelay_ok(&f, "backfill", "item", "--to", "w", NULL);
  cr_assert_str_eq(ask(f.at_source, "select way || ' ' || state from rowrelay.backfill"), "copy done");
  same_rows(&f, "item", "item", "id");
  proxy_let_go(&proxy);
  wait_until_says(zombie, "another process has claimed the same lanes since", 10);
  wait_until_empty(&f, 20);
  same_rows(&f, "item", "item", "id");
  cr_expect_eq(stop_process(zombie, SIGTERM), 0);
  proxy_end(&proxy);
  fixture_end(&f);
}

/* ---- what was applied and not settled -------------------------------------------------------------------------- */

/* Row 1 becomes 1 to 7 in a batch that is applied; the process is killed between the target's commit and the source's.
 * The target notes each value that the row gets. */
static void apply_and_settle_not(struct fixture *f) {
  sql(f->at_target, "create table seen (n int generated always as identity, v text); "
                    "create function see() returns trigger language plpgsql as 'begin insert into seen (v) values "
                    "(new.v); return new; end'; "
                    "create trigger see after insert or update on item for each row when (new.id = 1) "
                    "execute function see(); alter table item enable always trigger see");
  for (int i = 1; i <= 7; i++)
    sql(f->at_source, "update item set v = '%d' where id = 1", i);
  PGconn *holder = connect_to(f->source, NULL);
  sql(holder, "begin; lock table rowrelay.receipt in exclusive mode");
  pid_t process = fixture_run(f, "--workers", "1", NULL);
  wait_until(f->at_target, "7", 20, "select v from item where id = 1");
  stop_process(process, SIGKILL);
  cut_off_from_source(f);
  sql(holder, "commit");
  PQfinish(holder);
}

/* They come again, in other batches. */
static void expect_no_way_back(struct fixture *f) {
  sql(f->at_source, "select rowrelay.set_target('w', options => '{\"batch_rows\": 1}')");
  until_empty(f);
  cr_expect_str_eq(ask(f->at_target, "select string_agg(v, ' ' order by n) from seen"), "7");
  sql(f->at_source, "update item set v = '8' where id = 1");
  until_empty(f);
  same_rows(f, "item", "item", "id");
}

Test(lanes, a_mirror_does_not_go_back_in_time_when_a_batch_that_was_not_settled_comes_in_pieces) {
  struct fixture f;
  begin(&f, "lanes_back_in_time", "{}");
  sql(f.at_source, "insert into item values (1, '0')");
  until_empty(&f);
  apply_and_settle_not(&f);
  expect_no_way_back(&f);
  fixture_end(&f);
}

/* A transaction that took longer has written to other rows of the same lane before. */
Test(lanes, nor_when_older_changes_of_other_rows_come_before_its_pieces) {
  struct fixture f;
  begin(&f, "lanes_back_in_time_late", "{\"lanes\": 2}");
  sql(f.at_source, "insert into item select n, '0' from generate_series(1, 20) as n");
  until_empty(&f);
  PGconn *slow = connect_to(f.source, NULL);
  sql(slow, "begin; update item set v = 'late' where id > 1");
  apply_and_settle_not(&f);
  sql(slow, "commit");
  PQfinish(slow);
  expect_no_way_back(&f);
  fixture_end(&f);
}

/* ---- refused changes and truncates ----------------------------------------------------------------------------- */

Test(lanes, a_refused_change_that_is_older_than_a_truncate_of_its_partition_does_not_bring_the_row_back) {
  struct fixture f;
  fixture_begin(&f, "lanes_partition");
  sql(f.at_source, "create table part (id int primary key, v int) partition by range (id); "
                   "create table part_1 partition of part for values from (1) to (100); "
                   "create table part_2 partition of part for values from (100) to (200)");
  sql(f.at_target, "create table part (id int primary key, v int check (v < 10))");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", "retries=0", NULL);
  rowrelay_ok(&f, "capture", "part", "--to", "w", NULL);
  sql(f.at_source, "insert into part values (1, 50), (101, 50)");
  until_empty(&f);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.errors"), 2);
  sql(f.at_source, "truncate part_1; update part set v = 5");
  until_empty(&f);
  sql(f.at_target, "alter table part drop constraint part_v_check");
  sql(f.at_source, "set client_min_messages to error; select rowrelay.retry('w')");
  until_empty(&f);
  cr_expect_eq(ask_number(f.at_source, "select count(*) from rowrelay.errors"), 0);
  same_rows(&f, "part", "part", "id");
  fixture_end(&f);
}

/* Executed after them, it would remove rows that were inserted since. */
Test(lanes, what_comes_after_a_truncate_that_the_mirror_refuses_waits_for_it) {
  struct fixture f;
  begin(&f, "lanes_refused_truncate", "{\"retries\": 0}");
  sql(f.at_source, "insert into item values (1, 'a'), (2, 'a')");
  until_empty(&f);
  sql(f.at_target, "create table child (id int references item); insert into child values (1)");
  pid_t process = fixture_run(&f, NULL, NULL);
  sql(f.at_source, "truncate item");
  sql(f.at_source, "insert into item values (3, 'new')");
  sleep_seconds(2);
  cr_expect_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from item"), "1 2");
  cr_expect(strstr(ask(f.at_source, "select note from rowrelay.status where target = 'w'"), "violates foreign key") !=
            NULL);
  sql(f.at_target, "delete from child");
  wait_until(f.at_target, "3", 40, "select string_agg(id::text, ' ' order by id) from item");
  wait_until_empty(&f, 20);
  cr_expect_eq(ask_number(f.at_source, "select count(*) from rowrelay.errors"), 0);
  cr_expect_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

Test(lanes, status_says_that_lanes_wait_for_the_lease_of_a_process_that_is_gone) {
  struct fixture f;
  begin(&f, "lanes_status", "{\"claim\": \"lease\"}");
  lease_lanes(&f, 100);
  const char *note = ask(f.at_source, "select note from rowrelay.status where target = 'w'");
  cr_expect(strstr(note, "65 lanes are leased by a process that does not answer, until ") != NULL, "%s", note);
  fixture_end(&f);
}

/* ---- rights ---------------------------------------------------------------------------------------------------- */

Test(lanes, a_role_without_rights_cannot_stop_delivery) {
  struct fixture f;
  begin(&f, "lanes_rights", "{}");
  sql(f.at_source, "create role lanes_stranger login");
  PGconn *stranger = connect_to(f.source, "user=lanes_stranger");
  sql(stranger, "select pg_advisory_lock(1919907698, lane) from generate_series(4096, 4096 + 64) as lane; "
                "select pg_advisory_lock(1919907699, 1)");
  cr_assert_str_eq(sql_fails(stranger, "select from rowrelay.lane for update"), "42501");
  sql(f.at_source, "insert into item values (1, 'a')");
  until_empty(&f);
  same_rows(&f, "item", "item", "id");
  PQfinish(stranger);
  sql(f.at_source, "drop role lanes_stranger");
  fixture_end(&f);
}

/* ---- what a table was captured as before ------------------------------------------------------------------------- */

/* The target refuses v = 2 until mend(). */
static void begin_with_poison(struct fixture *f, const char *name, const char *options) {
  fixture_begin(f, name);
  sql(f->at_source,
      "create table item (id int primary key, alt int not null unique, g int, v int); "
      "select rowrelay.add_target('w', '%s', '{\"retries\": 0}'::jsonb || '%s')",
      f->target_url, options);
  sql(f->at_target, "create table item (id int primary key, alt int not null unique, g int, v int, "
                    "constraint poison check (v <> 2))");
}

static void mend(struct fixture *f) {
  sql(f->at_target, "alter table item drop constraint poison");
  sql(f->at_source, "set client_min_messages to error; select rowrelay.retry('w')");
  until_empty(f);
  cr_expect_eq(ask_number(f->at_source, "select count(*) from rowrelay.refusal"), 0);
  same_rows(f, "item", "item", "id");
}

Test(lanes, what_was_refused_before_a_table_was_captured_again_does_not_come_back) {
  static const char *const AGAIN[] = {
      "select rowrelay.release_table('item'); select rowrelay.capture_table('item'); select rowrelay.route('item', "
      "'w')",
      "select rowrelay.capture_table('item', key => '{alt}')",
  };
  for (size_t i = 0; i < 2; i++) {
    struct fixture f;
    begin_with_poison(&f, i == 0 ? "lanes_again_0" : "lanes_again_1", "{}");
    sql(f.at_source, "select rowrelay.capture_table('item'); select rowrelay.route('item', 'w')");
    sql(f.at_source, "insert into item values (1, 1001, 0, 1)");
    until_empty(&f);
    sql(f.at_source, "update item set v = 2");
    until_empty(&f);
    sql(f.at_source, "%s", AGAIN[i]);
    sql(f.at_source, "update item set v = 3");
    until_empty(&f);
    cr_expect_eq(ask_number(f.at_target, "select v from item"), 3);
    mend(&f);
    fixture_end(&f);
  }
}

Test(lanes, what_waits_behind_a_refused_change_in_another_lane_comes_along_when_that_is_retried) {
  struct fixture f;
  begin_with_poison(&f, "lanes_behind", "{\"on_error\": \"block\"}");
  sql(f.at_source, "select rowrelay.capture_table('item', lane => '{g}'); select rowrelay.route('item', 'w')");
  sql(f.at_source, "insert into item values (1, 1, 1, 1)");
  until_empty(&f);
  sql(f.at_source, "update item set v = 2");
  until_empty(&f);
  sql(f.at_source, "update item set g = 5, v = 3");
  sql(f.at_source, "update item set v = 4");
  until_empty(&f);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.refusal where state = 'blocked'"), 2);
  sql(f.at_target, "alter table item drop constraint poison");
  sql(f.at_source,
      "select rowrelay.retry('w', (select array_agg(change_id) from rowrelay.refusal where state = 'error'))");
  until_empty(&f);
  cr_expect_eq(ask_number(f.at_source, "select count(*) from rowrelay.refusal"), 0);
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

/* The row is in flight in its new lane while the delete, which left the old one, is retried. */
Test(lanes, a_refused_barrier_is_not_retried_while_anything_is_in_flight) {
  struct fixture f;
  begin_with_poison(&f, "lanes_barrier_retry", "{}");
  sql(f.at_source, "select rowrelay.capture_table('item', lane => '{g}'); select rowrelay.route('item', 'w')");
  sql(f.at_source, "insert into item values (1, 1, 1, 1)");
  until_empty(&f);
  sql(f.at_target, "create function no() returns trigger language plpgsql as 'begin raise check_violation; end'; "
                   "create trigger no before delete on item for each row execute function no(); "
                   "alter table item enable always trigger no");
  sql(f.at_source, "delete from item");
  until_empty(&f);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.refusal"), 1);
  sql(f.at_target, "drop trigger no on item");
  PGconn *holder = connect_to(f.target, NULL);
  sql(holder, "begin; select from item for update");
  sql(f.at_source, "insert into item values (1, 1, 5, 3)");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until_pushing(&f, "1");
  PGconn *caller = connect_to(f.source, NULL);
  start(caller, "select rowrelay.retry('w')");
  wait_until_blocked(f.at_source, caller, 10);
  sql(holder, "commit");
  finish(caller);
  wait_until_empty(&f, 20);
  sleep_seconds(0.5);
  same_rows(&f, "item", "item", "id");
  cr_expect_eq(stop_process(process, SIGTERM), 0);
  PQfinish(caller);
  PQfinish(holder);
  fixture_end(&f);
}

/* Its changes waited because the target could not take it. They are older than what it is captured as now. */
Test(lanes, what_waits_of_a_table_that_is_captured_again_comes_first) {
  struct fixture f;
  fixture_begin(&f, "lanes_held_again");
  sql(f.at_source, "create table item (id int primary key, v int)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_target, "create table item (id int primary key, v int)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item select n, 1 from generate_series(1, 20) as n");
  until_empty(&f);
  sql(f.at_target, "alter table item rename column v to vv");
  sql(f.at_source, "update item set v = 2");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "20", 20, "select count(*) from rowrelay.refusal where state = 'waiting'");
  rowrelay_ok(&f, "release", "item", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "update item set v = 3");
  sql(f.at_target, "alter table item rename column vv to v");
  wait_until(f.at_source, "0", 60,
             "select (select count(*) from rowrelay.refusal) + (select count(*) from rowrelay.queue)");
  same_rows(&f, "item", "item", "id");
  cr_expect_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

Test(lanes, a_replay_does_not_queue_what_is_queued_in_another_lane) {
  struct fixture f;
  fixture_begin(&f, "lanes_replay");
  sql(f.at_source,
      "create table item (id int primary key, g int); select rowrelay.add_target('w', '%s', '{\"mode\": \"append\"}'); "
      "select rowrelay.capture_table('item'); select rowrelay.route('item', 'w', create_table => true)",
      f.target_url);
  sql(f.at_source, "insert into item values (1, 1); update item set g = 2");
  sql(f.at_source,
      "select rowrelay.capture_table('item', lane => '{g}'); select rowrelay.replay('w', now() - interval '1 hour')");
  cr_expect_eq(ask_number(f.at_source, "select count(*) - count(distinct change_id) from rowrelay.queue"), 0);
  until_empty(&f);
  cr_expect_eq(ask_number(f.at_target, "select count(*) from item_changes"), 2);
  fixture_end(&f);
}
