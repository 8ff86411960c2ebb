/*
 * Finding the changes of a key and of a transaction: always exactly what the log has, whatever is open, late, rolled
 * back or prepared while ticks are taken, and when none are taken. Moments inside of a tick are held by locks.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "past.h"
#include "writers.h"

/*
 * wrong(relation): the first difference between what lookups give and what the whole log says, read in one snapshot; ''
 * for none. unindexed(): how many changes are not once in the index, or are there without being in the log.
 */
static const char TRUTH[] =
    "create function wrong(relation regclass) returns text language plpgsql stable as $$"
    "declare"
    "  truth record;"
    "  found bigint[];"
    "begin"
    "  for truth in select c.key, array_agg(c.id order by c.id desc) as ids, count(distinct c.day) as days"
    "                 from rowrelay.change c join rowrelay.capture k on k.id = c.capture and k.relation = "
    "wrong.relation"
    "                where c.op = 't' or c.key is not null and c.op not in ('b', 'r') group by c.key loop"
    "    if truth.key is null then"
    "      select array_agg(f.change_id) into found from rowrelay.truncates_of(relation) as f;"
    "    else"
    "      select array_agg(f.change_id order by f.n) into found"
    "        from rowrelay.changes_of_key(relation, truth.key) with ordinality as f(change_id, day, n)"
    "        join rowrelay.change c on c.id = f.change_id and c.day = f.day;"
    "    end if;"
    "    if found is distinct from truth.ids then"
    "      return format('key %s: %s instead of %s', truth.key, found, truth.ids);"
    "    end if;"
    "  end loop;"
    "  for truth in select c.txid, array_agg(c.id order by c.id) as ids from rowrelay.change c group by c.txid loop"
    "    select array_agg(f.change_id order by f.n) into found"
    "      from rowrelay.changes_of_transaction(truth.txid) with ordinality as f(change_id, day, n)"
    "      join rowrelay.change c on c.id = f.change_id and c.day = f.day;"
    "    if found is distinct from truth.ids then"
    "      return format('transaction %s: %s instead of %s', truth.txid, found, truth.ids);"
    "    end if;"
    "  end loop;"
    "  return '';"
    "end $$;"
    "create function unindexed() returns bigint language sql as $$"
    "  select count(*)"
    "    from (select c.id from rowrelay.change c where c.op = 't' or c.key is not null and c.op not in ('b', 'r')) as "
    "c"
    "    full join (select k.change_id as id, count(*) as n from rowrelay.change_key k group by k.change_id) as k "
    "using (id)"
    "   where k.n is distinct from 1 or c.id is null"
    "$$";

/* Table item is captured, and nothing runs. */
static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "%s", TRUTH);
  sql(f->at_source, "create table item (id int primary key, n int); select rowrelay.capture_table('item');"
                    "insert into item select n, 0 from generate_series(1, 20) as n");
}

static void change(PGconn *connection, int key) {
  sql(connection, "update item set n = n + 1 where id = %d", key);
}

static void tick(struct fixture *f) {
  sql(f->at_source, "select rowrelay.tick(at_once => true)");
}

/* As one who is in a transaction sees it, and as everybody else does. */
static void check_as(PGconn *connection, const char *moment) {
  const char *wrong = ask(connection, "select wrong('item')");
  cr_assert_str_eq(wrong, "", "%s: %s", moment, wrong);
}

static void check(struct fixture *f, const char *moment) {
  check_as(f->at_source, moment);
}

/* After a last tick everything is in the index, once, and the tick does not wait for anybody any more. */
static void check_index(struct fixture *f) {
  tick(f);
  cr_assert_str_eq(ask(f->at_source, "select unindexed()"), "0");
  cr_assert_str_eq(ask(f->at_source, "select writers from rowrelay.tick order by id desc limit 1"), "{}");
  check(f, "at the end");
}

/* ---- transactions that are open when ticks are taken ----------------------------------------------------------- */

Test(lookup, without_any_tick_everything_is_found) {
  struct fixture f;
  begin(&f, "lookup_none");
  change(f.at_source, 1);
  sql(f.at_source, "update item set n = -1 where id < 5; delete from item where id = 3; truncate item;"
                   "insert into item values (3, 3); update item set id = 4");
  check(&f, "without ticks");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.tick"), "0");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.changes_of_key('item', '3')"), "5");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.truncates_of('item')"), "1");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.changes_of_key('item', null)"), "0");
  check_index(&f);
  fixture_end(&f);
}

