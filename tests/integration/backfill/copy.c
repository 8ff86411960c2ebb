/* Whole tables that are copied into empty mirrors, and joined with what is written meanwhile. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arrival.h"
#include "fixture.h"
#include "mirrored.h"
#include "writers.h"

/* Seconds; enough for a busy machine. */
#define PATIENCE 60

/* Tables item, with a key, and note, without, of `rows` rows each, captured and routed to "w", where nothing is yet. */
static void begin(struct fixture *f, const char *name, int rows) {
  mirrored_begin(f, name, "create table item (id int primary key, name text); create table note (what text, n int)");
  sql(f->at_source,
      "insert into item select n, 'old' from generate_series(1, %d) as n; "
      "insert into note select 'old ' || n %% 7, n %% 3 from generate_series(1, %d) as n",
      rows, rows);
  mirrored_capture(f, "*");
}

#define ROWS_OF "select count(*) || ' ' || coalesce(sum(hashtextextended(t::text, 0)), 0) from %s as t"
/* One number and one sum that tell tables apart, also those without a key. */
static void cr_equal(struct fixture *f, const char *table) {
  cr_assert_str_eq(ask(f->at_target, ROWS_OF, table), ask(f->at_source, ROWS_OF, table), "table %s differs", table);
}

static const char *states(struct fixture *f) {
  return ask(f->at_source, "select string_agg(state || ' ' || way, ', ' order by id) from rowrelay.backfill");
}

/* Waits until no change of these tables can be delivered, so that processes may be started. */
static void wait_until_all_are_taken_aside(struct fixture *f) {
  wait_until(f->at_source, "t", PATIENCE, "select bool_and(state <> 'waiting') from rowrelay.backfill");
  wait_until(f->at_source, "0", PATIENCE,
             "select count(*) from rowrelay.backfill b join rowrelay.queue q on q.lane >> 12 = b.target "
             "join rowrelay.change c on c.id = q.change_id and c.capture = b.capture where b.state = 'copying'");
}

static void wait_for_state(struct fixture *f, const char *state) {
  wait_until(f->at_source, state, PATIENCE, "select state from rowrelay.backfill order by id limit 1");
}

static void wait_until_copied(struct fixture *f, int rows) {
  wait_until(f->at_source, "t", PATIENCE, "select rows_read >= %d from rowrelay.backfill order by id limit 1", rows);
}

/* It leaves nothing that would affect writers or the next copy. */
static void nothing_is_left(struct fixture *f) {
  cr_expect_str_eq(ask(f->at_source, "select string_agg(proname, ' ') from pg_proc where proname ~ '^copies_'"), "");
  cr_expect_str_eq(ask(f->at_source, "select count(*) from rowrelay.queue where lane < 0"), "0");
}

static void write_some(struct fixture *f, const char *word) {
  sql(f->at_source,
      "insert into item select 1000000 + max(id), '%s' from item; update item set name = '%s' where id %% 10 = 1; "
      "delete from item where id %% 10 = 2 and id < 100; insert into note values ('%s', 1); "
      "update note set what = '%s' where n = 1 and what = 'old 1'; "
      "delete from note where ctid = (select min(ctid) from note where n = 2)",
      word, word, word, word);
}

/* ---- live ------------------------------------------------------------------------------------------------------ */

