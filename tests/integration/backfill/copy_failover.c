/* The source fails over while a table is copied as a whole, to a standby that does not know that it is at the target.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "mirrored.h"

static const char *standby_conninfo;

static void begin(struct fixture *f, const char *name) {
  own_server("source", NULL);
  standby_conninfo = own_standby();
  PGconn *standby = connect_to(standby_conninfo, NULL);
  fixture_begin(f, name);
  char primary[256];
  snprintf(primary, sizeof primary, "%s", PQhost(f->at_source));
  snprintf(f->source, sizeof f->source,
           "host=%s,%s port=5432,5432 user=postgres dbname=%s target_session_attrs=read-write", PQhost(standby),
           primary, f->name);
  PQfinish(standby);
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  static const char TABLES[] = "create table bare (v text, n int)";
  sql(f->at_source, TABLES);
  sql(f->at_target, TABLES);
  sql(f->at_source, "insert into bare select 'first', n from generate_series(1, 50) as n");
  rowrelay_ok(f, "capture", "bare", "--to", "w", NULL);
}

/* The standby gets no more of what its primary does. */
static void cut_off_standby(struct fixture *f) {
  wait_until(f->at_source, "t", 10, "select replay_lsn >= pg_current_wal_lsn() from pg_stat_replication");
  PGconn *standby = connect_to(standby_conninfo, NULL);
  sql(standby, "alter system set primary_conninfo = ''");
  sql(standby, "select pg_reload_conf()");
  PQfinish(standby);
  wait_until(f->at_source, "0", 10, "select count(*) from pg_stat_replication");
}

/* With changes in the waiting room the standby is cut off; then they are delivered, because the copy is cancelled. */
static void cancel_where_the_standby_sees_nothing_of_it(struct fixture *f) {
  PGconn *reader = connect_to(f->target, NULL);
  sql(reader, "begin; lock table bare in row exclusive mode");
  pid_t process = fixture_run(f, "--workers", "2", NULL);
  sql(f->at_source, "select rowrelay.backfill('bare', 'w')");
  wait_until(f->at_source, "copying", 20, "select state from rowrelay.backfill");
  sql(f->at_source, "insert into bare select 'waited', n from generate_series(1, 5) as n");
  cut_off_standby(f);
  sql(f->at_source, "select rowrelay.cancel_backfill('bare', 'w')");
  sql(reader, "commit");
  PQfinish(reader);
  wait_until(f->at_source, "cancelled", 20, "select state from rowrelay.backfill");
  wait_until_empty(f, 20);
  /* Two more batches: the target forgets what was settled before. */
  for (int i = 1; i <= 2; i++) {
    sql(f->at_source, "insert into bare values ('lost', %d)", i);
    wait_until_empty(f, 20);
  }
  cr_assert_eq(ask_number(f->at_target, "select count(*) from bare where v = 'waited'"), 5);
  cr_assert_eq(stop_process(process, SIGKILL), 128 + SIGKILL);
  fail_over();
  PQfinish(f->at_source);
  f->at_source = connect_to(f->source, NULL);
  cr_assert_str_eq(ask(f->at_source, "select state from rowrelay.backfill"), "copying");
}

static const char IS_NOT_EMPTY[] = "table public.bare in the target is not empty, and the table has no key: its "
                                   "changes wait until you empty it there; "
                                   "then all is copied";

Test(copy_failover, rows_without_a_key_that_waited_for_a_copy_and_were_delivered_do_not_come_again) {
  struct fixture f;
  begin(&f, "copy_failover_cancelled");
  cancel_where_the_standby_sees_nothing_of_it(&f);
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_source, IS_NOT_EMPTY, 20, "select note from rowrelay.backfill");
  sql(f.at_source, "insert into bare values ('after', 1)");
  sleep_seconds(2);
  cr_expect_eq(ask_number(f.at_target, "select count(*) from bare"), 7, "nothing has come twice");
  sql(f.at_target, "truncate bare");
  wait_until(f.at_source, "done", 20, "select state from rowrelay.backfill");
  wait_until_empty(&f, 20);
  same_rows(&f, "bare", "bare", "v, n");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

