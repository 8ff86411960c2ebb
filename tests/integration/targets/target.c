/* PostgreSQL as target: another database, and the source's own. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "fixture.h"
#include "mirrored.h"

static void until_empty(struct fixture *f) {
  rowrelay_ok(f, "run", "--until-empty", "--workers", "2", NULL);
}

static const char *note_of(struct fixture *f) {
  return ask(f->at_source, "select note from rowrelay.status where target = 'w'");
}

/* Whoever may log in to the target can hold any advisory lock. */
Test(target, a_lock_that_anybody_can_hold_stops_nothing, .timeout = 60) {
  struct fixture f;
  mirrored_begin(&f, "target_lock", "create table item (id int primary key); create table later (id int primary key)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1)");
  until_empty(&f);
  PGconn *anybody = connect_to(f.target, NULL);
  sql(anybody, "select pg_advisory_lock(1919907698, -1)");
  mirrored_capture(&f, "later");
  sql(f.at_source, "insert into item values (2); insert into later values (3)");
  until_empty(&f);
  mirrored_same(&f, "item");
  mirrored_same(&f, "later");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.refusal"), "0");
  PQfinish(anybody);
  fixture_end(&f);
}

/* ---- tables that somebody made --------------------------------------------------------------------------------- */

Test(target, a_table_with_another_order_of_columns_and_more_of_them_is_kept_like_the_source) {
  struct fixture f;
  fixture_begin(&f, "target_hand_made");
  sql(f.at_source, "create table item (id int primary key, name text, price numeric(10,2), "
                   "gross numeric generated always as (price * 2) stored, number int generated always as identity)");
  sql(f.at_target, "create table item (loaded_at timestamptz not null default now(), gross numeric, price numeric, "
                   "twice numeric generated always as (price * 2) stored, name varchar, "
                   "row_number bigint generated always as identity, note text not null default 'none', "
                   "number int, id bigint unique not null)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source,
      "insert into item (id, name, price) select n, 'item ' || n, n / 3.0 from generate_series(1, 100) as n");
  until_empty(&f);
  /* What the target has of its own is not touched by an update. */
  sql(f.at_target, "update item set note = 'mine' where id = 7");
  sql(f.at_source, "update item set price = 1 where id <= 10; delete from item where id = 9");
  until_empty(&f);
  const char *all = "select string_agg(concat_ws('|', id, name, price, gross, number), ' ' order by id) from item";
  sql(f.at_target, "update item set price = price::numeric(10,2)");
  cr_assert_str_eq(ask(f.at_target, "%s", all), ask(f.at_source, "%s", all));
  cr_assert_str_eq(ask(f.at_target,
                       "select concat_ws(' ', count(*), count(distinct row_number), sum(twice) = 2 * sum(price), "
                       "count(*) filter (where note = 'none')) from item"),
                   "99 99 t 98");
  fixture_end(&f);
}

