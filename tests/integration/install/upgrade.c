/* `rowrelay init` over every released version of the schema, with changes queued, and writers at work meanwhile. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrival.h"
#include "fixture.h"
#include "schema_files.h"
#include "writers.h"

#define SCRIPT_SIZE (4 * 1024 * 1024)
#define DUMP_SIZE (2 * 1024 * 1024)
#define KEYS 100
#define HOT 10

static void read_all(FILE *from, char *text, size_t size) {
  size_t length = fread(text, 1, size - 1, from);
  cr_assert(length > 0 && length < size - 1, "%zu bytes", length);
  text[length] = '\0';
}

/* The source has the schema of then, and nothing else. */
static void begin(struct fixture *f, const char *name, int version) {
  static char script[SCRIPT_SIZE];
  char path[64];
  fixture_begin(f, name);
  snprintf(path, sizeof path, "tests/support/schema/version-%d.sql", version);
  FILE *file = fopen(path, "r");
  cr_assert(file != NULL, "there is no %s: see the README.md there", path);
  read_all(file, script, sizeof script);
  fclose(file);
  rowrelay_ok(f, "uninstall", "--force", NULL);
  sql(f->at_source, "%s", script);
  cr_assert(ask_number(f->at_source, "select max(version) from rowrelay.migration") == version);
  sql(f->at_source, "set client_min_messages to error");
}

/* Leaves out the words that pg_dump makes up anew each time. */
static void dump_schema(const struct fixture *f, char *text) {
  char command[1024];
  snprintf(command, sizeof command,
           "$(tests/support/pg.sh bin)/pg_dump --schema-only '%s' | grep -v '^.[a-z]*restrict '", f->source);
  FILE *pipe = popen(command, "r");
  cr_assert(pipe != NULL);
  read_all(pipe, text, DUMP_SIZE);
  cr_assert(pclose(pipe) == 0);
}

static const char *first_difference(const char *a, const char *b) {
  while (*a != '\0' && *a == *b)
    a++, b++;
  while (*a != '\n' && *a != '\0')
    a--;
  return a;
}

Test(upgrade, from_each_released_version_makes_what_a_new_installation_makes) {
  static char fresh[DUMP_SIZE];
  static char upgraded[DUMP_SIZE];
  for (int version = 1; version <= SCHEMA_NEWEST; version++) {
    struct fixture f;
    begin(&f, "upgrade_schema", version);
    needs_pg_dump(f.at_source);
    rowrelay_ok(&f, "init", NULL);
    dump_schema(&f, upgraded);
    rowrelay_ok(&f, "uninstall", "--force", NULL);
    rowrelay_ok(&f, "init", NULL);
    dump_schema(&f, fresh);
    cr_assert(strcmp(fresh, upgraded) == 0,
              "from version %d: see tests/support/schema/README.md. It differs at: %.300s", version,
              first_difference(upgraded, fresh));
    fixture_end(&f);
  }
}

/* A query for what people have asked for, and how far each target is: with the columns that there are at this moment.
 */
static char *ask_for_settings(struct fixture *f) {
  return strdup(
      ask(f->at_source,
          "select format('select md5(concat(%%s))', string_agg(format("
          "'(select json_agg(c) from (select %%s from rowrelay.%%I order by 1, 2) as c)', names, name), ', ')) "
          "from (select c.relname as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as names "
          "        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 "
          "         and not a.attisdropped and a.attname not in ('ids_skipped', 'server') " /* others since version 2 */
          "       where c.oid = any ('{rowrelay.capture,rowrelay.target,rowrelay.route,rowrelay.source}'::regclass[]) "
          "       group by c.relname) as t"));
}

