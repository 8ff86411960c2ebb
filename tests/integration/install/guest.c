/* Whatever else lives in the database goes on, and gets nothing that is rowrelay's. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "fixture.h"
#include "mirrored.h"

/* The target subscribes to a publication of the source, which has a table and not rowrelay. */
static void begin_house(struct fixture *f, const char *name, const char *publication) {
  fixture_begin(f, name);
  rowrelay_ok(f, "uninstall", "--force", NULL);
  sql(f->at_source, "create schema shop; create table shop.item (id int primary key, v text);"
                    "insert into shop.item values (1, 'a')");
  sql(f->at_target, "create schema shop; create table shop.item (id int primary key, v text)");
  sql(f->at_source, "create publication house %s", publication);
  sql(f->at_target, "create subscription %s connection '%s' publication house", f->name, f->source);
}

static void end_house(struct fixture *f) {
  sql(f->at_target, "drop subscription %s", f->name);
  fixture_end(f);
}

/* Until the subscriber has a row that is written now. */
static void replicates(struct fixture *f) {
  static int id = 1000;
  sql(f->at_source, "insert into shop.item values (%d, 'new')", ++id);
  char row[64];
  snprintf(row, sizeof row, "select v from shop.item where id = %d", id);
  wait_until(f->at_target, "new", 30, "%s", row);
}

/* Runs at the source the first statement of the printed steps. */
static void run_printed(struct fixture *f, const char *said) {
  const char *begin = strstr(said, "1. here: ");
  cr_assert_not_null(begin, "%s", said);
  begin += strlen("1. here: ");
  const char *end = strstr(begin, "; 2. ");
  cr_assert_not_null(end, "%s", said);
  sql(f->at_source, "%.*s", (int)(end - begin), begin);
}

Test(guest, init_and_doctor_reject_a_publication_of_all_tables) {
  struct fixture f;
  const char *said;
  char words[256];
  begin_house(&f, "guest_rejects", "for all tables");
  replicates(&f);
  /* that of the initial copy goes a moment after its rows are there */
  wait_until(f.at_source, "1", 20, "select count(*) from pg_replication_slots where database = current_database()");
  cr_assert_eq(rowrelay(&f, NULL, &said, "init", NULL), 1);
  cr_expect_not_null(strstr(said, "publication house of database "), "%s", said);
  snprintf(words, sizeof words, "Slots: %s (read by %s from this machine)", f.name, f.name);
  cr_expect_not_null(strstr(said, words), "%s", said);
  cr_expect_not_null(strstr(said, "drop publication house"), "%s", said);
  cr_assert_eq(rowrelay(&f, &said, NULL, "doctor", NULL), 1);
  cr_expect_not_null(strstr(said, "fail  publication — publication house"), "%s", said);
  char command[1024];
  snprintf(command, sizeof command, "$(tests/support/pg.sh bin)/psql -Xq -f schema/install.sql '%s' 2>/dev/null",
           f.source);
  cr_expect(system(command) != 0);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from pg_namespace where nspname like 'rowrelay%%'"), "0");
  replicates(&f);
  end_house(&f);
}

/* As printed: where the server has it, a publication by schema, else by table. */
Test(guest, native_replication_goes_on_after_the_printed_steps) {
  struct fixture f;
  const char *said;
  begin_house(&f, "guest_goes_on", "for all tables");
  cr_assert_eq(rowrelay(&f, NULL, &said, "init", NULL), 1);
  run_printed(&f, said);
  char lsn[32];
  snprintf(lsn, sizeof lsn, "%s", ask(f.at_source, "select pg_current_wal_lsn()"));
  wait_until(f.at_source, "t", 30,
             "select confirmed_flush_lsn >= '%s' from pg_replication_slots where slot_name = '%s'", lsn, f.name);
  sql(f.at_target, "alter subscription %s set publication house_of_ours", f.name);
  sql(f.at_source, "drop publication house");
  rowrelay_ok(&f, "init", NULL);
  replicates(&f);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "shop.item", NULL);
  rowrelay_ok(&f, "route", "shop.item", "w", "--into", "mirror.item", "--create", NULL);
  rowrelay_ok(&f, "backfill", "shop.item", "--to", "w", NULL);
  replicates(&f);
  sql(f.at_source, "update shop.item set v = 'b' where id = 1; delete from shop.item where id = 1001");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  mirrored_maintain(&f);
  rowrelay_ok(&f, "verify", "w", NULL);
  replicates(&f);
  sql(f.at_source, "truncate shop.item");
  replicates(&f);
  rowrelay_ok(&f, "release", "shop.item", NULL);
  replicates(&f);
  rowrelay_ok(&f, "uninstall", "--force", NULL);
  replicates(&f);
  same_rows(&f, "shop.item", "shop.item", "id");
  end_house(&f);
}

