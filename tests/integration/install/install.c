/* Installing, and leaving no trace. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "terminal.h"

#define DUMP_SIZE (2 * 1024 * 1024)

/* What a command prints. */
static void read_output(const char *command, char *text) {
  FILE *pipe = popen(command, "r");
  cr_assert(pipe != NULL);
  size_t length = fread(text, 1, DUMP_SIZE - 1, pipe);
  text[length] = '\0';
  cr_assert(pclose(pipe) == 0, "%s: %s", command, text);
}

/* Leaves out the words that pg_dump makes up anew each time. */
static void dump_schema(const struct fixture *f, char *text) {
  needs_pg_dump(f->at_source);
  char command[1024];
  snprintf(command, sizeof command,
           "$(tests/support/pg.sh bin)/pg_dump --schema-only '%s' | grep -v '^.[a-z]*restrict '", f->source);
  read_output(command, text);
}

static void make_tables(PGconn *connection) {
  sql(connection,
      "create schema shop; create table shop.item (id int primary key, name text, price numeric);"
      "create table shop.sale (id int, day date, primary key (id, day)) partition by range (day);"
      "create table shop.sale_1 partition of shop.sale for values from ('2026-01-01') to ('2027-01-01');"
      "create table shop.parent (id int primary key); create table shop.child (n int) inherits (shop.parent);"
      "create table shop.note (t text)");
}

static void check_no_trace(const char *name, bool by_psql) {
  static char before[DUMP_SIZE];
  static char after[DUMP_SIZE];
  struct fixture f;
  fixture_begin(&f, name);
  rowrelay_ok(&f, "uninstall", "--force", NULL);
  make_tables(f.at_source);
  dump_schema(&f, before);

  cr_assert_not_null(strstr(rowrelay_ok(&f, "init", NULL), "stay in the log for ever; to bound it, run"));
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "shop.item", "--where", "price > 1", "--before", NULL);
  rowrelay_ok(&f, "capture", "shop.sale", "shop.parent", "shop.note", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into shop.sale values (1, '2026-05-05'); insert into shop.item values (1, 'a', 2)");
  if (by_psql) {
    char command[1024];
    snprintf(command, sizeof command, "$(tests/support/pg.sh bin)/psql -XAt -f schema/uninstall.sql '%s' 2>&1",
             f.source);
    read_output(command, after);
  } else {
    rowrelay_ok(&f, "uninstall", "--force", NULL);
  }

  dump_schema(&f, after);
  cr_assert(strstr(before, "CREATE TABLE shop.item") != NULL);
  cr_assert(strcmp(before, after) == 0, "before:\n%s\nafter:\n%s", before, after);
  fixture_end(&f);
}

Test(install, who_waits_for_another_installation_is_told_for_whom) {
  struct fixture f;
  fixture_begin(&f, "install_waits");
  PGconn *other = connect_to(f.source, NULL);
  sql(other, "select pg_advisory_lock(x'726f7772656c6179'::bigint)");
  pid_t process = fixture_start(&f, "init", NULL);
  char words[64];
  snprintf(words, sizeof words, "process %d of user ", PQbackendPID(other));
  wait_until_says(process, words, 15);
  wait_until_says(process, "select pg_terminate_backend(PID)", 5);
  PQfinish(other);
  cr_assert_eq(wait_process(process, 30), 0);
  fixture_end(&f);
}

Test(install, uninstall_leaves_the_database_as_it_was) {
  check_no_trace("trace", false);
}

Test(install, the_script_for_psql_leaves_the_database_as_it_was) {
  check_no_trace("trace_psql", true);
}

