/* Rows that were there before a table went to a target: they arrive, in order with what is written meanwhile. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backfilled.h"
#include "fixture.h"
#include "mirrored.h"
#include "writers.h"

/* The operations of one key so far, oldest first, such as "snapshot update". */
static const char *operations_of(struct fixture *f, const char *key) {
  return ask(f->at_source, "select string_agg(op, ' ' order by change_id) from rowrelay.history where key = '%s'", key);
}

/* ---- what arrives ---------------------------------------------------------------------------------------------- */

Test(backfill, rows_that_were_there_arrive_and_only_at_that_target) {
  struct fixture f;
  mirrored_begin(&f, "backfill",
                 "create table item (id int primary key, name text); create table \"Odd One\" (n int primary key)");
  sql(f.at_source, "insert into item select n, 'name ' || n from generate_series(1, 5000) as n; "
                   "insert into \"Odd One\" values (1), (2); create table later (id int primary key)");
  sql(f.at_source, "alter database \"%s\" set default_transaction_isolation to serializable", f.name);
  mirrored_capture(&f, "*");
  rowrelay_ok(&f, "target", "add", "other", "file:/dev/null", NULL);
  rowrelay_ok(&f, "route", "*", "other", NULL);

  const char *output = rowrelay_ok(&f, "backfill", "item", "\"Odd One\"", "later", "--to", "w", "--no-copy", NULL);

  cr_expect(strstr(output, "item: 5,000 rows queued for w in ") != NULL, "%s", output);
  cr_expect(strstr(output, "\"Odd One\": 2 rows queued for w in ") != NULL, "%s", output);
  cr_expect(strstr(output, "later: 0 rows queued for w in ") != NULL, "%s", output);
  cr_expect_str_eq(ask(f.at_source, "select backlog from rowrelay.status where target = 'other'"), "0");
  cr_expect_str_eq(ask(f.at_source, "select status from rowrelay.history limit 1"), "{\"w\": \"new\"}");
  mirrored_same(&f, "item");
  mirrored_same(&f, "\"Odd One\"");
  cr_expect_str_eq(ask(f.at_source,
                       "select string_agg(concat_ws(' ', state, rows, percent), ', ' order by relation_name) "
                       "from rowrelay.backfills"),
                   "done 2 100, done 5000 100, done 0 100");
  fixture_end(&f);
}

/* A piece ends with the last of its rows in the order of the key, and that query has columns of its own. */
Test(backfill, a_key_may_be_called_like_anything_that_a_piece_is_read_with) {
  struct fixture f;
  fixture_begin(&f, "backfill_names");
  sql(f.at_source, "create table counted (count int primary key); create table listed (\"array\" int primary key);"
                   "insert into counted select generate_series(1, 5000); insert into listed select * from counted");
  rowrelay_ok(&f, "target", "add", "pieces", "file:/dev/null", NULL);
  rowrelay_ok(&f, "capture", "*", "--to", "pieces", NULL);
  rowrelay_ok(&f, "backfill", "counted", "--to", "pieces", NULL);
  rowrelay_ok(&f, "backfill", "listed", "--to", "pieces", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_source, "select string_agg(concat(n, ' ', keys), ', ') from (select count(*) as n, "
                                    "count(distinct key) as keys from rowrelay.change where op = 's' group by capture) "
                                    "as c"),
                   "5000 5000, 5000 5000");
  fixture_end(&f);
}

