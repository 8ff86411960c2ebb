/* Sources that feed each other in a ring, and chains of them: what a process writes is captured again there. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "mirrored.h"
#include "native.h"

#define MOST 3

/* Databases with table item, each of which is a source. The first two are the fixture's. */
struct ring {
  struct fixture f;
  struct fixture source[MOST]; /* .source is the database's conninfo */
  PGconn *at[MOST];
  char extra[64]; /* name of the third database */
  int count;
};

static void make_url(char *url, size_t size, PGconn *at) {
  snprintf(url, size, "postgresql:///%s?host=%s&port=%s&user=%s", PQdb(at), PQhost(at), PQport(at), PQuser(at));
}

static void ring_begin(struct ring *ring, const char *name, int count, const char *tables) {
  *ring = (struct ring){.count = count};
  fixture_begin(&ring->f, name);
  ring->at[0] = ring->f.at_source;
  ring->at[1] = ring->f.at_target;
  if (count == MOST) {
    char words[80];
    snprintf(ring->extra, sizeof ring->extra, "%s_third", ring->f.name);
    snprintf(words, sizeof words, "dbname=%s", ring->extra);
    PGconn *server = connect_to(getenv("ROWRELAY_TEST_SOURCE"), NULL);
    sql(server, "drop database if exists %s", ring->extra);
    sql(server, "create database %s", ring->extra);
    PQfinish(server);
    ring->at[2] = connect_to(getenv("ROWRELAY_TEST_SOURCE"), words);
  }
  for (int i = 0; i < count; i++) {
    ring->source[i] = ring->f;
    snprintf(ring->source[i].source, sizeof ring->source[i].source, "dbname=%s host=%s port=%s user=%s",
             PQdb(ring->at[i]), PQhost(ring->at[i]), PQport(ring->at[i]), PQuser(ring->at[i]));
    if (i > 0)
      rowrelay_ok(&ring->source[i], "init", NULL);
    sql(ring->at[i], "%s", tables);
  }
}

static void ring_end(struct ring *ring) {
  if (ring->count == MOST) {
    PQfinish(ring->at[2]);
    PGconn *server = connect_to(getenv("ROWRELAY_TEST_SOURCE"), NULL);
    sql(server, "drop database %s", ring->extra);
    PQfinish(server);
  }
  fixture_end(&ring->f);
}

/* Table item of database `from` goes to database `to`, captured with these words too. */
static void feed(struct ring *ring, int from, int to, const char *word, const char *value) {
  char url[512];
  make_url(url, sizeof url, ring->at[to]);
  rowrelay_ok(&ring->source[from], "target", "add", "next", url, NULL);
  rowrelay_ok(&ring->source[from], "capture", "item", "--to", "next", "--capture-origin", word, value, NULL);
}

static int64_t changes_of(struct ring *ring) {
  int64_t count = 0;
  for (int i = 0; i < ring->count; i++)
    count += ask_number(ring->at[i], "select count(*) from rowrelay.change");
  return count;
}

/* Lets each source deliver what it has, until none has anything. */
static void settle(struct ring *ring) {
  int64_t before = -1;
  for (int round = 0; before != changes_of(ring); round++) {
    before = changes_of(ring);
    cr_assert(round < 3 * MOST, "changes go round for ever: %lld", (long long)before);
    for (int i = 0; i < ring->count; i++)
      rowrelay_ok(&ring->source[i], "run", "--until-empty", NULL);
  }
}

#define ROWS "select coalesce(string_agg(i::text, ' ' order by i::text), 'none') from item i"

static void same_everywhere(struct ring *ring, const char *rows) {
  settle(ring);
  for (int i = 0; i < ring->count; i++)
    cr_expect_str_eq(ask(ring->at[i], ROWS), rows, "database %d: %s", i, ask(ring->at[i], ROWS));
}

static void check_ring(struct ring *ring) {
  int last = ring->count - 1;
  sql(ring->at[0], "insert into item values (1, 'first'), (2, 'first'), (3, 'first')");
  same_everywhere(ring, "(1,first) (2,first) (3,first)");
  sql(ring->at[last], "update item set name = 'last' where id = 1; insert into item values (4, 'last')");
  sql(ring->at[1], "update item set name = 'second' where id = 2; delete from item where id = 3");
  same_everywhere(ring, "(1,last) (2,second) (4,last)");
  sql(ring->at[0], "update item set name = 'again' where id = 1");
  settle(ring);
  sql(ring->at[1], "truncate item");
  sql(ring->at[1], "insert into item values (5, 'after')");
  settle(ring);
  sql(ring->at[last], "insert into item values (6, 'end'); update item set name = 'end' where id = 5");
  same_everywhere(ring, "(5,end) (6,end)");
  /* Each of the 12 changes is in the log of each database once. */
  cr_expect(changes_of(ring) == 12 * ring->count, "%lld", (long long)changes_of(ring));
}

