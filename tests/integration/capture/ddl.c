/* A captured table is altered: writers never fail, nothing is lost, and nothing that is left out appears. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "mirrored.h"

static const char *note(struct fixture *f) {
  return ask(f->at_source, "select note from rowrelay.captures");
}

/* ---- writers ----------------------------------------------------------------------------------------------------- */

struct alteration {
  const char *script;
  const char *table; /* what the table is called afterwards; NULL: the same */
};

static const struct alteration ALTERATIONS[] = {
    {"alter table item add a int default 7", NULL},
    {"alter table item drop v", NULL},
    {"alter table item rename v to \"the v\"", NULL},
    {"alter table item rename id to \"the id\"", NULL},
    {"alter table item alter v type text using 'x' || v", NULL},
    {"alter table item alter id type bigint", NULL},
    {"alter table item alter id drop default, alter id type text using id::text, alter id set default random()::text",
     NULL},
    {"alter table item drop id", NULL},
    {"alter table item drop id, drop secret, drop masked, drop j", NULL},
    {"alter table item drop id, add id uuid default gen_random_uuid()", NULL},
    {"alter table item rename secret to open", NULL},
    {"alter table item drop secret, add secret text default 'secret'", NULL},
    {"alter table item rename masked to bare", NULL},
    {"alter table item drop masked, add masked text default 'secret'", NULL},
    {"alter table item rename secret to open; alter table item add secret text default 'secret'", NULL},
    {"alter table item rename masked to bare; alter table item add masked text default 'secret'", NULL},
    {"alter table item rename secret to x; alter table item rename j to secret; alter table item rename x to j", NULL},
    {"alter table item rename j to jj", NULL},
    {"alter table item alter j type jsonb", NULL},
    {"alter table item drop j, add j xml", NULL},
    {"alter table item alter tags drop default, alter tags type text using tags[1]", NULL},
    {"alter table item drop constraint item_pkey", NULL},
    {"alter table item rename to article", "article"},
    {"create schema moved; alter table item set schema moved", "moved.item"},
    {"alter table item set unlogged", NULL},
    {"alter table item replica identity full", NULL},
    {"alter table item enable row level security", NULL},
    {"create function own() returns trigger language plpgsql as 'begin return new; end';"
     "create trigger own after update on item for each row execute function own()",
     NULL},
    {"create table heir () inherits (item)", NULL},
    {"vacuum full item", NULL},
};
enum { ALTERATION_COUNT = sizeof ALTERATIONS / sizeof *ALTERATIONS };

/* Captured in every way that has statements of its own in the trigger function. */
static void make_item(struct fixture *f, int variant) {
  sql(f->at_source,
      "drop table if exists item, article, heir cascade; drop schema if exists moved cascade; drop function if exists "
      "own() cascade;"
      "create table item (id serial primary key, v int, secret text default 'secret', masked text default 'secret', j "
      "json default '[1]',"
      "                   tags text[] default '[0:1]={a,b}', keep int default 0);"
      "insert into item (v) select n from generate_series(1, 5) as n;"
      "select rowrelay.capture_table('item', exclude => '{secret}', mask => '{\"masked\": 0}', before => '%s', lane => "
      "%s);"
      "select rowrelay.route('item', 'w');"
      "truncate rowrelay.change, rowrelay.queue",
      variant % 2 == 0 ? "full" : "none", variant % 3 == 0 ? "'{v}'" : "null");
}

/* One insert, two updates and one delete. */
static void write_item(PGconn *session, const char *table) {
  sql(session,
      "insert into %s default values; update %s set keep = keep + 1 where ctid = (select max(ctid) from %s);"
      "update %s set keep = keep where ctid = (select min(ctid) from %s); delete from %s where ctid = (select "
      "max(ctid) from %s)",
      table, table, table, table, table, table, table);
}