Test(copy_failover, a_copy_that_is_cancelled_after_it_leaves_what_may_have_been_delivered_to_a_person) {
  struct fixture f;
  begin(&f, "copy_failover_left");
  cancel_where_the_standby_sees_nothing_of_it(&f);
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_source, IS_NOT_EMPTY, 20, "select note from rowrelay.backfill");
  static const char REFUSED[] =
      "select count(*) filter (where message ~ 'may have been delivered before') || ' of ' || "
      "count(*) from rowrelay.errors where state = 'error'";
  for (int i = 0; i < 2; i++) { /* another copy takes them along, and lets go of them as they were */
    sql(f.at_source, "select rowrelay.cancel_backfill('bare', 'w')");
    wait_until(f.at_source, "cancelled", 20, "select state from rowrelay.backfill");
    wait_until_empty(&f, 20);
    cr_expect_str_eq(ask(f.at_source, REFUSED), "5 of 5");
    cr_expect_eq(ask_number(f.at_target, "select count(*) from bare"), 7, "nothing has come twice");
    sql(f.at_source, "select rowrelay.backfill('bare', 'w')");
    wait_until(f.at_source, IS_NOT_EMPTY, 20, "select note from rowrelay.backfill");
  }
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

Test(copy_failover, rows_without_a_key_that_came_with_a_forgotten_copy_do_not_come_again) {
  struct fixture f;
  const char *said;
  begin(&f, "copy_failover");
  /* The copy waits for the target's tables, while changes go into the waiting room. */
  PGconn *reader = connect_to(f.target, NULL);
  sql(reader, "begin; lock table bare in row exclusive mode");
  sql(f.at_source, "select rowrelay.backfill('bare', 'w')");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_source, "copying", 20, "select state from rowrelay.backfill");
  sql(f.at_source, "insert into bare values ('copied', 1); update bare set v = 'second' where n = 2");
  cut_off_standby(&f);
  sql(reader, "commit");
  wait_until(f.at_source, "done", 20, "select state from rowrelay.backfill");
  cr_assert_eq(ask_number(f.at_target, "select count(*) from bare"), 51);
  cr_assert_eq(stop_process(process, SIGKILL), 128 + SIGKILL);
  fail_over();
  PQfinish(f.at_source);
  f.at_source = connect_to(f.source, NULL);
  cr_assert_str_eq(ask(f.at_source, "select state from rowrelay.backfill"), "copying");
  sql(f.at_source, "insert into bare values ('after', 1)");

  process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_source, IS_NOT_EMPTY, 20, "select note from rowrelay.backfill");
  cr_expect_not_null(strstr(rowrelay_ok(&f, "status", NULL), IS_NOT_EMPTY));
  rowrelay(&f, &said, NULL, "doctor", NULL);
  cr_expect_not_null(strstr(said, IS_NOT_EMPTY), "%s", said);
  sql(f.at_source, "update bare set v = 'third' where n = 3");
  sleep_seconds(2);
  cr_expect_eq(ask_number(f.at_target, "select count(*) from bare"), 51, "nothing has come twice");
  sql(f.at_target, "truncate bare");
  sql(f.at_source, "insert into bare values ('after', 2)");
  wait_until(f.at_source, "done", 20, "select state from rowrelay.backfill");
  wait_until_empty(&f, 20);
  same_rows(&f, "bare", "bare", "v, n");
  said = ask(f.at_source, "select note from rowrelay.status");
  cr_expect_not_null(strstr(said, "then: rowrelay target resume w"), "a person decides that it was compared: %s", said);
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  cr_expect_str_eq(ask(f.at_source, "select note from rowrelay.status"), "");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  PQfinish(reader);
  fixture_end(&f);
}