Test(install, uninstall_deletes_nothing_before_somebody_has_confirmed_it) {
  struct fixture f;
  const char *errors;
  int status;
  fixture_begin(&f, "uninstall_confirmed");
  sql(f.at_source, "create table item (id int primary key)");
  rowrelay_ok(&f, "capture", "item", NULL);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "uninstall", NULL), 2);
  cr_assert_not_null(strstr(errors, "no terminal is there to confirm it"), "%s", errors);
  cr_assert_not_null(strstr(errors, "hint: run: rowrelay uninstall --force"), "%s", errors);
  static const char *const REFUSALS[] = {"\n", "no\n", "y\n", "yes, but later\n", "\004" /* end of file */};
  for (size_t i = 0; i < sizeof REFUSALS / sizeof REFUSALS[0]; i++) {
    terminal_answer(REFUSALS[i]);
    const char *said = on_terminal(&f, &status, "uninstall", NULL);
    cr_assert_eq(status, 2, "%s: %s", REFUSALS[i], said);
    cr_assert_not_null(strstr(said, "with all captured changes, delivered or not. Continue? (yes/no)"), "%s", said);
    cr_assert_not_null(strstr(said, "nothing was changed"), "%s", said);
  }
  sql(f.at_source, "insert into item values (1)");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.change"), "1", "the table is still captured");
  terminal_answer("yes\n");
  const char *said = on_terminal(&f, &status, "uninstall", NULL);
  cr_assert_eq(status, 0, "%s", said);
  cr_assert_not_null(strstr(said, "item: released\nschema rowrelay: removed\n"), "%s", said);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from pg_namespace where nspname = 'rowrelay'"), "0");
  sql(f.at_source, "insert into item values (2)");
  cr_assert_str_eq(rowrelay_ok(&f, "uninstall", NULL), "schema rowrelay: not installed\n");
  fixture_end(&f);
}

Test(install, uninstall_names_what_others_have_made_of_the_schema_and_drops_none_of_it) {
  struct fixture f;
  const char *errors;
  fixture_begin(&f, "uninstall_dependents");
  sql(f.at_source, "create table item (id int primary key);"
                   "create view audit as select * from rowrelay.history;"
                   "create view report as select count(*) from audit;"
                   "create table incident (id int primary key, state rowrelay.status);"
                   "create function last_change() returns setof rowrelay.history language sql as "
                   "'select * from rowrelay.history limit 1'");
  rowrelay_ok(&f, "capture", "item", NULL);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "uninstall", "--force", NULL), 1);
  cr_assert_not_null(strstr(errors, "would be dropped with it: function public.last_change(), table column "
                                    "public.incident.state, view public.audit"),
                     "%s", errors);
  sql(f.at_source, "insert into item values (1)");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.change"), "1", "the table is still captured");
  sql(f.at_source, "drop view audit cascade; drop function last_change(); alter table incident drop state");
  rowrelay_ok(&f, "uninstall", "--force", NULL);
  fixture_end(&f);
}

Test(install, init_and_the_script_for_psql_make_the_same) {
  static char by_init[DUMP_SIZE];
  static char by_psql[DUMP_SIZE];
  struct fixture f;
  char command[1024];
  fixture_begin(&f, "both_ways");
  rowrelay_ok(&f, "init", NULL);
  dump_schema(&f, by_init);
  rowrelay_ok(&f, "uninstall", "--force", NULL);
  snprintf(command, sizeof command,
           "for i in 1 2; do $(tests/support/pg.sh bin)/psql -XAt -f schema/install.sql '%s' 2>&1; done", f.source);
  read_output(command, by_psql);
  cr_assert_str_eq(by_psql, "", "it is not quiet: %s", by_psql);
  dump_schema(&f, by_psql);
  cr_assert(strcmp(by_init, by_psql) == 0);
  fixture_end(&f);
}

/* An old transaction holds the table; while capture waits for it, others must be able to write. */
Test(install, nobody_queues_for_long_behind_a_capture_that_waits) {
  struct fixture f;
  fixture_begin(&f, "waits");
  make_tables(f.at_source);
  PGconn *old = connect_to(f.source, NULL);
  PGconn *capture = connect_to(f.source, NULL);
  sql(old, "begin; insert into shop.item values (1)");
  start(capture, "select rowrelay.capture_table('shop.item')");
  double longest = 0;
  for (int i = 2; i < 60; i++) {
    double began = seconds_now();
    sql(f.at_source, "insert into shop.item values (%d)", i);
    if (seconds_now() - began > longest)
      longest = seconds_now() - began;
    sleep_seconds(0.02);
  }
  cr_assert(is_running(capture), "the old transaction should have kept it waiting");
  cr_assert(longest < 5, "a writer waited for %.2f s", longest);
  cr_expect(longest > 0.02, "capture never asked for the lock");
  sql(old, "commit");
  finish(capture);
  sql(f.at_source, "insert into shop.item values (100)");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.change") == 1);
  PQfinish(old);
  PQfinish(capture);
  fixture_end(&f);
}