static void writers_go_on(struct fixture *f, PGconn *cached, int index, bool in_transaction) {
  const struct alteration *alteration = &ALTERATIONS[index];
  const char *table = alteration->table != NULL ? alteration->table : "item";
  make_item(f, index);
  write_item(cached, "item"); /* the session has the function now */
  if (in_transaction)
    sql(cached, "begin; %s", alteration->script);
  else
    sql(f->at_source, "%s", alteration->script);
  write_item(cached, table);
  if (in_transaction)
    sql(cached, "commit");
  write_item(cached, table);
  PGconn *fresh = connect_to(f->source, NULL);
  write_item(fresh, table);
  mirrored_maintain(f);
  write_item(cached, table);
  write_item(fresh, table);
  PQfinish(fresh);
  cr_expect(ask_number(f->at_source, "select count(*) from rowrelay.change where op in ('i', 'u', 'd')") >= 6 * 4,
            "%s: %s", alteration->script, note(f));
  cr_expect_str_eq(ask(f->at_source, "select problem from rowrelay.history where problem is not null"), "", "%s",
                   alteration->script);
  cr_expect(
      ask_number(f->at_source,
                 "select count(*) from rowrelay.change where concat(old_row, new_row) like '%%secret\"%%:%%'"
                 " or concat(old_row, new_row) like '%%\"secret%%'") == 0,
      "%s: %s", alteration->script,
      ask(f->at_source,
          "select concat(old_row, new_row) from rowrelay.change where concat(old_row, new_row) like '%%secret%%'"));
}

Test(ddl, no_alteration_makes_a_writer_fail_or_shows_what_is_left_out) {
  struct fixture f;
  mirrored_begin(&f, "ddl_writers", "");
  PGconn *cached = connect_to(f.source, NULL);
  for (int i = 0; i < ALTERATION_COUNT; i++)
    if (is_tried_of(i, 7))
      writers_go_on(&f, cached, i, false);
  PQfinish(cached);
  fixture_end(&f);
}

Test(ddl, no_alteration_in_the_same_transaction_makes_a_writer_fail_or_shows_what_is_left_out) {
  struct fixture f;
  mirrored_begin(&f, "ddl_transaction", "");
  PGconn *cached = connect_to(f.source, NULL);
  for (int i = 0; i < ALTERATION_COUNT; i++)
    if (is_tried_of(i, 7) && strncmp(ALTERATIONS[i].script, "vacuum", 6) != 0)
      writers_go_on(&f, cached, i, true);
  PQfinish(cached);
  fixture_end(&f);
}

/* ---- targets ----------------------------------------------------------------------------------------------------- */

/*
 * Table item goes to "w", which makes it, and to "own", where somebody has made table own_item. A process runs.
 */
static pid_t begin_with_two_mirrors(struct fixture *f, const char *name, const char *columns) {
  mirrored_begin(f, name, "");
  sql(f->at_source, "create table item (%s)", columns);
  sql(f->at_target, "create table own_item (%s)", columns);
  rowrelay_ok(f, "target", "add", "own", f->target_url, NULL);
  mirrored_capture(f, "item");
  rowrelay_ok(f, "route", "item", "own", "--into", "own_item", NULL);
  return fixture_run(f, "--workers", "2", NULL);
}

static void nothing_is_refused(struct fixture *f) {
  wait_until_empty(f, 20);
  wait_until_nothing_waits(f, 40);
  cr_assert_str_eq(ask(f->at_source, "select string_agg(message, ' ') from rowrelay.errors"), "");
}

static void both_have_the_same(struct fixture *f) {
  nothing_is_refused(f);
  same_rows(f, "item", "item", "1");
  same_rows(f, "item", "own_item", "1");
}

static void wait_for_note(struct fixture *f, const char *target, const char *pattern) {
  wait_until(f->at_source, "t", 20, "select note like '%s' from rowrelay.status where target = '%s'", pattern, target);
}

