/* Other sessions lock, or cancel, at the target: that concerns one table, and refuses no row. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

static const char TABLES[] =
    "create table item (id int primary key, n int); create table other (id int primary key, n int);"
    "create table third (id int primary key, n int)";

/* Three tables go to "w", where they have the same names. */
static void begin(struct fixture *f, const char *name, const char *option) {
  fixture_begin(f, name);
  sql(f->at_source, "%s", TABLES);
  sql(f->at_target, "%s", TABLES);
  rowrelay_ok(f, "target", "add", "w", f->target_url, "--option", "push_timeout=4", "--option", option, NULL);
  rowrelay_ok(f, "capture", "item", "other", "third", "--to", "w", NULL);
}

static void write_everywhere(struct fixture *f) {
  sql(f->at_source, "insert into item select n, 0 from generate_series(1, 20) as n;"
                    "insert into other select n, 0 from generate_series(1, 300) as n;"
                    "insert into third select n, 0 from generate_series(1, 300) as n");
}

/* `lock` is on item, or rows of it; only one worker delivers, which must not wait for it for long. */
static void check_others_arrive(const char *name, const char *option, const char *lock) {
  struct fixture f;
  begin(&f, name, option);
  sql(f.at_source, "insert into item values (0, 0); insert into other values (0, 0); insert into third values (0, 0)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  PGconn *locker = connect_to(f.target, NULL);
  sql(locker, "begin; %s", lock);
  write_everywhere(&f);
  sql(f.at_source, "update item set n = 1");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  const char *count = strstr(option, "append") != NULL
                          ? "select (select count(*) from other_changes) + (select count(*) from third_changes)"
                          : "select (select count(*) from other) + (select count(*) from third)";
  wait_until(f.at_target, "602", 15, "%s", count);
  wait_until(f.at_source, "t", 10, "select note like '%%item waits since %%lock%%' from rowrelay.status");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors where state = 'error'"), "0");
  sql(locker, "rollback");
  wait_until_nothing_waits(&f, 40);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.refusal"), "0");
  if (strstr(option, "append") == NULL)
    same_rows(&f, "item", "item", "id");
  cr_assert(stop_process(process, SIGTERM) == 0);
  PQfinish(locker);
  fixture_end(&f);
}

Test(locked, a_table_locked_at_the_target_waits_alone) {
  check_others_arrive("locked_table", "lanes=64", "lock table item in access exclusive mode");
}

Test(locked, a_row_locked_at_the_target_holds_its_table_alone) {
  check_others_arrive("locked_row", "lanes=64", "select from item where id = 0 for update");
}

Test(locked, an_append_table_locked_at_the_target_waits_alone) {
  check_others_arrive("locked_append", "mode=append", "lock table item_changes in access exclusive mode");
}

Test(locked, a_table_locked_at_the_target_of_one_lane_waits_alone) {
  check_others_arrive("locked_lane", "lanes=1", "lock table item in access exclusive mode");
}

Test(locked, a_locked_table_that_lacks_a_column_waits_alone) {
  struct fixture f;
  begin(&f, "locked_column", "lanes=64");
  sql(f.at_source, "create table made (id int primary key); insert into made values (0)");
  rowrelay_ok(&f, "capture", "made", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into made values (1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  PGconn *locker = connect_to(f.target, NULL);
  sql(locker, "begin; lock table made in access share mode");
  sql(f.at_source, "alter table made add n int; update made set n = 1");
  write_everywhere(&f);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_target, "600", 15, "select (select count(*) from other) + (select count(*) from third)");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors where state = 'error'"), "0");
  sql(locker, "rollback");
  wait_until_nothing_waits(&f, 40);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, ' ', n), ',' order by id) from made"), "0 1,1 1");
  cr_assert(stop_process(process, SIGTERM) == 0);
  PQfinish(locker);
  fixture_end(&f);
}

Test(locked, a_table_locked_in_the_source_as_target_waits_alone) {
  struct fixture f;
  fixture_begin(&f, "locked_itself");
  sql(f.at_source, "%s; create schema mirror", TABLES);
  rowrelay_ok(&f, "target", "add", "w", "postgresql:", "--option", "push_timeout=4", NULL);
  rowrelay_ok(&f, "capture", "item", "other", NULL);
  rowrelay_ok(&f, "route", "item", "w", "--into", "mirror.item", "--create", NULL);
  rowrelay_ok(&f, "route", "other", "w", "--into", "mirror.other", "--create", NULL);
  sql(f.at_source, "insert into item values (0, 0); insert into other values (0, 0)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  PGconn *locker = connect_to(f.source, NULL);
  sql(locker, "begin; lock table mirror.item in access exclusive mode");
  sql(f.at_source, "insert into item select generate_series(1, 20); insert into other select generate_series(1, 600)");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "601", 15, "select count(*) from mirror.other");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors where state = 'error'"), "0");
  sql(locker, "rollback");
  wait_until(f.at_source, "21", 40, "select count(*) from mirror.item");
  cr_assert(stop_process(process, SIGTERM) == 0);
  PQfinish(locker);
  fixture_end(&f);
}

/* As a script does that ends whoever is in the way. */
Test(locked, a_cancelled_statement_at_the_target_refuses_no_row) {
  struct fixture f;
  begin(&f, "locked_cancelled", "retries=0");
  sql(f.at_target, "create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(0.2);"
                   " return new; end'; create trigger slow before insert on item for each row execute function slow()");
  sql(f.at_source, "insert into item select generate_series(1, 3)");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  for (int i = 0; i < 4; i++) {
    wait_until(f.at_target, "t", 10,
               "select exists (select from pg_stat_activity where wait_event = 'PgSleep' and datname = "
               "current_database()) or count(*) = 3 from item");
    sql(f.at_target, "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'PgSleep' and datname = "
                     "current_database()");
    sleep_seconds(0.1);
  }
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  wait_until_empty(&f, 30);
  same_rows(&f, "item", "item", "id");
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}