Test(copy, large_tables_end_equal_under_live_writes_and_nobody_else_is_held_up) {
  struct fixture f;
  struct writers writers;
  fixture_begin(&f, "copy_live");
  writers_make_tables(f.at_source);
  writers_fill_tables(f.at_source, 2000);
  sql(f.at_source, "insert into stock select n, 0, 'much' from generate_series(10001, 210000) as n; "
                   "insert into ledger select 'item ' || n %% 5, n %% 100 from generate_series(1, 50000) as n; "
                   "create table other (id int primary key, n int)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_target, "create table other (id int primary key, n int)");
  rowrelay_ok(&f, "target", "add", "a", f.target_url, "--option", "mode=append", NULL);
  rowrelay_ok(&f, "capture", "stock", "ledger", "other", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "route", "stock", "a", NULL);
  rowrelay_ok(&f, "route", "ledger", "a", NULL);
  writers_start(&writers, f.source, 4, 3000, 200, 2000);
  wait_until(f.at_source, "t", PATIENCE, "select count(*) > 200 from rowrelay.queue");

  pid_t backfill = fixture_start(&f, "backfill", "stock", "ledger", "--to", "w", "--rate", "30000", NULL);
  wait_until_all_are_taken_aside(&f);
  pid_t processes[] = {fixture_run(&f, "--workers", "2", NULL), fixture_run(&f, "--workers", "2", NULL)};
  PGconn *emptier = connect_to(f.source, NULL);
  int64_t others = 0;
  for (int i = 1; still_runs(backfill, 0.02); i++) {
    sql(f.at_source, "insert into other values (%d, %d)", i, i);
    /* While the first table is copied, changes of other tables, and for other targets, are delivered. */
    if (i % 10 == 0 &&
        strcmp(ask(f.at_source, "select state from rowrelay.backfill order by id limit 1"), "copying") == 0) {
      wait_until(f.at_target, "t", PATIENCE, "select count(*) > 0 from other where id = %d", i);
      wait_until(f.at_target, "t", PATIENCE, "select to_regclass('stock_changes') is not null");
      if (strcmp(ask(f.at_source, "select state from rowrelay.backfill order by id limit 1"), "copying") == 0)
        others++;
    }
    if (i == 150)
      sql(emptier,
          "begin; truncate ledger; insert into ledger select 'item 1', n %% 7 from generate_series(1, 500) as n; "
          "commit");
  }
  cr_expect(others > 0);
  writers_finish(&writers, PATIENCE);
  wait_until_empty(&f, PATIENCE);

  cr_expect_str_eq(states(&f), "done copy, done copy");
  cr_equal(&f, "stock");
  cr_equal(&f, "ledger");
  cr_equal(&f, "other");
  arrival_is_in_order(&f, "stock_changes");
  arrival_is_in_order(&f, "ledger_changes");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.refusal"), "0");
  nothing_is_left(&f);
  PQfinish(emptier);
  for (int i = 0; i < 2; i++)
    cr_assert(stop_process(processes[i], SIGTERM) == 0);
  fixture_end(&f);
}

/* Each change is at the target once: in the copied rows, or delivered. */
Test(copy, what_was_queued_before_comes_with_the_copy_and_what_is_written_meanwhile_after_it) {
  struct fixture f;
  begin(&f, "copy_once", 3000);
  sql(f.at_source, "update item set name = 'queued' where id = 1; insert into note values ('queued', 1)");
  pid_t backfill = fixture_start(&f, "backfill", "*", "--to", "w", "--rate", "1500", NULL);
  wait_until_copied(&f, 1000);
  sql(f.at_source,
      "update item set name = 'meanwhile' where id = 1; update item set name = 'meanwhile' where id = 3000; "
      "insert into note values ('meanwhile', 1)");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(status ->> 'w', ' ' order by change_id) from rowrelay.history"),
                   "new new new new new");
  cr_assert(wait_process(backfill, PATIENCE) == 0);
  cr_expect_str_eq(ask(f.at_target, "select string_agg(id || name, ' ' order by id) from item where id in (1, 3000)"),
                   "1queued 3000old");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(key || ' ' || (status ->> 'w'), ', ' order by change_id) "
                                    "from rowrelay.history where key is not null"),
                   "1 complete, 1 new, 3000 new");
  mirrored_deliver(&f);
  cr_equal(&f, "item");
  cr_equal(&f, "note");
  nothing_is_left(&f);
  fixture_end(&f);
}

/* ---- old and slow writers -------------------------------------------------------------------------------------- */

Test(copy, writers_that_began_before_it_are_waited_for_and_their_changes_arrive_once) {
  struct fixture f;
  begin(&f, "copy_writers", 2000);
  PGconn *before = connect_to(f.source, NULL);
  PGconn *seen = connect_to(f.source, NULL);
  PGconn *during = connect_to(f.source, NULL);
  sql(before, "begin; insert into note values ('before', 1); update item set name = 'before' where id = 1");
  sql(seen, "begin isolation level repeatable read; select count(*) from pg_class");
  pid_t backfill = fixture_start(&f, "backfill", "note", "--to", "w", "--rate", "1000", NULL);
  wait_until_says(backfill, "waits for transactions that write to the table: process ", PATIENCE);
  double asked_at = seconds_now();
  sql(f.at_source, "insert into note values ('free', 1)");
  cr_expect(seconds_now() - asked_at < 1, "a writer was held up");
  sql(before, "insert into note values ('before', 2); commit");
  wait_until_copied(&f, 900);

  /* Its snapshot is from before the switch. */
  sql(seen, "insert into note values ('seen', 1); delete from note where what = 'old 3'; commit");
  sql(during, "begin; insert into note values ('during', 1); delete from note where what = 'old 4'");
  wait_for_state(&f, "joining");
  wait_until_says(backfill, "waits for transactions that write to the table", PATIENCE);
  pid_t runner = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "insert into note values ('joined', 1)");
  /* Changes of other tables arrive already. */
  wait_until(f.at_target, "1", PATIENCE, "select count(*) from note where what = 'joined'");
  wait_until(f.at_target, "0", PATIENCE, "select count(*) from note where what = 'old 3'");
  cr_expect_str_eq(ask(f.at_target, "select count(*) from note where what = 'during'"), "0");
  sql(during, "insert into note values ('during', 2); commit");
  cr_assert(wait_process(backfill, PATIENCE) == 0);
  sql(f.at_source, "insert into note values ('after', 1)");
  wait_until_empty(&f, PATIENCE);
  cr_equal(&f, "note");
  cr_assert(stop_process(runner, SIGTERM) == 0);
  PQfinish(before);
  PQfinish(seen);
  PQfinish(during);
  fixture_end(&f);
}