Test(target, a_table_without_a_key_may_have_more_columns_there) {
  struct fixture f;
  fixture_begin(&f, "target_bare");
  sql(f.at_source, "create table bare (name text, n int)");
  sql(f.at_target, "create table bare (loaded_at timestamptz default clock_timestamp(), n bigint, name varchar(20), "
                   "twice bigint generated always as (n * 2) stored, id int generated always as identity primary key)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "bare", "--to", "w", NULL);
  sql(f.at_source,
      "insert into bare select 'x', n %% 3 from generate_series(1, 10) as n; insert into bare values (null, 1)");
  until_empty(&f);
  sql(f.at_source,
      "delete from bare where ctid = (select min(ctid) from bare where n = 1); delete from bare where n = 2;"
      "update bare set n = 9 where name is null");
  until_empty(&f);
  const char *all = "select string_agg(concat_ws('|', n, name), ' ' order by n, name) from bare";
  cr_assert_str_eq(ask(f.at_target, "%s", all), ask(f.at_source, "%s", all));
  fixture_end(&f);
}

Test(target, a_generated_column_of_the_target_is_left_to_it) {
  struct fixture f;
  fixture_begin(&f, "target_generated");
  sql(f.at_source, "create table item (id int primary key, a int, b int)");
  sql(f.at_target, "create table item (id int primary key, a int, b int generated always as (a + 100) stored)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1, 1, 7); update item set a = 2");
  until_empty(&f);
  cr_assert_str_eq(ask(f.at_target, "select concat_ws(' ', id, a, b) from item"), "1 2 102");
  fixture_end(&f);
}

Test(target, identity_columns_get_the_sources_values) {
  struct fixture f;
  fixture_begin(&f, "target_identity");
  for (int i = 0; i < 2; i++)
    sql(i == 0 ? f.at_source : f.at_target,
        "create table by_key (id int generated always as identity (start 5) primary key, name text);"
        "create table beside (id int primary key, number int generated by default as identity, name text)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "by_key", "beside", "--to", "w", NULL);
  sql(f.at_source,
      "insert into by_key (name) values ('a'), ('b'); insert into beside (id, name) values (1, 'a'), (2, 'b')");
  until_empty(&f);
  sql(f.at_source, "update by_key set name = 'c' where name = 'a'; delete from by_key where name = 'b';"
                   "update beside set name = 'c', number = 77 where id = 1");
  until_empty(&f);
  same_rows(&f, "by_key", "by_key", "id");
  same_rows(&f, "beside", "beside", "id");
  fixture_end(&f);
}

Test(target, an_identity_column_that_cannot_be_written_is_named) {
  struct fixture f;
  fixture_begin(&f, "target_identity_always");
  sql(f.at_source, "create table item (id int primary key, number int, name text)");
  sql(f.at_target, "create table item (id int primary key, number int generated always as identity, name text)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1, 10, 'a')");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "1", 10, "select count(*) from rowrelay.hold");
  cr_assert_not_null(strstr(note_of(&f), "number"), "%s", note_of(&f));
  cr_assert_not_null(strstr(note_of(&f), "generated by default"), "%s", note_of(&f));
  sql(f.at_target, "alter table item alter number set generated by default");
  wait_until(f.at_source, "0", 20,
             "select (select count(*) from rowrelay.queue) + (select count(*) from rowrelay.refusal)");
  cr_assert_str_eq(ask(f.at_target, "select concat_ws(' ', id, number, name) from item"), "1 10 a");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(target, a_table_can_have_another_name_there) {
  struct fixture f;
  fixture_begin(&f, "target_into");
  sql(f.at_source, "create schema \"Old App\"; create table \"Old App\".\"Order.Line\" (\"Id\" int primary key, "
                   "\"select\" text, \"naïve \"\"x\"\"\" text)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "target", "add", "v", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "\"Old App\".\"Order.Line\"", NULL);
  rowrelay_ok(&f, "route", "\"Old App\".\"Order.Line\"", "w", "--into", "staging.\"Order lines\"", "--create", NULL);
  rowrelay_ok(&f, "route", "\"Old App\".\"Order.Line\"", "v", "--into", "lines", "--create", NULL);
  sql(f.at_source, "insert into \"Old App\".\"Order.Line\" values (1, 'a', 'b'), (2, 'c', 'd')");
  until_empty(&f);
  sql(f.at_source, "delete from \"Old App\".\"Order.Line\" where \"Id\" = 1; update \"Old App\".\"Order.Line\" set "
                   "\"select\" = 'x'");
  until_empty(&f);
  same_rows(&f, "\"Old App\".\"Order.Line\"", "staging.\"Order lines\"", "\"Id\"");
  same_rows(&f, "\"Old App\".\"Order.Line\"", "public.lines", "\"Id\"");
  cr_assert_str_eq(ask(f.at_target, "select count(*) from pg_namespace where nspname = 'Old App'"), "0");
  fixture_end(&f);
}

/* A target that is not as it should be: status says what is wrong, and once it is mended delivery goes on by itself. */
static void mend(const char *name, const char *there, const char *words, const char *hint, const char *mended) {
  struct fixture f;
  fixture_begin(&f, name);
  sql(f.at_source, "create table item (id int primary key, name text)");
  sql(f.at_target, "%s", there);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1, 'a'), (2, 'b')");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_source, "1", 10, "select count(*) from rowrelay.hold");
  wait_until(f.at_source, "2 0", 10, "select concat(backlog + blocked, ' ', errors) from rowrelay.status");
  cr_assert_not_null(strstr(note_of(&f), words), "%s", note_of(&f));
  cr_assert_not_null(strstr(note_of(&f), hint), "%s", note_of(&f));
  wait_until_says(process, words, 1);
  sql(f.at_target, "%s", mended);
  wait_until(f.at_source, "0", 20,
             "select (select count(*) from rowrelay.queue) + (select count(*) from rowrelay.refusal)");
  wait_until(f.at_source, "running ", 20, "select concat(state, ' ', note) from rowrelay.status");
  same_rows(&f, "item", "item", "id");
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

Test(target, a_missing_table_is_named) {
  mend("target_no_table", "", "table public.item does not exist in the target", "rowrelay route --create public.item w",
       "create table item (id int primary key, name text)");
}

Test(target, a_missing_column_is_named) {
  mend("target_no_column", "create table item (id int primary key)",
       "table public.item in the target has no column name, which public.item has", "rowrelay route --create",
       "alter table item add name text");
}

Test(target, a_missing_unique_index_is_named) {
  mend("target_no_index",
       "create table item (id int, name text); create unique index on item (id) where id > 0;"
       "create unique index on item (id, name)",
       "table public.item in the target has no unique index on the key", "create one there",
       "create unique index on item (id)");
}

Test(target, create_makes_what_is_missing_once_for_all_workers) {
  struct fixture f;
  fixture_begin(&f, "target_create");
  sql(f.at_source,
      "create type mood as enum ('sad', 'glad'); create domain money_amount as numeric(12,2) check (value < 1e6);"
      "create schema shop");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  for (int i = 0; i < 12; i++) {
    sql(f.at_source, "create table shop.t%d (a int, b text, m mood, p money_amount, primary key (b, a))", i);
    sql(f.at_source, "create table shop.k%d (a int, m mood[])", i);
  }
  rowrelay_ok(&f, "capture", "shop.*", "--to", "w", "--create", NULL);
  for (int i = 0; i < 12; i++)
    sql(f.at_source,
        "insert into shop.t%d select n, 'x', 'sad', n from generate_series(1, 50) as n;"
        "insert into shop.k%d select n %% 7, array['glad']::mood[] from generate_series(1, 50) as n",
        i, i);
  pid_t processes[] = {fixture_run(&f, "--workers", "3", NULL), fixture_run(&f, "--workers", "3", NULL)};
  wait_until_empty(&f, 20);
  for (int i = 0; i < 2; i++)
    cr_assert_eq(stop_process(processes[i], SIGTERM), 0);
  for (int i = 0; i < 12; i++) {
    char table[2][16];
    snprintf(table[0], sizeof table[0], "shop.t%d", i);
    snprintf(table[1], sizeof table[1], "shop.k%d", i);
    same_rows(&f, table[0], table[0], "a, b");
    same_rows(&f, table[1], table[1], "a");
  }
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  cr_assert_str_eq(
      ask(f.at_target,
          "select pg_get_constraintdef(oid) from pg_constraint where conrelid = 'shop.t3'::regclass and contype = 'p'"),
      "PRIMARY KEY (b, a)");
  fixture_end(&f);
}

/* ---- append ---------------------------------------------------------------------------------------------------- */

Test(target, an_append_table_has_the_layout_that_is_promised) {
  struct fixture f;
  fixture_begin(&f, "target_layout");
  sql(f.at_source, "create table item (id int primary key, name text); create table \"Odd name\" (id int)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", "mode=append", NULL);
  rowrelay_ok(&f, "capture", "item", "\"Odd name\"", "--to", "w", "--before", NULL);
  sql(f.at_source, "begin; set local rowrelay.actor = 'anna'; insert into item values (1, 'a'); commit;"
                   "update item set name = 'b'; delete from item; truncate item; insert into \"Odd name\" values (1)");
  until_empty(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), "
                                    "attnotnull), ', ' order by attnum) "
                                    "from pg_attribute where attrelid = 'item_changes'::regclass and attnum > 0"),
                   "position bigint t, source uuid t, change_id bigint t, op text t, key text f, captured_at timestamp "
                   "with time zone t, "
                   "txid xid8 t, actor text f, old_row json f, new_row json f");
  cr_assert_str_eq(
      ask(f.at_target, "select string_agg(concat_ws('|', op, key, actor, old_row::text, new_row::text), ' ' order by "
                       "position) from item_changes"),
      "insert|1|anna|{\"id\":1,\"name\":\"a\"} update|1|postgres|{\"id\":1,\"name\":\"a\"}|{\"id\":1,\"name\":\"b\"} "
      "delete|1|postgres|{\"id\":1,\"name\":\"b\"} truncate|postgres");
  /* What it says of a change is what the source says. */
  sql(f.at_source, "set timezone to 'UTC'");
  sql(f.at_target, "set timezone to 'UTC'");
  cr_assert_str_eq(
      ask(f.at_target, "select string_agg(concat_ws(' ', source, change_id, txid, captured_at), ', ' order by "
                       "position) from item_changes"),
      ask(f.at_source,
          "select string_agg(concat_ws(' ', s.id, h.change_id, h.txid, h.captured_at), ', ' order by h.change_id) "
          "from rowrelay.history h, rowrelay.source s where h.relation = 'item'::regclass"));
  cr_assert_str_eq(ask(f.at_target, "select count(*) from \"Odd name_changes\""), "1");
  /* A source's change has one place, whatever happens. */
  cr_assert_str_eq(sql_fails(f.at_target, "insert into item_changes (source, change_id, op, captured_at, txid) "
                                          "select source, change_id, op, captured_at, txid from item_changes"),
                   "23505");
  fixture_end(&f);
}