Test(install, a_capture_that_gets_no_lock_changes_nothing_and_names_who_holds_it) {
  struct fixture f;
  const char *errors;
  fixture_begin(&f, "no_lock");
  make_tables(f.at_source);
  PGconn *old = connect_to(f.source, NULL);
  sql(old, "begin; insert into shop.item values (1)");
  cr_assert(rowrelay(&f, NULL, &errors, "capture", "shop.item", "--lock-wait", "1", NULL) == 1, "%s", errors);
  char process[32];
  snprintf(process, sizeof process, "process %d", PQbackendPID(old));
  cr_assert(strstr(errors, process) != NULL, "%s", errors);
  cr_assert(strstr(errors, "wait longer (--lock-wait)") != NULL, "%s", errors);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.capture") == 0);
  PQfinish(old);
  fixture_end(&f);
}

Test(install, the_tables_of_pgbench_arrive_as_they_are) {
  struct fixture f;
  char command[1024];
  static char output[DUMP_SIZE];
  fixture_begin(&f, "tpcb");
  snprintf(command, sizeof command, "$(tests/support/pg.sh bin)/pgbench -q -i -I dtp '%s' 2>&1", f.source);
  read_output(command, output);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "pgbench_*", "--to", "w", "--create", NULL);
  fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "insert into pgbench_branches values (1, 0);"
                   "insert into pgbench_tellers select n, 1, 0 from generate_series(1, 10) as n;"
                   "insert into pgbench_accounts select n, 1, 0, '' from generate_series(1, 100000) as n");
  snprintf(command, sizeof command, "$(tests/support/pg.sh bin)/pgbench -n -c 4 -t 300 '%s' 2>&1", f.source);
  read_output(command, output);
  wait_until_empty(&f, 60);
  same_rows(&f, "pgbench_accounts", "pgbench_accounts", "aid");
  same_rows(&f, "pgbench_tellers", "pgbench_tellers", "tid");
  same_rows(&f, "pgbench_branches", "pgbench_branches", "bid");
  same_rows(&f, "pgbench_history", "pgbench_history", "tid, aid, delta, mtime");
  cr_assert(ask_number(f.at_target, "select count(*) from pgbench_history") == 1200);
  fixture_end(&f);
}

/* The lock of a prepared transaction belongs to no process. */
Test(install, who_waits_for_a_prepared_transaction_is_told_how_to_end_it) {
  struct fixture f;
  const char *errors;
  own_server("source", "max_prepared_transactions=4");
  fixture_begin(&f, "install_prepared");
  make_tables(f.at_source);
  rowrelay_ok(&f, "capture", "shop.item", NULL);
  sql(f.at_source, "begin; insert into shop.item values (1); prepare transaction 'left over'");
  cr_assert(rowrelay(&f, NULL, &errors, "release", "shop.item", "--lock-wait", "1", NULL) == 1, "%s", errors);
  cr_assert_not_null(strstr(errors, "It is held by prepared transaction 'left over' (postgres, prepared 00:00:0"), "%s",
                     errors);
  cr_assert_not_null(strstr(errors, "commit prepared 'left over' or rollback prepared 'left over'"), "%s", errors);
  sql(f.at_source, "rollback prepared 'left over'");
  rowrelay_ok(&f, "release", "shop.item", NULL);
  fixture_end(&f);
}

