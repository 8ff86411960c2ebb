/* While a table's rows are read for a target, writers are not held up, and who holds up the backfill is named. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>

#include "backfilled.h"
#include "mirrored.h"

/*
 * Updates rows of item at random, one transaction each, until `process` ends; gives the longest time that one took, as
 * a share of the whole time.
 */
static double longest_write(struct fixture *f, pid_t process, int rows) {
  PGconn *writer = connect_to(f->source, NULL);
  double longest = 0;
  double began = seconds_now();
  int64_t writes = 0;
  sql(writer, "prepare w as update item set name = 'new' where id = 1 + floor(random() * %d)", rows);
  while (still_runs(process, 0)) {
    for (int i = 0; i < 20; i++) {
      double before = seconds_now();
      sql(writer, "execute w");
      double took = seconds_now() - before;
      longest = took > longest ? took : longest;
      writes++;
    }
  }
  PQfinish(writer);
  cr_assert(writes > 100);
  return longest / (seconds_now() - began);
}

Test(backfill_writers, a_writer_waits_for_one_piece_at_most) {
  struct fixture f;
  backfilled_begin(&f, "backfill_wait", 80000);
  pid_t process = fixture_start(&f, "backfill", "item", "--to", "w", "--no-copy", NULL);
  double longest = longest_write(&f, process, 80000);
  cr_expect(longest < 0.5, "a write took %.0f %% of the backfill", 100 * longest);
  cr_expect_str_eq(ask(f.at_source, "select state || ' ' || rows from rowrelay.backfills"), "done 80000");
  fixture_end(&f);
}

Test(backfill_writers, a_row_that_is_locked_for_long_holds_up_the_backfill_and_nobody_else) {
  struct fixture f;
  backfilled_begin(&f, "backfill_long", 2000);
  PGconn *holder = connect_to(f.source, NULL);
  sql(holder, "begin; select from item where id = 1500 for update");
  pid_t process = fixture_start(&f, "backfill", "item", "--to", "w", "--no-copy", NULL);
  wait_until(f.at_source, "1499", PATIENCE, "select rows from rowrelay.backfills");
  sql(f.at_source, "set lock_timeout to '600ms'");
  for (int i = 0; i < 30; i++) {
    sql(f.at_source, "update item set name = 'new' where id between 1400 and 1499");
    sql(f.at_source, "update item set name = 'new' where id between 1501 and 1600");
    sleep_seconds(0.02);
  }
  char words[64];
  snprintf(words, sizeof words, "waits for row 1500, locked by process %d", PQbackendPID(holder));
  wait_until_says(process, words, PATIENCE);
  sql(holder, "commit");
  cr_assert(wait_process(process, PATIENCE) == 0);
  mirrored_same(&f, "item");
  PQfinish(holder);
  fixture_end(&f);
}

Test(backfill_writers, a_table_that_is_locked_for_long_is_waited_for_without_holding_up_others) {
  struct fixture f;
  backfilled_begin(&f, "backfill_table", 2000);
  int64_t id = backfilled_registered(&f, "item", "null");
  backfilled_step(&f, id, 100);
  PGconn *holder = connect_to(f.source, NULL);
  sql(holder, "begin; lock table item in share mode"); /* as CREATE INDEX does */
  pid_t process = fixture_start(&f, "backfill", "item", "--to", "w", "--no-copy", NULL);
  char words[128];
  snprintf(words, sizeof words, "waits for table public.item, locked by process %d", PQbackendPID(holder));
  wait_until_says(process, words, PATIENCE);
  cr_expect_str_eq(ask(f.at_source, "set lock_timeout to '1s'; select count(*) from item"), "2000");
  sql(holder, "commit");
  cr_assert(wait_process(process, PATIENCE) == 0);
  mirrored_same(&f, "item");
  PQfinish(holder);
  fixture_end(&f);
}