/* PostgreSQL cuts names at 63 bytes: without its end, the changes' table would be the mirror's, or another's. */
Test(target, changes_of_tables_with_long_names_have_tables_of_their_own) {
  struct fixture f;
  fixture_begin(&f, "target_long_names");
  static const char LONG[] = "a_table_whose_name_is_as_long_as_the_\xc3\xa4ldest_of_all_names_maybe";
  cr_assert_eq(strlen(LONG), 63);
  sql(f.at_source, "create table \"%s\" (id int primary key); create table \"%.62s\" (id int primary key)", LONG, LONG);
  rowrelay_ok(&f, "target", "add", "m", f.target_url, NULL);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", "mode=append", NULL);
  rowrelay_ok(&f, "capture", "*", "--to", "m", "--create", NULL);
  rowrelay_ok(&f, "route", "*", "w", NULL);
  sql(f.at_source, "insert into \"%s\" values (1); insert into \"%.62s\" values (2), (3)", LONG, LONG);
  until_empty(&f);
  cr_expect_str_eq(ask(f.at_target, "select array_agg(id) from \"%s\"", LONG), "{1}");
  cr_expect_str_eq(ask(f.at_target, "select array_agg(id order by id) from \"%.62s\"", LONG), "{2,3}");
  const char *names = ask(f.at_source, "select string_agg(into_table, ' ' order by r.capture) from rowrelay.route r "
                                       "join rowrelay.target t on t.id = r.target where t.name = 'w'");
  cr_expect_eq(ask_number(f.at_source,
                          "select count(distinct n) from unnest(string_to_array('%s', ' ')) as n "
                          "where octet_length((parse_ident(n))[2]) <= 63 and n like '%%_changes\"'",
                          names),
               2, "%s", names);
  fixture_end(&f);
}

