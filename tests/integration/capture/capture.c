/* What applications do to tables, by whatever means, arrives. */
#include <criterion/criterion.h>
#include <string.h>

#include "mirrored.h"

static void copy_into(PGconn *connection, const char *table, const char *rows) {
  char statement[256];
  snprintf(statement, sizeof statement, "copy %s from stdin", table);
  PGresult *reply = PQexec(connection, statement);
  cr_assert(PQresultStatus(reply) == PGRES_COPY_IN, "%s", PQerrorMessage(connection));
  PQclear(reply);
  cr_assert(PQputCopyData(connection, rows, (int)strlen(rows)) == 1);
  cr_assert(PQputCopyEnd(connection, NULL) == 1);
  finish(connection);
}

Test(capture, every_statement_that_writes_rows_arrives) {
  struct fixture f;
  mirrored_begin(&f, "capture_write",
                 "create table item (id int primary key, name text, price numeric);"
                 "create table feed (id int, name text);"
                 "create view cheap as select * from item where price < 10");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1, 'one', 1.50), (2, 'two', 2), (3, null, null)");
  sql(f.at_source, "update item set name = upper(name), price = price * 2");
  sql(f.at_source, "delete from item where id = 2");
  copy_into(f.at_source, "item", "10\tten\t10.00\n11\t\\N\t11\n12\ttab\\there\t1e3\n");
  sql(f.at_source, "insert into item values (10, 'again', 0), (20, 'new', 20) on conflict (id) do update "
                   "set name = item.name || ' ' || excluded.name");
  sql(f.at_source, "insert into item values (11, 'ignored', 0) on conflict do nothing");
  sql(f.at_source, "insert into feed select n, 'fed ' || n from generate_series(15, 25) as n");
  sql(f.at_source, "update item set name = feed.name from feed where feed.id = item.id");
  sql(f.at_source, "with gone as (delete from feed where id > 21 returning *) insert into item select * from gone");
  sql(f.at_source, "insert into cheap values (30, 'through a view', 3); delete from cheap where id = 1");
  sql(f.at_source, "begin; declare c cursor for select * from item where id = 12 for update; fetch c;"
                   "update item set price = 0 where current of c; commit");
  mirrored_same(&f, "item");
  cr_assert_str_eq(captured_changes(&f, "item"),
                   "i:1 i:2 i:3 u:1 u:2 u:3 d:2 i:10 i:11 i:12 u:10 i:20 u:20 i:22 i:23 i:24 i:25 i:30 d:1 u:12");
  fixture_end(&f);
}

Test(capture, merge_arrives) {
  struct fixture f;
  mirrored_begin(&f, "capture_merge",
                 "create table stock (id int primary key, n int); create table delta (id int, n int);"
                 "insert into delta values (1, 5), (2, -20), (3, 7)");
  if (PQserverVersion(f.at_source) < 150000) {
    fixture_end(&f);
    cr_skip("MERGE came with PostgreSQL 15");
  }
  mirrored_capture(&f, "stock");
  sql(f.at_source, "insert into stock values (1, 10), (2, 10)");
  sql(f.at_source, "merge into stock s using delta d on s.id = d.id when matched and s.n + d.n < 0 then delete "
                   "when matched then update set n = s.n + d.n when not matched then insert values (d.id, d.n)");
  mirrored_same(&f, "stock");
  cr_assert_str_eq(captured_changes(&f, "stock"), "i:1 i:2 u:1 d:2 i:3");
  fixture_end(&f);
}

Test(capture, truncate_arrives_between_what_was_before_and_after) {
  struct fixture f;
  mirrored_begin(&f, "capture_truncate",
                 "create table item (id int primary key); create table note (item int references item)");
  mirrored_capture(&f, "item");
  mirrored_capture(&f, "note");
  sql(f.at_source, "insert into item select generate_series(1, 50); insert into note select id from item");
  sql(f.at_source,
      "truncate item, note; insert into item select generate_series(40, 60); insert into note values (41)");
  sql(f.at_source, "truncate item cascade; insert into item values (70); insert into note values (70)");
  sql(f.at_source, "begin; truncate note; rollback");
  mirrored_same(&f, "item");
  same_rows(&f, "note", "note", "1");
  cr_assert(ask_number(f.at_target, "select count(*) from note") == 1);
  fixture_end(&f);
}