/* Pieces follow each other closely, yet people and maintenance must get their locks on the table. */
Test(backfill_writers, a_table_can_be_captured_in_another_way_meanwhile) {
  struct fixture f;
  backfilled_begin(&f, "backfill_recapture", 30000);
  pid_t process = fixture_start(&f, "backfill", "item", "--to", "w", "--no-copy", "--rate", "10000", NULL);
  wait_until(f.at_source, "t", PATIENCE, "select rows > 500 from rowrelay.backfills");
  sql(f.at_source, "alter table item alter id type bigint, add secret text default 's'");
  sql(f.at_source, "select rowrelay.capture_table('item', exclude => '{secret}', lock_wait => '20 s')");
  sql(f.at_source, "update item set name = 'new' where id %% 100 = 0");
  cr_assert(wait_process(process, PATIENCE) == 0);
  backfilled_read_each_key_once(&f);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.change where op = 's'"), "30000");
  /* A key's type decides its lanes: rows read before and after must not overtake each other. */
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.change where op = 'b'"), "1");
  mirrored_deliver(&f);
  cr_expect_str_eq(ask(f.at_target, "select concat_ws(' ', count(*), count(*) filter (where name = 'new')) from item"),
                   "30000 300");
  fixture_end(&f);
}

Test(backfill_writers, rows_change_lanes_after_a_piece_and_not_under_it) {
  struct fixture f;
  backfilled_begin(&f, "backfill_lanes", 200);
  int64_t id = backfilled_registered(&f, "item", "null");
  PGconn *reader = connect_to(f.source, NULL);
  PGconn *other = connect_to(f.source, NULL);
  sql(reader, "begin; select rowrelay.backfill_step(%lld, 100)", (long long)id);
  start(other, "select rowrelay.capture_table('item', lane => '{name}')");
  sleep_seconds(0.5);
  cr_expect(is_running(other), "lanes have changed under a piece that is not committed yet");
  sql(reader, "commit");
  finish(other);
  cr_expect_str_eq(ask(f.at_source, "select (select max(id) from rowrelay.change where op = 's') < "
                                    "(select id from rowrelay.change where op = 'b')"),
                   "t");
  backfilled_to_the_end(&f, id, 100);
  mirrored_same(&f, "item");
  PQfinish(reader);
  PQfinish(other);
  fixture_end(&f);
}

/* A server of its own because preparing is not allowed by default. */
Test(backfill_writers, a_prepared_transaction_that_began_before_the_route_is_waited_for) {
  struct fixture f;
  own_server("source", "max_prepared_transactions=4");
  mirrored_begin(&f, "backfill_prepared", "create table item (id int primary key, name text)");
  rowrelay_ok(&f, "capture", "item", NULL);
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; insert into item values (1, 'early'); prepare transaction 'early'");
  rowrelay_ok(&f, "route", "item", "w", "--create", NULL);
  pid_t process = fixture_start(&f, "backfill", "item", "--to", "w", "--no-copy", NULL);
  wait_until_says(process, "before this began: a prepared transaction", PATIENCE);
  /* The transaction is still there, under another name. */
  restart_server("source", "fast");
  stop_process(process, SIGKILL);
  PQreset(f.at_source);
  process = fixture_start(&f, "backfill", "item", "--to", "w", "--no-copy", NULL);
  wait_until_says(process, "before this began: a prepared transaction", PATIENCE);
  sql(f.at_source, "commit prepared 'early'");
  cr_assert(wait_process(process, PATIENCE) == 0);
  mirrored_same(&f, "item");
  PQfinish(writer);
  fixture_end(&f);
}

Test(backfill_writers, it_is_held_to_its_rate) {
  struct fixture f;
  backfilled_begin(&f, "backfill_rate", 1000);
  double before = seconds_now();
  rowrelay_ok(&f, "backfill", "item", "--to", "w", "--no-copy", "--rate", "500", NULL);
  double took = seconds_now() - before;
  cr_expect(took > 1.5, "1000 rows took %.1f s", took);
  fixture_end(&f);
}

Test(backfill_writers, it_waits_while_much_of_it_is_not_delivered) {
  struct fixture f;
  backfilled_begin(&f, "backfill_backlog", 125000);
  pid_t process = fixture_start(&f, "backfill", "item", "--to", "w", "--no-copy", NULL);
  wait_until_says(process, "waits for the delivery of 100000 queued changes to target \"w\"", PATIENCE);
  int64_t rows = ask_number(f.at_source, "select rows from rowrelay.backfills");
  cr_expect(rows >= 100000 && rows <= 120000, "%lld rows were queued", (long long)rows);
  pid_t runner = fixture_run(&f, "--workers", "1", NULL);
  cr_assert(wait_process(process, PATIENCE) == 0);
  wait_until_empty(&f, PATIENCE);
  same_rows(&f, "item", "item", "id");
  cr_assert(stop_process(runner, SIGTERM) == 0);
  fixture_end(&f);
}