Test(backfill, targets_of_changes_get_them_as_snapshots) {
  struct fixture f;
  fixture_begin(&f, "backfill_append");
  static char url[160];
  static char path[128];
  snprintf(path, sizeof path, "/tmp/rowrelay-backfill-%d.jsonl", (int)getpid());
  snprintf(url, sizeof url, "file:%s", path);
  sql(f.at_source, "create table item (id int primary key, name text); insert into item values (1, 'one'), (2, 'two')");
  rowrelay_ok(&f, "target", "add", "a", f.target_url, "--option", "mode=append", NULL);
  rowrelay_ok(&f, "target", "add", "f", url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "a", NULL);
  rowrelay_ok(&f, "route", "item", "f", NULL);

  rowrelay_ok(&f, "backfill", "item", "--to", "a", NULL);
  rowrelay_ok(&f, "backfill", "item", "--to", "f", NULL);
  sql(f.at_source, "delete from item where id = 1");
  rowrelay_ok(&f, "run", "--until-empty", NULL);

  cr_expect_str_eq(ask(f.at_target,
                       "select string_agg(concat_ws(' ', op, key, new_row ->> 'name'), ', ' order by key, position) "
                       "from item_changes"),
                   "snapshot 1 one, delete 1, snapshot 2 two");
  FILE *lines = fopen(path, "r");
  cr_assert(lines != NULL);
  int snapshots = 0;
  for (char line[4096]; fgets(line, sizeof line, lines) != NULL;)
    snapshots +=
        strstr(line, "\"op\":\"snapshot\"") != NULL && strstr(line, "\"old_row\":null,\"new_row\":{\"id\":") != NULL;
  fclose(lines);
  unlink(path);
  cr_expect(snapshots == 2);
  fixture_end(&f);
}

Test(backfill, images_are_those_that_the_trigger_makes) {
  struct fixture f;
  fixture_begin(&f, "backfill_images");
  sql(f.at_source,
      "create schema \"Odd Shop\"; set search_path to \"Odd Shop\"; "
      "create type mood as enum ('a', 'b'); create type pair as (x int, y json); "
      "create function wanted(numeric) returns bool language sql immutable as 'select $1 < 1000'; "
      "create table \"Odd\" (\"B key\" text collate \"C\", \"A\" numeric, j json, jb jsonb, arr int[], f float8, "
      "  ts timestamptz, iv interval, by bytea, m mood, p pair, js json[], secret text, hidden text, gone int, "
      "  gen int generated always as (7) stored, primary key (\"B key\", \"A\")); "
      "alter table \"Odd\" drop column gone");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_source, "select rowrelay.capture_table('\"Odd\"', exclude => '{hidden}', mask => '{\"secret\": \"***\"}', "
                   "row_filter => 'wanted(\"A\")')");
  sql(f.at_source,
      "insert into \"Odd\" values "
      "('a', 1.50, 'null', 'null', '[0:1]={1,2}', 0.1, now(), '1 day', '\\x00ff', 'a', row(1, 'null'), "
      "  array['{\"a\": 1}', 'null']::json[], 's', 'h'), "
      "('a''b', 2, '{\"a\": \"\\u0000\"}', '{\"a\": 1}', '{1,2}', 'NaN', 'infinity', '1 mon', '', 'b', row(1, "
      "'\"\\u0000\"'), "
      "  array['\"\\u0000\"']::json[], 's', 'h'), "
      "('c,d', 3.000, ' [1] ', '[1]', '{{1},{2}}', 1e300, '-infinity', '-1 sec', null, null, null, null, null, null), "
      "('NULL', 4, '1', '1', null, 'infinity', '2020-01-01 BC', null, 'a', 'a', row(null, null), '{}', '\"{}', 'h'), "
      "('filtered', 5000, '1', '1', null, 0, null, null, null, null, null, null, null, null), "
      "('\"\\', 5, null, null, null, null, null, null, null, null, null, null, null, null)");
  sql(f.at_source, "select rowrelay.route('\"Odd\"', 'w'); set datestyle to 'German'; set timezone to 'Asia/Tokyo'; "
                   "set extra_float_digits to -5; set intervalstyle to 'iso_8601'; set bytea_output to 'escape'");

  int64_t id = backfilled_registered(&f, "\"Odd\"", "'wanted(\"A\" + 1)'");
  sql(f.at_source, "set search_path to default");
  backfilled_to_the_end(&f, id, 2);

  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.change where op = 's'"), "5");
  cr_expect_str_eq(
      ask(f.at_source,
          "select string_agg(concat_ws(' ', i.key, i.new_row, i.caveat, s.key, s.new_row, s.caveat), E'\\n') "
          "  from (select * from rowrelay.change where op = 'i') as i "
          "  full join (select * from rowrelay.change where op = 's') as s on s.key = i.key "
          " where i.new_row::text is distinct from s.new_row::text "
          "    or i.caveat ->> 'text_columns' is distinct from s.caveat ->> 'text_columns'"),
      "");
  /* All changes of a row are in one lane, whoever makes them. */
  sql(f.at_source, "update \"Odd Shop\".\"Odd\" set secret = 't'");
  cr_expect_str_eq(ask(f.at_source,
                       "select string_agg(n::text, ' ') from (select count(distinct q.lane) as n "
                       "from rowrelay.queue q join rowrelay.change c on c.id = q.change_id group by c.key) as k"),
                   "1 1 1 1 1");
  fixture_end(&f);
}