Test(copy, a_table_emptied_by_a_transaction_that_sees_the_source_as_it_was_ends_equal) {
  struct fixture f;
  begin(&f, "copy_emptied", 1000);
  PGconn *emptier = connect_to(f.source, NULL);
  sql(emptier, "begin isolation level repeatable read; select count(*) from pg_class");
  /* Stops it after the switch, before anything is copied. */
  sql(f.at_target, "create table note (what text, n int)");
  sql(f.at_target, "begin; lock table note in share mode");
  pid_t backfill = fixture_start(&f, "backfill", "note", "--to", "w", NULL);
  wait_for_state(&f, "copying");
  sql(f.at_source, "insert into note values ('gone', 1)");
  sql(emptier, "truncate note; insert into note values ('after', 1); commit");
  pid_t runner = fixture_run(&f, "--workers", "2", NULL);
  sleep_seconds(0.5);
  sql(f.at_target, "commit");
  cr_assert(wait_process(backfill, PATIENCE) == 0);
  sql(f.at_source, "insert into note values ('last', 1)");
  wait_until_empty(&f, PATIENCE);
  cr_expect_str_eq(ask(f.at_target, "select string_agg(what, ' ' order by what) from note"), "after last");
  cr_expect_str_eq(states(&f), "done copy");
  cr_assert(stop_process(runner, SIGTERM) == 0);
  PQfinish(emptier);
  fixture_end(&f);
}

Test(copy, it_gives_way_to_who_wants_the_table_for_himself) {
  struct fixture f;
  begin(&f, "copy_gives_way", 20000);
  pid_t backfill = fixture_start(&f, "backfill", "note", "--to", "w", "--rate", "500", NULL);
  wait_until_copied(&f, 200);
  double asked_at = seconds_now();
  sql(f.at_source, "truncate note; insert into note values ('after', 1)");
  cr_expect(seconds_now() - asked_at < 15, "it took %.1f s", seconds_now() - asked_at);
  cr_expect_str_eq(ask(f.at_source, "select state from rowrelay.backfill"), "copying");
  cr_assert(wait_process(backfill, PATIENCE) == 0);
  mirrored_deliver(&f);
  cr_equal(&f, "note");
  fixture_end(&f);
}

/* As VACUUM and ANALYZE do: nobody writes, and yet the lock against writers cannot be had. */
Test(copy, it_waits_for_a_lock_that_is_not_a_writer_s_at_its_beginning_and_at_its_end) {
  struct fixture f;
  begin(&f, "copy_vacuumed", 2000);
  PGconn *holder = connect_to(f.source, NULL);
  sql(holder, "begin; lock table note in share update exclusive mode");
  pid_t backfill = fixture_start(&f, "backfill", "note", "--to", "w", "--rate", "500", NULL);
  wait_for_state(&f, "waiting");
  sleep_seconds(2);
  cr_expect_str_eq(states(&f), "waiting copy");
  sql(holder, "commit");
  wait_until_copied(&f, 200);
  sql(holder, "begin; lock table note in share update exclusive mode");
  wait_for_state(&f, "joining");
  sleep_seconds(2);
  cr_expect_str_eq(states(&f), "joining copy");
  sql(holder, "commit");
  cr_assert_eq(wait_process(backfill, PATIENCE), 0);
  cr_expect_str_eq(states(&f), "done copy");
  mirrored_deliver(&f);
  cr_equal(&f, "note");
  nothing_is_left(&f);
  PQfinish(holder);
  fixture_end(&f);
}

/* ---- killed ---------------------------------------------------------------------------------------------------- */

/* Kills it, and its blocked statements at the source. */
static void kill_it(struct fixture *f, pid_t process) {
  stop_process(process, SIGKILL);
  sql(f->at_source,
      "select pg_terminate_backend(pid) from pg_stat_activity "
      "where application_name = 'rowrelay' and datname = current_database() and wait_event_type = 'Lock'");
}

/* Killed before it has copied anything: `holder` keeps the target's table. */
static void kill_it_before(struct fixture *f, const char *table, PGconn *holder) {
  sql(holder, "begin; lock table %s in share mode", table);
  pid_t process = fixture_start(f, "backfill", table, "--to", "w", NULL);
  wait_until(f->at_source, "copying", PATIENCE, "select state from rowrelay.backfill order by id desc limit 1");
  wait_until(f->at_target, "1", PATIENCE,
             "select count(*) from pg_locks where relation = '%s'::regclass and not granted", table);
  kill_it(f, process);
  sql(holder, "commit");
}

static void kill_it_in_the_middle(struct fixture *f, const char *table) {
  pid_t process = fixture_start(f, "backfill", table, "--to", "w", "--rate", "1000", NULL);
  wait_until(f->at_source, "t", PATIENCE,
             "select rows_read > 500 and snapshot is not null from rowrelay.backfill order by id desc limit 1");
  kill_it(f, process);
}

