/*
 * PostgreSQL compiles statements that it takes to be dear, which takes it a second. Where a session avoids a way of
 * joining, it takes for dear whatever needs one. Nothing of a writer's triggers may be compiled: an extension tells.
 */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <string.h>

#include "mirrored.h"

static const char TABLES[] =
    "create table plain (id int primary key, g int not null, t text);"
    "create table whole (like plain including all); create table laned (like plain including all);"
    "create table chosen (like plain including all); create table trimmed (like plain including all);"
    "create table parted (like plain including all) partition by range (id);"
    "create table parted_1 partition of parted for values from (0) to (1000);"
    "create table parted_2 partition of parted for values from (1000) to (100000);"
    "create table parent (like plain including all); create table child (primary key (id)) inherits (parent);"
    "create table root (like plain including all); create table leaf (like plain including all);"
    "create table bare (id int, g int not null, t text);"
    /* what nests: each row is written again before its own trigger is told */
    "create function again() returns trigger language plpgsql as $$ begin"
    "  if pg_trigger_depth() = 1 then execute format('update %I set t = ''again'' where id = $1.id', tg_table_name) "
    "using new; end if; return null; end $$;"
    "create function back() returns trigger language plpgsql as $$ begin"
    "  if pg_trigger_depth() = 1 then execute format('insert into %I values ($1.id, 7, ''back'')', tg_table_name) "
    "using "
    "old; end if; return null; end $$";

static void capture_all(struct fixture *f) {
  mirrored_capture(f, "plain");
  mirrored_capture(f, "parted");
  mirrored_capture(f, "parent");
  mirrored_capture(f, "bare");
  rowrelay_ok(f, "capture", "whole", "--to", "w", "--create", "--per", "statement", NULL);
  rowrelay_ok(f, "capture", "laned", "--to", "w", "--create", "--lane", "g", "--before", NULL);
  rowrelay_ok(f, "capture", "chosen", "--to", "w", "--create", "--where", "g > 2", NULL);
  rowrelay_ok(f, "capture", "trimmed", "--to", "w", "--create", "--exclude", "t", NULL);
  mirrored_capture(f, "root");
  mirrored_capture(f, "leaf");
  sql(f->at_source,
      "select rowrelay.add_document('tree', 'w', 'id', 'select r.id, count(*) as n from root r join leaf l on l.g = "
      "r.g where r.id = any ($1) group by 1', '{root:id,leaf(g):select r.id from root r join changed c on c.g = r.g}', "
      "into_table => 'tree', create_table => true)");
}

/* What is done to each of these tables (%1$s), so that a row is captured in most of the ways that there are. */
static const char *const WORK[] = {
    "insert into %1$s select i, i %% 5, 'x' from generate_series(1, 20) as i",
    "update %1$s set t = t || 'y'",
    "update %1$s set g = g + 1 where id < 5",
    "update %1$s set id = id + 5000 where id = 4",
    "begin; update %1$s set g = 2; delete from %1$s where id = 5; insert into %1$s values (5, 9, 'n'); savepoint a; "
    "update %1$s set g = 1; rollback to a; update %1$s set t = 'e'; commit",
    "create trigger again after update on %1$s for each row execute function again(); update %1$s set g = 3; "
    "drop trigger again on %1$s",
    "create trigger back after delete on %1$s for each row execute function back(); delete from %1$s where id < 8; "
    "drop trigger back on %1$s",
    "alter table %1$s add extra int",
    "update %1$s set g = 4 where id < 12",
    "update %1$s set id = id + 6000 where id = 12",
    "delete from %1$s where id = 13",
    "truncate %1$s",
    "insert into %1$s values (1, 1, 'one'), (2, 3, 'two')",
    "delete from %1$s",
};

#define TELLING                                                                                                        \
  "set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on; set auto_explain.log_timing = off;"       \
  "set auto_explain.log_nested_statements = on; set auto_explain.log_level = notice; set client_min_messages = "       \
  "notice; set jit = on;"

static bool was_compiled;

static void look_for_compilation(void *nothing, const char *message) {
  (void)nothing;
  was_compiled = was_compiled || strstr(message, "\nJIT:") != NULL;
}

/* Has the session told how each statement is executed, also those of functions; false where it cannot be. */
static bool is_told(PGconn *session) {
  PGresult *loaded = PQexec(session, "load 'auto_explain'");
  bool can_tell = PQresultStatus(loaded) == PGRES_COMMAND_OK &&
                  strcmp(ask(session, "set jit = on; select pg_jit_available()"), "t") == 0;
  PQclear(loaded);
  if (!can_tell)
    return false;
  PQsetNoticeProcessor(session, look_for_compilation, NULL);
  sql(session, TELLING "set jit_above_cost = 0");
  sql(session, "do $$ begin perform count(*) from pg_class; end $$; reset jit_above_cost");
  cr_assert(was_compiled, "a statement of a function that is compiled is not seen");
  was_compiled = false;
  return true;
}

static void work(PGconn *session, const char *table) {
  for (size_t i = 0; i < sizeof WORK / sizeof *WORK; i++) {
    if (strcmp(table, "child") == 0 && strstr(WORK[i], "add extra") != NULL) /* it has its parent's */
      continue;
    const char *statement = ask(session, "select format($work$%s$work$, '%s')", WORK[i], table);
    sql(session, "%s", statement);
    cr_assert(!was_compiled, "something was compiled for: %s", statement);
  }
}

static void work_avoiding(const char *name, const char *ways) {
  static const char *const NAMES[] = {"plain",  "whole", "laned", "chosen", "trimmed", "parted",
                                      "parent", "child", "root",  "leaf",   "bare"};
  struct fixture f;
  mirrored_begin(&f, name, TABLES);
  capture_all(&f);
  PGconn *session = connect_to(f.source, NULL);
  bool can_tell = is_told(session);
  if (can_tell)
    sql(session, "%s", ways);
  for (size_t i = 0; can_tell && i < sizeof NAMES / sizeof *NAMES; i++)
    work(session, NAMES[i]);
  PQfinish(session);
  fixture_end(&f);
  if (!can_tell)
    cr_skip_test("the server cannot compile, or lacks auto_explain");
}

Test(compiled, nothing_is_where_a_session_avoids_nested_loops) {
  work_avoiding("compiled_loops", "set enable_nestloop = off");
}

Test(compiled, nothing_is_where_a_session_avoids_joining_sorting_and_hashing) {
  work_avoiding("compiled_all", "set enable_nestloop = off; set enable_hashjoin = off; set enable_mergejoin = off;"
                                "set enable_sort = off; set enable_hashagg = off; set enable_material = off");
}
