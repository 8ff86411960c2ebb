/*
 * The source is a subscriber of native logical replication: its captured tables are written by an apply worker, which
 * since PostgreSQL 16 acts as the owner of each table and undoes settings after each row and each trigger.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "mirrored.h"

#define TABLES                                                                                                         \
  "create table plain (id int primary key, v text);"                                                                   \
  "create table bare (id int, v text); alter table bare replica identity full;"                                        \
  "create table bulk (id int primary key, v text);"                                                                    \
  "create table days (id int primary key, v text) partition by range (id);"                                            \
  "create table days1 partition of days for values from (1) to (100);"                                                 \
  "create table days2 partition of days for values from (100) to (200);"                                               \
  "create table parts (id int primary key, v text) partition by hash (id);"                                            \
  "create table parts1 partition of parts for values with (modulus 2, remainder 0);"                                   \
  "create table parts2 partition of parts for values with (modulus 2, remainder 1);"                                   \
  "create table root (id int primary key, v text);"                                                                    \
  "create table kid (primary key (id)) inherits (root);"
static const char *const CAPTURED[] = {"plain", "bare", "bulk", "days", "parts", "root"};
enum { CAPTURED_COUNT = sizeof CAPTURED / sizeof *CAPTURED };

/* The fixture's target is the publisher, too; its schema copy has the mirrors. */
static void begin(struct fixture *f, const char *name) {
  own_server("source", NULL);
  mirrored_begin(f, name, TABLES);
  sql(f->at_source, "drop role if exists app; create role app; grant all on schema public to app");
  for (const char *rest = "plain bare bulk days days1 days2 parts parts1 parts2 root kid "; *rest != '\0';) {
    int length = (int)strcspn(rest, " ");
    sql(f->at_source, "alter table %.*s owner to app", length, rest);
    rest += length + 1;
  }
  for (size_t i = 0; i < CAPTURED_COUNT; i++) {
    char there[32];
    snprintf(there, sizeof there, "copy.%s", CAPTURED[i]);
    rowrelay_ok(f, "capture", CAPTURED[i], strcmp(CAPTURED[i], "bulk") == 0 ? "--per" : "--key",
                strcmp(CAPTURED[i], "bulk") == 0   ? "statement"
                : strcmp(CAPTURED[i], "bare") == 0 ? ""
                                                   : "id",
                NULL);
    rowrelay_ok(f, "route", CAPTURED[i], "w", "--into", there, "--create", NULL);
  }
  sql(f->at_target, "create schema copy; " TABLES);
  sql(f->at_target, "create publication p for table plain, bare, bulk, days1, days2, parts1, parts2, root, kid");
  sql(f->at_target, "select pg_create_logical_replication_slot('%s', 'pgoutput')", f->name);
  sql(f->at_source,
      "create subscription s connection '%s' publication p with (slot_name = '%s', create_slot = false, "
      "copy_data = false)",
      f->target, f->name);
}

/* Until the worker has applied all that the publisher has committed. */
static void wait_until_applied(struct fixture *f) {
  const char *end = ask(f->at_target, "select pg_current_wal_insert_lsn()");
  wait_until(f->at_target, "t", 20,
             "select confirmed_flush_lsn >= '%s' from pg_replication_slots where slot_name = '%s'", end, f->name);
}

static void check(struct fixture *f, const char *when) {
  wait_until_applied(f);
  rowrelay_ok(f, "run", "--until-empty", NULL);
  for (size_t i = 0; i < CAPTURED_COUNT; i++) {
    char there[32];
    snprintf(there, sizeof there, "copy.%s", CAPTURED[i]);
    same_rows(f, CAPTURED[i], there, "id, v");
    const char *published = ask(f->at_target, "select count(*) from %s", CAPTURED[i]);
    const char *here = ask(f->at_source, "select count(*) from %s", CAPTURED[i]);
    cr_expect(strcmp(published, here) == 0, "%s, %s: %s rows here, %s published", CAPTURED[i], when, here, published);
  }
  cr_expect(ask_number(f->at_source, "select count(*) from rowrelay.follower where version = '(0,0)'") == 0, "%s",
            when);
}

static void end(struct fixture *f) {
  sql(f->at_source, "drop subscription s");
  fixture_end(f);
}

static void fill(struct fixture *f) {
  for (size_t i = 0; i < CAPTURED_COUNT; i++)
    sql(f->at_target, "insert into %s select n, 'v' from generate_series(1, 150) as n on conflict do nothing",
        CAPTURED[i]);
  sql(f->at_target, "insert into kid select n, 'kid' from generate_series(1001, 1010) as n on conflict do nothing");
}

Test(subscriber, replicated_rows_and_truncates_reach_the_mirror) {
  struct fixture f;
  begin(&f, "subscriber");
  fill(&f);
  check(&f, "filled");
  for (size_t i = 0; i < CAPTURED_COUNT; i++)
    sql(f.at_target, "update %1$s set v = 'w' where id < 50; delete from %1$s where id > 140", CAPTURED[i]);
  check(&f, "changed");
  sql(f.at_target, "truncate plain; truncate bare; truncate days1; truncate parts2; truncate only kid");
  check(&f, "truncated");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.change where op = 't'"), "3");
  fill(&f);
  sql(f.at_target, "begin; truncate plain, bulk, days, parts, root; insert into plain values (7, 'after'); commit");
  check(&f, "truncated at once");
  end(&f);
}

Test(subscriber, replicated_truncate_keeps_rows_of_other_tables) {
  struct fixture f;
  begin(&f, "subscriber_kept");
  sql(f.at_target, "insert into root values (1, 'root'); insert into parts select n from generate_series(1, 9) as n");
  wait_until_applied(&f);
  sql(f.at_target, "insert into kid values (1, 'kid')");
  wait_until_applied(&f);
  /* triggers of others write while the rows are captured as deleted, and afterwards */
  sql(f.at_source,
      "create function more() returns trigger language plpgsql as $$ begin "
      "  insert into public.parts select n, tg_when from pg_catalog.generate_series(100, 119) as n "
      "    on conflict (id) do nothing; return null; end $$;"
      "create trigger z_before before truncate on parts1 for each statement execute function more();"
      "create trigger z_after after truncate on parts1 for each statement execute function more();"
      "alter table parts1 enable always trigger z_before; alter table parts1 enable always trigger z_after");
  sql(f.at_target, "truncate only kid; truncate parts1");
  wait_until_applied(&f);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "root", "copy.root", "id");
  same_rows(&f, "parts", "copy.parts", "id");
  cr_expect_str_eq(ask(f.at_source, "select distinct v from parts1"), "AFTER");
  end(&f);
}