Test(target, several_tables_can_go_into_one_append_table) {
  struct fixture f;
  fixture_begin(&f, "target_one_log");
  sql(f.at_source, "create table a (id int primary key); create table b (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", "mode=append", "--option", "lanes=1", NULL);
  rowrelay_ok(&f, "capture", "a", "b", NULL);
  rowrelay_ok(&f, "route", "a", "w", "--into", "audit.log", NULL);
  rowrelay_ok(&f, "route", "b", "w", "--into", "audit.log", "--shared", NULL);
  for (int i = 1; i <= 20; i++)
    sql(f.at_source, "insert into %s values (%d)", i % 3 == 0 ? "a" : "b", i);
  until_empty(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(key, ' ' order by position) from audit.log"),
                   "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20");
  fixture_end(&f);
}

Test(target, several_sources_share_an_append_table_and_a_fence) {
  struct fixture f;
  struct fixture g;
  fixture_begin(&f, "target_two_f");
  fixture_begin(&g, "target_two_g");
  struct fixture *sources[] = {&f, &g};
  for (int i = 0; i < 2; i++) {
    sql(sources[i]->at_source, "create table item (id int primary key, name text); create table bare (name text)");
    rowrelay_ok(sources[i], "target", "add", "w", f.target_url, "--option", "mode=append", NULL);
    rowrelay_ok(sources[i], "target", "add", "m", f.target_url, NULL);
    rowrelay_ok(sources[i], "capture", "item", "bare", "--to", "w", NULL);
    rowrelay_ok(sources[i], "route", "bare", "m", "--create", NULL);
  }
  pid_t processes[] = {fixture_run(&f, NULL, NULL), fixture_run(&g, NULL, NULL), fixture_run(&f, NULL, NULL),
                       fixture_run(&g, NULL, NULL)};
  for (int n = 0; n < 10; n++)
    for (int i = 0; i < 2; i++)
      sql(sources[i]->at_source,
          "insert into item select n, 'x' from generate_series(%d, %d) as n; update item set name = 'y%d';"
          "insert into bare select 'same' from generate_series(1, 5)",
          n * 10, n * 10 + 9, n);
  wait_until_empty(&f, 20);
  wait_until_empty(&g, 20);
  for (int i = 0; i < 4; i++)
    cr_assert_eq(stop_process(processes[i], SIGTERM), 0);

  cr_assert_str_eq(ask(f.at_target, "select count(distinct source) from item_changes"), "2");
  cr_assert_str_eq(ask(f.at_target, "select count(distinct source) from rowrelay_target.fence"), "2");
  for (int i = 0; i < 2; i++) {
    const char *source = ask(sources[i]->at_source, "select id from rowrelay.source");
    cr_assert_str_eq(
        ask(f.at_target,
            "select string_agg(change_id::text, ' ' order by change_id) from item_changes where source = '%s'", source),
        ask(sources[i]->at_source, "select string_agg(change_id::text, ' ' order by change_id) from rowrelay.history "
                                   "where relation = 'item'::regclass"));
    cr_assert_str_eq(
        ask(f.at_target,
            "select count(*) from (select change_id < lag(change_id) over (partition by key order by position) as bad "
            "from item_changes where source = '%s') as x where bad",
            source),
        "0");
  }
  cr_assert_str_eq(ask(f.at_target, "select count(*) from bare"), "100");
  fixture_end(&g);
  fixture_end(&f);
}