Test(ring, ring_of_three_sources_delivers_each_change_once) {
  struct ring ring;
  ring_begin(&ring, "ring_three", 3, "create table item (id int primary key, name text)");
  feed(&ring, 0, 1, NULL, NULL);
  feed(&ring, 1, 2, "--per", "statement");
  feed(&ring, 2, 0, "--before", NULL);
  check_ring(&ring);
  ring_end(&ring);
}

Test(ring, ring_of_two_sources_delivers_each_change_once) {
  struct ring ring;
  ring_begin(&ring, "ring_two", 2, "create table item (id int primary key, name text)");
  feed(&ring, 0, 1, NULL, NULL);
  feed(&ring, 1, 0, "--where", "id > 0");
  check_ring(&ring);
  ring_end(&ring);
}

Test(ring, ring_of_module_captured_sources_delivers_each_change_once) {
  struct ring ring;
  native_begin(&ring.f, "ring_probe"); /* skips the test where the module was not built */
  fixture_end(&ring.f);
  ring_begin(&ring, "ring_native", 3, "create table item (id int primary key, name text)");
  for (int i = 0; i < 3; i++)
    if (i != 1)
      cr_assert(native_add_language(&(struct fixture){.at_source = ring.at[i]}));
  feed(&ring, 0, 1, NULL, NULL);
  feed(&ring, 1, 2, NULL, NULL);
  feed(&ring, 2, 0, NULL, NULL);
  check_ring(&ring);
  ring_end(&ring);
}

Test(ring, ring_leaves_rows_without_a_key_single) {
  struct ring ring;
  ring_begin(&ring, "ring_keyless", 2, "create table item (id int, name text)");
  feed(&ring, 0, 1, NULL, NULL);
  feed(&ring, 1, 0, NULL, NULL);
  sql(ring.at[0], "insert into item values (1, 'a'), (1, 'a')");
  sql(ring.at[1], "insert into item values (2, 'b')");
  same_everywhere(&ring, "(1,a) (1,a) (2,b)");
  sql(ring.at[1], "update item set name = 'c' where id = 1; delete from item where id = 2");
  same_everywhere(&ring, "(1,c) (1,c)");
  ring_end(&ring);
}

Test(ring, ring_keeps_an_update_made_while_the_insert_goes_round) {
  struct ring ring;
  ring_begin(&ring, "ring_live", 3, "create table item (id int primary key, name text)");
  for (int i = 0; i < 3; i++)
    feed(&ring, i, (i + 1) % 3, NULL, NULL);
  pid_t processes[MOST];
  for (int i = 0; i < 3; i++)
    processes[i] = fixture_run(&ring.source[i], "--workers", "2", NULL);
  for (int i = 0; i < 50; i++) {
    sql(ring.at[0], "insert into item values (%d, 'old')", i);
    sql(ring.at[0], "update item set name = 'new' where id = %d", i);
  }
  for (int i = 0; i < 3; i++)
    wait_until(ring.at[i], "50", 20, "select count(*) from item where name = 'new'");
  sleep_seconds(1);
  for (int i = 0; i < 3; i++)
    cr_expect(ask_number(ring.at[i], "select count(*) from item where name = 'new'") == 50, "database %d", i);
  cr_expect(changes_of(&ring) <= 300, "%lld", (long long)changes_of(&ring));
  for (int i = 0; i < 3; i++)
    cr_expect(stop_process(processes[i], SIGTERM) == 0);
  ring_end(&ring);
}

