/* rowrelay doctor: for each thing that is in the way a line that says so, nothing but ok where nothing is, and nothing
 * changed anywhere. Each test has a server of its own, as roles and settings have. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "queries.h"
#include "served.h"

#if defined(__x86_64__)
#define FAKETIME_TRIPLET "x86_64-linux-gnu"
#else
#define FAKETIME_TRIPLET "aarch64-linux-gnu"
#endif

static struct fixture f;      /* as superuser */
static struct fixture keeper; /* who is to install rowrelay, in a database without it */
static PGconn *there;

/* A server with these settings, and an empty database of keeper's. */
static void begin(const char *name, const char *settings) {
  own_server("source", settings);
  fixture_begin(&f, name);
  sql(f.at_source, "create role keeper login createrole");
  sql(f.at_source, "create database doctor owner keeper");
  keeper = f;
  char *user = strstr(keeper.source, "user=");
  snprintf(user, sizeof keeper.source - (size_t)(user - keeper.source), "user=keeper dbname=doctor");
  there = connect_to(keeper.source, "");
}

static void end(void) {
  PQfinish(there);
  fixture_end(&f);
}

/* What it prints, which must end with this exit status. Valid until the next call. */
static const char *doctor(const struct fixture *who, int expected, const char *first, const char *second) {
  const char *output;
  const char *errors;
  int status = rowrelay(who, &output, &errors, "doctor", first, second, NULL);
  cr_assert(status == expected, "exit status %d: %s%s", status, output, errors);
  return output;
}

/* One line must begin so, and have these words in it, or in the one below it. */
static void has_line(const char *output, const char *begins, const char *words) {
  for (const char *line = output; *line != '\0'; line += strcspn(line, "\n") + 1) {
    if (strncmp(line, begins, strlen(begins)) != 0)
      continue;
    size_t length = strcspn(line, "\n") + 1;
    length += strcspn(line + length, "\n");
    if (memmem(line, length, words, strlen(words)) != NULL)
      return;
  }
  cr_expect(false, "no line \"%s … %s\": %s", begins, words, output);
}

static void all_is_well(const char *output) {
  cr_expect(strstr(output, "warn  ") == NULL && strstr(output, "fail  ") == NULL, "%s", output);
}

/* ---- nothing in the way ---------------------------------------------------------------------------------------- */

Test(doctor, before_and_after_installation_of_what_is_sound_says_nothing_but_ok) {
  begin("doctor_clean", "fsync=on");
  sql(there, "create schema shop; create table shop.orders (id int primary key, note text);"
             "create table shop.parts (id int primary key) partition by range (id);"
             "create table shop.part partition of shop.parts for values from (1) to (10)");
  const char *output = doctor(&keeper, 0, "shop.*", NULL);
  all_is_well(output);
  has_line(output, "ok    server version — ", "PostgreSQL");
  has_line(output, "ok    primary — ", "takes writes");
  has_line(output, "ok    session — ", "transaction pooler");
  has_line(output, "ok    rights — ", "role keeper may create schema rowrelay here");
  has_line(output, "ok    clock — ", "agree");
  has_line(output, "ok    lock table — ", "room");
  has_line(output, "ok    connections — ", "free");
  has_line(output, "ok    schema rowrelay — not installed here yet", "rowrelay init");
  has_line(output, "ok    tables — 2 looked at, nothing to say about 2", "");
  cr_expect_str_eq(ask(there, "select count(*) from pg_namespace where nspname ~ 'rowrelay'"), "0");
  const char *errors;
  cr_expect_eq(rowrelay(&keeper, NULL, &errors, "status", NULL), 2);
  cr_expect_not_null(strstr(errors, "rowrelay doctor"), "%s", errors);

  rowrelay_ok(&keeper, "init", NULL);
  sql(f.at_target, "revoke create on schema public from public"); /* as it is since PostgreSQL 15 */
  rowrelay_ok(&keeper, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&keeper, "capture", "shop.*", "--to", "w", "--create", NULL);
  pid_t process = fixture_run(&keeper, "--workers", "1", NULL);
  wait_until(there, "1", 10, "select count(*) from rowrelay.instances");
  output = doctor(&keeper, 0, NULL, NULL);
  all_is_well(output);
  has_line(output, "ok    schema rowrelay — version", "");
  has_line(output, "ok    processes — 1 running", "");
  has_line(output, "ok    target w — PostgreSQL", "as role postgres");
  stop_process(process, SIGTERM);
  end();
}

