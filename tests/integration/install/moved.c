/* The source moves to another server by logical replication, as deploy/README.md says. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mirrored.h"

static void run_script(const struct fixture *f, const char *new, const char *script) {
  char line[4096];
  snprintf(line, sizeof line,
           "set -e; OLD='%s'; NEW='%s'; cd /tmp/rowrelay-moved-%d; PATH=$bin:$PATH; { %s; } 2>&1 >/dev/null | "
           "grep -v '^NOTICE' | grep . && exit 1; true",
           f->source, new, (int)getpid(), script);
  setenv("bin", ask(f->at_source, "select setting from pg_config where name = 'BINDIR'"), 1);
  cr_assert(system(line) == 0, "%s", script);
}

static void begin(struct fixture *f, const char *name) {
  own_server("source", "wal_level=logical");
  fixture_begin(f, name);
  needs_pg_dump(f->at_source);
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
}

Test(moved, a_source_moves_by_logical_replication_with_its_log_and_nothing_is_missing_or_doubled) {
  struct fixture f;
  begin(&f, "moved");
  sql(f.at_source, "create schema shop;"
                   "create table shop.item (id int generated always as identity primary key, v text, secret text);"
                   "create table shop.bare (v text);"
                   "create table shop.part (id int, d date, primary key (id, d)) partition by range (d);"
                   "create table shop.part_1 partition of shop.part for values from ('2026-01-01') to ('2027-01-01')");
  rowrelay_ok(&f, "capture", "shop.*", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "shop.item", "--exclude", "secret", "--where", "id > 0", NULL);
  char new[512];
  sql(f.at_target, "create database moved_new");
  snprintf(new, sizeof new, "host=%s port=%s user=postgres dbname=moved_new", PQhost(f.at_target), PQport(f.at_target));
  PGconn *there = connect_to(new, NULL);
  char command[128];
  snprintf(command, sizeof command, "mkdir /tmp/rowrelay-moved-%d", (int)getpid());
  cr_assert(system(command) == 0);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  sql(f.at_source, "insert into shop.item (v, secret) select 'a', 'SECRET' from generate_series(1, 20);"
                   "insert into shop.bare values ('a'), ('a'); insert into shop.part values (1, '2026-02-01')");

  run_script(&f, new,
             "pg_dump -Fc -s -N rowrelay \"$OLD\" >tables.dump; pg_restore -l tables.dump | grep -v '!rowrelay' "
             ">tables.list; pg_restore -d \"$NEW\" -L tables.list tables.dump");
  sql(f.at_source, "create publication moves for table shop.item, shop.bare, shop.part");
  sql(there, "create subscription moves connection '%s' publication moves", f.source);
  sql(f.at_source, "update shop.item set v = 'b' where id = 2; delete from shop.item where id = 3;"
                   "insert into shop.bare values ('b'); insert into shop.part values (2, '2026-03-01')");
  wait_until(there, "t", 60, "select bool_and(srsubstate = 'r') from pg_subscription_rel");
  wait_until_empty(&f, 20);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  sql(f.at_source, "update shop.item set v = 'waits' where id = 4");
  char last[64];
  snprintf(last, sizeof last, "%s", ask(f.at_source, "select pg_current_wal_lsn()"));
  wait_until(f.at_source, "t", 60, "select confirmed_flush_lsn >= '%s' from pg_replication_slots", last);
  sql(there, "drop subscription moves");
  sql(there, "select setval('shop.item_id_seq', %s)", ask(f.at_source, "select last_value from shop.item_id_seq"));
  run_script(&f, new,
             "pg_dump -Fc -n rowrelay \"$OLD\" | pg_restore -d \"$NEW\"; pg_restore -l tables.dump | grep '!rowrelay' "
             ">triggers.list; pg_restore -d \"$NEW\" -L triggers.list tables.dump; "
             "psql -Xq \"$NEW\" -c 'select rowrelay.skip_lost_ids(is_here => true)'");

  sql(there, "update shop.item set v = 'new', secret = 'SECRET' where id = 5; insert into shop.item (v) values ('new');"
             "delete from shop.bare where v = 'b'; insert into shop.part values (3, '2026-04-01')");
  struct fixture moved = f;
  snprintf(moved.source, sizeof moved.source, "%s", new);
  moved.at_source = there;
  mirrored_maintain(&moved);
  rowrelay_ok(&moved, "run", "--until-empty", NULL);
  rowrelay_ok(&moved, "verify", "w", NULL);
  same_rows(&moved, "(select id, v from shop.item)", "shop.item", "id");
  same_rows(&moved, "shop.bare", "shop.bare", "v");
  same_rows(&moved, "shop.part", "shop.part", "id");
  cr_expect_str_eq(ask(f.at_target, "select string_agg(v, ' ' order by id) from shop.item where id between 2 and 5"),
                   "b waits new");
  cr_expect_str_eq(ask(there, "select string_agg(note, ' ') from rowrelay.captures"), "");
  cr_expect_str_eq(ask(there, "select count(*) from rowrelay.gaps"), "0");
  cr_expect_str_eq(ask(there, "select count(*) from rowrelay.errors"), "0");
  cr_expect_str_eq(ask(there, "select count(*) from rowrelay.change where new_row::text like '%%SECRET%%'"), "0");
  cr_expect_str_eq(ask(there, "select string_agg(new_row ->> 'v', ' ' order by change_id) from rowrelay.history "
                              "where relation = 'shop.item'::regclass and key in ('2', '5')"),
                   "a a b new");
  PQfinish(there);
  sql(f.at_target, "drop database moved_new");
  snprintf(command, sizeof command, "rm -r /tmp/rowrelay-moved-%d", (int)getpid());
  cr_assert(system(command) == 0);
  fixture_end(&f);
}

Test(moved, a_publication_or_subscription_with_the_schema_itself_is_told_of) {
  struct fixture f;
  const char *said;
  begin(&f, "moved_all");
  rowrelay(&f, &said, NULL, "doctor", NULL);
  cr_expect_null(strstr(said, "publication"), "%s", said);
  sql(f.at_source, "create table item (id int primary key); create publication mine for table item");
  rowrelay(&f, &said, NULL, "doctor", NULL);
  cr_expect_null(strstr(said, "publication"), "%s", said);
  sql(f.at_source, "create publication moves for all tables");
  sql(f.at_source, "select pg_create_logical_replication_slot('moves', 'pgoutput')");
  rowrelay(&f, &said, NULL, "doctor", NULL);
  cr_expect_not_null(strstr(said, "warn  publication — moves: sent to"), "%s", said);
  /* The same tables are here. */
  sql(f.at_source,
      "create subscription moves connection '%s' publication moves with (create_slot = false, slot_name = "
      "moves, enabled = false, copy_data = false)",
      f.source);
  cr_expect(rowrelay(&f, &said, NULL, "doctor", NULL) == 1);
  cr_expect_not_null(strstr(said, "fail  subscription — a logical replication subscription writes to tables of schema "
                                  "rowrelay"),
                     "%s", said);
  sql(f.at_source, "alter subscription moves set (slot_name = none)");
  sql(f.at_source, "drop subscription moves");
  sql(f.at_source, "select pg_drop_replication_slot('moves')");
  fixture_end(&f);
}