/* Killed when the target has it, and the source does not know: `gate` keeps the process from telling it. */
static void kill_it_at_the_gate(struct fixture *f, const char *table, PGconn *gate) {
  sql(gate, "select pg_advisory_lock(4711)");
  pid_t process = fixture_start(f, "backfill", table, "--to", "w", NULL);
  wait_until(f->at_target, "t", PATIENCE, "select count(*) > 2500 from %s", table);
  wait_until(
      f->at_source, "1", PATIENCE,
      "select count(*) from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database() "
      "where l.locktype = 'advisory' and l.objid = 4711 and not l.granted");
  kill_it(f, process);
  sql(gate, "select pg_advisory_unlock(4711)");
  cr_expect_str_eq(ask(f->at_source, "select state from rowrelay.backfill order by id desc limit 1"), "copying");
}

/* Killed while changes join: `writer` has one that is not committed. */
static void kill_it_while_changes_join(struct fixture *f, const char *table, PGconn *writer) {
  bool keyed = strcmp(table, "item") == 0;
  sql(writer, "begin; insert into %s select * from %s limit 0; update %s set %s = 'gate' where %s", table, table, table,
      keyed ? "name" : "what", keyed ? "id = 3" : "what = 'old 5'");
  pid_t process = fixture_start(f, "backfill", table, "--to", "w", NULL);
  wait_until(f->at_source, "joining", PATIENCE, "select state from rowrelay.backfill order by id desc limit 1");
  wait_until(f->at_source, "0", PATIENCE, "select count(*) from rowrelay.queue where lane < 0");
  kill_it(f, process);
}

Test(copy, killed_at_any_point_it_ends_equal_and_nothing_is_there_twice) {
  struct fixture f;
  begin(&f, "copy_killed", 3000);
  static const char *const TABLES[] = {"item", "note"};
  PGconn *holder = connect_to(f.target, NULL);
  PGconn *gate = connect_to(f.source, NULL);
  sql(f.at_target, "create table item (id int primary key, name text); create table note (what text, n int)");
  sql(f.at_source, "create function wait_at_gate() returns trigger language plpgsql as "
                   "'begin perform pg_advisory_xact_lock(4711); return new; end'; "
                   "create trigger gate before update on rowrelay.backfill for each row "
                   "when (new.state = 'joining' and old.state = 'copying') execute function wait_at_gate()");
  for (size_t i = 0; i < 2; i++) {
    const char *table = TABLES[i];
    write_some(&f, "before");
    kill_it_before(&f, table, holder);
    write_some(&f, "first");
    kill_it_in_the_middle(&f, table);
    write_some(&f, "second");
    wait_until(f.at_target, "0", PATIENCE, "select count(*) from pg_locks where relation = '%s'::regclass", table);
    cr_expect_str_eq(ask(f.at_target, "select count(*) from %s", table), "0");
    kill_it_at_the_gate(&f, table, gate);
    write_some(&f, "third");
    kill_it_while_changes_join(&f, table, gate);
    write_some(&f, "fourth");
    sql(gate, "commit");
    write_some(&f, "fifth");
    rowrelay_ok(&f, "backfill", table, "--to", "w", NULL);
    write_some(&f, "after");
    nothing_is_left(&f);
  }
  mirrored_deliver(&f);
  cr_equal(&f, "item");
  cr_equal(&f, "note");
  cr_expect_str_eq(states(&f), "done copy, done copy");
  PQfinish(holder);
  PQfinish(gate);
  fixture_end(&f);
}

Test(copy, a_process_that_waits_for_the_target_leaves_when_it_is_told_to_and_the_copy_begins_anew) {
  struct fixture f;
  begin(&f, "copy_leaves", 1000);
  PGconn *holder = connect_to(f.target, NULL);
  sql(f.at_target, "create table item (id int primary key, name text); create table note (what text, n int)");
  sql(f.at_source, "select rowrelay.backfill('item', 'w')");
  sql(holder, "begin; lock table item in share mode");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_target, "1", PATIENCE,
             "select count(*) from pg_locks where relation = 'item'::regclass and not granted");
  kill(process, SIGTERM);
  cr_assert(wait_process(process, 3) == 0);
  sql(holder, "commit");
  mirrored_deliver(&f);
  cr_equal(&f, "item");
  nothing_is_left(&f);
  PQfinish(holder);
  fixture_end(&f);
}