Test(guest, a_later_publication_of_all_tables_is_in_the_status_until_accepted) {
  struct fixture f;
  const char *said;
  fixture_begin(&f, "guest_later");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "target", "add", "x", f.target_url, NULL);
  sql(f.at_source, "create table item (id int primary key, v text); create publication house for all tables");
  const char *note =
      "select string_agg(target, ' ') from rowrelay.status where note like '%%publication house is for%%'";
  cr_expect_str_eq(ask(f.at_source, "%s", note), "w");
  cr_assert_eq(rowrelay(&f, &said, NULL, "doctor", NULL), 1);
  cr_expect_not_null(strstr(said, "fail  publication — publication house"), "%s", said);
  cr_assert_eq(rowrelay(&f, NULL, &said, "init", NULL), 1);
  rowrelay_ok(&f, "init", "--publish-anyway", NULL);
  cr_expect_str_eq(ask(f.at_source, "%s", note), "");
  rowrelay_ok(&f, "init", NULL);
  rowrelay_ok(&f, "doctor", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item values (1, 'a'), (2, 'b'); update item set v = 'c' where id = 1; delete from item "
                   "where id = 2");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  mirrored_maintain(&f);
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

Test(guest, nothing_is_made_at_a_target_that_publishes_all_tables) {
  struct fixture f;
  const char *said;
  fixture_begin(&f, "guest_target");
  sql(f.at_target, "create publication house for all tables");
  sql(f.at_source, "create table item (id int primary key); create table late (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item values (1)");
  cr_expect_eq(rowrelay(&f, NULL, &said, "target", "test", "w", NULL), 1);
  cr_expect_not_null(strstr(said, "publication house of database"), "%s", said);
  cr_expect_eq(rowrelay(&f, &said, NULL, "doctor", NULL), 1);
  cr_expect_not_null(strstr(said, "fail  target w — publication house of database"), "%s", said);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "t", 30, "select note like '%%publication house of database%%' from rowrelay.status");
  cr_expect_str_eq(ask(f.at_target, "select count(*) from pg_namespace where nspname = 'rowrelay_target'"), "0");
  cr_expect_str_eq(ask(f.at_target, "select to_regclass('item')"), "");
  stop_process(process, SIGTERM);

  sql(f.at_target, "drop publication house");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "item", "item", "id");
  sql(f.at_target, "create publication house for all tables");
  rowrelay_ok(&f, "capture", "late", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into late values (1); insert into item values (2)");
  process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "t", 30, "select note like '%%late waits since%%publication house%%' from rowrelay.status");
  wait_until(f.at_target, "2", 30, "select count(*) from item");
  cr_expect_str_eq(ask(f.at_target, "select to_regclass('late')"), "");
  stop_process(process, SIGTERM);
  sql(f.at_target, "alter database \"%s\" set rowrelay.publish_anyway = on", f.name);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  wait_until_nothing_waits(&f, 30);
  fixture_end(&f);
}

/* How many objects of the schema a role has a right to. */
static int64_t rights_of(struct fixture *f, const char *role) {
  return ask_number(f->at_source,
                    "select (select count(*) from pg_class c, aclexplode(c.relacl) as a where a.grantee = r.oid"
                    "         and c.relnamespace = n.oid)"
                    " + (select count(*) from pg_proc p, aclexplode(p.proacl) as a where a.grantee = r.oid"
                    "     and p.pronamespace = n.oid)"
                    " + (select count(*) from aclexplode(n.nspacl) as a where a.grantee = r.oid)"
                    " from pg_roles r, pg_namespace n where r.rolname = '%s' and n.nspname = 'rowrelay'",
                    role);
}