Test(backfill, keys_of_all_kinds_are_read_once_and_completely) {
  struct fixture f;
  mirrored_begin(&f, "backfill_keys",
                 "create table composite (a int, \"B b\" text, c numeric, n int, primary key (\"B b\", c, a)); "
                 "insert into composite select n % 3, 'x' || n % 7, n, n from generate_series(1, 200) as n; "
                 "create table downwards (a int not null, b int not null); "
                 "create unique index on downwards (a desc, b desc); "
                 "insert into downwards select n % 10, n from generate_series(1, 100) as n; "
                 /* its key has no usable index, and there is one on something else */
                 "create table mixed (a int not null, b int not null, id uuid primary key default gen_random_uuid()); "
                 "create unique index on mixed (a desc, b); insert into mixed select n % 10, n from "
                 "generate_series(1, 100) as n; "
                 "create table measured (at timestamptz, f float8, primary key (f, at)); "
                 "insert into measured select 'epoch'::timestamptz + n * interval '1 us', n / 7.0 - 5 from "
                 "generate_series(1, 100) as n; "
                 "insert into measured values ('infinity', 'NaN'), ('-infinity', 'infinity')");
  static const char *const TABLES[] = {"composite", "downwards", "mixed", "measured"};
  for (int i = 0; i < 4; i++) {
    if (i == 2)
      rowrelay_ok(&f, "capture", "mixed", "--key", "a,b", "--to", "w", "--create", NULL);
    else
      mirrored_capture(&f, TABLES[i]);
    backfilled_to_the_end(&f, backfilled_registered(&f, TABLES[i], "null"), 7);
  }
  backfilled_read_each_key_once(&f);
  for (int i = 0; i < 4; i++)
    mirrored_same(&f, TABLES[i]);
  fixture_end(&f);
}

Test(backfill, partitions_and_children_are_read_one_after_the_other) {
  struct fixture f;
  mirrored_begin(
      &f, "backfill_parts",
      "create table p (a int, b text, n int, primary key (a, b)) partition by range (a); "
      "create table p1 (n int, dropped int, b text not null, a int not null); alter table p1 drop column dropped; "
      "alter table p attach partition p1 for values from (0) to (10); "
      "create table p2 partition of p for values from (10) to (20) partition by hash (b); "
      "create table p21 partition of p2 for values with (modulus 2, remainder 0); "
      "create table p22 partition of p2 for values with (modulus 2, remainder 1); "
      "create table p3 partition of p for values from (20) to (30); "
      "insert into p select n % 20, 'text ' || n, n from generate_series(1, 400) as n; "
      "create table base (id int primary key, name text); "
      "create table child (extra json, primary key (id)) inherits (base); "
      "insert into base select n, 'base' from generate_series(1, 20) as n; "
      "insert into child select n, 'child', '\"\\u0000\"' from generate_series(21, 40) as n");
  mirrored_capture(&f, "p");
  mirrored_capture(&f, "base");

  int64_t id = backfilled_registered(&f, "p", "null");
  for (int i = 0; i < 4; i++)
    backfilled_step(&f, id, 30);
  /* A row that goes from one partition to another is followed by its changes. */
  sql(f.at_source,
      "update p set a = a + 10 where a < 10 and n %% 4 = 0; update p set a = a - 10 where a >= 10 and n %% 5 = 0");
  sql(f.at_source, "drop table p3");
  backfilled_to_the_end(&f, id, 30);
  backfilled_to_the_end(&f, backfilled_registered(&f, "base", "null"), 7);

  mirrored_same(&f, "p");
  mirrored_deliver(&f);
  cr_expect_str_eq(ask(f.at_target, "select count(*) || ' ' || string_agg(distinct name, ' ' order by name) from base"),
                   "40 base child");
  fixture_end(&f);
}