Test(upgrade, from_each_released_version_keeps_what_is_queued_and_misses_nothing_that_is_written_meanwhile) {
  for (int version = 1; version <= SCHEMA_NEWEST; version++) {
    struct fixture f;
    struct writers writers;
    begin(&f, "upgrade_work", version);
    writers_make_tables(f.at_source);
    writers_make_tables(f.at_target);
    sql(f.at_source, "select rowrelay.add_target('a', '%s', '{\"mode\": \"append\"}')", f.target_url);
    sql(f.at_source, "select rowrelay.add_target('m', '%s')", f.target_url);
    static const char *const TABLES[] = {"stock", "ledger"};
    for (int i = 0; i < 2; i++) {
      sql(f.at_source, "select rowrelay.capture_table('%s', before => 'full')", TABLES[i]);
      sql(f.at_source, "select rowrelay.route('%s', 'a')", TABLES[i]);
      sql(f.at_source, "select rowrelay.route('%s', 'm')", TABLES[i]);
    }
    writers_fill_tables(f.at_source, KEYS);
    int64_t queued = ask_number(f.at_source, "select count(*) from rowrelay.queue");
    cr_assert(queued > KEYS);
    char *query = ask_for_settings(&f);
    char *settings = strdup(ask(f.at_source, "%s", query));

    writers_start(&writers, f.source, 3, 1500, HOT, KEYS);
    wait_until(f.at_source, "t", 20, "select count(*) > %d from rowrelay.queue", (int)queued + 100);
    int times = 0;
    sql(f.at_source, "insert into rowrelay.instance (id, host, pid, version, workers) "
                     "values (gen_random_uuid(), 'elsewhere', 4711, '0.1.0', 2)");
    const char *said = rowrelay_ok(&f, "init", NULL);
    cr_expect(version == SCHEMA_NEWEST || strstr(said, "process 4711 on elsewhere") != NULL, "%s", said);
    sql(f.at_source, "delete from rowrelay.instance");
    for (; times < 3 || (times < 20 && !writers_are_done(&writers)); times++)
      rowrelay_ok(&f, "init", NULL);
    writers_finish(&writers, 60);

    cr_expect_str_eq(settings, ask(f.at_source, "%s", query));
    cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.queue") > queued + 100);
    rowrelay_ok(&f, "run", "--until-empty", NULL);
    arrival_is_in_order(&f, "stock_changes");
    arrival_is_complete(&f, "stock", "stock_changes");
    arrival_is_complete(&f, "ledger", "ledger_changes");
    same_rows(&f, "stock", "stock", "id");
    same_rows(&f, "ledger", "ledger", "what, n");
    cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.errors") == 0);
    free(query);
    free(settings);
    fixture_end(&f);
  }
}

/* A trigger function that cannot use its own text reads tables of the schema, one after the other. */
Test(upgrade, a_writer_that_reads_table_after_table_meanwhile_goes_on) {
  struct fixture f;
  begin(&f, "upgrade_reader", 1);
  PGconn *writer = connect_to(f.source, "options='-c statement_timeout=20s'");
  sql(writer, "begin; select from rowrelay.route");
  pid_t process = fixture_start(&f, "init", NULL);
  wait_until(f.at_source, "t", 20,
             "select exists (select from pg_locks where relation = 'rowrelay.route'::regclass and not granted)");
  sql(writer, "select from rowrelay.capture; select from rowrelay.day; commit");
  cr_assert(wait_process(process, 30) == 0);
  PQfinish(writer);
  fixture_end(&f);
}

Test(upgrade, a_program_that_is_older_than_the_schema_says_so_and_ends) {
  struct fixture f;
  const char *errors;
  fixture_begin(&f, "upgrade_older");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "1", 10, "select count(*) from rowrelay.instance");
  sql(f.at_source, "insert into rowrelay.migration (version) values (%d)", SCHEMA_NEWEST + 1);
  cr_expect(rowrelay(&f, NULL, &errors, "run", NULL) == 2);
  cr_expect(strstr(errors, "upgrade rowrelay on this machine") != NULL, "%s", errors);
  cr_expect(rowrelay(&f, NULL, &errors, "init", NULL) == 2);
  /* One that works already finds out when it connects the next time. */
  cr_expect(still_runs(process, 1));
  sql(f.at_source, "select pg_terminate_backend(pid) from pg_stat_activity "
                   "where datname = current_database() and pid <> pg_backend_pid()");
  cr_expect(wait_process(process, 10) == 2);
  sql(f.at_source, "delete from rowrelay.migration");
  cr_expect(rowrelay(&f, NULL, &errors, "run", NULL) == 2);
  cr_expect(strstr(errors, "rowrelay init") != NULL, "%s", errors);
  sql(f.at_source, "insert into rowrelay.migration (version) values (%d)", SCHEMA_NEWEST);
  fixture_end(&f);
}
