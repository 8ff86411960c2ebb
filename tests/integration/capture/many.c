/* Where many tables are captured, each costs what it costs alone. Counted in calls and rows, not in seconds. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "fixture.h"

#define FEW 3
#define MANY 60

/* Tables t1, t2, …, of which those up to `captured` go to "w". */
static void begin(struct fixture *f, const char *name, int captured) {
  fixture_begin(f, name);
  sql(f->at_source,
      "do $$ begin for n in 1 .. %d loop "
      "execute format('create table t%%s (id int primary key, name text)', n); end loop; end $$",
      MANY + 2);
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  sql(f->at_source,
      "select rowrelay.capture_table(format('t%%s', n)::regclass), "
      "rowrelay.route(format('t%%s', n)::regclass, 'w', create_table => true) from generate_series(1, %d) n",
      captured);
}

/* Of image_columns() so far. A session reports what it counted once a second, after a statement, and when it ends. */
static int64_t calls_so_far(struct fixture *f) {
  wait_until(f->at_source, "1", 10, "select count(*) from pg_stat_activity where datname = current_database()");
  sleep_seconds(1.1);
  sql(f->at_source, "select");
  return ask_number(f->at_source,
                    "select coalesce(sum(calls), 0) from pg_stat_user_functions where funcname = 'image_columns'");
}

/* Calls of functions of rowrelay that a statement makes. */
static int64_t calls_of(struct fixture *f, const char *statement) {
  sql(f->at_source, "begin; set local track_functions = 'all'");
  sql(f->at_source, "%s", statement);
  int64_t calls =
      ask_number(f->at_source, "select sum(calls) from pg_stat_xact_user_functions where schemaname = 'rowrelay'");
  sql(f->at_source, "commit");
  return calls;
}

/* Rows of pg_trigger that a statement reads. */
static int64_t triggers_read_by(struct fixture *f, const char *statement) {
  sql(f->at_source, "begin");
  sql(f->at_source, "%s", statement);
  int64_t rows =
      ask_number(f->at_source, "select seq_tup_read + coalesce(idx_tup_fetch, 0) from pg_stat_xact_sys_tables "
                               "where relname = 'pg_trigger'");
  sql(f->at_source, "commit");
  return rows;
}

Test(many, capturing_a_table_takes_as_many_steps_however_many_are_captured) {
  struct fixture f;
  begin(&f, "many_steps", FEW);
  const char *statement = "select rowrelay.capture_table('t61'), rowrelay.route('t61', 'w')";
  int64_t calls = calls_of(&f, statement);
  sql(f.at_source, "select rowrelay.release_table('t61')");
  sql(f.at_source,
      "select rowrelay.capture_table(format('t%%s', n)::regclass), rowrelay.route(format('t%%s', n)::regclass, 'w') "
      "from generate_series(%d, %d) n",
      FEW + 1, MANY);
  int64_t later = calls_of(&f, "select rowrelay.capture_table('t62'), rowrelay.route('t62', 'w')");
  cr_assert(later < calls + MANY / 2, "%lld calls, then %lld", (long long)calls, (long long)later);
  fixture_end(&f);
}

Test(many, a_table_that_is_captured_with_another_one_is_found_among_many) {
  struct fixture f;
  begin(&f, "many_overlap", MANY);
  sql(f.at_source, "create table child () inherits (t1); create table grandchild () inherits (child, t2)");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.capture_table('child')"), "42710");
  cr_assert_not_null(strstr(PQerrorMessage(f.at_source), "table public.child is already captured with table public.t1"),
                     "%s", PQerrorMessage(f.at_source));
  sql(f.at_source, "select rowrelay.release_table('t1')");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.capture_table('t1')"), "42710");
  cr_assert_not_null(strstr(PQerrorMessage(f.at_source), "table public.t1 is already captured with table public.t2"),
                     "%s", PQerrorMessage(f.at_source));
  cr_assert_not_null(strstr(PQerrorMessage(f.at_source), "Rows of public.grandchild would be captured twice."), "%s",
                     PQerrorMessage(f.at_source));
  fixture_end(&f);
}

Test(many, maintenance_and_status_look_at_each_trigger_a_few_times) {
  struct fixture f;
  begin(&f, "many_triggers", MANY);
  int64_t all = ask_number(f.at_source, "select count(*) from pg_trigger");
  cr_assert_geq(all, 2 * MANY);
  int64_t rows = triggers_read_by(&f, "delete from rowrelay.job; select rowrelay.maintain()");
  cr_assert(rows < 10 * all, "%lld of %lld", (long long)rows, (long long)all);
  rows = triggers_read_by(&f, "select * from rowrelay.status");
  cr_assert(rows < 10 * all, "%lld of %lld", (long long)rows, (long long)all);
  fixture_end(&f);
}

