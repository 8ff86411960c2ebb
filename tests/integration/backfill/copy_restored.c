/* A table is being copied when a dump of the source is made, which is restored elsewhere. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mirrored.h"

static void dump(struct fixture *f) {
  char command[1024];
  snprintf(command, sizeof command, "$(tests/support/pg.sh bin)/pg_dump '%s' >/tmp/rowrelay-%d.dump", f->source,
           (int)getpid());
  cr_assert(system(command) == 0);
}

/* Drops table item and everything of rowrelay, and `more`. */
static void restore(struct fixture *f, const char *more) {
  char command[2048];
  snprintf(command, sizeof command,
           "bin=$(tests/support/pg.sh bin); $bin/psql -XAtqc 'drop schema rowrelay cascade; drop table item; %s' '%s' "
           ">/dev/null 2>&1 && $bin/psql -XAtqf /tmp/rowrelay-%d.dump '%s' >/dev/null 2>&1; rm /tmp/rowrelay-%d.dump",
           more, f->source, (int)getpid(), f->source, (int)getpid());
  cr_assert(system(command) == 0);
}

/* Transactions have smaller numbers there than in the snapshot of the copy: that is put here in the place of it. */
Test(copy_restored, what_is_written_after_a_restore_does_not_count_as_copied) {
  struct fixture f;
  mirrored_begin(&f, "copy_restored",
                 "create table item (id int primary key, v text);"
                 "insert into item select n, 'first' from generate_series(1, 100) as n;"
                 "create function wait_at_gate() returns trigger language plpgsql as "
                 "'begin perform pg_advisory_xact_lock(4711); return new; end'");
  needs_pg_dump(f.at_source);
  mirrored_capture(&f, "item");
  sql(f.at_source, "create trigger gate before update on rowrelay.backfill for each row "
                   "when (new.state = 'done') execute function wait_at_gate()");
  PGconn *gate = connect_to(f.source, NULL);
  sql(gate, "begin; select pg_advisory_xact_lock(4711)");
  sql(f.at_source, "select rowrelay.backfill('item', 'w')");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_source, "t", 20, "select exists (select from pg_locks where locktype = 'advisory' and not granted)");
  cr_assert_str_eq(ask(f.at_source, "select concat(state, snapshot is not null) from rowrelay.backfill"), "joiningt");
  dump(&f);
  stop_process(process, SIGKILL);
  PQfinish(gate);
  wait_until(f.at_source, "0", 20,
             "select count(*) from pg_stat_activity where application_name ~ '^rowrelay' and datname = "
             "current_database()");
  restore(&f, "drop function wait_at_gate");
  sql(f.at_source, "drop trigger gate on rowrelay.backfill;"
                   "update rowrelay.backfill set snapshot = '99999999:99999999:' where state = 'joining';"
                   "update item set v = 'new' where id < 3; delete from item where id = 3");
  rowrelay_ok(&f, "resume", "--here", NULL);
  mirrored_deliver(&f);
  wait_until_empty(&f, 20);
  same_rows(&f, "item", "item", "id");
  cr_expect_str_eq(ask(f.at_target, "select count(*) from item where v = 'new'"), "2");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(distinct state, '') from rowrelay.backfill"), "done");
  fixture_end(&f);
}

/* Transactions had larger numbers before than those of the snapshot: they are put here in the place of theirs. */
Test(copy_restored, what_was_queued_before_a_restore_does_not_come_over_a_later_copy) {
  struct fixture f;
  mirrored_begin(&f, "copy_before",
                 "create table item (id int primary key, v text);"
                 "insert into item select n, 'first' from generate_series(1, 100) as n");
  needs_pg_dump(f.at_source);
  mirrored_capture(&f, "item");
  sql(f.at_source, "update item set v = 'second'");
  dump(&f);
  restore(&f, "");
  sql(f.at_source, "update rowrelay.change set txid = '99999999';"
                   "update item set v = 'new' where id < 3; delete from item where id = 3;"
                   "select rowrelay.skip_lost_ids(is_here => true); select rowrelay.backfill('item', 'w');"
                   "select rowrelay.copy_switch(id) from rowrelay.backfill;"
                   "select rowrelay.copy_hold(id, null, 1000000) from rowrelay.backfill");
  mirrored_deliver(&f);
  wait_until_empty(&f, 20);
  cr_expect_str_eq(ask(f.at_source, "select string_agg(concat(state, ' ', way), '') from rowrelay.backfill"),
                   "done copy");
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

/* The sequence is set back under its feet. */
Test(copy_restored, an_application_that_stays_connected_takes_no_id_twice) {
  struct fixture f;
  mirrored_begin(&f, "copy_connected", "create table item (id int primary key, v text)");
  needs_pg_dump(f.at_source);
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1, 'first')");
  dump(&f);
  sql(f.at_source, "insert into item values (2, 'lost')");
  restore(&f, "");
  sql(f.at_source, "insert into item values (3, 'new')");
  cr_expect(ask_number(f.at_source, "select max(id) from rowrelay.change where key = '3'") > 1000000000);
  fixture_end(&f);
}

/* Two new servers give the same oids to what is restored there, in the same order. */
Test(copy_restored, a_second_move_to_a_new_server_is_noticed_though_all_oids_are_the_same) {
  struct fixture f;
  mirrored_begin(&f, "copy_moved_twice", "create table item (id int primary key)");
  mirrored_capture(&f, "item");
  mirrored_deliver(&f);
  static const char LIFE[] = "select coalesce(rowrelay.another_life(), 'the same')";
  static const char AFTER[] =
      "select concat(restored_id > 0, rowrelay.log_mark() = '%s', rowrelay.another_life()) from rowrelay.source";
  cr_assert_str_eq(ask(f.at_source, LIFE), "the same");
  char mark[64];
  snprintf(mark, sizeof mark, "%s", ask(f.at_source, "select rowrelay.log_mark()"));
  /* As pg_upgrade leaves it: a newer server that goes on from the same transactions. */
  sql(f.at_source, "update rowrelay.source set server[1] = '1' || server[1], server[3] = '9'");
  cr_expect_str_eq(ask(f.at_source, LIFE), "upgraded or copied");
  cr_expect_str_eq(sql_fails(f.at_source, "select rowrelay.skip_lost_ids()"), "RR002");
  sql(f.at_source, "select rowrelay.skip_lost_ids(is_here => true)");
  cr_expect_str_eq(ask(f.at_source, AFTER, mark), "ft");
  /* As a restore into a new server, which has had fewer transactions, or is of the same version. */
  sql(f.at_source, "update rowrelay.source set server[1] = '1' || server[1], server[3] = '9';"
                   "update rowrelay.server_start set next_txid = '99999999'");
  cr_expect_str_eq(ask(f.at_source, LIFE), "restored or copied");
  sql(f.at_source, "delete from rowrelay.server_start; select setval('rowrelay.server_run', 1);"
                   "update rowrelay.source set server[1] = '2' || server[1]");
  sql(f.at_source, "update rowrelay.source set server[3] = current_setting('server_version_num')::int / 10000");
  cr_expect_str_eq(ask(f.at_source, LIFE), "restored or copied");
  cr_expect_str_neq(ask(f.at_source, "select rowrelay.log_mark()"), mark);
  sql(f.at_source, "select rowrelay.skip_lost_ids(is_here => true)");
  cr_expect_str_eq(ask(f.at_source, AFTER, mark), "tf");
  fixture_end(&f);
}