Test(ddl, an_added_column_appears_in_mirrors_that_are_made_and_others_wait_for_it) {
  struct fixture f;
  pid_t process = begin_with_two_mirrors(&f, "ddl_add", "id int primary key, v int");
  sql(f.at_source, "insert into item values (1, 1), (2, 2)");
  wait_until_empty(&f, 20);
  sql(f.at_source, "alter table item add extra text; insert into item values (3, 3, 'three');"
                   "update item set extra = 'one' where id = 1; delete from item where id = 2;"
                   "update item set v = 5 where id = 3; update item set id = 4 where id = 3");
  wait_until(f.at_target, "2", 20,
             "select count(*) from item as i where to_jsonb(i) ->> 'extra' is not null and id <> 3");
  wait_for_note(&f, "own", "%table own_item in the target has no column extra%");
  cr_assert(ask_number(f.at_target, "select count(*) from own_item where id = 4") == 0);
  mirrored_maintain(&f);
  sql(f.at_target, "alter table own_item add extra text");
  both_have_the_same(&f);
  wait_until(f.at_source, "", 20, "select string_agg(note, '') from rowrelay.status");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(ddl, rows_have_the_default_of_a_column_that_was_added_in_mirrors_that_are_made) {
  struct fixture f;
  mirrored_begin(&f, "ddl_add_default",
                 "create type mood as enum ('fine', 'it''s odd');"
                 "create table item (id int primary key, v int)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1, 1), (2, 2)");
  mirrored_deliver(&f);
  /* the second delivers a change from before the columns existed, after the mirror has them */
  sql(f.at_source,
      "insert into item values (3, 3); update item set v = 4 where id = 2;"
      "alter table item add n int not null default 7, add m mood default 'it''s odd', "
      "add a text[] default '{a,\"b, c\"}', add j jsonb default '{\"x\": null}', add t timestamptz default "
      "'2020-01-02 03:04:05.678+01', add none text; insert into item values (4, 4, 8, null, null, null)");
  mirrored_same(&f, "item");
  cr_assert(ask_number(f.at_target, "select count(*) from item where n = 7") == 3);
  /* each row has a value of its own */
  sql(f.at_source, "alter table item add r float8 default random(); update item set v = 5 where id = 1");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until_says(process, "added column r; rows that are there have null in it", 60);
  wait_until_empty(&f, 60);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(ddl, a_column_that_was_renamed_or_left_out_gets_no_default_in_a_mirror) {
  struct fixture f;
  mirrored_begin(&f, "ddl_no_default",
                 "create table item (id int primary key);"
                 "create table thing (id int primary key)");
  mirrored_capture(&f, "item");
  mirrored_capture(&f, "thing");
  sql(f.at_source, "insert into item values (1); insert into thing values (1); alter table item add n int default 7;"
                   "alter table thing add n int default 7; insert into item values (2, 8)");
  rowrelay_ok(&f, "capture", "thing", "--exclude", "n", NULL);
  sql(f.at_source, "update thing set n = 8; insert into thing values (2)");
  mirrored_deliver(&f);
  rowrelay_ok(&f, "capture", "thing", "--exclude", "", NULL);
  sql(f.at_source, "alter table item rename n to m; insert into item values (3, 9); insert into thing values (3, 9)");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, '/', m), ' ' order by id) from item"), "1/ 2/ 3/9");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, '/', n), ' ' order by id) from thing"), "1/ 2/ 3/9");
  fixture_end(&f);
}