Test(backfill, a_condition_chooses_rows) {
  struct fixture f;
  backfilled_begin(&f, "backfill_where", 100);
  const char *errors;
  cr_expect(rowrelay(&f, NULL, &errors, "backfill", "item", "--to", "w", "--no-copy", "--where", "nix > 1", NULL) == 2);
  cr_expect(strstr(errors, "is not a condition on its columns") != NULL, "%s", errors);

  rowrelay_ok(&f, "backfill", "item", "--to", "w", "--no-copy", "--where",
              "id in (select n * 10 from generate_series(1, 3) as n) or id > 98", NULL);

  mirrored_deliver(&f);
  cr_expect_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from item"), "10 20 30 99 100");
  /* A finished backfill begins again. */
  rowrelay_ok(&f, "backfill", "item", "--to", "w", "--no-copy", NULL);
  mirrored_same(&f, "item");
  fixture_end(&f);
}

/* As a row of more than a gigabyte, of which PostgreSQL cannot make JSON. */
Test(backfill, a_row_of_which_there_can_be_no_image_is_refused_and_holds_up_no_other) {
  struct fixture f;
  mirrored_begin(&f, "backfill_image", "create table item (id int primary key, name text, secret text)");
  sql(f.at_source, "insert into item select n, 'old', 'x' from generate_series(1, 100) as n");
  rowrelay_ok(&f, "target", "set", "w", "--option", "retries=0", NULL);
  rowrelay_ok(&f, "capture", "item", "--exclude", "secret", "--to", "w", "--create", NULL);
  sql(f.at_source,
      "create or replace function rowrelay.trim_image(image json, keep text[], leave_out text[], masks json) returns "
      "json "
      "language plpgsql as $$ begin "
      "if image ->> 'id' = '13' then raise 'it is too large' using errcode = 'program_limit_exceeded'; end if; "
      "return json_build_object('id', image -> 'id', 'name', image -> 'name'); end $$");

  rowrelay_ok(&f, "backfill", "item", "--to", "w", "--no-copy", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);

  cr_expect_str_eq(ask(f.at_source, "select concat_ws(' ', key, message, detail) from rowrelay.errors"),
                   "13 the row could not be captured: it is too large");
  cr_expect_str_eq(ask(f.at_target, "select count(*) from item"), "99");
  fixture_end(&f);
}

/* ---- in order with what is written meanwhile ------------------------------------------------------------------- */

Test(backfill, an_insert_that_commits_during_a_backfill_arrives) {
  struct fixture f;
  backfilled_begin(&f, "backfill_insert", 100);
  sql(f.at_source, "delete from item where id in (10, 60)");
  int64_t id = backfilled_registered(&f, "item", "null");
  backfilled_step(&f, id, 20);
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; insert into item values (10, 'behind'), (60, 'ahead'), (1000, 'at the end')");
  backfilled_step(&f, id, 60);
  backfilled_to_the_end(&f, id, 60);

  sql(writer, "commit");

  backfilled_read_each_key_once(&f);
  mirrored_same(&f, "item");
  PQfinish(writer);
  fixture_end(&f);
}

Test(backfill, a_row_that_somebody_writes_is_not_read_and_nothing_is_held_meanwhile) {
  struct fixture f;
  backfilled_begin(&f, "backfill_locked", 100);
  int64_t id = backfilled_registered(&f, "item", "null");
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; update item set name = 'new' where id = 50");

  cr_expect_str_eq(sql_fails(f.at_source, "select rowrelay.backfill_step(%lld, 100)", (long long)id), "55P03");
  sql(f.at_source, "set lock_timeout to '1s'; update item set name = 'free' where id in (49, 51)");
  backfilled_step(&f, id, 49);
  /* with a single row in the piece, it pauses */
  double before = seconds_now();
  cr_expect_str_eq(sql_fails(f.at_source, "select rowrelay.backfill_step(%lld, 1)", (long long)id), "55P03");
  cr_expect(seconds_now() - before < 1.5);

  sql(writer, "commit");
  backfilled_to_the_end(&f, id, 100);
  cr_expect_str_eq(operations_of(&f, "50"), "update snapshot");
  mirrored_same(&f, "item");
  PQfinish(writer);
  fixture_end(&f);
}