Test(capture, what_is_rolled_back_is_not_captured) {
  struct fixture f;
  mirrored_begin(&f, "capture_rollback", "create table item (id int primary key, name text)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "begin; insert into item values (1); rollback");
  sql(f.at_source,
      "begin; insert into item values (2); savepoint a; insert into item values (3); update item set name = 'x';"
      "rollback to a; insert into item values (4); commit");
  cr_assert_str_eq(sql_fails(f.at_source, "insert into item values (5), (5)"), "23505");
  sql(f.at_source, "do $$ begin insert into item values (6); raise 'no'; exception when others then null; end $$");
  cr_assert_str_eq(captured_changes(&f, "item"), "i:2 i:4");
  mirrored_same(&f, "item");
  fixture_end(&f);
}

Test(capture, cascades_of_foreign_keys_arrive) {
  struct fixture f;
  mirrored_begin(&f, "capture_cascade",
                 "create schema shop;"
                 "create table shop.customer (id int primary key, name text);"
                 "create table shop.orders (id int primary key, customer int references shop.customer on delete "
                 "cascade on update cascade);"
                 "create table shop.line (orders int references shop.orders on delete cascade on update cascade, n "
                 "int, primary key (orders, n));"
                 "create table shop.note (id int primary key, orders int default 0 references shop.orders on delete "
                 "set null on update cascade)");
  mirrored_capture(&f, "shop.*");
  sql(f.at_source, "insert into shop.customer select n, 'customer ' || n from generate_series(1, 4) as n;"
                   "insert into shop.orders select n, 1 + n %% 4 from generate_series(1, 20) as n;"
                   "insert into shop.line select o, n from generate_series(1, 20) as o, generate_series(1, 3) as n;"
                   "insert into shop.note select n, n from generate_series(1, 20) as n");
  sql(f.at_source, "update shop.customer set id = id + 100 where id < 3");
  sql(f.at_source, "update shop.orders set id = id + 1000 where id %% 2 = 0");
  sql(f.at_source, "delete from shop.customer where id in (101, 3)");
  mirrored_same(&f, "shop.customer");
  same_rows(&f, "shop.orders", "shop.orders", "id");
  same_rows(&f, "shop.line", "shop.line", "orders, n");
  same_rows(&f, "shop.note", "shop.note", "id");
  cr_assert(ask_number(f.at_target, "select count(*) from shop.orders where customer = 102") == 5);
  cr_assert(ask_number(f.at_target, "select count(*) from shop.note where orders is null") == 10);
  fixture_end(&f);
}

Test(capture, a_cascade_within_one_table_leaves_its_last_state) {
  struct fixture f;
  mirrored_begin(&f, "capture_tree",
                 "create table tree (id int primary key, name text,"
                 "  parent int references tree on update cascade on delete set null)");
  mirrored_capture(&f, "tree");
  sql(f.at_source, "insert into tree select n, 'node ' || n, nullif(n / 2, 0) from generate_series(1, 31) as n");
  sql(f.at_source, "update tree set id = id + 100, name = name || '!'");
  sql(f.at_source, "delete from tree where id in (102, 104, 107)");
  mirrored_same(&f, "tree");
  fixture_end(&f);
}

/* ---- keys ------------------------------------------------------------------------------------------------------ */

Test(capture, a_changed_key_is_the_old_one_deleted_and_the_new_one_inserted) {
  struct fixture f;
  mirrored_begin(&f, "capture_rekey", "create table item (id int primary key, name text)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1, 'one'), (2, 'two'), (3, 'three')");
  sql(f.at_source, "update item set id = 10, name = 'ten' where id = 1");
  cr_assert_str_eq(captured_changes(&f, "item"), "i:1 i:2 i:3 d:1 i:10");
  /* two rows change places; a third goes where one was */
  sql(f.at_source, "begin; update item set id = -1 where id = 2; update item set id = 2 where id = 3;"
                   "update item set id = 3 where id = -1; commit");
  sql(f.at_source, "begin; delete from item where id = 10; update item set id = 10 where id = 3; commit");
  mirrored_same(&f, "item");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(format('%%s %%s', id, name), ', ' order by id) from item"),
                   "2 three, 10 two");
  fixture_end(&f);
}