Test(lookup, a_transaction_over_several_ticks_is_found_when_it_commits) {
  struct fixture f;
  begin(&f, "lookup_open");
  PGconn *late = connect_to(f.source, NULL);
  change(f.at_source, 1);
  sql(late, "begin");
  change(late, 2);
  for (int i = 0; i < 3; i++) {
    change(f.at_source, 1);
    tick(&f);
    check(&f, "while it is open");
    check_as(late, "as it sees itself");
    if (i == 1)
      change(late, 2);
  }
  sql(late, "commit");
  check(&f, "committed, and no tick knows");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.changes_of_key('item', '2')"), "3");
  check_index(&f);
  PQfinish(late);
  fixture_end(&f);
}

Test(lookup, what_is_rolled_back_is_not_found_and_not_waited_for) {
  struct fixture f;
  begin(&f, "lookup_rollback");
  PGconn *late = connect_to(f.source, NULL);
  sql(late, "begin");
  change(late, 2);
  sql(late, "savepoint s");
  change(late, 3);
  tick(&f);
  sql(late, "rollback to s");
  change(late, 4);
  change(f.at_source, 1);
  tick(&f);
  sql(late, "rollback");
  check(&f, "rolled back");
  check_index(&f);
  PQfinish(late);
  fixture_end(&f);
}

Test(lookup, a_prepared_transaction_is_found_when_it_is_committed) {
  struct fixture f;
  own_server("source", "max_prepared_transactions=10");
  begin(&f, "lookup_prepared");
  PGconn *late = connect_to(f.source, NULL);
  sql(late, "begin");
  change(late, 2);
  tick(&f);
  change(late, 3);
  sql(late, "prepare transaction 'lookup_prepared'");
  PQfinish(late);
  for (int i = 0; i < 3; i++) {
    change(f.at_source, 1);
    tick(&f);
    check(&f, "prepared");
  }
  sql(f.at_source, "commit prepared 'lookup_prepared'");
  check(&f, "committed");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.changes_of_key('item', '3')"), "2");
  check_index(&f);
  fixture_end(&f);
}

Test(lookup, an_open_transaction_that_writes_nothing_costs_nothing) {
  struct fixture f;
  begin(&f, "lookup_idle");
  PGconn *idle = connect_to(f.source, NULL);
  sql(f.at_source, "create table other (id int)");
  sql(idle, "begin; insert into other values (1)");
  for (int i = 0; i < 5; i++) {
    change(f.at_source, 1);
    tick(&f);
    cr_assert_str_eq(ask(f.at_source, "select writers from rowrelay.tick order by id desc limit 1"), "{}");
  }
  sql(idle, "commit");
  cr_assert_str_eq(ask(f.at_source, "select rowrelay.tick(at_once => true)"), "0", "it has looked back");
  check_index(&f);
  PQfinish(idle);
  fixture_end(&f);
}

Test(lookup, a_process_that_ticks_is_not_waited_for_by_another) {
  struct fixture f;
  begin(&f, "lookup_two");
  PGconn *slow = connect_to(f.source, NULL);
  change(f.at_source, 1);
  sql(slow, "begin; select rowrelay.tick(at_once => true)");
  change(f.at_source, 1);
  cr_assert_str_eq(ask(f.at_source, "select rowrelay.tick(at_once => true)"), "0");
  check(&f, "while another ticks");
  change(slow, 2);
  change(f.at_source, 3);
  check_as(slow, "as it sees itself");
  sql(slow, "commit");
  check(&f, "after it");
  change(f.at_source, 1);
  sql(slow, "begin; select rowrelay.tick(at_once => true); rollback");
  check_index(&f);
  PQfinish(slow);
  fixture_end(&f);
}