Test(backfill, a_role_without_rights_that_stops_a_backfill_is_named) {
  struct fixture f;
  const char *output;
  backfilled_begin(&f, "backfill_stranger", 100);
  int64_t id = backfilled_registered(&f, "item", "null");
  sql(f.at_source, "create role backfill_stranger login");
  PGconn *stranger = connect_to(f.source, "user=backfill_stranger");
  sql(stranger,
      "select pg_advisory_lock_shared(rowrelay_lock, %lld) from (values (x'726f7762'::integer)) as v "
      "(rowrelay_lock)",
      (long long)id);
  cr_assert_eq(rowrelay(&f, &output, NULL, "status", NULL), 0);
  cr_assert_not_null(strstr(output, "backfill of public.item: 0 %, process "), "%s", output);
  cr_assert_not_null(strstr(output, " of user backfill_stranger, which may not run backfills, holds its lock: select "
                                    "pg_terminate_backend("),
                     "%s", output);
  /* the statement is one that works */
  sql(f.at_source, "select pg_terminate_backend(driver) from rowrelay.backfills");
  PQfinish(stranger);
  wait_until(f.at_source, "0", PATIENCE, "select count(driver) from rowrelay.backfills");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.backfills"), "");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  mirrored_same(&f, "item");
  sql(f.at_source, "drop role backfill_stranger");
  fixture_end(&f);
}

Test(backfill, an_update_of_a_row_that_was_just_read_waits_and_comes_later) {
  struct fixture f;
  backfilled_begin(&f, "backfill_read", 100);
  int64_t id = backfilled_registered(&f, "item", "null");
  PGconn *reader = connect_to(f.source, NULL);
  sql(reader, "begin; select rowrelay.backfill_step(%lld, 100)", (long long)id);
  PGconn *writers[] = {connect_to(f.source, NULL), connect_to(f.source, NULL)};
  start(writers[0], "update item set name = 'new' where id = 50");
  start(writers[1], "delete from item where id = 51");
  wait_until_blocked(f.at_source, writers[0], PATIENCE);
  wait_until_blocked(f.at_source, writers[1], PATIENCE);
  /* Other rows are not locked. */
  sql(f.at_source, "insert into item values (101, 'new')");

  sql(reader, "commit");
  for (int i = 0; i < 2; i++) {
    finish(writers[i]);
    PQfinish(writers[i]);
  }

  cr_expect_str_eq(operations_of(&f, "50"), "snapshot update");
  cr_expect_str_eq(operations_of(&f, "51"), "snapshot delete");
  backfilled_to_the_end(&f, id, 100);
  mirrored_same(&f, "item");
  PQfinish(reader);
  fixture_end(&f);
}

/* The condition stops the step between its snapshot and its locks on rows. */
Test(backfill, a_row_that_changes_between_the_look_and_the_lock_is_read_as_it_is_then) {
  struct fixture f;
  backfilled_begin(&f, "backfill_between", 10);
  sql(f.at_source, "create function halt() returns bool language sql volatile set lock_timeout = 0 as 'select "
                   "pg_advisory_lock_shared(1) is not null'");
  int64_t id = backfilled_registered(&f, "item", "'case when id between 5 and 9 then halt() else true end'");
  PGconn *holder = connect_to(f.source, NULL);
  PGconn *reader = connect_to(f.source, NULL);
  sql(holder, "select pg_advisory_lock(1)");
  start(reader, "select rowrelay.backfill_step(%lld, 10)", (long long)id);
  wait_until_blocked(f.at_source, reader, PATIENCE);

  sql(f.at_source, "set lock_timeout to '5s'");
  sql(f.at_source, "update item set name = 'new' where id = 5");
  sql(f.at_source, "update item set id = 1000 where id = 6");
  sql(f.at_source, "update item set id = 0 where id = 7");
  sql(f.at_source, "delete from item where id = 8");
  sql(f.at_source, "begin; update item set name = 'undone' where id = 9; rollback");
  sql(holder, "select pg_advisory_unlock(1)");
  finish(reader);

  cr_expect_str_eq(operations_of(&f, "5"), "update snapshot");
  cr_expect_str_eq(ask(f.at_source, "select new_row ->> 'name' from rowrelay.change where op = 's' and key = '5'"),
                   "new");
  cr_expect_str_eq(operations_of(&f, "6"), "delete");
  cr_expect_str_eq(operations_of(&f, "8"), "delete");
  cr_expect_str_eq(operations_of(&f, "9"), "snapshot");
  backfilled_to_the_end(&f, id, 10);
  mirrored_same(&f, "item");
  PQfinish(holder);
  PQfinish(reader);
  fixture_end(&f);
}