Test(doctor, a_target_where_others_may_create_functions_is_warned_of) {
  begin("doctor_overloads", NULL);
  rowrelay_ok(&keeper, "init", NULL);
  sql(f.at_target, "create schema mine; revoke create on schema public from public");
  rowrelay_ok(&keeper, "target", "add", "w", f.target_url, NULL);
  cr_expect_null(strstr(doctor(&keeper, 0, NULL, NULL), "may create functions"));
  sql(f.at_target, "grant create on schema mine to public"); /* where no name is looked up */
  cr_expect_null(strstr(doctor(&keeper, 0, NULL, NULL), "may create functions"));
  sql(f.at_target, "grant create on schema public to public");
  has_line(doctor(&keeper, 0, NULL, NULL), "warn  target w — other roles may create functions in schema public there",
           "revoke create on schema public from public");
  end();
}

/* What a query says of a server's version where the newest that was tested is older. */
static const char *words_of_next_year(const struct query *query, const char *const parameters[], int count) {
  static char words[512];
  char *text = strdup(query->text);
  for (char *newest = text; (newest = strstr(newest, "200000")) != NULL;)
    memcpy(newest, "130000", strlen("130000"));
  PGresult *result = PQexecParams(there, text, count, NULL, parameters, NULL, NULL, 0);
  cr_assert(PQntuples(result) > 0, "%s", PQerrorMessage(there));
  snprintf(words, sizeof words, "%s %s", PQgetvalue(result, 0, PQfnumber(result, "level")),
           PQgetvalue(result, 0, PQfnumber(result, "meaning")));
  PQclear(result);
  free(text);
  return words;
}

Test(doctor, warns_of_a_server_newer_than_those_that_were_tested) {
  begin("doctor_newer", NULL);
  const char *words = words_of_next_year(&QUERY_doctor_server, (const char *[]){"0", "60"}, 2);
  cr_expect(strncmp(words, "warn PostgreSQL ", 16) == 0 && strstr(words, "was tested with 13 to ") != NULL, "%s",
            words);
  words = words_of_next_year(&QUERY_doctor_target, (const char *[]){"w", "0", "w"}, 3);
  cr_expect(strncmp(words, "warn PostgreSQL ", 16) == 0 && strstr(words, "was tested with 13 to ") != NULL, "%s",
            words);
  end();
}

Test(doctor, programs_get_the_same_as_json) {
  begin("doctor_json", NULL);
  sql(there, "create table a (n int); create table b (n int unique)");
  const char *output = doctor(&keeper, 0, "--json", NULL);
  cr_expect_str_eq(ask(there,
                       "select string_agg(concat_ws(' ', e ->> 'level', e ->> 'tables', e ->> 'command'), '; ') "
                       "from json_array_elements($json$%s$json$) as e where e ->> 'what' = 'no key'",
                       output),
                   "warn [\"b\"] alter table b alter column n set not null; "
                   "warn [\"a\"] alter table a add primary key (COLUMNS)");
  end();
}

Test(doctor, finds_the_tables_that_other_commands_find) {
  begin("doctor_names", NULL);
  rowrelay_ok(&keeper, "init", NULL);
  sql(there, "create schema shop; create schema \"Odd.One\"; create table shop.orders (id int primary key);"
             "create table shop.\"Orders\" (id int primary key); create table shop.\"a\"\"b\" (id int primary key);"
             "create table \"Odd.One\".\"x*y\" (id int primary key); create table plain (id int primary key)");
  static const char *const PATTERNS[] = {
      "shop.*",        "SHOP.Orders",         "shop.\"Orders\"", "shop.order?", "shop.\"a\"\"b\"",
      "\"Odd.One\".*", "\"Odd.One\".\"x*y\"", "plain",           "*.*",         "pl*"};
  for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
    char line[64];
    const char *count = ask(there, "select count(*) from rowrelay.matching_tables('%s')", PATTERNS[i]);
    cr_expect_str_neq(count, "0", "%s", PATTERNS[i]);
    snprintf(line, sizeof line, "ok    tables — %s looked at", count);
    has_line(doctor(&keeper, 0, PATTERNS[i], NULL), line, "");
  }
  const char *errors;
  cr_expect_eq(rowrelay(&keeper, NULL, &errors, "doctor", "orders", NULL), 2);
  cr_expect_not_null(strstr(errors, "no table matches \"orders\""), "%s", errors);
  cr_expect_eq(rowrelay(&keeper, NULL, NULL, "doctor", "plain", "--measure", "plain", NULL), 2);
  cr_expect_eq(rowrelay(&keeper, NULL, NULL, "doctor", "--measure", "shop.*", NULL), 2);
  end();
}