Test(ddl, a_renamed_column_is_a_new_one_for_targets) {
  struct fixture f;
  pid_t process = begin_with_two_mirrors(&f, "ddl_rename", "id int primary key, v int");
  sql(f.at_source, "insert into item values (1, 1), (2, 2)");
  wait_until_empty(&f, 20);
  sql(f.at_source,
      "alter table item rename v to worth; update item set worth = 10 where id = 1; insert into item values (3, 3)");
  wait_until(f.at_target, "2", 20, "select count(*) from item as i where to_jsonb(i) ->> 'worth' is not null");
  wait_for_note(&f, "own", "%no column worth%");
  sql(f.at_target, "alter table own_item rename v to worth");
  nothing_is_refused(&f);
  same_rows(&f, "item", "own_item", "1");
  /* the old one keeps what it had */
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, '/', v, '/', worth), ' ' order by id) from item"),
                   "1/1/10 2/2/ 3//3");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(ddl, a_renamed_key_is_waited_for) {
  struct fixture f;
  pid_t process = begin_with_two_mirrors(&f, "ddl_rename_key", "id int primary key, v int");
  sql(f.at_source, "insert into item values (1, 1), (2, 2)");
  wait_until_empty(&f, 20);
  sql(f.at_source,
      "alter table item rename id to number; update item set v = 10 where number = 1;"
      "insert into item values (3, 3); delete from item where number = 2; update item set number = 4 where number = 3");
  wait_for_note(&f, "w", "%no unique index on the key [\"number\"]%");
  wait_for_note(&f, "own", "%no column number%");
  mirrored_maintain(&f);
  sql(f.at_source, "insert into item values (5, 5)");
  sql(f.at_target,
      "alter table item drop number; alter table item rename id to number; alter table own_item rename id to number");
  both_have_the_same(&f);
  cr_assert(ask_number(f.at_target, "select count(*) from item") == 3);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* Images of before have the column, those of after do not. */
Test(ddl, a_dropped_column_keeps_what_it_had_in_the_target) {
  struct fixture f;
  pid_t process = begin_with_two_mirrors(&f, "ddl_drop", "id int primary key, v int, w int");
  sql(f.at_source, "insert into item values (1, 1, 1), (2, 2, 2)");
  wait_until_empty(&f, 20);
  sql(f.at_source, "begin; update item set v = 3 where id = 1; alter table item drop v; update item set w = 10; insert "
                   "into item values (3, 3);"
                   "delete from item where id = 2; commit");
  nothing_is_refused(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, '/', v, '/', w), ' ' order by id) from own_item"),
                   "1/3/10 3//3");
  sql(f.at_target, "alter table item drop v; alter table own_item drop v");
  mirrored_maintain(&f);
  sql(f.at_source, "update item set w = 11 where id = 1");
  both_have_the_same(&f);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(ddl, rows_that_a_retyped_column_makes_unfit_are_listed_until_the_target_follows) {
  struct fixture f;
  pid_t process = begin_with_two_mirrors(&f, "ddl_retype", "id int primary key, v int");
  sql(f.at_source, "insert into item values (1, 1), (2, 2)");
  wait_until_empty(&f, 20);
  sql(f.at_source, "alter table item alter v type text; update item set v = 'x' where id = 1;"
                   "update item set v = '7' where id = 2; insert into item values (3, 'y')");
  wait_until(f.at_source, "4", 20, "select count(*) from rowrelay.errors where state = 'error' and sqlstate = '22P02'");
  wait_until_empty(&f, 20);
  cr_assert_str_eq(ask(f.at_target, "select v from item where id = 2"), "7");
  sql(f.at_target, "alter table item alter v type text; alter table own_item alter v type text");
  rowrelay_ok(&f, "retry", "--all", NULL);
  both_have_the_same(&f);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* Rows are in other lanes from then on, because types hash differently. */
Test(ddl, a_retyped_key_keeps_the_order_of_each_row) {
  struct fixture f;
  mirrored_begin(&f, "ddl_retype_key", "create table item (id int primary key, v int)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item select n, 0 from generate_series(1, 300) as n; update item set v = 1");
  sql(f.at_source,
      "alter table item alter id type numeric(20, 2); update item set v = 2; update item set v = 3 where id %% 2 = 0");
  mirrored_maintain(&f);
  sql(f.at_source, "update item set v = v + 10; delete from item where id %% 5 = 0;"
                   "insert into item select n * 5, -1 from generate_series(1, 60) as n where n %% 2 = 0");
  rowrelay_ok(&f, "run", "--until-empty", "--workers", "4", NULL);
  same_rows(&f, "(select id::int, v from item)", "(select id::int, v from item)", "1");
  cr_assert_str_eq(note(&f), "");
  fixture_end(&f);
}

Test(ddl, a_renamed_table_goes_on_to_where_it_went) {
  struct fixture f;
  pid_t process = begin_with_two_mirrors(&f, "ddl_rename_table", "id int primary key, v int");
  sql(f.at_source, "insert into item values (1, 1), (2, 2)");
  sql(f.at_source, "alter table item rename to article; update article set v = 3 where id = 1; create schema shop;"
                   "alter table article set schema shop; delete from shop.article where id = 2");
  sql(f.at_source, "create table item (id text); insert into item values ('another')");
  mirrored_maintain(&f);
  sql(f.at_source,
      "insert into shop.article values (4, 4); truncate shop.article; insert into shop.article values (5, 5)");
  nothing_is_refused(&f);
  same_rows(&f, "shop.article", "item", "1");
  same_rows(&f, "shop.article", "own_item", "1");
  cr_assert_str_eq(ask(f.at_target, "select concat(to_regclass('shop.article'), to_regclass('article'))"), "");
  cr_assert_str_eq(ask(f.at_source, "select relation from rowrelay.captures"), "shop.article");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(ddl, a_table_that_is_made_anew_is_another_one) {
  struct fixture f;
  mirrored_begin(&f, "ddl_recreate", "create table item (id int primary key, v int)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1, 1)");
  mirrored_deliver(&f);
  sql(f.at_source, "insert into item values (2, 2); update item set v = 3 where id = 1; drop table item;"
                   "create table item (id int primary key, v int); insert into item values (9)");
  cr_assert_not_null(strstr(note(&f), "the table is gone, and the one that has its name now is not captured"));
  mirrored_maintain(&f);
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, '/', v), ' ' order by id) from item"), "1/3 2/2");
  /* captured again it goes on into the same table */
  mirrored_capture(&f, "item");
  sql(f.at_source,
      "insert into item values (3, 3), (1, 10) on conflict (id) do nothing; delete from item where id = 9");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, '/', v), ' ' order by id) from item"),
                   "1/10 2/2 3/3");
  fixture_end(&f);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