Test(copy, lost_connections_end_nothing) {
  struct fixture f;
  begin(&f, "copy_connections", 3000);
  /* Connections of the processes: to the target, and the one that reads the table. */
  sql(f.at_source, "select rowrelay.backfill('note', 'w', rate => 1000)");
  pid_t runner = fixture_run(&f, "--workers", "1", NULL);
  wait_until_copied(&f, 500);
  sql(f.at_target, "select pg_terminate_backend(pid) from pg_stat_activity "
                   "where datname = current_database() and query ilike 'copy %%'");
  wait_until_says(runner, "target", 1);
  sql(f.at_source, "update rowrelay.backfill set rows_read = 0");
  wait_until_copied(&f, 500);
  sql(f.at_source, "select pg_terminate_backend(pid) from pg_stat_activity "
                   "where datname = current_database() and query ilike 'copy %%'");
  sql(f.at_source, "insert into note values ('meanwhile', 1); update rowrelay.backfill set rows_read = 0");
  wait_until_copied(&f, 500);
  sql(f.at_source, "select pg_terminate_backend(pid) from pg_stat_activity "
                   "where datname = current_database() and pid <> pg_backend_pid()");
  wait_for_state(&f, "done");
  wait_until_empty(&f, PATIENCE);
  cr_equal(&f, "note");
  cr_expect_str_eq(states(&f), "done copy");
  cr_assert(stop_process(runner, SIGTERM) == 0);
  fixture_end(&f);
}

Test(copy, two_who_want_the_same_and_others_that_run_copy_it_once) {
  struct fixture f;
  begin(&f, "copy_two", 3000);
  pid_t first = fixture_start(&f, "backfill", "*", "--to", "w", "--rate", "3000", NULL);
  wait_until_all_are_taken_aside(&f);
  pid_t second = fixture_start(&f, "backfill", "*", "--to", "w", "--rate", "3000", NULL);
  pid_t runner = fixture_run(&f, "--workers", "1", NULL);
  write_some(&f, "meanwhile");
  cr_assert(wait_process(first, PATIENCE) == 0);
  cr_assert(wait_process(second, PATIENCE) == 0);
  wait_until_empty(&f, PATIENCE);
  cr_equal(&f, "item");
  cr_equal(&f, "note");
  cr_expect_str_eq(states(&f), "done copy, done copy");
  cr_assert(stop_process(runner, SIGTERM) == 0);
  fixture_end(&f);
}

/* A copy makes the trigger function anew, and so writes to the table itself. */
Test(copy, what_an_event_trigger_writes_to_the_table_at_the_end_arrives) {
  struct fixture f;
  own_server("source", "max_prepared_transactions=2");
  mirrored_begin(&f, "copy_event",
                 "create table item (id serial primary key, tag text);"
                 "create function note() returns event_trigger language plpgsql as "
                 "$$ begin insert into public.item (tag) values (tg_tag); end $$;"
                 "create event trigger note on ddl_command_end execute function note()");
  mirrored_capture(&f, "item");
  sql(f.at_source, "begin; insert into item (tag) values ('prepared'); prepare transaction 'p'");
  sql(f.at_source, "select rowrelay.backfill('item', 'w')");
  cr_expect_str_eq(
      ask(f.at_source, "select w.note from rowrelay.backfill b, rowrelay.capture c, rowrelay.copy_writers(b, c) as w"),
      "waits for transactions that write to the table: a prepared transaction");
  sql(f.at_source, "commit prepared 'p'");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_for_state(&f, "done");
  wait_until_empty(&f, PATIENCE);
  cr_equal(&f, "item");
  nothing_is_left(&f);
  cr_expect_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

/* ---- what cannot be copied as a whole -------------------------------------------------------------------------- */

Test(copy, what_the_target_has_already_or_refuses_is_copied_piece_by_piece_or_not_at_all) {
  struct fixture f;
  begin(&f, "copy_not", 500);
  sql(f.at_target, "create table item (id int primary key, name text); insert into item values (7000, 'of others'); "
                   "create table note (what text, n int); insert into note values ('of others', 1)");
  write_some(&f, "before");

  pid_t backfill = fixture_start(&f, "backfill", "note", "--to", "w", NULL);
  wait_until(f.at_source, "copying", PATIENCE,
             "select state from rowrelay.backfill where note like "
             "'%%table public.note in the target is not empty%%'");
  rowrelay_ok(&f, "backfill", "note", "--to", "w", "--cancel", NULL);
  cr_expect(wait_process(backfill, PATIENCE) == 1);
  const char *output = rowrelay_ok(&f, "backfill", "item", "--to", "w", NULL);
  cr_expect(strstr(output, "not as a whole: table public.item in the target is not empty") != NULL, "%s", output);
  cr_expect(strstr(output, "queued for w") != NULL, "%s", output);
  cr_expect_str_eq(states(&f), "cancelled pieces, done pieces");
  mirrored_deliver(&f);
  sql(f.at_target, "delete from item where id = 7000; truncate note");
  cr_equal(&f, "item");

  /* It turns out only when a row comes: what had been queued, and what comes then, goes on in its order. */
  sql(f.at_target, "truncate item; alter table item add constraint no_seven check (id <> 7)");
  write_some(&f, "queued");
  sql(f.at_source, "insert into item values (7, 'refused') on conflict (id) do nothing; "
                   "update item set name = 'twice' where id = 1; update item set name = 'last' where id = 1");
  output = rowrelay_ok(&f, "backfill", "item", "--to", "w", NULL);
  cr_expect(strstr(output, "not as a whole: new row for relation \"item\" violates check constraint") != NULL, "%s",
            output);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_source, "select string_agg(distinct key, ' ') from rowrelay.errors"), "7");
  cr_expect_str_eq(ask(f.at_target, "select name from item where id = 1"), "last");
  sql(f.at_source, "select rowrelay.skip('w')");
  sql(f.at_source, "delete from item where id = 7");
  mirrored_deliver(&f);
  cr_equal(&f, "item");
  nothing_is_left(&f);

  /* A type whose text is not what the trigger's image would become. */
  sql(f.at_target, "drop table item; create table item (id int primary key, name jsonb)");
  output = rowrelay_ok(&f, "backfill", "item", "--to", "w", NULL);
  cr_expect(strstr(output, "not as a whole: column name of table public.item in the target has another type") != NULL,
            "%s", output);
  fixture_end(&f);
}