/* ---- the server and who asks ----------------------------------------------------------------------------------- */

Test(doctor, names_settings_that_do_harm) {
  begin("doctor_settings", "max_locks_per_transaction=10 max_connections=30 max_prepared_transactions=5 "
                           "synchronous_commit=off full_page_writes=off track_counts=off");
  sql(f.at_source, "alter role keeper set statement_timeout = '5s'; alter role keeper set lock_timeout = '1s'");
  sql(f.at_source, "alter role keeper connection limit 9");
  sql(f.at_source, "alter role keeper set rowrelay.skip = on");
  const char *output = doctor(&keeper, 0, NULL, NULL);
  has_line(output, "warn  rowrelay.skip — nothing is captured of what is written by role keeper, ",
           "alter role keeper reset rowrelay.skip");
  has_line(output, "warn  lock table — it has room for 350 locks", "raise max_locks_per_transaction");
  has_line(output, "warn  doorbell — ", "max_prepared_transactions");
  has_line(output, "warn  synchronous_commit — ", "verify TARGET --repair");
  has_line(output, "warn  full_page_writes — ", "off");
  has_line(output, "warn  fsync — ", "off");
  has_line(output, "warn  track_counts — ", "off");
  has_line(output, "warn  timeouts — ", "lock_timeout = 1000ms, statement_timeout = 5000ms");
  has_line(output, "warn  connections — 7 are free", "raise max_connections");
  end();
}

Test(doctor, says_which_rights_are_missing) {
  begin("doctor_rights", NULL);
  sql(f.at_source, "create role guest login");
  struct fixture guest = keeper;
  char *user = strstr(guest.source, "user=");
  snprintf(user, sizeof guest.source - (size_t)(user - guest.source), "user=guest dbname=doctor");
  sql(there, "create table item (id int primary key)");
  const char *output = doctor(&guest, 1, NULL, NULL);
  has_line(output, "fail  rights — role guest may not create a schema here",
           "grant create on database doctor to guest");
  has_line(output, "ok    roles — ", "create role rowrelay_admin");
  has_line(output, "warn  owner: public.item — role guest, which captures", "grant keeper to guest");
  sql(f.at_source, "grant create on database doctor to guest");
  output = doctor(&guest, 1, "item", NULL);
  has_line(output, "ok    rights — role guest may create schema rowrelay here", "");
  has_line(output, "fail  owner: public.item — role guest, which captures", "grant keeper to guest");
  sql(f.at_source, "grant keeper to guest");
  has_line(doctor(&guest, 0, "item", NULL), "ok    tables — 1 looked at, nothing to say about 1", "");

  /* Once it is installed, its owner captures; and those without rights there are told so. */
  rowrelay_ok(&keeper, "init", NULL);
  sql(f.at_source, "revoke keeper from guest");
  has_line(doctor(&guest, 1, "item", NULL), "fail  schema rowrelay — ", "permission denied");
  struct fixture super = keeper;
  user = strstr(super.source, "user=");
  snprintf(user, sizeof super.source - (size_t)(user - super.source), "user=postgres dbname=doctor");
  sql(f.at_source, "alter role keeper superuser");
  has_line(doctor(&super, 0, NULL, NULL),
           "warn  rights — schema rowrelay is there, and belongs to role keeper, a super", "alter schema");
  end();
}

Test(doctor, fails_on_a_hot_standby) {
  own_server("source", "wal_level=replica");
  const char *standby = own_standby();
  fixture_begin(&f, "doctor_standby");
  struct fixture behind = f;
  snprintf(behind.source, sizeof behind.source, "%s dbname=%s", standby, f.name);
  wait_until(f.at_source, "t", 20,
             "select coalesce(bool_and(replay_lsn >= pg_current_wal_lsn()), false) from pg_stat_replication");
  has_line(doctor(&behind, 1, NULL, NULL), "fail  primary — this is a hot standby", "connect to the primary");
  fixture_end(&f);
}

