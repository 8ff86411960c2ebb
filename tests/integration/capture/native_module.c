/* What the server module needs, its library and an owner who may be trusted, may be missing: then nobody needs it. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "native.h"

static struct fixture f;
static const char *library;
static char gone[300];

/* Table item is captured by the module. */
static void begin_with_library(const char *name) {
  native_begin(&f, name);
  library = native_own_library(&f);
  sql(f.at_source, "create table item (id int primary key, v int); create table other (id int primary key)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1, 1)");
  snprintf(gone, sizeof gone, "%s.gone", library);
}

/* A session that has it loaded stays. */
static void begin_without_library(const char *name) {
  begin_with_library(name);
  cr_assert_eq(rename(library, gone), 0);
}

/* What captures a table. */
static const char *captured_by(const char *table) {
  return ask(f.at_source,
             "select case when native then 'module' else 'PL/pgSQL' end from rowrelay.captures "
             "where relation = '%s'::regclass",
             table);
}

static void write_anew(const char *statement) {
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "%s", statement);
  PQfinish(writer);
}

static const char *output_of(const char *command, const char *option) {
  const char *output;
  rowrelay(&f, &output, NULL, command, option, NULL);
  return output;
}

static void tells(const char *output, const char *words) {
  cr_expect_not_null(strstr(output, words), "%s", output);
}

Test(native, a_library_that_is_gone_is_told_of_with_what_helps) {
  begin_without_library("native_told");
  const char *output = output_of("doctor", NULL);
  tells(output, "fail  capture: public.item — the server module cannot be loaded: could not access file");
  tells(output, "warn  server module — the server module cannot be loaded: could not access file");
  tells(output, "select * from rowrelay.capture_natively(false)");
  tells(output_of("status", "--tables"), "the server module cannot be loaded: could not access file");
  fixture_end(&f);
}

/* Also by a session that has loaded it, or its functions would go to and fro. */
Test(native, a_table_that_is_captured_without_the_library_is_captured_by_pl_pgsql) {
  begin_without_library("native_other");
  rowrelay_ok(&f, "capture", "other", "--to", "w", NULL);
  cr_expect_str_eq(captured_by("other"), "PL/pgSQL");
  write_anew("insert into other values (1)");
  sql(f.at_source, "select rowrelay.capture_table('other')");
  cr_expect_str_eq(captured_by("other"), "PL/pgSQL");
  tells(output_of("status", "--tables"), "PL/pgSQL");
  /* nor can anybody make a function that could not be run */
  static const char FUNCTION[] = "create function f() returns trigger language rowrelay as 'begin return null; end'";
  cr_expect_str_eq(sql_fails(f.at_source, FUNCTION), "58P01");
  fixture_end(&f);
}

Test(native, maintenance_captures_by_pl_pgsql_until_the_library_is_there_again) {
  begin_without_library("native_gone");
  PGconn *writer = connect_to(f.source, NULL);
  cr_expect_str_eq(sql_fails(writer, "insert into item values (2, 1)"), "58P01");
  const char *said = ask(f.at_source, "select string_agg(m, ' ') from rowrelay.maintain() as m");
  tells(said, "table public.item is captured by PL/pgSQL now: the server module cannot be loaded");
  sql(writer, "insert into item values (2, 1)");
  PGconn *fresh = connect_to(f.source, NULL);
  cr_expect_str_eq(ask(fresh, "select count(*) from rowrelay.maintain()"), "0");
  PQfinish(fresh);
  cr_assert_eq(rename(gone, library), 0);
  cr_expect_str_eq(ask(f.at_source, "select string_agg(m, ' ') from rowrelay.maintain() as m"),
                   "table public.item is captured by rowrelay_native now");
  sql(writer, "insert into item values (3, 1)");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(key, ' ' order by id) from rowrelay.change"), "1 2 3");
  PQfinish(writer);
  fixture_end(&f);
}

/* After a failover its writers may need what it lacks, and nobody wants them to wait for half a minute. */
Test(native, maintenance_is_due_at_once_on_another_server) {
  native_begin(&f, "native_server");
  sql(f.at_source, "select rowrelay.skip_lost_ids(); select count(*) from rowrelay.maintain()");
  cr_expect_str_eq(ask(f.at_source, "select rowrelay.maintain_is_due()"), "f");
  sql(f.at_source, "update rowrelay.source set server[6] = 'another'; "
                   "select rowrelay.skip_lost_ids()");
  cr_expect_str_eq(ask(f.at_source, "select rowrelay.maintain_is_due()"), "t");
  fixture_end(&f);
}