Test(capture, composite_keys_identify_rows) {
  struct fixture f;
  mirrored_begin(&f, "capture_composite",
                 "create table line (n int, code text, d date, price numeric(10, 2), primary key (d, code, n))");
  mirrored_capture(&f, "line");
  sql(f.at_source, "insert into line select n, c, '2024-02-29'::date + n, n from generate_series(1, 10) as n, "
                   "unnest(array['a', 'B \"q\" ,', '']) as c");
  sql(f.at_source, "update line set price = -1 where n = 2; update line set code = code || 'x' where n = 3; delete "
                   "from line where n = 4");
  mirrored_same(&f, "line");
  cr_assert_str_eq(ask(f.at_source, "select key::json ->> 1 from rowrelay.history where op = 'delete' and key::json "
                                    "->> 2 = '3' order by change_id limit 1"),
                   "a");
  cr_assert_str_eq(ask(f.at_target,
                       "select string_agg(attname, ',' order by array_position(indkey::smallint[], attnum)) from "
                       "pg_index, pg_attribute "
                       "where indrelid = 'line'::regclass and attrelid = indrelid and attnum = any (indkey)"),
                   "d,code,n");
  fixture_end(&f);
}

Test(capture, a_unique_index_on_columns_that_are_not_null_is_a_key) {
  struct fixture f;
  mirrored_begin(
      &f, "capture_unique",
      "create table a (maybe int unique, id int not null, name text); create unique index on a (id);"
      "create table b (id int not null, part int not null, name text); create unique index on b (id) where part = 1;"
      "create unique index on b ((id + 0)); create unique index on b (id, part) include (name)");
  mirrored_capture(&f, "a");
  mirrored_capture(&f, "b");
  cr_assert_str_eq(ask(f.at_source, "select key from rowrelay.captures where relation = 'a'::regclass"), "{id}");
  cr_assert_str_eq(ask(f.at_source, "select key from rowrelay.captures where relation = 'b'::regclass"), "{id,part}");
  sql(f.at_source, "insert into a values (1, 1, 'x'), (null, 2, 'y'), (null, 3, 'z'); update a set maybe = id, name = "
                   "name || id where id > 1;"
                   "delete from a where maybe = 3");
  sql(f.at_source, "insert into b values (1, 1), (2, 1); update b set part = 2, name = 'n' where id = 1; delete from b "
                   "where id = 2");
  mirrored_same(&f, "a");
  same_rows(&f, "b", "b", "1");
  fixture_end(&f);
}

Test(capture, a_key_that_nothing_keeps_unique_is_refused) {
  struct fixture f;
  const char *errors;
  mirrored_begin(&f, "capture_not_unique",
                 "create table item (id int, g int not null, v int); create index on item (id);"
                 "create unique index on item (id) where v > 0; create unique index on item ((id + 1));"
                 "create table late (id int primary key deferrable);"
                 "create table part (id int, day int, primary key (id, day)) partition by range (day);"
                 "create table part_1 partition of part (unique (id)) for values from (0) to (10);");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "item", "--key", "id", "--to", "w", "--create", NULL), 2);
  cr_assert(strstr(errors, "no unique index covers the key (id) of table public.item") != NULL, "%s", errors);
  cr_assert(strstr(errors, "create unique index on public.item (id)") != NULL, "%s", errors);
  cr_assert(strstr(errors, "omit the key: then rows are identified by all of their values") != NULL, "%s", errors);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "late", "--key", "id", NULL), 2);
  cr_assert(strstr(errors, "deferrable") != NULL, "%s", errors);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.captures"), "0");

  /* What the hint says works, and an index on some of the columns is enough. */
  sql(f.at_source, "create unique index item_whole on item (id)");
  rowrelay_ok(&f, "capture", "item", "--key", "id,g", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "item", "--key", "id", NULL);
  rowrelay(&f, NULL, &errors, "capture", "part", "--key", "id", NULL);
  cr_assert(strstr(errors, "rows of two partitions may share one") != NULL, "%s", errors);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(note, '') from rowrelay.captures"), "");
  sql(f.at_source, "drop index item_whole");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.captures where relation = 'item'::regclass"),
                   "its key is no longer unique: rows with the same key are one row in a target");
  fixture_end(&f);
}

