/* A captured table is altered: nothing that is left out of its rows appears, under whatever name it is. */
#include <criterion/criterion.h>
#include <string.h>

#include "mirrored.h"

Test(left_out, a_column_that_a_filter_reads_cannot_go_unnoticed) {
  struct fixture f;
  mirrored_begin(&f, "ddl_filter", "create table item (id int primary key, state text, v int)");
  rowrelay_ok(&f, "capture", "item", "--where", "state = 'open'", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item values (1, 'open'), (2, 'closed')");
  mirrored_deliver(&f);
  sql(f.at_source, "alter table item rename state to condition; insert into item values (3, 'open'), (4, 'closed');"
                   "update item set condition = 'open' where id = 2; update item set condition = 'x' where id = 1");
  mirrored_maintain(&f);
  sql(f.at_source, "update item set condition = 'open' where id = 4");
  cr_assert_str_eq(captured_changes(&f, "item"), "i:1 i:3 i:2 d:1 i:4");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, condition), ' ' order by id) from item"),
                   "2open 3open 4open");
  /* PostgreSQL itself handles these */
  cr_assert_str_eq(sql_fails(f.at_source, "alter table item drop condition"), "2BP01");
  cr_assert_str_eq(sql_fails(f.at_source, "alter table item alter condition type varchar(10)"), "0A000");
  sql(f.at_source, "alter table item drop condition cascade; insert into item values (5)");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.captures"),
                   "triggers are missing or disabled: capture the table again");
  wait_until(f.at_source, "t", 20,
             "select count(*) = 1 from rowrelay.status where target = 'w' and note like '%%triggers are missing%%'");
  fixture_end(&f);
}

Test(left_out, what_is_left_out_is_not_made_at_the_target_either) {
  struct fixture f;
  mirrored_begin(&f, "ddl_left_out", "create table item (id int primary key, secret text, v int)");
  rowrelay_ok(&f, "capture", "item", "--exclude", "secret", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item values (1, 'x', 1)");
  mirrored_deliver(&f);
  sql(f.at_source, "alter table item rename secret to open; alter table item add secret text default 'x';"
                   "alter table item add w int; update item set w = 2");
  mirrored_deliver(&f);
  mirrored_maintain(&f);
  sql(f.at_source, "update item set w = 3");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(attname, ' ' order by attnum) from pg_attribute where attrelid "
                                    "= 'item'::regclass and attnum > 0"),
                   "id v w");
  same_rows(&f, "(select id, v, w from item)", "item", "1");
  cr_assert_str_eq(ask(f.at_source, "select exclude from rowrelay.captures"), "{open,secret}");
  fixture_end(&f);
}

/* Chosen columns are stored by number, so that no other column is captured under a chosen name. */
Test(left_out, chosen_columns_stay_chosen_under_other_names) {
  struct fixture f;
  mirrored_begin(&f, "ddl_chosen", "create table item (id int primary key, v int, secret text, w int)");
  rowrelay_ok(&f, "capture", "item", "--columns", "id,v,w", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item values (1, 1, 'hidden', 1)");
  mirrored_deliver(&f);
  sql(f.at_source, "alter table item rename v to worth; alter table item rename secret to v;"
                   "insert into item values (2, 2, 'hidden', 2); update item set worth = 10 where id = 1;"
                   "alter table item drop w; alter table item add w text; update item set w = 'w'");
  mirrored_maintain(&f);
  sql(f.at_source, "insert into item values (3, 3, 'hidden', 'x')");
  cr_assert_eq(
      ask_number(f.at_source, "select count(*) from rowrelay.change where concat(old_row, new_row) like '%%hidden%%'"),
      0);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(distinct new_row ->> 'worth', ' ') from rowrelay.change"),
                   "10 2 3");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(new_row ->> 'w', ' ' order by id) from rowrelay.change"),
                   "1 2 1 w w x");
  cr_assert_str_eq(ask(f.at_source, "select columns from rowrelay.captures"), "{id,worth,w}");
  fixture_end(&f);
}

/* Such a transaction sees the former catalogs, while its rows come with the present names. */
static void write_unseeing(const char *name, const char *alteration) {
  struct fixture f;
  mirrored_begin(&f, name, "create table item (id int primary key, secret text, masked text, v int)");
  sql(f.at_source,
      "select rowrelay.capture_table('item', exclude => '{secret}', mask => '{\"masked\": 0}', before => 'full')");
  sql(f.at_source, "insert into item values (1, 'hidden', 'hidden', 1)");
  PGconn *old = connect_to(f.source, NULL);
  sql(old, "begin isolation level repeatable read; select 1");
  sql(f.at_source, "%s", alteration);
  sql(old, "update item set v = 2; insert into item values (2, 'hidden', 'hidden', 2); delete from item where id = 1; "
           "commit");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.history") >= 4);
  cr_assert(ask_number(
                f.at_source,
                "select count(*) from rowrelay.change where concat(key, old_row, new_row, caveat) like '%%hidden%%'") ==
            0);
  sql(f.at_source, "insert into item values (3, 'hidden', 'hidden', 3)");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.history where key = '3' and problem is null") == 1);
  cr_assert(ask_number(
                f.at_source,
                "select count(*) from rowrelay.change where concat(key, old_row, new_row, caveat) like '%%hidden%%'") ==
            0);
  PQfinish(old);
  fixture_end(&f);
}