Test(doctor, fails_behind_a_transaction_pooler_and_where_nothing_answers) {
  struct served pooler;
  fixture_begin(&f, "doctor_pooler");
  struct fixture away = f;
  snprintf(away.source, sizeof away.source, "host=/nonexistent dbname=x");
  has_line(doctor(&away, 1, NULL, NULL), "fail  connection — ", "No such file or directory  Is the server running");
  snprintf(away.source, sizeof away.source, "nonsense=1");
  doctor(&away, 2, NULL, NULL);
  setenv("ROWRELAY_TEST_DATABASE", f.name, 1);
  served_begin(&pooler, "pgbouncer.sh", false);
  struct fixture behind = f;
  snprintf(behind.source, sizeof behind.source, "host=%s port=6432 user=postgres dbname=source_transaction",
           pooler.address);
  has_line(doctor(&behind, 1, NULL, NULL), "fail  session — ", "is a transaction pooler");
  fixture_end(&f);
}

Test(doctor, names_old_and_prepared_transactions_and_what_they_lock) {
  begin("doctor_old", "max_prepared_transactions=2");
  sql(there, "create table item (id int primary key)");
  PGconn *other = connect_to(keeper.source, "application_name=forgotten");
  sql(other, "begin; insert into item values (1); prepare transaction 'left'");
  sql(other, "begin; insert into item values (2)");
  all_is_well(strstr(doctor(&keeper, 0, "item", NULL), "ok    schema rowrelay"));
  const char *output = doctor(&keeper, 0, "--old=0", "item");
  has_line(output, "warn  open transactions — process ", "(keeper, forgotten)");
  char command[64];
  snprintf(command, sizeof command, "select pg_terminate_backend(%d)", PQbackendPID(other));
  has_line(output, "warn  open transactions — ", command);
  has_line(output, "warn  prepared transactions — 'left'", "rollback prepared 'left'");
  has_line(output, "warn  locked: item — ", "waits until it ends");
  sql(other, "rollback");
  sql(other, "rollback prepared 'left'");
  PQfinish(other);
  end();
}