Test(ring, ring_does_not_return_rows_of_an_initial_copy) {
  struct ring ring;
  ring_begin(&ring, "ring_copy", 2, "create table item (id int primary key, name text)");
  sql(ring.at[0], "insert into item select n, 'old' from generate_series(1, 100) as n");
  feed(&ring, 0, 1, NULL, NULL);
  feed(&ring, 1, 0, NULL, NULL);
  rowrelay_ok(&ring.source[0], "backfill", "item", "--to", "next", NULL);
  settle(&ring);
  cr_expect(ask_number(ring.at[1], "select count(*) from rowrelay.change") == 100);
  cr_expect(ask_number(ring.at[0], "select count(*) from rowrelay.change where op <> 's'") == 0);
  ring_end(&ring);
}

/* ---- chains ---------------------------------------------------------------------------------------------------- */

Test(ring, chain_of_three_sources_delivers_what_each_writes) {
  struct ring ring;
  ring_begin(&ring, "chain_three", 3, "create table item (id int primary key, name text)");
  feed(&ring, 0, 1, NULL, NULL);
  feed(&ring, 1, 2, NULL, NULL);
  sql(ring.at[0], "insert into item select n, 'a' from generate_series(1, 20, 2) as n");
  rowrelay_ok(&ring.source[0], "run", "--until-empty", NULL);
  for (int i = 2; i <= 20; i += 2) {
    sql(ring.at[1], "insert into item values (%d, 'b')", i);
    sql(ring.at[0], "update item set name = 'aa' where id = %d", i - 1);
    rowrelay_ok(&ring.source[0], "run", "--until-empty", NULL);
  }
  rowrelay_ok(&ring.source[1], "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(ring.at[2], ROWS), ask(ring.at[1], ROWS));
  cr_expect(ask_number(ring.at[2], "select count(*) from item") == 20);
  cr_expect_str_eq(ask(ring.at[1], "select string_agg(distinct coalesce(regexp_count(caveat ->> 'path', '/')::text, "
                                   "'-'), ' ') from (select caveat, length(caveat ->> 'path') from rowrelay.change) c"),
                   "- 2");
  ring_end(&ring);
}

/* What a table derives has not passed the table to which it goes, though its database has been passed. */
Test(ring, table_derived_at_a_target_goes_back_to_another_table) {
  struct ring ring;
  ring_begin(&ring, "chain_back", 2,
             "create table item (id int primary key, name text); create table score (id int primary key, points int)");
  sql(ring.at[1], "create function score() returns trigger language plpgsql as $$ begin "
                  "insert into score values (new.id, length(new.name)) on conflict (id) do update set points = "
                  "excluded.points; return null; end $$; "
                  "create trigger score after insert or update on item for each row execute function score()");
  feed(&ring, 0, 1, NULL, NULL);
  feed(&ring, 1, 0, NULL, NULL);
  rowrelay_ok(&ring.source[1], "capture", "score", "--to", "next", "--capture-origin", NULL);
  rowrelay_ok(&ring.source[0], "capture", "score", "--capture-origin", NULL);
  sql(ring.at[0], "insert into item values (1, 'four')");
  settle(&ring);
  sql(ring.at[0], "update item set name = 'fifth' where id = 1");
  settle(&ring);
  cr_expect_str_eq(ask(ring.at[0], "select points from score"), "5");
  ring_end(&ring);
}

Test(ring, ring_and_chain_within_one_database_end) {
  struct fixture f;
  fixture_begin(&f, "ring_itself");
  sql(f.at_source, "create table item (id int primary key, name text); create table twin (like item including all); "
                   "create table third (like item including all)");
  rowrelay_ok(&f, "target", "add", "self", "postgresql:", NULL);
  rowrelay_ok(&f, "capture", "item", "--capture-origin", NULL);
  rowrelay_ok(&f, "route", "item", "self", "--into", "twin", NULL);
  rowrelay_ok(&f, "target", "add", "back", "postgresql:", NULL);
  rowrelay_ok(&f, "capture", "twin", "--capture-origin", NULL);
  rowrelay_ok(&f, "route", "twin", "back", "--into", "item", NULL);
  rowrelay_ok(&f, "target", "add", "on", "postgresql:", NULL);
  rowrelay_ok(&f, "route", "twin", "on", "--into", "third", NULL);
  sql(f.at_source, "insert into item values (1, 'a'); insert into twin values (2, 'b')");
  for (int i = 0; i < 3; i++)
    rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_source, ROWS), "(1,a) (2,b)");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(t::text, ' ' order by id) from twin t"), "(1,a) (2,b)");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(t::text, ' ' order by id) from third t"), "(1,a) (2,b)");
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.change") == 4);
  fixture_end(&f);
}