Test(lookup, a_role_without_rights_cannot_stop_ticks) {
  struct fixture f;
  begin(&f, "lookup_stranger");
  sql(f.at_source, "create role lookup_stranger login; create role lookup_reader login; "
                   "grant usage on schema rowrelay to lookup_reader; grant select on rowrelay.tick to lookup_reader");
  PGconn *stranger = connect_to(f.source, "user=lookup_stranger");
  PGconn *reader = connect_to(f.source, "user=lookup_reader");
  sql(stranger, "select pg_advisory_lock_shared(x'726f7774'::integer, 0)");
  sql(reader, "begin; lock rowrelay.tick in access share mode");
  cr_assert_str_eq(sql_fails(stranger, "begin; lock rowrelay.tick in access share mode"), "42501");
  change(f.at_source, 1);
  tick(&f);
  cr_assert_str_eq(ask(f.at_source, "select count(*) > 0 from rowrelay.tick"), "t");
  PQfinish(stranger);
  cr_assert_str_eq(sql_fails(reader, "lock rowrelay.tick in share update exclusive mode"), "42501");
  PQfinish(reader);
  sql(f.at_source, "drop owned by lookup_reader; drop role lookup_stranger, lookup_reader");
  fixture_end(&f);
}

Test(lookup, a_tick_is_refused_where_it_would_be_wrong) {
  struct fixture f;
  begin(&f, "lookup_refused");
  sql(f.at_source, "begin isolation level repeatable read");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.tick()"), "25001");
  sql(f.at_source, "rollback; begin");
  change(f.at_source, 1);
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.tick()"), "25001");
  sql(f.at_source, "rollback");
  fixture_end(&f);
}

/* ---- inside of a tick ------------------------------------------------------------------------------------------ */

/* From here on a tick waits before it lists the writers until lock 1 is free, and after it until lock 2 is. */
static void hold_ticks(struct fixture *f) {
  sql(f->at_source,
      "alter function rowrelay.writing_xids() rename to listed_xids;"
      "create function rowrelay.writing_xids(out xids xid8[], out nameless boolean) language plpgsql as $$ begin"
      "  perform pg_advisory_lock(1); perform pg_advisory_unlock(1);"
      "  select l.xids, l.nameless into xids, nameless from rowrelay.listed_xids() as l;"
      "  perform pg_advisory_lock(2); perform pg_advisory_unlock(2);"
      "end $$");
}

/* Starts a tick and lets it come to lock 1. `holder` has both locks. */
static PGconn *begin_tick(struct fixture *f, PGconn *holder) {
  PGconn *ticker = connect_to(f->source, NULL);
  sql(holder, "select pg_advisory_lock(1), pg_advisory_lock(2)");
  start(ticker, "select rowrelay.tick(at_once => true)");
  wait_until_blocked(f->at_source, ticker, 10);
  return ticker;
}

/* On to lock 2. */
static void let_it_list(struct fixture *f, PGconn *holder, PGconn *ticker) {
  sql(holder, "select pg_advisory_unlock(1)");
  wait_until(f->at_source, "1", 10,
             "select count(*) from pg_locks where pid = %d and locktype = 'advisory' and not granted and objid = 2",
             PQbackendPID(ticker));
}

static void end_tick(PGconn *holder, PGconn *ticker) {
  sql(holder, "select pg_advisory_unlock(2)");
  finish(ticker);
  PQfinish(ticker);
}

Test(lookup, whatever_is_written_and_committed_while_a_tick_is_taken_is_found) {
  struct fixture f;
  begin(&f, "lookup_inside");
  PGconn *holder = connect_to(f.source, NULL);
  PGconn *early = connect_to(f.source, NULL); /* writes before, commits inside */
  PGconn *named = connect_to(f.source, NULL); /* has written elsewhere, and takes its change's id before the list */
  PGconn *after = connect_to(f.source, NULL); /* takes its change's id after the list */
  PGconn *long_one = connect_to(f.source, NULL);
  hold_ticks(&f);
  change(f.at_source, 1);
  sql(early, "begin");
  change(early, 2);
  sql(long_one, "begin");
  change(long_one, 5);
  sql(named, "begin; create temporary table t (id int)");

  PGconn *ticker = begin_tick(&f, holder);
  change(named, 3);
  let_it_list(&f, holder, ticker);
  sql(after, "begin");
  change(after, 4);
  sql(early, "commit");
  change(f.at_source, 6);
  end_tick(holder, ticker);

  check(&f, "after the tick");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.change_key"), "23",
                   "what was committed inside is in the index, and nothing else");
  sql(named, "commit");
  sql(after, "commit");
  check(&f, "committed after the tick");
  ticker = begin_tick(&f, holder);
  sql(long_one, "commit");
  let_it_list(&f, holder, ticker);
  end_tick(holder, ticker);
  check(&f, "committed in the next tick");
  check_index(&f);
  PQfinish(early), PQfinish(named), PQfinish(after), PQfinish(long_one), PQfinish(holder);
  fixture_end(&f);
}