/* Of the query of rowrelay.lacking_triggers(), by what its plan says. */
Test(many, triggers_are_found_by_equality_and_not_compared_with_each_table) {
  struct fixture f;
  begin(&f, "many_compared", MANY);
  sql(f.at_source,
      "create function compared() returns numeric language plpgsql set enable_nestloop = off as $$ declare plan json;"
      "begin"
      "  execute 'explain (analyze, format json) ' || (select substring(p.prosrc from 'return query(.*);\\s*end')"
      "    from pg_proc p where p.oid = 'rowrelay.lacking_triggers'::regproc) into plan;"
      "  return (select coalesce(sum(n::numeric), 0)"
      "            from jsonb_path_query(plan::jsonb, '$.**.\"Rows Removed by Join Filter\"') as n); end $$");
  int64_t compared = ask_number(f.at_source, "select compared()");
  cr_assert(compared < 10 * MANY, "%lld", (long long)compared);
  fixture_end(&f);
}

Test(many, status_names_twenty_tables_and_says_how_many_more_there_are) {
  struct fixture f;
  begin(&f, "many_notes", MANY);
  sql(f.at_source, "alter table t7 disable trigger all");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.status"),
                   "public.t7: triggers are missing or disabled: capture the table again");
  sql(f.at_source, "do $$ begin for n in 1 .. 25 loop "
                   "execute format('alter table t%%s disable trigger \"!rowrelay\"', n); end loop; end $$");
  cr_assert_str_eq(ask(f.at_source,
                       "select concat(named, right(note, 52)) from rowrelay.status, "
                       "lateral (select count(*)::text from regexp_matches(note, 'are missing', 'g')) as c(named)"),
                   "20; notes of 5 more tables: see view rowrelay.captures");
  sql(f.at_source, "delete from rowrelay.job; select rowrelay.maintain()");
  /* What was written without triggers may be lacking at the target, until that was looked for. */
  cr_assert_str_eq(ask(f.at_source, "select note ~ '^public.t[0-9]+ lacks .*; and 24 more$' from rowrelay.status"),
                   "t");
  fixture_end(&f);
}

Test(many, each_of_the_five_triggers_of_a_row_filter_is_missed) {
  struct fixture f;
  begin(&f, "many_filter", 0);
  sql(f.at_source, "select rowrelay.capture_table('t1', row_filter => 'id > 0')");
  sql(f.at_source, "drop trigger \"!rowrelay_update_out\" on t1");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.captures"),
                   "triggers are missing or disabled: capture the table again");
  sql(f.at_source, "delete from rowrelay.job");
  sql(f.at_source, "select rowrelay.maintain()");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.captures"), "");
  fixture_end(&f);
}

Test(many, a_backfill_reads_the_route_of_its_own_table_only) {
  struct fixture f;
  own_server("source", "track_functions=all");
  begin(&f, "many_backfill", MANY);
  sql(f.at_source, "insert into t1 values (1, 'one')");
  int64_t at_first = calls_so_far(&f);
  rowrelay_ok(&f, "backfill", "t1", "--to", "w", NULL);
  cr_assert_str_eq(ask(f.at_target, "select name from t1"), "one");
  int64_t after_one = calls_so_far(&f);
  rowrelay_ok(&f, "backfill", "t2", "t3", "--to", "w", NULL);
  int64_t for_another = (calls_so_far(&f) - after_one) - (after_one - at_first);
  cr_assert(for_another < MANY / 2, "%lld calls", (long long)for_another);
  fixture_end(&f);
}

/* The work of the process's first thread, which must go on. */
Test(many, a_process_serves_a_new_target_while_its_maintenance_takes_long) {
  struct fixture f;
  begin(&f, "many_long", FEW);
  PGconn *holder = connect_to(f.source, NULL);
  sql(holder, "select pg_advisory_lock(28)");
  sql(f.at_source, "alter function rowrelay.maintain() rename to maintain_at_once");
  sql(f.at_source,
      "create function rowrelay.maintain() returns setof text language plpgsql as "
      "$$ begin perform pg_advisory_xact_lock(28); return query select rowrelay.maintain_at_once(); end $$");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "1", 10,
             "select count(*) from pg_locks where locktype = 'advisory' and objid = 28 and not granted");
  rowrelay_ok(&f, "target", "add", "v", "file:/dev/null", NULL);
  rowrelay_ok(&f, "route", "t1", "v", NULL);
  sql(f.at_source, "insert into t1 values (1, 'one')");
  wait_until(f.at_source, "0", 6, "select backlog from rowrelay.status where target = 'v'");
  cr_assert_str_eq(
      ask(f.at_source, "select count(*) from pg_locks where locktype = 'advisory' and objid = 28 and not granted"),
      "1");
  /* It does not keep the process from ending either. */
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  PQfinish(holder);
  fixture_end(&f);
}