/* A restore of definitions only, as for a test copy, has the triggers too. */
Test(install, a_schema_that_was_restored_without_its_contents_is_told_and_can_be_removed) {
  struct fixture f;
  char command[4096];
  static char output[DUMP_SIZE];
  const char *errors;
  static const char *const commands[][3] = {{"status", NULL}, {"init", NULL}, {"capture", "shop.note", NULL}};
  fixture_begin(&f, "restored_empty");
  make_tables(f.at_source);
  rowrelay_ok(&f, "capture", "shop.item", NULL);
  needs_pg_dump(f.at_source);
  snprintf(command, sizeof command,
           "bin=$(tests/support/pg.sh bin); dump=$($bin/pg_dump --schema-only '%s') && "
           "$bin/psql -XAtqc 'drop schema rowrelay cascade; drop schema shop cascade' '%s' 2>&1 && "
           "printf '%%s\\n' \"$dump\" | $bin/psql -XAtq '%s' 2>&1 >/dev/null",
           f.source, f.source, f.source);
  read_output(command, output);
  cr_assert(ask_number(f.at_source, "select count(*) from pg_trigger where tgname like '!rowrelay%%'") > 0, "%s",
            output);
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    cr_assert(rowrelay(&f, NULL, &errors, commands[i][0], commands[i][1], NULL) == 2, "%s", errors);
    cr_assert_not_null(strstr(errors, "exists without its contents (a schema-only restore?)"), "%s", errors);
    cr_assert_not_null(strstr(errors, "hint: run: rowrelay uninstall"), "%s", errors);
  }
  snprintf(command, sizeof command, "$(tests/support/pg.sh bin)/psql -XAt -f schema/install.sql '%s' 2>&1; true",
           f.source);
  read_output(command, output);
  cr_assert_not_null(strstr(output, "exists without its contents"), "%s", output);
  cr_assert_str_eq(rowrelay_ok(&f, "uninstall", "--force", NULL), "schema rowrelay: removed\n");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from pg_trigger where tgname like '!rowrelay%%'"), "0");
  rowrelay_ok(&f, "init", NULL);
  rowrelay_ok(&f, "capture", "shop.item", NULL);
  sql(f.at_source, "insert into shop.item values (1)");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.change"), "1");
  fixture_end(&f);
}

/* What tests stand on: a copy of the installation that check.sh has made, with what marks a database as born where it
 * is. */
Test(install, a_copied_test_database_is_like_an_installed_one) {
  static char schemas[2][DUMP_SIZE];
  static const char ROWS[] =
      "select string_agg(concat(relname, ' ', (xpath('/row/n/text()', query_to_xml('select count(*) as n "
      "from ' || oid::regclass, true, true, '')))[1]), ' ' order by relname) from pg_class "
      "where relnamespace = 'rowrelay'::regnamespace and relkind in ('r', 'p')";
  const char *rows[2];
  const char *ids[2];
  struct fixture f;
  fixture_begin(&f, "install_copied");
  for (int i = 0; i < 2; i++) {
    dump_schema(&f, schemas[i]);
    rows[i] = ask(f.at_source, ROWS);
    ids[i] = ask(f.at_source, "select concat(id, ' ', log_mark) from rowrelay.source");
    sql(f.at_source, "create table item (id int primary key)");
    rowrelay_ok(&f, "target", "add", "w", "file:/dev/null", NULL);
    rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
    sql(f.at_source, "insert into item values (1)");
    cr_expect_str_eq(ask(f.at_source, "select string_agg(id::text, ',') from rowrelay.change"), "1");
    pid_t process = fixture_run(&f, "--until-empty", NULL);
    wait_until_says(process, "ends because nothing is pending: 1 change delivered", 20);
    cr_expect_null(strstr(process_log(process), "warning"), "%s", process_log(process));
    cr_expect_eq(wait_process(process, 20), 0);
    rowrelay_ok(&f, "uninstall", "--force", NULL);
    sql(f.at_source, "drop table item");
    rowrelay_ok(&f, "init", NULL);
  }
  cr_expect(strcmp(schemas[0], schemas[1]) == 0, "the schemas differ"); /* Criterion hangs on strings of this size */
  cr_expect_str_eq(rows[0], rows[1]);
  cr_expect_str_neq(ids[0], ids[1]);
  fixture_end(&f);
}