Test(backfill, a_writer_that_began_before_the_route_is_waited_for) {
  struct fixture f;
  mirrored_begin(&f, "backfill_before", "create table item (id int primary key, name text)");
  sql(f.at_source, "insert into item select n, 'old' from generate_series(1, 10) as n");
  rowrelay_ok(&f, "capture", "item", NULL);
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; insert into item values (5000, 'early'); update item set name = 'early' where id = 3; "
              "delete from item where id = 4");
  rowrelay_ok(&f, "route", "item", "w", "--create", NULL);
  pid_t process = fixture_start(&f, "backfill", "item", "--to", "w", "--no-copy", NULL);
  char words[128];
  snprintf(words, sizeof words, "waits for transactions that wrote to the table before this began: process %d",
           PQbackendPID(writer));
  wait_until_says(process, words, PATIENCE);
  cr_expect_str_eq(ask(f.at_source, "select state || rows from rowrelay.backfills"), "waiting0");
  cr_expect(strstr(ask(f.at_source, "select note from rowrelay.status"), "backfill of public.item: 0 %, waits for ") !=
            NULL);
  /* Later transactions are not waited for. */
  PGconn *later = connect_to(f.source, NULL);
  sql(later, "begin; insert into item values (5001, 'late')");
  sql(writer, "insert into item values (5002, 'early')");

  sql(writer, "commit");

  cr_assert(wait_process(process, PATIENCE) == 0);
  sql(later, "commit");
  mirrored_same(&f, "item");
  PQfinish(writer);
  PQfinish(later);
  fixture_end(&f);
}

Test(backfill, a_table_that_is_emptied_or_altered_meanwhile_ends_equal) {
  struct fixture f;
  backfilled_begin(&f, "backfill_truncate", 100);
  int64_t id = backfilled_registered(&f, "item", "null");
  backfilled_step(&f, id, 20);
  sql(f.at_source, "truncate item; insert into item select n, 'second' from generate_series(1, 100, 3) as n");
  backfilled_step(&f, id, 20);
  sql(f.at_source, "alter table item add column more int default 7");
  sql(f.at_source, "update item set more = 8 where id %% 2 = 0");
  backfilled_to_the_end(&f, id, 20);
  sql(f.at_source, "select rowrelay.make_trigger_function(id) from rowrelay.capture");
  mirrored_deliver(&f);
  sql(f.at_source, "update item set more = more + 1");
  mirrored_same(&f, "item");
  fixture_end(&f);
}

/* ---- killed and taken up again --------------------------------------------------------------------------------- */

Test(backfill, killed_again_and_again_it_ends_equal_under_live_writes) {
  struct fixture f;
  struct writers writers;
  fixture_begin(&f, "backfill_killed");
  writers_make_tables(f.at_source);
  writers_fill_tables(f.at_source, 8000);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "stock", "--to", "w", "--create", NULL);
  writers_start(&writers, f.source, 3, 1500, 200, 8000);
  rowrelay_ok(&f, "target", "pause", "w", NULL);
  int64_t rows = 0;
  for (int i = 0; i < 5; i++) {
    pid_t process = fixture_start(&f, "backfill", "stock", "--to", "w", "--no-copy", "--rate", "3000", NULL);
    wait_until(f.at_source, "t", PATIENCE, "select rows > %lld + 100 * %d from rowrelay.backfills", (long long)rows, i);
    stop_process(process, SIGKILL);
    rows = ask_number(f.at_source, "select rows from rowrelay.backfills");
  }
  cr_assert(rows > 500 && rows < 7500, "%lld rows", (long long)rows);
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  pid_t runner = fixture_run(&f, "--workers", "2", NULL);
  rowrelay_ok(&f, "backfill", "stock", "--to", "w", "--no-copy", NULL);
  writers_finish(&writers, PATIENCE);
  wait_until_empty(&f, PATIENCE);

  backfilled_read_each_key_once(&f);
  same_rows(&f, "stock", "stock", "id");
  cr_assert(stop_process(runner, SIGTERM) == 0);
  fixture_end(&f);
}