Test(left_out, nothing_that_is_left_out_is_captured_by_a_transaction_that_cannot_see_its_new_name) {
  write_unseeing("ddl_snapshot", "alter table item rename secret to open; alter table item rename masked to bare");
}

Test(left_out, nothing_that_is_left_out_is_captured_by_a_transaction_that_sees_its_name_on_another_column) {
  write_unseeing("ddl_snapshot_2", "alter table item rename secret to open; alter table item rename masked to bare;"
                                   "alter table item add secret text; alter table item add masked text");
}

Test(left_out, a_transaction_that_cannot_see_what_was_altered_goes_on) {
  struct fixture f;
  mirrored_begin(&f, "ddl_unseen",
                 "create table item (id int unique, secret text);"
                 "create table part (id int, secret text, primary key (id)) partition by range (id);"
                 "create table part_1 partition of part for values from (0) to (10);"
                 "insert into part values (1, 'hidden')");
  PGconn *old = connect_to(f.source, NULL);
  sql(old, "begin isolation level repeatable read; select 1");
  rowrelay_ok(&f, "capture", "item", "--key", "id", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "part", "--exclude", "secret", "--before", "--to", "w", "--create", NULL);
  /* a null key goes the slow way, which asks how the table is captured */
  sql(old, "insert into item values (1, 'a'), (null, 'b'); truncate item; truncate part_1; commit");
  cr_assert_str_eq(captured_changes(&f, "item"), "i:1 i:- t:-");
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.history where problem like '%%cannot see yet'"),
               3);
  sql(f.at_source, "insert into part values (2, 'hidden')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  /* what it wrote is listed, and what follows a TRUNCATE in a table waits for it */
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(concat(op, ' ', position('cannot see yet' in message) > 0), ', ' "
                       "order by change_id) from rowrelay.errors"),
                   "insert t, truncate t, truncate t, insert f");
  rowrelay_ok(&f, "skip", "--all", "--target", "w", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(old, "begin isolation level repeatable read; select 1");
  sql(f.at_source, "alter table part rename secret to open; alter table part rename id to number");
  sql(old, "truncate part_1; commit");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat(op, ' ', message), ', ') from rowrelay.errors"),
                   "truncate the row could not be captured: its columns were altered by a transaction that this one "
                   "cannot see yet");
  cr_assert_eq(
      ask_number(f.at_source, "select count(*) from rowrelay.change where concat(old_row, new_row) like '%%hidden%%'"),
      0);
  PQfinish(old);
  fixture_end(&f);
}

Test(left_out, what_a_target_lacks_of_rows_when_more_is_captured_is_told_until_it_is_repaired) {
  struct fixture f;
  mirrored_begin(&f, "ddl_uncovered",
                 "create table hidden (id int primary key, a int); create table masked (id int primary key, a int);"
                 "create table filtered (id int primary key, a int); create table same (id int primary key, a int);"
                 "create table empty (id int primary key, a int)");
  rowrelay_ok(&f, "target", "add", "lines", "file:/dev/null", NULL);
  rowrelay_ok(&f, "capture", "hidden", "empty", "same", "--exclude", "a", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "masked", "--mask", "a=0", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "filtered", "--where", "id > 1", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "route", "hidden", "lines", NULL);
  sql(f.at_source, "insert into hidden values (1, 1); insert into masked values (1, 1);"
                   "insert into filtered values (1, 1), (2, 2), (3, 3); insert into same values (1, 1)");
  mirrored_deliver(&f);
  rowrelay_ok(&f, "capture", "hidden", "empty", "--exclude", "", NULL);
  rowrelay_ok(&f, "capture", "masked", "--mask", "", NULL);
  rowrelay_ok(&f, "capture", "filtered", "--where", "id < 3", NULL);
  rowrelay_ok(&f, "capture", "same", "--before", NULL);
  sql(f.at_source, "insert into hidden values (2, 2)");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat(target, ':', relation_name), ' ' order by relation_name) "
                                    "from rowrelay.gaps"),
                   "w:public.filtered w:public.hidden w:public.masked");
  cr_expect_not_null(strstr(rowrelay_ok(&f, "status", NULL), "or captured otherwise, or columns were altered"));
  rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps"), "0");
  mirrored_same(&f, "hidden");
  mirrored_same(&f, "masked");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from filtered"), "1 2");
  fixture_end(&f);
}