Test(many, a_process_that_ends_when_nothing_is_queued_has_done_maintenance) {
  struct fixture f;
  begin(&f, "many_until_empty", FEW);
  sql(f.at_source, "alter table t1 disable trigger all; delete from rowrelay.job");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.captures where note <> ''"), "0");
  fixture_end(&f);
}

/* Writes to the tables from - to in transactions of their own, also what makes a trigger function look into its table:
 * a row that is written twice, and a delete after an insert. */
static void write_to_each(PGconn *writer, int from, int to) {
  sql(writer,
      "do $$ begin for n in %d .. %d loop execute format('insert into t%%s values (1, ''x'')', n); "
      "execute format('update t%%s set a = ''y''', n); end loop; end $$",
      from, to);
  sql(writer,
      "do $$ begin for n in %d .. %d loop execute format('insert into t%%s values (1) on conflict (id) do update set "
      "a = ''z''', n); execute format('delete from t%%s', n); end loop; end $$",
      from, to);
}

/* Each session keeps the plans of each trigger function that it ran: 205 kB for each table, of which 12 are the
 * server's own caches, which double when they are full, here or before; the server module adds some 40.
 * pg_backend_memory_contexts came with PostgreSQL 14. */
Test(many, what_a_writers_session_keeps_for_each_table_is_bounded) {
  struct fixture f;
  fixture_begin(&f, "many_memory");
  if (ask_number(f.at_source, "select current_setting('server_version_num')::int") < 140000)
    cr_skip_test("PostgreSQL 13 does not tell what memory is for");
  sql(f.at_source,
      "do $$ begin for n in 1 .. 41 loop execute format('create table t%%s (id int primary key, a text, b text, "
      "c int, d int, e numeric, f timestamptz, g date, h bool, k bigint)', n); end loop; end $$");
  rowrelay_ok(&f, "target", "add", "w", "file:/dev/null", NULL);
  static const char SIZE[] = "select sum(total_bytes) from pg_backend_memory_contexts";
  int64_t kept[2];
  for (int captured = 0; captured < 2; captured++) {
    if (captured)
      rowrelay_ok(&f, "capture", "t*", "--to", "w", NULL);
    PGconn *writer = connect_to(f.source, NULL);
    sql(writer, "set timezone = 'Europe/Rome'");
    write_to_each(writer, 41, 41);
    int64_t before = ask_number(writer, SIZE);
    write_to_each(writer, 1, 40);
    kept[captured] = (ask_number(writer, SIZE) - before) / 40 / 1024;
    PQfinish(writer);
  }
  cr_assert(kept[1] - kept[0] < 220, "%lld kB, and %lld kB where they are not captured", (long long)kept[1],
            (long long)kept[0]);
  fixture_end(&f);
}

/* PL/pgSQL compiles a trigger function for each partition that a session writes to; what it asks of the table's columns
 * and parts when it is planned is shared. It was not, and 143 kB. */
Test(many, writer_session_keeps_little_for_each_partition_of_hundreds) {
  struct fixture f;
  fixture_begin(&f, "many_partitions");
  if (ask_number(f.at_source, "select current_setting('server_version_num')::int") < 140000)
    cr_skip_test("PostgreSQL 13 does not tell what memory is for");
  rowrelay_ok(&f, "target", "add", "w", "file:/dev/null", NULL);
  int64_t kept[2];
  for (int captured = 0; captured < 2; captured++) {
    const char *name = captured ? "t" : "bare";
    sql(f.at_source,
        "create table %1$s (id int, part int, a text, b text, c int, d int, e numeric, f timestamptz, g date, h bool, "
        "k bigint, primary key (part, id)) partition by list (part); do $$ begin for n in 1 .. 300 loop execute "
        "format('create table %1$s_%%s partition of %1$s for values in (%%s)', n, n); end loop; end $$",
        name);
    if (captured)
      rowrelay_ok(&f, "capture", "t", "--to", "w", NULL);
    PGconn *writer = connect_to(f.source, NULL);
    sql(writer, "set timezone = 'Europe/Rome'; insert into %s_300 values (1, 300, 'x')", name);
    int64_t before = ask_number(writer, "select sum(total_bytes) from pg_backend_memory_contexts");
    sql(writer,
        "do $$ begin for n in 1 .. 100 loop execute format('insert into %s_%%s values (1, %%s, ''x'')', n, n); "
        "end loop; end $$",
        name);
    kept[captured] =
        (ask_number(writer, "select sum(total_bytes) from pg_backend_memory_contexts") - before) / 100 / 1024;
    PQfinish(writer);
  }
  cr_assert(kept[1] - kept[0] < 125, "%lld kB, and %lld kB where they are not captured", (long long)kept[1],
            (long long)kept[0]);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.change where op = 'i' and caveat is null"), 101);
  fixture_end(&f);
}