/* Its writers may not write before that. */
Test(native, a_promoted_standby_without_the_library_captures_as_soon_as_a_process_has_found_it) {
  if (getenv("NATIVE_SO") != NULL)
    cr_skip_test("the module is not for the servers that tests start");
  own_server("source", "max_connections=100");
  PGconn *standby = connect_to(own_standby(), NULL);
  char both[512];
  begin_with_library("native_standby");
  snprintf(both, sizeof both, "host=%s,%s port=5432,5432 user=postgres dbname=%s target_session_attrs=read-write",
           PQhost(f.at_source), PQhost(standby), f.name);
  PQfinish(standby);
  snprintf(f.source, sizeof f.source, "%s", both);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until_says(process, "delivers from", 10);
  wait_until(f.at_source, "f", 10, "select rowrelay.maintain_is_due()");
  sleep_seconds(1); /* it is done */
  wait_until(f.at_source, "t", 10, "select replay_lsn >= pg_current_wal_lsn() from pg_stat_replication");
  cr_assert_eq(rename(library, gone), 0);
  fail_over();
  PQfinish(f.at_source);
  f.at_source = connect_to(f.source, NULL);
  double since = seconds_now();
  wait_until_says(process, "item is captured by PL/pgSQL now", 30);
  cr_expect(seconds_now() - since < 8, "it took %.1f s", seconds_now() - since);
  sql(f.at_source, "insert into item values (2, 1)");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* ---- its owner ------------------------------------------------------------------------------------------------- */

/* Roles are the server's, on which other tests run: one test at a time has these. */
static PGconn *server;

static void drop_roles(void) {
  sql(server, "drop role if exists module_stranger, module_keeper, module_admin");
}

static void begin_with_owners(const char *name) {
  server = connect_to(getenv("ROWRELAY_TEST_SOURCE"), NULL);
  ask(server, "select pg_advisory_lock(hashtext('module_stranger'))");
  drop_roles();
  native_begin(&f, name);
  sql(f.at_source, "create role module_stranger; create role module_keeper; "
                   "create role module_admin in role module_keeper; "
                   "grant usage on schema rowrelay to module_keeper");
  sql(f.at_source, "create table item (id int primary key, v int)");
}

static void end_with_owners(void) {
  fixture_end(&f);
  drop_roles();
  PQfinish(server);
}

/* Whoever owns it can drop it, with the trigger functions in it: a trusted extension's owner may be anybody. */
Test(native, it_is_used_only_if_its_owner_has_the_rights_of_the_schemas_owner) {
  begin_with_owners("module_owner");
  sql(f.at_source, "alter schema rowrelay owner to module_keeper");
  cr_expect_str_eq(ask(f.at_source, "select rowrelay.has_native()"), "f");
  cr_expect_str_eq(ask(f.at_source, "select remedy from rowrelay.native_obstacle()"),
                   "grant usage on language rowrelay to module_keeper;");
  sql(f.at_source, "grant usage on language rowrelay to module_keeper");
  cr_expect_str_eq(ask(f.at_source, "select rowrelay.has_native()"), "t");
  static const char *const OWNERS[][2] = {{"module_keeper", "t"}, {"module_admin", "t"}, {"module_stranger", "f"}};
  for (int i = 0; i < 3; i++) {
    sql(f.at_source, "alter language rowrelay owner to %s; grant usage on language rowrelay to module_keeper",
        OWNERS[i][0]);
    cr_expect_str_eq(ask(f.at_source, "select rowrelay.has_native()"), OWNERS[i][1], "%s", OWNERS[i][0]);
  }
  end_with_owners();
}

Test(native, what_a_stranger_owns_is_not_used_and_that_is_told) {
  begin_with_owners("module_told");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  cr_expect_str_eq(captured_by("item"), "module");
  sql(f.at_source, "alter language rowrelay owner to module_stranger");
  sql(f.at_source, "select count(*) from rowrelay.maintain()");
  cr_expect_str_eq(captured_by("item"), "PL/pgSQL");
  tells(output_of("status", "--tables"), "the server module is not used, because role module_stranger owns it");
  tells(output_of("doctor", NULL),
        "as role postgres or as a superuser: drop extension rowrelay_native; create extension rowrelay_native;");
  end_with_owners();
}

/* The extension is dropped by its owner, whoever owns the language. */
Test(native, nor_is_it_used_if_a_stranger_owns_the_extension) {
  begin_with_owners("module_extension");
  sql(f.at_source, "alter extension plpgsql add language rowrelay"); /* any extension will do */
  cr_expect_str_eq(ask(f.at_source, "select rowrelay.has_native()"), "t");
  sql(f.at_source, "update pg_extension set extowner = 'module_stranger'::regrole");
  cr_expect_str_eq(ask(f.at_source, "select rowrelay.has_native()"), "f");
  sql(f.at_source, "update pg_extension set extowner = 'postgres'::regrole");
  end_with_owners();
}