/* ---- a delivery that was not settled --------------------------------------------------------------------------- */

/* With rowrelay.receipt locked by somebody: the machine dies, and the source notices before the lock is free. */
static void kill_before_it_settles(struct fixture *f, pid_t process) {
  wait_until(f->at_source, "1", 10,
             "select count(*) from pg_locks where relation = 'rowrelay.receipt'::regclass and not granted");
  cr_assert_eq(stop_process(process, SIGKILL), 128 + SIGKILL);
#define ITS_CONNECTIONS "from pg_stat_activity where datname = current_database() and application_name = 'rowrelay'"
  sql(f->at_source, "select pg_terminate_backend(pid) " ITS_CONNECTIONS);
  wait_until(f->at_source, "0", 10, "select count(*) " ITS_CONNECTIONS);
}

/*
 * Delivers, and kills the process between the target's commit and the source's: the settlement needs rowrelay.receipt,
 * which is locked. `arrived` asks the target, and answers with `all` when everything is there.
 */
static void deliver_unsettled(struct fixture *f, const char *all, const char *arrived) {
  PGconn *locker = connect_to(f->source, NULL);
  sql(locker, "begin; lock table rowrelay.receipt in exclusive mode");
  int64_t queued = ask_number(f->at_source, "select count(*) from rowrelay.queue");
  pid_t process = fixture_run(f, NULL, NULL);
  wait_until(f->at_target, all, 10, "%s", arrived);
  kill_before_it_settles(f, process);
  sql(locker, "rollback");
  PQfinish(locker);
  cr_assert_eq(ask_number(f->at_source, "select count(*) from rowrelay.queue"), queued);
  wait_until(f->at_source, "0", 5,
             "select count(*) from pg_locks where locktype = 'advisory' and database = "
             "(select oid from pg_database where datname = current_database())");
}