Test(guest, default_privileges_of_the_owner_open_nothing_of_the_schema) {
  struct fixture f;
  const char *said;
  fixture_begin(&f, "guest_defaults");
  rowrelay_ok(&f, "uninstall", "--force", NULL);
  role_begin("guest_reporting");
  sql(f.at_source, "alter default privileges grant all on tables to guest_reporting;"
                   "alter default privileges grant all on sequences to guest_reporting;"
                   "alter default privileges grant all on functions to guest_reporting;"
                   "alter default privileges grant all on schemas to guest_reporting");
  rowrelay_ok(&f, "init", NULL);
  cr_expect_eq(rights_of(&f, "guest_reporting"), 0);
  sql(f.at_source, "create table item (id int primary key, v text); create table bare (v text);"
                   "create table part (id int primary key) partition by range (id)");
  rowrelay_ok(&f, "capture", "item", "bare", "part", NULL);
  rowrelay_ok(&f, "capture", "item", "--per", "statement", NULL);
  sql(f.at_source, "insert into item values (1, 'a'); select rowrelay.maintain_partitions(20)");
  cr_expect_eq(rights_of(&f, "guest_reporting"), 0);
  rowrelay(&f, &said, NULL, "doctor", NULL);
  cr_expect_null(strstr(said, "rights to the log"), "%s", said);
  sql(f.at_source, "grant select on rowrelay.change, rowrelay.status to guest_reporting");
  rowrelay(&f, &said, NULL, "doctor", NULL);
  cr_expect_not_null(strstr(said, "warn  rights to the log — guest_reporting may use rowrelay.change"), "%s", said);
  cr_expect_not_null(strstr(said, "revoke all on rowrelay.change from guest_reporting"), "%s", said);
  rowrelay_ok(&f, "init", NULL);
  cr_expect_eq(rights_of(&f, "guest_reporting"), 0, "what default privileges name is not for the log");
  sql(f.at_source, "drop owned by guest_reporting");
  fixture_end(&f);
  role_end("guest_reporting");
}