Test(copy, rows_without_a_key_that_were_not_copied_are_told_of_with_what_helps) {
  struct fixture f;
  const char *said;
  mirrored_begin(&f, "copy_short", "create table item (a int); insert into item select generate_series(1, 3000)");
  mirrored_capture(&f, "item");
  pid_t backfill = fixture_start(&f, "backfill", "item", "--to", "w", "--rate", "500", NULL);
  wait_until_copied(&f, 300);
  rowrelay_ok(&f, "backfill", "item", "--to", "w", "--cancel", NULL);
  cr_expect(wait_process(backfill, PATIENCE) == 1);
  sql(f.at_source, "insert into item values (-1)");
  mirrored_deliver(&f);
  said = rowrelay_ok(&f, "status", NULL);
  cr_expect(strstr(said, "item may lack rows from before, because its backfill ended (cancelled by ") != NULL &&
                strstr(said, "the table has no key: start it again, then empty it there, for which it waits) -- "
                             "run: rowrelay backfill public.item --to w") != NULL,
            "%s", said);
  cr_expect(rowrelay(&f, &said, NULL, "doctor", NULL) <= 1);
  cr_expect(strstr(said, "warn  backfill: public.item — rows from before may be missing at w") != NULL, "%s", said);
  const char *helps = "run: rowrelay backfill public.item --to w; it waits until you have emptied public.item there\n";
  cr_expect(rowrelay(&f, NULL, &said, "verify", "w", NULL) == 3 && strstr(said, helps) != NULL, "%s", said);
  backfill = fixture_start(&f, "backfill", "item", "--to", "w", NULL);
  wait_until(f.at_source, "t", PATIENCE,
             "select note like '%%is not empty, and the table has no key: its changes wait "
             "until you empty it there; then all is copied' from rowrelay.backfills");
  sql(f.at_target, "truncate item");
  cr_expect(wait_process(backfill, PATIENCE) == 0);
  mirrored_same(&f, "item");
  cr_expect_str_eq(ask(f.at_source, "select note from rowrelay.status"), "");
  fixture_end(&f);
}