Test(capture, a_table_without_a_key_keeps_its_duplicates) {
  struct fixture f;
  mirrored_begin(&f, "capture_keyless",
                 "create table log (word text, n int, x float8, j jsonb);"
                 "create table single (word text)");
  mirrored_capture(&f, "log");
  mirrored_capture(&f, "single");
  sql(f.at_source, "insert into log select 'w' || n %% 3, n %% 2, 'NaN', '{}' from generate_series(1, 30) as n");
  sql(f.at_source, "insert into log values (null, null, null, null), (null, null, null, null), ('', 0, -0.0, '[1]')");
  mirrored_same(&f, "log");
  /* some of several equal rows, which only their place in the table tells apart */
  sql(f.at_source, "update log set n = 9 where ctid in (select ctid from log where word = 'w1' limit 3)");
  sql(f.at_source, "delete from log where ctid in (select ctid from log where word = 'w2' and n = 0 limit 2)");
  sql(f.at_source, "delete from log where ctid = (select ctid from log where word is null limit 1)");
  sql(f.at_source, "update log set word = 'w0' where word = 'w1'; update log set word = 'w0' where word = 'w0'");
  mirrored_same(&f, "log");
  sql(f.at_source, "begin; delete from log where word = 'w2'; insert into log values ('w2', 1, 'NaN', '{}'); update "
                   "log set x = null; commit");
  sql(f.at_source, "insert into single values (''), (null), (''), ('a'); delete from single where word = 'a'; update "
                   "single set word = 'b' where word = ''");
  mirrored_same(&f, "log");
  same_rows(&f, "single", "single", "1");
  cr_assert(ask_number(f.at_target, "select count(*) - count(distinct l.*) from log as l") > 10);
  fixture_end(&f);
}

/* While it is deferred two rows may hold one key, so it does not identify them. */
Test(capture, a_deferrable_primary_key_is_no_key) {
  struct fixture f;
  mirrored_begin(&f, "capture_deferrable", "create table place (id int primary key deferrable, name text)");
  mirrored_capture(&f, "place");
  cr_assert_str_eq(ask(f.at_source, "select key from rowrelay.captures"), "{}");
  sql(f.at_source, "insert into place values (1, 'a'), (2, 'b'), (3, 'c')");
  sql(f.at_source, "update place set id = id + 1");
  sql(f.at_source, "begin; set constraints all deferred; update place set id = 2 where name = 'c';"
                   "insert into place values (3, 'd'); delete from place where name in ('a', 'b'); commit");
  sql(f.at_source, "update place set id = 5 - id");
  mirrored_same(&f, "place");
  fixture_end(&f);
}

/* ---- tables with triggers and computed columns of their own ------------------------------------------------------ */

Test(capture, what_a_tables_own_triggers_change_is_captured_last) {
  struct fixture f;
  mirrored_begin(
      &f, "capture_triggers",
      "create table item (id int primary key, name text, touched int not null default 0, checked bool);"
      "create function before_row() returns trigger language plpgsql as $$ begin"
      "  if new.name = 'never' then return null; end if; new.name := new.name || ' (before)'; return new; end $$;"
      "create function after_row() returns trigger language plpgsql as $$ begin"
      "  update item set touched = touched + 1 where id = new.id and touched < 2;"
      "  if new.name like 'fleeting%' then delete from item where id = new.id; end if; return null; end $$;"
      "create function at_commit() returns trigger language plpgsql as $$ begin"
      "  update item set checked = true where id = new.id and checked is null; return null; end $$;"
      "create trigger a_before before insert on item for each row execute function before_row();"
      "create trigger a_after after insert or update on item for each row execute function after_row();"
      "create constraint trigger a_commit after insert on item deferrable initially deferred for each row execute "
      "function at_commit()");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1, 'one'), (2, 'never'), (3, 'fleeting'), (4, 'four')");
  sql(f.at_source, "begin; insert into item values (5, 'five'); update item set name = 'FIVE' where id = 5; commit");
  sql(f.at_source, "update item set touched = 0, name = name || '+'");
  mirrored_same(&f, "item");
  cr_assert_str_eq(
      ask(f.at_target,
          "select string_agg(format('%%s/%%s/%%s/%%s', id, name, touched, checked), ' ' order by id) from item"),
      "1/one (before)+/2/t 4/four (before)+/2/t 5/FIVE+/2/t");
  fixture_end(&f);
}

/* The first row's trigger changes the second before PostgreSQL fires the trigger for the statement's own change of
 * that. */