Test(ddl, a_dropped_key_is_waited_for_until_there_is_another) {
  struct fixture f;
  mirrored_begin(&f, "ddl_drop_key", "create table item (id int primary key, code text, v int)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item select n, 'c' || n, n from generate_series(1, 9) as n");
  mirrored_deliver(&f);
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source,
      "alter table item drop id; update item set v = v + 100 where v %% 2 = 0; delete from item where v = 1");
  mirrored_maintain(&f);
  sql(f.at_source, "insert into item values ('c10', 10); update item set code = 'c3!' where code = 'c3';"
                   "update item set v = 0 where code = 'c3!'; delete from item where code = 'c5'");
  cr_assert_str_eq(note(&f), "a key column was dropped: capture the table again");
  wait_for_note(&f, "w", "%a key column of public.item was dropped%");
  sql(f.at_source, "alter table item add primary key (code); select rowrelay.capture_table('item')");
  cr_assert_str_eq(note(&f), "");
  sql(f.at_source, "update item set v = v + 1000 where code = 'c7'; delete from item where code = 'c9'");
  wait_for_note(&f, "w", "%no unique index on the key%");
  sql(f.at_target, "alter table item drop id, add primary key (code)");
  nothing_is_refused(&f);
  same_rows(&f, "item", "item", "1");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(ddl, changes_from_before_a_table_had_a_key_are_all_delivered) {
  struct fixture f;
  mirrored_begin(&f, "ddl_new_key", "create table item (id int not null, v int)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item select n, n from generate_series(1, 20) as n");
  mirrored_deliver(&f);
  sql(f.at_source,
      "update item set v = 0 where id < 10; update item set id = 100 where id = 5; delete from item where id = 6;"
      "insert into item values (6, 66), (21, 21); delete from item where id = 21 or id = 7");
  sql(f.at_source, "alter table item add primary key (id)");
  mirrored_capture(&f, "item");
  sql(f.at_target, "alter table item add primary key (id)");
  sql(f.at_source, "update item set v = 1 where id = 9; insert into item values (5, 55)");
  sql(f.at_source, "create table queued as select * from rowrelay.queue");
  mirrored_same(&f, "item");
  /* once more, as after a crash at the source */
  sql(f.at_source, "insert into rowrelay.queue select * from queued;"
                   "select rowrelay.rewind((select id from rowrelay.target), (select min(change_id) from queued))");
  mirrored_same(&f, "item");
  fixture_end(&f);
}

Test(ddl, updates_from_when_a_table_had_a_key_are_not_taken_for_new_rows) {
  struct fixture f;
  mirrored_begin(&f, "ddl_no_key", "create table item (id int primary key, v int)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item select n, n from generate_series(1, 9) as n");
  mirrored_deliver(&f);
  sql(f.at_source,
      "insert into item values (10, 10); update item set v = 0 where id = 1; delete from item where id = 2");
  sql(f.at_source, "alter table item drop constraint item_pkey");
  sql(f.at_target, "alter table item drop constraint item_pkey");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (11, 11), (11, 11); delete from item where id = 3");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat(op, ' ', key), ', ') from rowrelay.errors"), "update 1");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, '/', v), ' ' order by id) from item"),
                   "1/1 4/4 5/5 6/6 7/7 8/8 9/9 10/10 11/11 11/11");
  fixture_end(&f);
}

/* The key was chosen; a row without one cannot be identified, and is not guessed at. */
Test(ddl, a_row_whose_chosen_key_is_null_is_refused) {
  struct fixture f;
  mirrored_begin(
      &f, "ddl_null_key",
      "create table item (id int unique, v int); create table pair (a int, b int not null, v int, unique (a, b))");
  rowrelay_ok(&f, "capture", "item", "--key", "id", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "pair", "--key", "a,b", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item values (1, 1), (null, 2), (3, 3); update item set v = 5 where id is null; update "
                   "item set id = null where id = 3;"
                   "delete from item where v = 5; update item set v = 10 where id = 1");
  sql(f.at_source, "insert into pair values (1, 1, 1), (null, 2, 2); update pair set v = 10");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert(
      ask_number(f.at_source,
                 "select count(*) from rowrelay.errors where concat(message, detail) like '%%its key is null%%'") >= 6);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, '/', v), ' ' order by id) from item where id = 1"),
                   "1/10");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(a, '/', v), ' ') from pair"), "1/10");
  fixture_end(&f);
}