Test(backfill, a_signal_ends_it_after_its_step_and_it_says_how_to_go_on) {
  struct fixture f;
  backfilled_begin(&f, "backfill_signal", 2000);
  pid_t process = fixture_start(&f, "backfill", "item", "--to", "w", "--no-copy", "--rate", "500", NULL);
  wait_until(f.at_source, "t", PATIENCE, "select rows > 100 from rowrelay.backfills");
  kill(process, SIGINT);
  wait_until_says(process, "rowrelay backfill item --to w", PATIENCE);
  cr_expect(wait_process(process, PATIENCE) == 1);
  int64_t rows = ask_number(f.at_source, "select rows from rowrelay.backfills where state = 'running'");
  cr_expect(rows > 100 && rows < 2000);

  rowrelay_ok(&f, "backfill", "item", "--to", "w", "--no-copy", NULL);

  cr_expect_str_eq(ask(f.at_source, "select rows from rowrelay.backfills where state = 'done'"), "2000");
  backfilled_read_each_key_once(&f);
  mirrored_same(&f, "item");
  fixture_end(&f);
}

Test(backfill, one_that_psql_asked_for_is_driven_by_running_processes) {
  struct fixture f;
  backfilled_begin(&f, "backfill_sql", 3000);
  sql(f.at_source, "select rowrelay.backfill('item', 'w', copy => false)");
  mirrored_same(&f, "item");
  cr_expect_str_eq(ask(f.at_source, "select state from rowrelay.backfills"), "done");

  /* and by running processes, only one of them at a time */
  pid_t processes[] = {fixture_run(&f, "--workers", "1", NULL), fixture_run(&f, "--workers", "1", NULL)};
  sql(f.at_source, "select rowrelay.backfill('item', 'w', 'id <= 1500', 1000)");
  wait_until(f.at_source, "t", PATIENCE, "select driver is not null from rowrelay.backfills");
  wait_until(f.at_source, "done 1500", PATIENCE, "select state || ' ' || rows from rowrelay.backfills");
  /* Also what an interrupted command has left. */
  pid_t process = fixture_start(&f, "backfill", "item", "--to", "w", "--no-copy", "--rate", "1500", NULL);
  wait_until(f.at_source, "t", PATIENCE, "select state = 'running' and rows > 100 from rowrelay.backfills");
  stop_process(process, SIGKILL);
  wait_until(f.at_source, "done 3000", PATIENCE, "select state || ' ' || rows from rowrelay.backfills");
  /* The command watches while another session does the work. */
  sql(f.at_source, "select rowrelay.backfill('item', 'w', rate => 1500)");
  wait_until(f.at_source, "t", PATIENCE, "select rows > 100 from rowrelay.backfills");
  rowrelay_ok(&f, "backfill", "item", "--to", "w", "--no-copy", NULL);
  cr_expect_str_eq(ask(f.at_source, "select state || ' ' || rows from rowrelay.backfills"), "done 3000");
  for (int i = 0; i < 2; i++)
    cr_assert(stop_process(processes[i], SIGTERM) == 0);
  fixture_end(&f);
}