/* A table that is written all the time is never empty in the target while its changes are delivered. */
Test(copy, a_busy_table_without_a_key_is_copied_when_its_mirror_is_emptied_once) {
  struct fixture f;
  mirrored_begin(&f, "copy_busy", "create table item (a int); insert into item select generate_series(1, 100)");
  mirrored_capture(&f, "item");
  sql(f.at_target, "create table item (a int)");
  PGconn *writer = connect_to(f.source, NULL);
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  cr_assert(PQsendQuery(writer, "do $$ begin for i in 1001..1300 loop insert into item values (i); commit; "
                                "perform pg_sleep(0.02); end loop; end $$") == 1);
  wait_until(f.at_target, "t", PATIENCE, "select count(*) > 10 from item");
  sql(f.at_source, "select rowrelay.backfill('item', 'w')");
  wait_until(f.at_source, "t", PATIENCE,
             "select state = 'copying' and note like '%%its changes wait until you empty it "
             "there%%' from rowrelay.backfills");
  cr_expect_not_null(strstr(rowrelay_ok(&f, "status", NULL), "its changes wait until you empty it there"));
  sql(f.at_target, "truncate item");
  wait_until(f.at_source, "done", PATIENCE, "select state from rowrelay.backfill");
  PQclear(PQgetResult(writer));
  PQfinish(writer);
  wait_until_empty(&f, PATIENCE);
  mirrored_same(&f, "item");
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

Test(copy, what_is_given_up_goes_on_as_if_nothing_had_been) {
  struct fixture f;
  begin(&f, "copy_cancel", 3000);
  sql(f.at_source, "update item set name = 'queued' where id = 1");
  pid_t backfill = fixture_start(&f, "backfill", "item", "--to", "w", "--rate", "500", NULL);
  wait_until_copied(&f, 300);
  sql(f.at_source, "update item set name = 'meanwhile' where id in (1, 2); delete from item where id = 3");
  rowrelay_ok(&f, "backfill", "item", "--to", "w", "--cancel", NULL);
  cr_expect(wait_process(backfill, PATIENCE) == 1);
  cr_expect(strstr(ask(f.at_source, "select state || note from rowrelay.backfill"), "cancelledcancelled by") != NULL);
  nothing_is_left(&f);
  sql(f.at_source, "update item set name = 'after' where id = 2");
  mirrored_deliver(&f);
  cr_expect_str_eq(ask(f.at_target, "select string_agg(id || name, ' ' order by id) from item"), "1meanwhile 2after");
  cr_expect_str_eq(ask(f.at_source,
                       "select note like 'public.item may lack rows from before, because its backfill ended "
                       "(cancelled by %%) -- run: select rowrelay.backfill(''public.item'', ''w'');' "
                       "from rowrelay.status"),
                   "t");

  /* Another process continues after a kill. */
  sql(f.at_target, "truncate item");
  backfill = fixture_start(&f, "backfill", "item", "--to", "w", "--rate", "500", NULL);
  wait_until_copied(&f, 300);
  stop_process(backfill, SIGKILL);
  sql(f.at_source, "update item set name = 'last' where id = 2");
  rowrelay_ok(&f, "backfill", "item", "--to", "w", "--cancel", NULL);
  mirrored_deliver(&f);
  cr_expect_str_eq(ask(f.at_target, "select string_agg(id || name, ' ' order by id) from item"), "2last");
  cr_expect_str_eq(ask(f.at_source, "select state from rowrelay.backfill"), "cancelled");
  nothing_is_left(&f);
  fixture_end(&f);
}

/* What was queued before the release is older than the copy, and must not come after it. */
Test(copy, what_waits_of_a_table_that_was_released_and_captured_again_does_not_come_after_the_copy) {
  struct fixture f;
  begin(&f, "copy_again", 100);
  sql(f.at_source, "update item set name = 'waits'");
  rowrelay_ok(&f, "release", "item", NULL);
  sql(f.at_source, "update item set name = 'unseen'; delete from item where id = 7");
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "backfill", "item", "--to", "w", NULL);
  nothing_is_left(&f);
  mirrored_deliver(&f);
  cr_equal(&f, "item");
  fixture_end(&f);
}