Test(capture, a_trigger_that_changes_other_rows_of_its_statement_is_captured_last) {
  struct fixture f;
  mirrored_begin(
      &f, "capture_siblings",
      "create table address (id int primary key, customer int, is_default bool);"
      "create function only_default() returns trigger language plpgsql as $$ begin"
      "  if new.is_default then update address set is_default = false where customer = new.customer and id <> new.id "
      "and is_default; end if;"
      "  return null; end $$;"
      "create trigger only_default after insert or update on address for each row execute function only_default();"
      "create table doomed (id int primary key, name text);"
      "create function doom() returns trigger language plpgsql as $$ begin"
      "  delete from doomed where id = new.id + 1; return null; end $$;"
      "create trigger doom after update on doomed for each row execute function doom();"
      "create table bag (id int, n int);"
      "create function bag() returns trigger language plpgsql as $$ begin"
      "  update bag set n = n + 100 where id <> new.id and n < 100; return null; end $$;"
      "create trigger bag after update on bag for each row execute function bag();"
      "create table phoenix (id int primary key, name text);"
      "create function rise() returns trigger language plpgsql as $$ begin"
      "  insert into phoenix values (old.id + 1, old.name || '+') on conflict do nothing; return null; end $$;"
      "create trigger rise after delete on phoenix for each row execute function rise()");
  mirrored_capture(&f, "address");
  mirrored_capture(&f, "doomed");
  mirrored_capture(&f, "bag");
  mirrored_capture(&f, "phoenix");
  sql(f.at_source, "insert into address select n, 1, true from generate_series(1, 5) as n");
  sql(f.at_source, "insert into doomed select n, 'x' from generate_series(1, 6) as n; insert into bag select n, n from "
                   "generate_series(1, 4) as n; insert into phoenix select n, 'x' from generate_series(1, 4) as n");
  mirrored_deliver(&f);
  sql(f.at_source, "update address set is_default = true");
  /* a row that is only locked is captured as usual */
  sql(f.at_source, "create table parcel (address int references address);"
                   "begin; insert into parcel values (3); update address set customer = 3 where id = 3; select from "
                   "address for update;"
                   "update address set customer = 4 where id in (4, 5); commit");
  sql(f.at_source, "update doomed set name = 'y'");
  sql(f.at_source, "update bag set n = n + 1");
  sql(f.at_source, "delete from phoenix");
  mirrored_same(&f, "address");
  same_rows(&f, "doomed", "doomed", "id");
  same_rows(&f, "bag", "bag", "id");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(id || name, ' ' order by id) from phoenix"), "2x+ 3x+ 4x+ 5x+");
  same_rows(&f, "phoenix", "phoenix", "id");
  fixture_end(&f);
}

Test(capture, generated_and_identity_columns_arrive) {
  struct fixture f;
  mirrored_begin(
      &f, "capture_generated",
      "create table item (id int generated always as identity primary key, n int generated by default as identity,"
      "  net numeric, gross numeric generated always as (net * 1.19) stored, s serial)");
  /* The target's table may have the same generated column. */
  sql(f.at_target, "create table item (id int generated always as identity primary key, n int, net numeric,"
                   "  gross numeric generated always as (net * 1.19) stored, s int)");
  mirrored_capture(&f, "item");
  rowrelay_ok(&f, "target", "add", "other", f.target_url, NULL);
  rowrelay_ok(&f, "route", "item", "other", "--into", "made", "--create", NULL);
  sql(f.at_source, "insert into item (net) values (100), (200), (300); update item set net = net + 1 where id = 2; "
                   "delete from item where id = 1;"
                   "update item set id = default where id = 3");
  mirrored_same(&f, "item");
  same_rows(&f, "item", "made", "id");
  fixture_end(&f);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* They have no value in a trigger. */
Test(capture, virtual_columns_are_left_out_everywhere) {
  struct fixture f;
  fixture_begin(&f, "capture_virtual");
  if (ask_number(f.at_source, "select current_setting('server_version_num')::int") < 180000)
    cr_skip_test("PostgreSQL has virtual columns since 18");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_source,
      "create table item (id int primary key, a int, b int generated always as (a * 2) virtual, s text);"
      "create table heap (a int, b int generated always as (a * 2) virtual); insert into heap values (1), (1);"
      "select rowrelay.capture_table(t), rowrelay.route(t, 'w', create_table => true) "
      "from unnest('{item,heap}'::regclass[]) as t");
  rowrelay_ok(&f, "backfill", "heap", "--to", "w", NULL);
  /* They may get another expression, and then nothing tells that rows no longer match. */
  const char *errors;
  cr_expect_eq(rowrelay(&f, NULL, &errors, "capture", "item", "--where", "a > 1 and b > 3", NULL), 2);
  cr_expect_not_null(strstr(errors, "names virtual generated column b\nhint: Write its expression instead: (a * 2)\n"),
                     "%s", errors);
  sql(f.at_source,
      "insert into item values (1, 5), (2, 6); update item set a = 7 where id = 2; delete from item where "
      "id = 1; insert into item values (2, 8) on conflict (id) do update set a = 8;"
      "insert into heap values (1), (2), (3); update heap set a = 9 where a = 3; delete from heap where a = 2");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  rowrelay_ok(&f, "verify", "w", NULL);
  cr_assert_str_eq(ask(f.at_target, "select concat(id, ' ', a) from item"), "2 8");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(a::text, ' ' order by a) from heap"), "1 1 1 9");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.change where new_row ->> 'b' is null and "
                                    "json_typeof(new_row -> 'b') is not null"),
                   "0");
  fixture_end(&f);
}