Test(target, a_change_that_comes_again_is_appended_once) {
  struct fixture f;
  fixture_begin(&f, "target_again_append");
  sql(f.at_source, "create table item (id int primary key, name text)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", "mode=append", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  /* The table is there already. */
  sql(f.at_source, "insert into item values (0, 'a')");
  until_empty(&f);
  sql(f.at_source, "insert into item select n, 'a' from generate_series(1, 30) as n; update item set name = 'b'; "
                   "delete from item where id > 20");
  deliver_unsettled(&f, "72", "select count(*) from item_changes");
  sql(f.at_source, "insert into item select n, 'a' from generate_series(21, 25) as n");
  until_empty(&f);
  cr_assert_str_eq(ask(f.at_target, "select concat(count(*), ' ', count(distinct change_id)) from item_changes"),
                   "77 77");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  cr_assert_str_eq(
      ask(f.at_target,
          "select count(*) from (select change_id < lag(change_id) over (partition by key order by position) as bad "
          "from item_changes) as x where bad"),
      "0");
  fixture_end(&f);
}

Test(target, rows_without_a_key_that_come_again_are_applied_once) {
  struct fixture f;
  fixture_begin(&f, "target_again_keyless");
  sql(f.at_source, "create table bare (name text, n int); create table item (id int primary key, name text);"
                   "insert into bare select 'x', n %% 3 from generate_series(1, 10) as n");
  sql(f.at_target, "create table bare (name text, n int); create table item (id int primary key, name text);"
                   "insert into bare select 'x', n %% 3 from generate_series(1, 10) as n");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "bare", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into bare values ('x', 1), ('x', 1), (null, 5), ('y', null);"
                   "update bare set n = 7 where ctid = (select max(ctid) from bare where n = 2);"
                   "delete from bare where ctid = (select min(ctid) from bare where n = 0);"
                   "insert into item select n, 'a' from generate_series(1, 30) as n");
  deliver_unsettled(&f, "30", "select count(*) from item");
  same_rows(&f, "bare", "bare", "n");
  sql(f.at_source, "insert into bare values ('x', 1), (null, 5); delete from bare where name = 'y'");
  /* And once more, with new ones behind them. */
  sql(f.at_source, "insert into item values (31, 'a')");
  deliver_unsettled(&f, "31", "select count(*) from item");
  same_rows(&f, "bare", "bare", "n");
  sql(f.at_source, "update bare set n = n + 1 where n = 1");
  until_empty(&f);
  same_rows(&f, "bare", "bare", "n");
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

/* ---- the source itself ----------------------------------------------------------------------------------------- */

static const char *rows_of(PGconn *connection, const char *table) {
  return ask(connection, "select string_agg(t::text, ' ' order by t) from %s as t", table);
}

Test(target, changes_leave_the_queue_and_arrive_in_the_same_transaction) {
  struct fixture f;
  fixture_begin(&f, "target_self");
  sql(f.at_source,
      "create schema copy; create table item (id int primary key, name text); create table bare (name text)");
  rowrelay_ok(&f, "target", "add", "w", "postgresql:", NULL);
  rowrelay_ok(&f, "target", "add", "l", "postgresql:", "--option", "mode=append", NULL);
  rowrelay_ok(&f, "capture", "item", "bare", NULL);
  rowrelay_ok(&f, "route", "item", "w", "--into", "copy.item", "--create", NULL);
  rowrelay_ok(&f, "route", "bare", "w", "--into", "copy.bare", "--create", NULL);
  rowrelay_ok(&f, "route", "item", "l", "--into", "copy.log", NULL);
  sql(f.at_source, "insert into item values (1, 'a'), (2, 'b'); insert into bare values ('x'), ('x'); update item set "
                   "name = 'c' where id = 1");
  sql(f.at_source, "create table copy.item (like item including all); create table copy.bare (like bare)");

  /* Until it is settled nobody sees anything of it, and a kill leaves nothing. */
  PGconn *locker = connect_to(f.source, NULL);
  sql(locker, "begin; lock table rowrelay.receipt in exclusive mode");
  pid_t process = fixture_run(&f, "--target", "w", NULL);
  wait_until(f.at_source, "1", 10,
             "select count(*) from pg_locks where relation = 'rowrelay.receipt'::regclass and not granted");
  cr_assert_str_eq(rows_of(f.at_source, "copy.item"), "");
  kill_before_it_settles(&f, process);
  sql(locker, "rollback");
  PQfinish(locker);
  wait_until(f.at_source, "0", 5,
             "select count(*) from pg_locks where locktype = 'advisory' and database = "
             "(select oid from pg_database where datname = current_database())");
  cr_assert_str_eq(rows_of(f.at_source, "copy.item"), "");

  until_empty(&f);
  cr_assert_str_eq(rows_of(f.at_source, "copy.item"), "(1,c) (2,b)");
  cr_assert_str_eq(rows_of(f.at_source, "copy.bare"), "(x) (x)");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat(op, ' ', key), ', ' order by change_id) from copy.log"),
                   "insert 1, insert 2, update 1");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from pg_namespace where nspname = 'rowrelay_target'"), "0");
  fixture_end(&f);
}