/* As rowrelay.requeue_absent() does: the lock first, then the id, and a transaction id only at the end. */
Test(lookup, an_id_taken_by_a_transaction_without_a_name_is_found) {
  struct fixture f;
  begin(&f, "lookup_nameless");
  PGconn *nameless = connect_to(f.source, NULL);
  change(f.at_source, 1);
  tick(&f);
  sql(nameless, "begin; lock table only rowrelay.change in row exclusive mode; select nextval('rowrelay.change_id')");
  for (int i = 0; i < 3; i++) {
    change(f.at_source, 1);
    tick(&f);
    check(&f, "while it has no name");
  }
  sql(nameless, "insert into rowrelay.change (id, txid, captured_at, day, capture, op, key) values "
                "(currval('rowrelay.change_id'), pg_current_xact_id(), now(), rowrelay.partition_day(), 1, 'd', '2')");
  tick(&f);
  check(&f, "while it has a name");
  sql(nameless, "commit");
  check(&f, "committed");
  check_index(&f);
  PQfinish(nameless);
  fixture_end(&f);
}

/* ---- pieces, days, hashes -------------------------------------------------------------------------------------- */

Test(lookup, a_tick_in_pieces_is_right_after_each_piece) {
  struct fixture f;
  begin(&f, "lookup_pieces");
  PGconn *late = connect_to(f.source, NULL);
  sql(late, "begin");
  change(late, 2);
  sql(f.at_source, "update item set n = 1 where id > 5");
  tick(&f);
  sql(f.at_source, "update item set n = 2 where id > 5");
  sql(late, "commit");
  int pieces = 0;
  while (ask_number(f.at_source, "select rowrelay.tick(max_rows => 4, at_once => true)") == 4) {
    check(&f, "after a piece");
    if (++pieces == 2)
      change(f.at_source, 2);
  }
  cr_assert(pieces > 5);
  check_index(&f);
  PQfinish(late);
  fixture_end(&f);
}

Test(lookup, days_of_the_past_are_found) {
  struct fixture f;
  begin(&f, "lookup_days");
  for (int days_ago = 70; days_ago > 0; days_ago -= 23) {
    change(f.at_source, 1);
    if (days_ago != 24)
      tick(&f);
    past_move(f.at_source, days_ago);
    past_close(f.at_source);
    check(&f, "on the next day");
  }
  change(f.at_source, 1);
  check_index(&f);
  cr_assert_str_eq(ask(f.at_source, "select count(distinct day) from rowrelay.changes_of_key('item', '1')"), "5");

  /* A day that comes back when its month has gone. */
  sql(f.at_source, "delete from rowrelay.change_key where day = current_date - 70");
  sql(f.at_source, "select rowrelay.index_day(current_date - 70)");
  check_index(&f);

  sql(f.at_source, "delete from rowrelay.tick where id < (select max(id) - 1 from rowrelay.tick)");
  check(&f, "old ticks are gone");
  fixture_end(&f);
}

Test(lookup, keys_with_the_same_hash_are_told_apart) {
  struct fixture f;
  begin(&f, "lookup_hash");
  sql(f.at_source, "create or replace function rowrelay.key_hash(capture_id integer, key text) returns integer "
                   "language sql immutable as 'select 1'");
  sql(f.at_source, "create table note (what text primary key); select rowrelay.capture_table('note');"
                   "insert into note values (''), ('1'), ('null'); truncate note; delete from item where id = 1");
  check_index(&f);
  cr_assert_str_eq(ask(f.at_source, "select wrong('note')"), "");
  fixture_end(&f);
}