/* ---- locks ------------------------------------------------------------------------------------------------------- */

/* Who routes a table locks its targets; maintenance has locked other targets then. */
Test(ddl, maintenance_waits_for_nobody_who_has_locked_a_target) {
  struct fixture f;
  fixture_begin(&f, "ddl_maintenance");
  sql(f.at_source, "create table item (id int primary key);"
                   "select rowrelay.add_target('a', 'file:/tmp/none'), rowrelay.add_target('b', 'file:/tmp/none');"
                   "select rowrelay.capture_table('item'), rowrelay.route('item', 'a'), rowrelay.route('item', 'b');"
                   "alter table item add extra int");
  PGconn *person = connect_to(f.source, NULL);
  PGconn *maintenance = connect_to(f.source, NULL);
  sql(person, "begin; select from rowrelay.target order by ctid desc limit 1 for update");
  start(maintenance, "delete from rowrelay.job; select * from rowrelay.maintain()");
  wait_until(f.at_source, "t", 20,
             "select query like '%%maintain()' and (state = 'idle' or wait_event_type = 'Lock') from pg_stat_activity "
             "where pid = %d",
             PQbackendPID(maintenance));
  sleep_seconds(1.5); /* longer than deadlock_timeout: it would not be maintenance that fails */
  sql(person, "select from rowrelay.target order by ctid for update; commit");
  finish(maintenance);
  mirrored_maintain(&f);
  cr_assert_str_eq(note(&f), "");
  PQfinish(person);
  PQfinish(maintenance);
  fixture_end(&f);
}

/* A dump has the triggers, with the function's name: so has a table that is restored from it beside the captured one,
 * or in its place. */
Test(ddl, a_table_with_the_triggers_of_another_one_works_and_captures_nothing) {
  struct fixture f;
  fixture_begin(&f, "ddl_salvage");
  static const char *const WAYS[][4] = {
      {"plain", "(id int primary key, v text)", "", ""},
      {"filtered", "(id int primary key, v text)", "", ", row_filter => 'id > 0'"},
      {"keyless", "(id int, v text)", "", ", before => 'full'"},
      {"set_wise", "(id int primary key, v text)", "", ", per => 'statement'"},
      {"divided", "(id int primary key, v text) partition by range (id)",
       "create table salvage.divided_1 partition of salvage.divided for values from (0) to (100)", ""},
  };
  sql(f.at_source, "create schema salvage; select rowrelay.add_target('w', 'file:/dev/null')");
  for (int i = 0; i < 5; i++) {
    const char *const *way = WAYS[i];
    sql(f.at_source,
        "create table %1$s %2$s; select rowrelay.capture_table('%1$s'%3$s); select rowrelay.route('%1$s', 'w')", way[0],
        way[1], way[3]);
    sql(f.at_source,
        "create table salvage.%1$s %2$s; %3$s; "
        "do $$ declare definition text; begin for definition in select pg_get_triggerdef(t.oid) from pg_trigger t "
        "where t.tgrelid = '%1$s'::regclass and t.tgname like '!rowrelay%%' loop "
        "execute replace(definition, ' public.', ' salvage.'); end loop; end $$",
        way[0], way[1], way[2]);
    cr_expect(
        ask_number(f.at_source, "select count(*) from pg_trigger where tgrelid = 'salvage.%s'::regclass", way[0]) > 1);
    for (int gone = 0; gone < 2; gone++) {
      sql(f.at_source,
          "insert into salvage.%1$s values (%2$d, 'a'), (%2$d + 10, 'a'); update salvage.%1$s set v = 'b';"
          "update salvage.%1$s set id = id + 1; delete from salvage.%1$s where id > 10; truncate salvage.%1$s",
          way[0], i);
      cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.change where op <> 'b'"), "0", "%s, %d", way[0],
                       gone);
      if (gone == 0)
        sql(f.at_source, "drop table %s", way[0]);
    }
    sql(f.at_source, "drop table salvage.%s", way[0]);
  }
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "0");
  fixture_end(&f);
}