Test(target, a_refused_row_leaves_the_claim_in_the_source_itself_usable) {
  struct fixture f;
  fixture_begin(&f, "target_self_refused");
  sql(f.at_source, "create table item (id int primary key, price int); create table other (id int primary key);"
                   "create table copy_item (id int primary key, price int check (price > 0))");
  rowrelay_ok(&f, "target", "add", "w", "postgresql:", NULL);
  rowrelay_ok(&f, "capture", "item", "other", NULL);
  rowrelay_ok(&f, "route", "item", "w", "--into", "copy_item", NULL);
  /* This one is made in the transaction that the refusal takes back. */
  rowrelay_ok(&f, "route", "other", "w", "--into", "copy_other", "--create", NULL);
  sql(f.at_source, "insert into other select generate_series(1, 100); insert into item select n, n - 50 from "
                   "generate_series(1, 100) as n");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_empty(&f, 20);
  stop_process(process, SIGTERM);
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', min(id), count(*)) from copy_item"), "51 50");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from copy_other"), "100");
  cr_assert_str_eq(
      ask(f.at_source, "select concat_ws(' ', count(*), min(sqlstate), min(attempts)) from rowrelay.errors"),
      "50 23514 4");
  fixture_end(&f);
}

Test(target, statements_for_the_source_itself_are_made_anew_with_its_settings) {
  struct fixture f;
  fixture_begin(&f, "target_self_anew");
  sql(f.at_source, "create table a (id int primary key, x text); create table b (id int primary key, x text);"
                   "create table copy_a (like a including all); create table copy_b (like a including all); create "
                   "table copy_c (like a including all)");
  rowrelay_ok(&f, "target", "add", "w", "postgresql:", NULL);
  rowrelay_ok(&f, "target", "add", "l", "postgresql:", "--option", "mode=append", NULL);
  rowrelay_ok(&f, "capture", "a", "b", NULL);
  rowrelay_ok(&f, "route", "a", "w", "--into", "copy_a", NULL);
  rowrelay_ok(&f, "route", "b", "w", "--into", "copy_b", NULL);
  rowrelay_ok(&f, "route", "a", "l", "--into", "log_a", NULL);
  pid_t process = fixture_run(&f, NULL, NULL);
  sql(f.at_source, "insert into a values (1, 'a')");
  wait_until_empty(&f, 10);
  /* The settings are read anew, and another table comes first. */
  rowrelay_ok(&f, "target", "set", "w", "--option", "retries=5", NULL);
  sql(f.at_source, "insert into b values (2, 'b')");
  wait_until_empty(&f, 10);
  cr_assert_str_eq(rows_of(f.at_source, "copy_a"), "(1,a)");
  cr_assert_str_eq(rows_of(f.at_source, "copy_b"), "(2,b)");
  rowrelay_ok(&f, "route", "a", "w", "--into", "copy_c", NULL);
  rowrelay_ok(&f, "route", "a", "l", "--into", "log_c", NULL);
  sql(f.at_source, "insert into a values (3, 'c')");
  wait_until_empty(&f, 10);
  cr_assert_str_eq(rows_of(f.at_source, "copy_a"), "(1,a)");
  cr_assert_str_eq(rows_of(f.at_source, "copy_c"), "(3,c)");
  cr_assert_str_eq(ask(f.at_source, "select key from log_a"), "1");
  cr_assert_str_eq(ask(f.at_source, "select key from log_c"), "3");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* The order between keys of different tables is not promised: a parent's delete may come after newer children. */
Test(target, foreign_keys_that_change_rows_of_a_mirror_by_themselves_are_warned_of_once) {
  static const char TABLES[] = "create table p (id int primary key, v text);"
                               "create table c (id int primary key, p int not null%s);"
                               "create table plain (id int primary key, p int references p on delete restrict)";
  struct fixture f;
  fixture_begin(&f, "target_cascade");
  sql(f.at_source, TABLES, "");
  sql(f.at_target, TABLES, " constraint \"The key\" references p on delete cascade on update set null");
  /* somebody else's */
  sql(f.at_target, "create table other (p int references p on delete cascade)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "p", "c", "plain", "--to", "w", NULL);
  const char *output;
  rowrelay(&f, &output, NULL, "doctor", NULL);
  cr_expect_not_null(strstr(output, "warn  target w: public.c — foreign key \"The key\" "), "%s", output);
  cr_expect_not_null(strstr(output, "ON DELETE CASCADE ON UPDATE SET NULL"), "%s", output);
  cr_expect_null(strstr(output, "plain_p_fkey"), "%s", output);
  cr_expect_null(strstr(output, "other"), "%s", output);

  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  for (int i = 1; i < 4; i++) {
    sql(f.at_source, "insert into p values (%d); insert into c values (%d, %d); insert into plain values (%d, %d)", i,
        i, i, i, i);
    wait_until_empty(&f, 20);
    sql(f.at_source, "delete from plain where id = %d; delete from c where id = %d", i, i);
    wait_until_empty(&f, 20);
  }
  const char *log = process_log(process);
  const char *warning = strstr(log, "foreign key");
  cr_assert_not_null(warning, "%s", log);
  cr_expect_null(strstr(warning + 1, "foreign key \"The key\" changes"), "%s", log);
  cr_expect_null(strstr(log, "plain_p_fkey"), "%s", log);
  stop_process(process, SIGTERM);

  /* what is said to be run is the end of it */
  const char *there = "there: ";
  rowrelay(&f, &output, NULL, "doctor", NULL);
  const char *statement = strstr(output, there);
  cr_assert_not_null(statement, "%s", output);
  sql(f.at_target, "%.*s", (int)strcspn(statement, "\n") - (int)strlen(there), statement + strlen(there));
  rowrelay(&f, &output, NULL, "doctor", NULL);
  cr_expect_null(strstr(output, there), "%s", output);
  cr_assert_str_eq(ask(f.at_target, "select pg_get_constraintdef(oid) from pg_constraint where conname = 'The key'"),
                   "FOREIGN KEY (p) REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED");
  fixture_end(&f);
}

Test(target, what_arrives_in_the_source_itself_is_not_captured_again) {
  struct fixture f;
  fixture_begin(&f, "target_self_loop");
  sql(f.at_source, "create table a (id int primary key, x text); create table b (id int primary key, x text)");
  rowrelay_ok(&f, "target", "add", "w", "postgresql:", NULL);
  rowrelay_ok(&f, "capture", "a", "b", NULL);
  rowrelay_ok(&f, "route", "a", "w", "--into", "b", NULL);
  rowrelay_ok(&f, "route", "b", "w", "--into", "a", NULL);
  sql(f.at_source, "insert into a values (1, 'a'); insert into b values (2, 'b')");
  until_empty(&f);
  cr_assert_str_eq(rows_of(f.at_source, "a"), "(1,a) (2,b)");
  cr_assert_str_eq(rows_of(f.at_source, "b"), "(1,a) (2,b)");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.history"), "2");
  fixture_end(&f);
}