Test(doctor, compares_clocks) {
  const char *library = "/usr/lib/" FAKETIME_TRIPLET "/faketime/libfaketimeMT.so.1";
  if (access(library, R_OK) != 0 || getenv("ASAN_OPTIONS") != NULL)
    cr_skip_test("libfaketime is not installed, or a sanitizer is");
  begin("doctor_clock", NULL);
  rowrelay_ok(&keeper, "init", NULL);
  rowrelay_ok(&keeper, "target", "add", "w", f.target_url, NULL);
  setenv("LD_PRELOAD", library, 1);
  setenv("FAKETIME", "-90s", 1);
  setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1", 1);
  const char *output = doctor(&keeper, 0, NULL, NULL);
  unsetenv("LD_PRELOAD");
  unsetenv("FAKETIME");
  has_line(output, "warn  clock — ", "differ by 9");
  has_line(output, "warn  target w — ", "its clock and this machine's differ");
  end();
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

Test(doctor, says_what_is_unsafe_or_slow_for_a_table) {
  begin("doctor_tables", NULL);
  sql(there,
      "create schema shop; create type shop.mood as enum ('ok', 'sad');"
      "create table shop.nokey (a int, b text); create table shop.nullkey (a int, b int not null, unique (a, b));"
      "create table shop.parent (id int primary key); create table shop.child (primary key (id)) inherits "
      "(shop.parent);"
      "create unlogged table shop.unlogged (id int primary key);"
      "create table shop.slow (id int primary key, mood shop.mood, doc json, list int[], fine jsonb);"
      "create table shop.hidden (id int primary key); alter table shop.hidden force row level security;"
      "create table shop.nested (id int primary key, n int); create table shop.always (id int primary key);"
      "create function shop.again() returns trigger language plpgsql as $$ begin"
      "  update shop.nested set n = n + 1 where id = new.id and n < 3; return null; end $$;"
      "create trigger again after update on shop.nested for each row execute function shop.again();"
      "create trigger always after update on shop.always for each row execute function shop.again();"
      "alter table shop.always enable always trigger always");
  const char *output = doctor(&keeper, 0, "shop.*", NULL);
  has_line(output, "warn  no key: shop.nullkey — ", "alter table shop.nullkey alter column a set not null");
  has_line(output, "warn  no key: shop.nokey — ", "alter table shop.nokey add primary key");
  has_line(output, "warn  inheritance: shop.parent — ", "rowrelay capture shop.parent --key \"\"");
  has_line(output, "warn  unlogged: shop.unlogged — ", "rowrelay verify TARGET --repair");
  has_line(output, "warn  slow columns: shop.slow — ", "--exclude doc,list,mood");
  has_line(output, "warn  row-level security: shop.hidden — ", "alter role keeper bypassrls");
  has_line(output, "warn  nested writes: shop.nested — ", "captured in the right order");
  has_line(output, "warn  replica triggers: shop.always — ", "session_replication_role");
  has_line(output, "ok    tables — 9 looked at, nothing to say about 1", "");
  end();
}

Test(doctor, names_tables_of_a_subscription_and_event_triggers) {
  begin("doctor_subscription", NULL);
  sql(there, "create table item (id int primary key)");
  PGconn *super = connect_to(keeper.source, "user=postgres");
  sql(super, "create function say() returns event_trigger language plpgsql as $$ begin end $$;"
             "create event trigger watchman on ddl_command_end execute function say()");
  /* One that never ran will do: rows of the catalog are what is read. */
  sql(super, "create subscription s connection 'dbname=nowhere' publication p with (connect = false)");
  sql(super, "insert into pg_subscription_rel (srsubid, srrelid, srsubstate) select s.oid, 'item'::regclass, 'r' from "
             "pg_subscription s");
  const char *output = doctor(&keeper, 0, NULL, NULL);
  has_line(output, "warn  subscription: item — ", "psql -c '\\dRs+'");
  has_line(output, "warn  event trigger — watchman: ", "psql -c '\\dy+'");
  sql(super, "alter subscription s disable");
  sql(super, "alter subscription s set (slot_name = none)");
  sql(super, "drop subscription s");
  PQfinish(super);
  end();
}

/* ---- what is installed ---------------------------------------------------------------------------------------------
 */

Test(doctor, says_what_is_wrong_with_captures_targets_and_processes) {
  begin("doctor_installed", NULL);
  rowrelay_ok(&keeper, "init", NULL);
  sql(there, "create table item (id int primary key); create table other (id int primary key)");
  rowrelay_ok(&keeper, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&keeper, "target", "add", "idle", "stdout:", NULL);
  rowrelay_ok(&keeper, "target", "pause", "idle", NULL);
  rowrelay_ok(&keeper, "capture", "item", "other", "--to", "w", NULL);
  sql(there, "alter table item disable trigger \"!rowrelay\"");
  sql(there, "alter table other drop constraint other_pkey");
  const char *output = doctor(&keeper, 1, NULL, NULL);
  has_line(output, "fail  capture: public.item — triggers are missing or disabled", "rowrelay capture public.item");
  has_line(output, "warn  capture: public.other — its key is no longer unique", "rowrelay status --tables");
  has_line(output, "warn  target idle — it is paused", "rowrelay target resume idle");
  has_line(output, "warn  processes — no \"rowrelay run\" works here", "rowrelay run");
  output = doctor(&keeper, 0, "other", NULL);
  has_line(output, "warn  capture: public.other — ", "");
  cr_expect_null(strstr(output, "public.item"), "%s", output);
  rowrelay_ok(&keeper, "capture", "item", NULL);
  sql(there, "insert into other values (1)");
  sql(f.at_target, "drop table if exists other");
  pid_t process = fixture_run(&keeper, "--workers", "1", NULL);
  wait_until(there, "t", 20, "select note like '%% waits since %%' from rowrelay.status where target = 'w'");
  has_line(doctor(&keeper, 0, NULL, NULL), "warn  target w — ", "rowrelay status");
  stop_process(process, SIGTERM);

  sql(there, "delete from rowrelay.migration where version > 1");
  has_line(doctor(&keeper, 1, NULL, NULL), "fail  schema rowrelay — version 1", "rowrelay init");
  sql(there, "insert into rowrelay.migration (version) values (99)");
  has_line(doctor(&keeper, 1, NULL, NULL), "fail  schema rowrelay — ", "upgrade rowrelay on this machine");
  end();
}

/* Types what stands below the line that begins so, from "rowrelay" or "psql" on. */
static void type(const char *output, const char *begins) {
  static char line[2048];
  const char *at = strstr(output, begins);
  cr_assert(at != NULL, "no line \"%s\": %s", begins, output);
  at += strcspn(at, "\n") + 1;
  int length = (int)strcspn(at, "\n");
  const char *command = memmem(at, (size_t)length, "rowrelay ", 9);
  command = command != NULL ? command : memmem(at, (size_t)length, "psql ", 5);
  cr_assert(command != NULL, "nothing to type: %.*s", length, at);
  setenv("DOCTOR_SOURCE", keeper.source, 1);
  snprintf(
      line, sizeof line,
      "rowrelay() { \"$ROWRELAY_BIN\" -d \"$DOCTOR_SOURCE\" \"$@\"; }\n"
      "psql() { \"$(tests/support/pg.sh bin)/psql\" -X \"$DOCTOR_SOURCE\" -v ON_ERROR_STOP=1 \"$@\" | grep -q .; }\n"
      "%.*s >/dev/null",
      length - (int)(command - at), command);
  cr_expect(system(line) == 0, "%.*s", length, at);
}

Test(doctor, what_it_says_can_be_typed_whatever_the_names_are) {
  begin("doctor_typed", NULL);
  rowrelay_ok(&keeper, "init", NULL);
  sql(there, "create schema shop; create table shop.\"InvoiceLine\" (id int primary key, \"Ann's doc\" json);"
             "create table shop.part (primary key (id)) inherits (shop.\"InvoiceLine\");"
             "create table shop.\"Ann's Line\" (id int primary key);"
             "create function shop.again() returns trigger language plpgsql as $$ begin"
             "  update shop.\"Ann's Line\" set id = id where id = new.id; return null; end $$;"
             "create trigger always after delete on shop.\"Ann's Line\" for each row execute function shop.again();"
             "alter table shop.\"Ann's Line\" enable always trigger always");
  rowrelay_ok(&keeper, "target", "add", "Ann's", f.target_url, NULL);
  rowrelay_ok(&keeper, "target", "pause", "Ann's", NULL);
  const char *output = doctor(&keeper, 0, NULL, NULL);
  if (system("test -x $(tests/support/pg.sh bin)/psql") == 0)
    type(output, "warn  replica triggers: shop.\"Ann's Line\"");
  type(output, "warn  inheritance: shop.\"InvoiceLine\"");
  rowrelay_ok(&keeper, "release", "shop.\"InvoiceLine\"", NULL);
  sql(there, "drop table shop.part");
  output = doctor(&keeper, 0, NULL, NULL);
  type(output, "warn  slow columns: shop.\"InvoiceLine\"");
  cr_expect_str_eq(ask(there, "select exclude::text like '%%Ann''s doc%%' from rowrelay.captures"), "t");
  type(doctor(&keeper, 0, NULL, NULL), "warn  target Ann's — it is paused");
  rowrelay_ok(&keeper, "capture", "shop.\"Ann's Line\"", NULL);
  sql(there, "alter table shop.\"Ann's Line\" disable trigger \"!rowrelay\"");
  output = doctor(&keeper, 1, NULL, NULL);
  cr_expect_null(strstr(output, "it is paused"), "%s", output);
  type(output, "fail  capture: shop.\"Ann's Line\"");
  output = doctor(&keeper, 0, NULL, NULL);
  cr_expect_null(strstr(output, "triggers are missing"), "%s", output);
  end();
}

Test(doctor, says_which_targets_cannot_be_reached_and_sends_nothing) {
  begin("doctor_targets", NULL);
  rowrelay_ok(&keeper, "init", NULL);
  sql(f.at_target, "drop role if exists doctor_guest");
  sql(f.at_target, "create role doctor_guest login");
  char url[600];
  snprintf(url, sizeof url, "%s&user=doctor_guest", f.target_url);
  char *role = strstr(url, "user=postgres&");
  if (role != NULL)
    memmove(role, role + strlen("user=postgres&"), strlen(role + strlen("user=postgres&")) + 1);
  rowrelay_ok(&keeper, "target", "add", "guest", url, NULL);
  rowrelay_ok(&keeper, "target", "add", "hook", "http://127.0.0.1:1/", NULL);
  rowrelay_ok(&keeper, "target", "add", "secret", "https://u:${DOCTOR_TOKEN}@127.0.0.1:1/", NULL);
  rowrelay_ok(&keeper, "target", "add", "gone", "file:/nonexistent/file", NULL);
  rowrelay_ok(&keeper, "target", "add", "file", "file:/tmp/doctor-file", NULL);
  rowrelay_ok(&keeper, "target", "add", "here", "postgresql:", NULL);
  const char *output = doctor(&keeper, 1, NULL, NULL);
  has_line(output, "fail  target guest — ", "grant create on database");
  has_line(output, "fail  target hook — no connection", "127.0.0.1");
  has_line(output, "fail  target secret — environment variable DOCTOR_TOKEN", "");
  has_line(output, "fail  target gone — ", "/nonexistent/");
  has_line(output, "ok    target file — ", "directory");
  has_line(output, "ok    target here — ", "the source itself");
  cr_expect(access("/tmp/doctor-file", F_OK) != 0, "it has made the file");
  cr_expect_str_eq(ask(f.at_target, "select count(*) from pg_namespace where nspname = 'rowrelay_target'"), "0");
  /* Processes fail there as well: that is said once; and where it can be reached from here, it is not left unsaid. */
  pid_t process = fixture_run(&keeper, "--target", "file", NULL);
  wait_until(there, "1", 10, "select count(*) from rowrelay.instances where state = 'running'");
  sql(there, "update rowrelay.instance set targets = null;"
             "insert into rowrelay.trouble (target, message, retry_at) select id, 'no connection', now() "
             "from rowrelay.target where name in ('hook', 'here')");
  output = doctor(&keeper, 1, NULL, NULL);
  const char *hook = strstr(output, "target hook — ");
  cr_assert_not_null(hook, "%s", output);
  cr_expect_null(strstr(hook + 1, "target hook — "), "%s", output);
  has_line(output, "ok    target here — ", "the source itself");
  has_line(output, "warn  target here — since ", "no connection");
  stop_process(process, SIGTERM);
  sql(f.at_target, "drop role doctor_guest");
  end();
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

Test(doctor, measures_without_touching_the_table) {
  begin("doctor_measure", NULL);
  sql(there, "create domain code as int check (value < 0);"
             "create table item (id code primary key, name varchar(8) not null, at timestamptz, price numeric(6, 2), "
             "doc jsonb, list text[], raw bytea, yes bool, u uuid, span int4range, check (name <> name));"
             "create table keyless (a int)");
  PGconn *locker = connect_to(keeper.source, "");
  sql(locker, "begin; lock table item, keyless in access exclusive mode");
  const char *output = doctor(&keeper, 0, "--measure", "item");
  cr_expect_not_null(strstr(output, "  insert  "), "%s", output);
  cr_expect_not_null(strstr(output, "not measured with capture: schema rowrelay is not installed"), "%s", output);
  rowrelay_ok(&keeper, "init", NULL);
  output = doctor(&keeper, 0, "--measure", "item");
  cr_expect_not_null(strstr(output, "captured      added"), "%s", output);
  cr_expect_null(strstr(output, "not measured"), "%s", output);
  cr_expect_not_null(strstr(doctor(&keeper, 0, "--measure", "keyless"), "added"));
  const char *json;
  cr_assert_eq(rowrelay(&keeper, &json, NULL, "doctor", "--measure", "item", "--json", NULL), 0);
  cr_expect_str_eq(
      ask(there,
          "select (j #>> '{insert,captured}')::numeric > (j #>> '{insert,without}')::numeric and "
          "(j #>> '{update,added}')::numeric > 0 and j ->> 'reason' is null from (select '%s'::json as j) x",
          json),
      "t");
  sql(locker, "rollback");
  PQfinish(locker);
  cr_expect_str_eq(ask(there, "select concat_ws(' ', (select count(*) from rowrelay.change), (select count(*) from "
                              "rowrelay.queue), (select count(*) from rowrelay.capture), (select count(*) from "
                              "rowrelay.target), (select count(*) from pg_namespace where nspname = "
                              "'rowrelay_doctor'), (select count(*) from item))"),
                   "0 0 0 0 0 0");
  end();
}