Test(lookup, a_log_restored_from_a_dump_is_found_although_transactions_have_other_numbers) {
  struct fixture f;
  begin(&f, "lookup_restored");
  PGconn *late = connect_to(f.source, NULL);
  change(f.at_source, 1);
  tick(&f);
  sql(late, "begin");
  change(late, 2);
  tick(&f);
  sql(late, "commit");
  change(f.at_source, 3);
  /* The server it came from was older by a million transactions. */
  sql(f.at_source, "update rowrelay.change set txid = (txid::text::bigint + 1000000)::text::xid8;"
                   "update rowrelay.tick t set"
                   "  writers = array(select (w::text::bigint + 1000000)::text::xid8 from unnest(t.writers) as w),"
                   "  snapshot = format('%%s:%%s:%%s', pg_snapshot_xmin(snapshot)::text::bigint + 1000000,"
                   "                    pg_snapshot_xmax(snapshot)::text::bigint + 1000000,"
                   "                    (select string_agg((x::text::bigint + 1000000)::text, ',') from "
                   "pg_snapshot_xip(snapshot) as x)"
                   "                    )::pg_snapshot");
  check(&f, "restored");
  change(f.at_source, 2);
  check(&f, "goes on");
  tick(&f);
  check(&f, "after a tick");
  change(f.at_source, 3);
  tick(&f);
  check(&f, "after another tick");
  /* A transaction here that has the number of an earlier one there. */
  sql(f.at_source, "update rowrelay.change set txid = (select txid from rowrelay.change where txid < "
                   "pg_snapshot_xmax(pg_current_snapshot()) order by txid desc limit 1) where id = 21");
  sql(f.at_source, "update rowrelay.tick set snapshot = format('%%s:%%1$s:', id * 100000 + "
                   "pg_snapshot_xmax(pg_current_snapshot())::text::bigint)::pg_snapshot where id <= 2");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.changes_of_transaction((select txid from "
                                    "rowrelay.change where id = 21))"),
                   "2");
  PQfinish(late);
  fixture_end(&f);
}

/* ---- at work --------------------------------------------------------------------------------------------------- */

Test(lookup, random_writers_and_two_tickers_leave_nothing_out) {
  struct fixture f;
  struct writers writers;
  fixture_begin(&f, "lookup_random");
  sql(f.at_source, "%s", TRUTH);
  writers_make_tables(f.at_source);
  sql(f.at_source, "select rowrelay.capture_table('stock'), rowrelay.capture_table('ledger')");
  writers_fill_tables(f.at_source, 40);
  PGconn *tickers[] = {connect_to(f.source, NULL), connect_to(f.source, NULL)};
  for (int i = 0; i < 2; i++)
    start(tickers[i],
          "do $$ begin for i in 1..400 loop"
          "  perform rowrelay.tick(max_rows => %d, at_once => true); commit; perform pg_sleep(0.01 * random());"
          " end loop; end $$",
          i == 0 ? 7 : 200);
  writers_start(&writers, f.source, 6, 900, 5, 40);
  int checks = 0;
  for (; !writers_are_done(&writers) || is_running(tickers[0]) || is_running(tickers[1]); checks++) {
    const char *wrong = ask(f.at_source, "select wrong('stock')");
    cr_assert_str_eq(wrong, "", "check %d: %s", checks, wrong);
  }
  writers_finish(&writers, 60);
  cr_assert(checks > 2, "there was nothing to see");
  for (int i = 0; i < 2; i++) {
    finish(tickers[i]);
    PQfinish(tickers[i]);
  }
  double until = seconds_now() + 60; /* a tick waits for transactions of all databases of the server */
  do
    sql(f.at_source, "select rowrelay.tick(at_once => true)");
  while (ask_number(f.at_source, "select unindexed()") > 0 && seconds_now() < until);
  cr_assert_str_eq(ask(f.at_source, "select unindexed()"), "0");
  cr_assert_str_eq(ask(f.at_source, "select wrong('stock')"), "");
  fixture_end(&f);
}

Test(lookup, a_running_process_ticks) {
  struct fixture f;
  begin(&f, "lookup_run");
  pid_t processes[] = {fixture_run(&f, "--workers", "1", NULL), fixture_run(&f, "--workers", "1", NULL)};
  sql(f.at_source, "insert into item select n, 0 from generate_series(101, 25100) as n");
  wait_until(f.at_source, "0", 30, "select unindexed()");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.change_key"), "25020");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.changes_of_key('item', '20000')"), "1");
  for (int i = 0; i < 2; i++)
    cr_assert(stop_process(processes[i], SIGTERM) == 0);
  fixture_end(&f);
}