/* Tables that differ in what their images need, each with an integer key and a column "v" that is updated. */
static const char *const KINDS[][2] = {
    {"id int primary key, v text", ""},
    {"id int primary key, v text", ", before => 'full'"},
    {"id int primary key, v text, j json", ", before => 'full'"},
    {"id int primary key, v text, j jsonb", ""},
    {"id int primary key, v text, j jsonb", ", before => 'full'"},
    {"id int primary key, v text, a int[], b text[]", ""},
    {"id int primary key, v text, m mood", ""},
    {"id int, m mood default 'ok', v text, primary key (id, m)", ""},
    {"id int primary key, v text, p pair", ", before => 'full'"},
    {"id int primary key, v text, w text", ", mask => '{\"w\": \"***\"}'"},
    {"id int primary key, v text, w text, j jsonb", ", exclude => '{w}', before => 'full'"},
    {"id int primary key, v text, w text", ", columns => '{id,v}'"},
    {"id int primary key, v text, w text", ", lane => '{w}'"},
    {"id int unique, v text", ", key => '{id}'"},
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

/* How many trigger functions a session has compiled whose names end so. */
static int64_t compiled(PGconn *writer, const char *suffix) {
  return ask_number(writer,
                    strcmp(suffix, "_rest") == 0
                        ? "select count(*) from pg_backend_memory_contexts where name = 'PL/pgSQL function' and ident "
                          "~ '^rowrelay[.]capture_[0-9]+_rest[(]'"
                        : "select count(*) from pg_backend_memory_contexts where name = 'PL/pgSQL function' and ident "
                          "~ '^rowrelay[.]capture_[0-9]+[(]'");
}

Test(many, an_ordinary_change_needs_the_small_function_only_whatever_its_table_is_like) {
  struct fixture f;
  fixture_begin(&f, "many_kinds");
  if (ask_number(f.at_source, "select current_setting('server_version_num')::int") < 140000)
    cr_skip_test("PostgreSQL 13 does not tell what memory is for");
  rowrelay_ok(&f, "target", "add", "w", "file:/dev/null", NULL);
  sql(f.at_source, "create type mood as enum ('ok', 'sad'); create type pair as (x int, y int)");
  PGconn *writer = connect_to(f.source, NULL);
  for (int kind = 0; kind < KIND_COUNT; kind++) {
    sql(f.at_source, "create table t%d (%s); select rowrelay.capture_table('t%d', target => 'w'%s)", kind,
        KINDS[kind][0], kind, KINDS[kind][1]);
    sql(writer, "insert into t%d (id, v) values (1, 'a'), (2, 'b')", kind);
    sql(writer, "update t%d set v = 'c'", kind);
    sql(writer, "begin; delete from t%d where id = 1; insert into t%d (id, v) values (3, 'd'); update t%d set v = 'e'",
        kind, kind, kind);
    sql(writer, "delete from t%d where id = 2; commit", kind);
    cr_expect_eq(compiled(writer, "_rest"), 0, "%s%s", KINDS[kind][0], KINDS[kind][1]);
  }
  cr_assert_eq(compiled(writer, ""), KIND_COUNT);
  cr_expect_eq(ask_number(f.at_source, "select count(*) from pg_proc where proname ~ '^capture_[0-9]+_rest$'"),
               KIND_COUNT, "each has a function for what is not ordinary");
  sql(writer, "update t0 set id = 4");
  cr_assert_eq(compiled(writer, "_rest"), 1, "a change of a key is not ordinary");
  PQfinish(writer);
  fixture_end(&f);
}

/* A session of the server keeps what it has read of each table, until it ends. */
Test(many, capture_takes_a_new_session_of_the_server_after_200_tables) {
  struct fixture f;
  fixture_begin(&f, "many_sessions");
  sql(f.at_source, "do $$ begin for n in 100 .. 299 loop execute format('create table t%%s (id int primary key)', n); "
                   "end loop; end $$; create unlogged table unlogged (id int primary key);"
                   "create table session_of_capture (pid int);"
                   "create function note_session() returns event_trigger language plpgsql as "
                   "'begin insert into public.session_of_capture values (pg_catalog.pg_backend_pid()); end';"
                   "create event trigger note_session on ddl_command_end when tag in ('CREATE FUNCTION') "
                   "execute function note_session()");
  const char *errors;
  int status = rowrelay(&f, NULL, &errors, "capture", "t*", "unlogged", NULL);
  sql(f.at_source, "drop event trigger note_session");
  cr_assert_eq(status, 0, "%s", errors);
  cr_assert_not_null(strstr(errors, "warning: "), "the second session warns no more: %s", errors);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.capture"), 201);
  cr_assert_eq(ask_number(f.at_source, "select count(distinct pid) from session_of_capture"), 2);
  fixture_end(&f);
}