Test(capture, any_name_will_do) {
  static const char *const TABLES[] = {
      "\"Old Shop\".\"Order\"",      "\"Old Shop\".\"a.b\"",         "\"Old Shop\".\"say \"\"hi\"\"\"",
      "\"Old Shop\".\"it's\"",       "\"Old Shop\".\"50%s off\"",    "\"Old Shop\".\"back\\slash\"",
      "\"Old Shop\".\"größe 数 🐘\"", "\"Old Shop\".\"select\"",      "\"Old Shop\".\"$rowrelay$\"",
      "\"Old Shop\".\"new\"",        "\"Old Shop\".\"line\nbreak\"", "\"Old Shop\".\"*\"",
  };
  static const char *const COLUMNS[] = {"id",
                                        "\"Order\"",
                                        "\"a.b\"",
                                        "\"say \"\"hi\"\"\"",
                                        "\"it's\"",
                                        "\"50%s %I %% off\"",
                                        "\"back\\slash\\u0041\"",
                                        "\"größe 数 🐘\"",
                                        "\"select\"",
                                        "\"$rowrelay$\"",
                                        "\"new\"",
                                        "\"old\"",
                                        "\"key\"",
                                        "\"op\"",
                                        "\"hash\"",
                                        "\"image\"",
                                        "\"{x}\"",
                                        "\" \"",
                                        "\"line\nbreak\"",
                                        "\"t\"",
                                        "\"i\"",
                                        "\"k\""};
  struct fixture f;
  mirrored_begin(&f, "capture_names", "create schema \"Old Shop\"");
  char definitions[2048] = "";
  char key[1024] = "";
  size_t columns = sizeof COLUMNS / sizeof *COLUMNS;
  for (size_t i = 0; i < columns; i++) {
    strcat(strcat(strcat(definitions, i > 0 ? ", " : ""), COLUMNS[i]), i % 2 == 0 ? " int" : " text");
    if (i < 12)
      strcat(strcat(key, i > 0 ? ", " : ""), COLUMNS[i]);
  }
  for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
    sql(f.at_source, "create table %s (%s, primary key (%s))", TABLES[i], definitions,
        i % 2 == 0 ? COLUMNS[i % columns] : key);
    mirrored_capture(&f, strcmp(TABLES[i], "\"Old Shop\".\"*\"") == 0 ? "\"Old Shop\".\"*\"" : TABLES[i]);
    sql(f.at_source, "insert into %s select n, n, n, n, n, n, n, n, n, n, n, n from generate_series(1, 5) as n",
        TABLES[i]);
    sql(f.at_source, "update %s set %s = 11, \"k\" = 'x' where id = 3; delete from %s where id = 4", TABLES[i],
        COLUMNS[i % 12], TABLES[i]);
  }
  mirrored_deliver(&f);
  for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
    same_rows(&f, TABLES[i], TABLES[i], "id");
    cr_assert(ask_number(f.at_target, "select count(*) from %s", TABLES[i]) == 4, "%s", TABLES[i]);
  }
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.change where caveat is not null") == 0);
  fixture_end(&f);
}