/* What delays rows on their way to a target is not for the readers of the history. */
Test(lookup, a_backlog_is_delivered_before_it_is_indexed) {
  struct fixture f;
  begin(&f, "lookup_backlog");
  rowrelay_ok(&f, "target", "add", "slow", f.target_url, "--option", "batch_rows=1000", NULL);
  rowrelay_ok(&f, "route", "item", "slow", "--create", NULL);
  sql(f.at_source, "insert into item select n, 0 from generate_series(101, 110) as n");
  rowrelay_ok(&f, "run", "--target", "slow", "--until-empty", NULL);
  sql(f.at_target, "create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(0.1); return "
                   "null; end'");
  sql(f.at_target, "create trigger slow after insert on item execute function slow()");
  sql(f.at_source, "insert into item select n, 0 from generate_series(111, 40110) as n");
  double since = seconds_now();
  pid_t process = fixture_run(&f, "--target", "slow", "--workers", "1", NULL);
  wait_until(f.at_target, "t", 60, "select count(*) > 20000 from item");
  int64_t indexed = ask_number(f.at_source, "select count(*) from rowrelay.change_key");
  int64_t allowed = 10000 * (2 + (int64_t)((seconds_now() - since) / 10));
  cr_expect(indexed <= allowed, "%lld changes were indexed", (long long)indexed);
  wait_until(f.at_target, "40010", 60, "select count(*) from item where id > 100");
  wait_until(f.at_source, "0", 30, "select unindexed()");
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

/* ---- what people read ------------------------------------------------------------------------------------------ */

Test(lookup, the_life_of_a_row_says_what_each_change_did) {
  struct fixture f;
  begin(&f, "lookup_life");
  sql(f.at_source, "truncate item; insert into item values (3, 0); update item set n = 7 where id = 3; update item set "
                   "id = 30 where id = 3");
  tick(&f);
  sql(f.at_source, "insert into item values (3, 1); truncate item; insert into item values (3, 2);"
                   "update item set n = 3; delete from item");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', op, changed), ', ' order by change_id desc) "
                                    "from rowrelay.history_of('item', '3')"),
                   "delete, update {\"n\": [2, 3]}, insert, truncate, insert, delete, update {\"n\": [0, 7]}, insert, "
                   "truncate, insert");
  cr_assert_str_eq(ask(f.at_source, "select array_agg(change_id) = array_agg(change_id order by change_id desc) "
                                    "from rowrelay.history_of('item', '3')"),
                   "t", "the newest is not first");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', op, changed), ', ' order by change_id desc) "
                                    "from rowrelay.history_of('item', '30')"),
                   "truncate, insert");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.history_of('item', 'no such')"), "0");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.history_of('pg_class', '1')"), "42704");
  fixture_end(&f);
}

Test(lookup, a_transaction_is_shown_with_all_its_tables) {
  struct fixture f;
  begin(&f, "lookup_transaction");
  sql(f.at_source, "create table note (id int primary key); select rowrelay.capture_table('note')");
  sql(f.at_source, "begin; insert into note values (1); update item set n = 5 where id = 1; truncate note; commit");
  for (int i = 0; i < 2; i++) {
    cr_assert_str_eq(ask(f.at_source,
                         "select string_agg(format('%%s %%s', op, relation), ', ') from "
                         "rowrelay.transaction((select txid from rowrelay.change order by txid desc limit 1))"),
                     "insert note, update item, truncate note");
    tick(&f);
  }
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.transaction('3')"), "0");
  fixture_end(&f);
}

Test(lookup, a_key_is_found_as_a_person_writes_it) {
  struct fixture f;
  fixture_begin(&f, "lookup_spelling");
  sql(f.at_source,
      "create table line (id int, item text, primary key (id, item)); create table price (n numeric primary key);"
      "create table word (word text primary key);"
      "select rowrelay.capture_table(r) from unnest('{line, price, word}'::regclass[]) as r;"
      "insert into line values (1, 'a b'); insert into price values (1.50); insert into word values ('[1,2]')");
  static const char *const keys[][2] = {
      {"line", "[1, \"a b\"]"}, {"line", "[1,\"a b\"]"}, {"price", "1.5"}, {"price", "1.50"}, {"word", "[1,2]"}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.history_of('%s', '%s')", keys[i][0], keys[i][1]) ==
                  1,
              "%s", keys[i][1]);
    const char *said = rowrelay_ok(&f, "log", keys[i][0], keys[i][1], NULL);
    cr_expect(strstr(said, "insert") != NULL, "%s: %s", keys[i][1], said);
  }
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.history_of('word', '[1, 2]')") == 0);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.history_of('line', 'nonsense')") == 0);
  fixture_end(&f);
}