/* Runs a command of the shell, which finds the tools in $bin, and gives its exit status. */
static int run_tool(const struct fixture *f, const char *conninfo, const char *script) {
  char command[2048];
  snprintf(command, sizeof command, "bin=$(tests/support/pg.sh bin); dump=/tmp/%s.dump; db='%s'; %s", f->name, conninfo,
           script);
  int status = system(command);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(guest, a_dump_by_the_owner_of_the_tables_goes_on_as_printed) {
  static const char DUMP[] = "$bin/pg_dump -Fc -d \"$db user=guest_owner\" -f $dump 2>/dev/null";
  struct fixture f;
  const char *said;
  fixture_begin(&f, "guest_dump");
  needs_pg_dump(f.at_source);
  rowrelay_ok(&f, "uninstall", "--force", NULL);
  role_begin("guest_owner");
  role_begin("guest_other");
  sql(f.at_source,
      "create schema shop authorization guest_owner; set role guest_owner;"
      "create table shop.item (id int primary key, v text); reset role; insert into shop.item values (1, 'a')");
  cr_expect_eq(run_tool(&f, f.source, DUMP), 0);
  said = rowrelay_ok(&f, "init", NULL);
  cr_expect_not_null(strstr(said,
                            "pg_dump of the whole database fails as role guest_owner, which may not read the log -- "
                            "run: pg_dump --exclude-schema=rowrelay"),
                     "%s", said);
  rowrelay_ok(&f, "capture", "shop.item", NULL);
  cr_expect_eq(run_tool(&f, f.source, DUMP), 1);
  rowrelay(&f, &said, NULL, "doctor", NULL);
  cr_expect_not_null(strstr(said, "warn  pg_dump — of the whole database fails as role guest_owner"), "%s", said);
  cr_expect_eq(
      run_tool(&f, f.source, "$bin/pg_dump -Fc --exclude-schema=rowrelay -d \"$db user=guest_owner\" -f $dump"), 0);
  cr_expect_eq(run_tool(&f, f.target,
                        "$bin/pg_restore -l $dump | grep -v '!rowrelay' >$dump.list; "
                        "$bin/pg_restore --no-owner --exit-on-error -L $dump.list -d \"$db\" $dump; e=$?; "
                        "rm $dump $dump.list; exit $e"),
               0);
  same_rows(&f, "shop.item", "shop.item", "id");
  sql(f.at_source, "drop schema shop cascade");
  fixture_end(&f);
  role_end("guest_owner");
  role_end("guest_other");
}

/* Whatever of contrib is here, in schema public. */
static void create_extensions(PGconn *connection) {
  sql(connection,
      "do $$ declare name text; begin"
      "  for name in select e.name from pg_available_extensions e where e.installed_version is null"
      "              and e.name = any "
      "('{adminpack,amcheck,autoinc,bloom,btree_gin,btree_gist,citext,cube,dblink,dict_int,"
      "dict_xsyn,earthdistance,file_fdw,fuzzystrmatch,hstore,insert_username,intagg,intarray,isn,lo,ltree,moddatetime,"
      "pageinspect,pg_buffercache,pg_freespacemap,pg_prewarm,pg_stat_statements,pg_surgery,pg_trgm,pg_visibility,"
      "pg_walinspect,pgcrypto,pgrowlocks,pgstattuple,postgres_fdw,refint,seg,sslinfo,tablefunc,tcn,tsm_system_rows,"
      "tsm_system_time,unaccent,uuid-ossp,xml2}'::text[])"
      "  loop execute format('create extension if not exists %%I schema public cascade', name); end loop; end $$");
}

static void do_the_main_job(struct fixture *f) {
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  sql(f->at_source,
      "create table item (id int primary key, v text, n smallint[], j json, at timestamptz default now());"
      "create table bare (v text, x float8); create table few (id bigint, k text, v text, primary key (k, id));"
      "create table part (id int, day date, primary key (id, day)) partition by range (day);"
      "create table part_1 partition of part for values from ('2026-01-01') to ('2027-01-01');"
      "insert into item select g, 'v' || g, '{1,2}', '{\"a\": 1}' from generate_series(1, 300) as g");
  rowrelay_ok(f, "capture", "item", "bare", "part", "--to", "w", "--create", "--before", NULL);
  rowrelay_ok(f, "capture", "few", "--per", "statement", "--to", "w", "--create", NULL);
  rowrelay_ok(f, "backfill", "item", "--to", "w", NULL);
  sql(f->at_source, "insert into bare values ('a', 1.5), ('a', 1.5), ('b', null); insert into few values (1, 'a', 'b');"
                    "insert into part values (1, '2026-02-02'); update item set v = v || 'x' where id < 9;"
                    "update item set id = 1000 where id = 10; delete from item where id = 11;"
                    "delete from bare where v = 'b'; update few set v = 'c'");
  rowrelay_ok(f, "run", "--until-empty", NULL);
  sql(f->at_source, "alter table item add column more text default 'm'; insert into item (id) values (2000);"
                    "truncate bare; insert into bare values ('c', 2)");
  mirrored_maintain(f);
  rowrelay_ok(f, "run", "--until-empty", NULL);
  rowrelay_ok(f, "verify", "w", NULL);
  cr_expect_str_eq(ask(f->at_source, "select count(*) from rowrelay.refusal"), "0");
  same_rows(f, "item", "item", "id");
  same_rows(f, "bare", "bare", "v");
  same_rows(f, "few", "few", "id");
  rowrelay_ok(f, "log", "item", "12", NULL);
  rowrelay_ok(
      f, "undo", "item", "3",
      ask(f->at_source, "select max(change_id) from rowrelay.history where relation = 'item'::regclass and key = '3'"),
      NULL);
  rowrelay_ok(f, "status", "--tables", NULL);
  rowrelay_ok(f, "keep", "90 days", NULL);
  rowrelay_ok(f, "prune", NULL);
  rowrelay_ok(f, "seal", NULL);
  sql(f->at_source, "select rowrelay.skip_lost_ids()");
  rowrelay_ok(f, "doctor", NULL);
  rowrelay_ok(f, "target", "drop", "w", NULL);
  rowrelay_ok(f, "release", "item", NULL);
  rowrelay_ok(f, "uninstall", "--force", NULL);
}

Test(guest, the_main_job_runs_beside_every_contrib_extension_in_public) {
  struct fixture f;
  fixture_begin(&f, "guest_contrib");
  rowrelay_ok(&f, "uninstall", "--force", NULL);
  create_extensions(f.at_source);
  create_extensions(f.at_target);
  if (ask_number(f.at_source, "select count(*) from pg_extension") < 3)
    cr_skip_test("postgresql-contrib is not installed");
  rowrelay_ok(&f, "init", NULL);
  do_the_main_job(&f);
  cr_expect_eq(run_tool(&f, f.source, "$bin/psql -Xq -f schema/install.sql \"$db\""), 0);
  rowrelay_ok(&f, "capture", "few", NULL);
  cr_expect_eq(run_tool(&f, f.source, "$bin/psql -Xq -f schema/uninstall.sql \"$db\""), 0);
  fixture_end(&f);
}