Test(copy, a_route_a_target_or_a_capture_may_end_meanwhile) {
  struct fixture f;
  begin(&f, "copy_ends", 3000);
  for (int i = 0; i < 3; i++) {
    pid_t backfill = fixture_start(&f, "backfill", "item", "--to", "w", "--rate", "500", NULL);
    wait_until(f.at_source, "t", PATIENCE,
               "select bool_or(rows_read > 300 and state = 'copying') from rowrelay.backfill");
    sql(f.at_source, "update item set name = 'meanwhile' where id = %d", i);
    if (i == 0)
      rowrelay_ok(&f, "route", "item", "w", "--remove", NULL);
    else if (i == 1)
      rowrelay_ok(&f, "target", "drop", "w", NULL);
    else
      rowrelay_ok(&f, "release", "item", NULL);
    sql(f.at_source, "update item set name = 'after' where id = %d", i);
    /* The triggers can be removed when the copy has ended or made way. */
    int status = wait_process(backfill, PATIENCE);
    cr_expect(status == 1 || (i == 2 && status == 0));
    nothing_is_left(&f);
    if (i < 2)
      cr_expect_str_eq(ask(f.at_target, "select count(*) from item"), "0");
    sql(f.at_target, "truncate item");
    if (i == 1)
      rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
    rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", NULL);
  }
  rowrelay_ok(&f, "backfill", "item", "--to", "w", NULL);
  mirrored_deliver(&f);
  cr_equal(&f, "item");
  fixture_end(&f);
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

/* Else the rows would be where nobody looks any more. */
Test(copy, it_begins_again_where_the_target_has_another_url_meanwhile) {
  struct fixture f;
  begin(&f, "copy_moved", 1000);
  char moved[600];
  char name[64];
  PGconn *server = connect_to(f.target, NULL);
  snprintf(name, sizeof name, "%s_moved", PQdb(server));
  sql(server, "create database %s", name);
  snprintf(moved, sizeof moved, "postgresql:///%s?host=%s&port=5432&user=postgres", name, PQhost(server));
  pid_t backfill = fixture_start(&f, "backfill", "item", "--to", "w", "--rate", "500", NULL);
  wait_until(f.at_source, "t", 10, "select bool_or(snapshot is not null) from rowrelay.backfill");
  rowrelay_ok(&f, "target", "set", "w", "--url", moved, NULL);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  cr_expect(wait_process(backfill, PATIENCE) == 0);
  wait_until(f.at_source, "done copy", 20, "select string_agg(state || ' ' || way, ', ') from rowrelay.backfill");
  char database[80];
  snprintf(database, sizeof database, "dbname=%s", name);
  PGconn *there = connect_to(f.target, database);
  cr_expect_str_eq(ask(there, ROWS_OF, "item"), ask(f.at_source, ROWS_OF, "item"));
  cr_assert(stop_process(process, SIGTERM) == 0);
  PQfinish(there);
  sql(server, "drop database %s with (force)", name);
  PQfinish(server);
  fixture_end(&f);
}

Test(copy, rows_are_as_changes_would_have_brought_them) {
  struct fixture f;
  mirrored_begin(&f, "copy_values",
                 "create type mood as enum ('glad', 'sad'); create domain short as varchar(5); "
                 "create table \"Odd One\" (id int generated always as identity primary key, \"a b\" text, n numeric, "
                 "  f float8, at timestamptz, d interval, b bytea, j json, jb jsonb, list int[], m mood, s short, "
                 "  twice numeric generated always as (n * 2) stored, hidden text, secret text, money money, "
                 "  class regclass, gone int); "
                 "alter table \"Odd One\" drop column gone; "
                 "create table part (id int, k int, primary key (id, k)) partition by list (k); "
                 "create table part_1 partition of part for values in (1); "
                 "create table part_2 (k int, id int, primary key (id, k)); "
                 "alter table part attach partition part_2 for values in (2); "
                 "create table parent (id int primary key, v text); create table child (extra int) inherits (parent); "
                 "insert into part select n, 1 + n % 2 from generate_series(1, 20) as n; "
                 "insert into parent values (1, 'p'); insert into child values (2, 'c', 3)");
  sql(f.at_source,
      "set extra_float_digits to 0; alter database \"%s\" set datestyle to 'german'; "
      "alter database \"%s\" set intervalstyle to 'sql_standard'; "
      "alter database \"%s\" set bytea_output to 'escape'",
      f.name, f.name, f.name);
  sql(f.at_target,
      "alter database \"%s\" set datestyle to 'sql, dmy'; alter database \"%s\" set timezone to 'Asia/Tokyo'", f.name,
      f.name);
  sql(f.at_source,
      "insert into \"Odd One\" (\"a b\", n, f, at, d, b, j, jb, list, m, s, hidden, secret, money, class) values "
      "(E'tab\\there\\nline \\\\ back', 1.50, 0.1::float8 + 0.2, '2024-02-03 04:05:06.789+02', '-1 mon 2 days 03:04', "
      " '\\x00ff', 'null', 'null', '[0:1]={1,2}', 'sad', 'short', 'hidden', 'secret', 12.34, 'pg_class'), "
      "('', 'NaN', '-infinity', 'infinity', '1 year', '', '{\"a\" : \"\\u0000\"}', '[1]', '{}', 'glad', '', 'h', 's', "
      "0, null), "
      "('\\N', null, null, null, null, null, null, null, null, null, null, null, null, null, null), "
      "('not this one', 0, 0, now(), '0', '', '1', '1', '{1}', 'sad', 'x', 'h', 's', 1, null)");
  rowrelay_ok(&f, "capture", "\"Odd One\"", "--to", "w", "--create", "--exclude", "hidden", "--mask", "secret=***",
              "--where", "\"a b\" <> 'not this one'", NULL);
  rowrelay_ok(&f, "capture", "part", "parent", "--to", "w", "--create", NULL);
  const char *output = rowrelay_ok(&f, "backfill", "\"Odd One\"", "part", "parent", "--to", "w", NULL);
  cr_expect(strstr(output, "\"Odd One\": 3 rows copied to w") != NULL, "%s", output);
  same_rows(&f,
            "(select id, \"a b\", n, f, at, d, b, j::text, jb, list, m, s, twice, money, class::text from \"Odd One\" "
            "where \"a b\" <> 'not this one')",
            "(select id, \"a b\", n, f, at, d, b, j::text, jb, list, m, s, twice, money, class::text from \"Odd One\")",
            "id");
  cr_expect_str_eq(ask(f.at_target, "select string_agg(distinct secret, ',') from \"Odd One\""), "***");
  same_rows(&f, "part", "part", "id");
  same_rows(&f, "parent", "parent", "id");
  /* The rows come again, as changes. */
  sql(f.at_target, "create table copied as select * from \"Odd One\"");
  sql(f.at_source, "update \"Odd One\" set n = n");
  mirrored_deliver(&f);
  cr_expect_str_eq(
      ask(f.at_target, "select c::text from copied as c except select o::text from \"Odd One\" as o limit 1"), "");

  /* Only some of them. */
  sql(f.at_target, "truncate part");
  output = rowrelay_ok(&f, "backfill", "part", "--to", "w", "--where", "id > 15", NULL);
  cr_expect(strstr(output, "part: 5 rows copied to w") != NULL, "%s", output);
  cr_expect_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from part"), "16 17 18 19 20");
  fixture_end(&f);
}