/* What was queued is on the disk before anybody delivers it, so no change id is given out twice. */
Test(backfill, a_crash_of_the_source_repeats_and_leaves_out_nothing) {
  struct fixture f;
  own_server("source", NULL);
  backfilled_begin(&f, "backfill_crash", 4000);
  sql(f.at_source, "alter database \"%s\" set synchronous_commit to off", f.name);
  rowrelay_ok(&f, "target", "set", "w", "--option", "mode=append", NULL);
  pid_t runner = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "select rowrelay.backfill('item', 'w', rate => 2000)");
  for (int i = 1; i <= 2; i++) {
    wait_until(f.at_source, "t", PATIENCE, "select rows > %d from rowrelay.backfills", 1000 * i);
    restart_server("source", "immediate");
    PQreset(f.at_source);
  }
  wait_until(f.at_source, "done 4000", PATIENCE, "select state || ' ' || rows from rowrelay.backfills");
  wait_until_empty(&f, PATIENCE);
  backfilled_read_each_key_once(&f);
  cr_expect_str_eq(ask(f.at_target, "select concat_ws(' ', count(*), count(distinct key), count(distinct change_id)) "
                                    "from item"),
                   "4000 4000 4000");
  cr_assert(stop_process(runner, SIGTERM) == 0);
  fixture_end(&f);
}

/* ---- what is refused ------------------------------------------------------------------------------------------- */

Test(backfill, what_cannot_be_is_refused_with_what_to_do) {
  struct fixture f;
  const char *errors;
  mirrored_begin(&f, "backfill_refused",
                 "create table keyless (n int); create table item (id int primary key); create table nowhere (id int "
                 "primary key); "
                 "create table unordered (n int unique); insert into item select generate_series(1, 100)");
  mirrored_capture(&f, "keyless");
  mirrored_capture(&f, "item");
  rowrelay_ok(&f, "capture", "nowhere", NULL);
  rowrelay_ok(&f, "capture", "unordered", "--key", "n", "--to", "w", NULL);

  cr_expect(rowrelay(&f, NULL, &errors, "backfill", "item", "keyless", "--to", "w", "--no-copy", NULL) == 2);
  cr_expect(strstr(errors, "table public.keyless has no key") != NULL, "%s", errors);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.backfills"), "0");
  cr_expect(rowrelay(&f, NULL, &errors, "backfill", "nowhere", "--to", "w", "--no-copy", NULL) == 2);
  cr_expect(strstr(errors, "table public.nowhere is not routed to target \"w\"") != NULL, "%s", errors);
  cr_expect(rowrelay(&f, NULL, &errors, "backfill", "unordered", "--to", "w", "--no-copy", NULL) == 2);
  cr_expect(strstr(errors, "Create a unique index on NOT NULL columns.") != NULL, "%s", errors);
  cr_expect(rowrelay(&f, NULL, &errors, "backfill", "item", "--to", "nix", NULL) == 2);
  cr_expect(strstr(errors, "target \"nix\" does not exist") != NULL, "%s", errors);
  cr_expect(rowrelay(&f, NULL, &errors, "backfill", "item", NULL) == 2);
  cr_expect(strstr(errors, "option --to is missing") != NULL, "%s", errors);
  cr_expect(rowrelay(&f, NULL, &errors, "backfill", "item", "--to", "w", "--no-copy", "--rate", "-1", NULL) == 2);

  sql(f.at_source, "select rowrelay.backfill('item', 'w')");
  cr_expect(rowrelay(&f, NULL, &errors, "backfill", "item", "--to", "w", "--no-copy", "--where", "id > 5", NULL) == 2);
  cr_expect(strstr(errors, "with another filter is under way") != NULL, "%s", errors);
  rowrelay_ok(&f, "backfill", "item", "--to", "w", "--cancel", NULL);
  cr_expect_str_eq(ask(f.at_source, "select state from rowrelay.backfills"), "cancelled");
  cr_expect(rowrelay(&f, NULL, &errors, "backfill", "item", "--to", "w", "--cancel", NULL) == 2);
  rowrelay_ok(&f, "backfill", "item", "--to", "w", "--no-copy", "--where", "id > 5", NULL);

  /* A backfill ends with its route. */
  sql(f.at_source, "select rowrelay.backfill('item', 'w')");
  rowrelay_ok(&f, "route", "item", "w", "--remove", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_source, "select state || ': ' || note from rowrelay.backfills"),
                   "cancelled: the table is no longer routed to the target");
  fixture_end(&f);
}
