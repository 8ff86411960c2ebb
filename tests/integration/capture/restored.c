/*
 * A source was restored from a dump, which numbers columns anew where one had been dropped: what was said of columns
 * holds for those with the same names, from the first row on.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mirrored.h"

/* Dumps the source, and restores it in the place of itself. */
static void restore(const struct fixture *f, const char *tables) {
  char command[4096];
  snprintf(command, sizeof command,
           "bin=$(tests/support/pg.sh bin); dump=$($bin/pg_dump '%s') && "
           "$bin/psql -XAtqc 'drop schema rowrelay cascade; drop table %s' '%s' >/dev/null 2>&1 && "
           "printf '%%s\n' \"$dump\" | $bin/psql -XAtq '%s' >/dev/null 2>&1",
           f->source, tables, f->source, f->source);
  cr_assert(system(command) == 0);
}

#define TABLES "a, b, c, e, s, d, l, p"
#define DOCUMENT "select p.id, p.v, (select string_agg(l.h, ',' order by l.id) from l where l.p = p.id) as h from p"

static void begin(struct fixture *f, const char *name) {
  mirrored_begin(f, name,
                 "create table a (gone int, id int primary key, v text, secret text, w text);"
                 "create table b (like a including all); create table c (like a including all);"
                 "create table e (like a including all); create table s (like a including all);"
                 "create table d (gone int, id int primary key, mail text not null unique, secret text);"
                 "create table p (gone int, id int primary key, v text);"
                 "create table l (gone int, gone2 int, id int primary key, p int, h text, secret text);"
                 "alter table a drop gone; alter table b drop gone; alter table c drop gone; alter table e drop gone;"
                 "alter table s drop gone; alter table d drop gone; alter table p drop gone; alter table l drop gone;"
                 "alter table l drop gone2; insert into p values (1, 'p1'), (2, 'p2')");
  needs_pg_dump(f->at_source);
  rowrelay_ok(f, "capture", "a", "--columns", "id,v", "--to", "w", "--create", NULL);
  rowrelay_ok(f, "capture", "b", "--exclude", "secret", "--to", "w", "--create", NULL);
  rowrelay_ok(f, "capture", "c", "--mask", "secret=xxx", "--to", "w", "--create", NULL);
  rowrelay_ok(f, "capture", "e", "--exclude", "secret", "--lane", "v", "--before", "--to", "w", "--create", NULL);
  rowrelay_ok(f, "capture", "s", "--exclude", "secret", "--per", "statement", "--to", "w", "--create", NULL);
  rowrelay_ok(f, "capture", "d", "--key", "mail", "--exclude", "secret", "--to", "w", "--create", NULL);
  rowrelay_ok(f, "capture", "l", "--exclude", "secret", NULL);
  sql(f->at_source, "select rowrelay.add_document('doc', 'w', 'id', $$" DOCUMENT
                    " where p.id = any ($1)$$, '{p:id,\"l:p(p, h)\"}', create_table => true)");
}

/* Writes to all tables, each captured in its own way. */
static void write_rows(const struct fixture *f, int id) {
  static const char *const ALIKE[] = {"a", "b", "c", "e", "s"};
  for (size_t i = 0; i < sizeof ALIKE / sizeof *ALIKE; i++)
    sql(f->at_source,
        "insert into %1$s values (%2$d, 'v', 'SECRET', 'w'), (%2$d + 1, 'v', 'SECRET', 'w');"
        "update %1$s set w = 'x%2$d', secret = 'SECRET2'; delete from %1$s where id = %2$d + 1",
        ALIKE[i], id);
  sql(f->at_source,
      "insert into d values (%1$d, 'mail%1$d', 'SECRET'), (%1$d + 1, 'mail', 'SECRET');"
      "update d set id = id + 100 where id = %1$d; delete from d where mail = 'mail';"
      "insert into l values (%1$d, 1, 'h', 'SECRET'), (%1$d + 1, 2, 'h', 'SECRET');"
      "update l set h = 'h%1$d'; update l set p = 3 - p where id = %1$d; delete from l where id = %1$d + 1;"
      "update p set v = 'v%1$d'",
      id);
  /* which reads where changes go in the function's text */
  sql(f->at_source, "begin isolation level repeatable read; insert into l values (%1$d + 2, 2, 'r', 'SECRET'); commit",
      id);
}

static void nothing_is_seen_or_missing(struct fixture *f) {
  cr_assert_str_eq(ask(f->at_source, "select string_agg(concat(h.capture, ' ', h), E'\\n') from rowrelay.change h "
                                     "where h::text like '%%SECRET%%'"),
                   "");
  mirrored_deliver(f);
  same_rows(f, "(select id, v from a)", "a", "1");
  same_rows(f, "(select id, v, w from b)", "b", "1");
  same_rows(f, "(select id, v, 'xxx' as secret, w from c)", "c", "1");
  same_rows(f, "(select id, v, w from e)", "e", "1");
  same_rows(f, "(select id, v, w from s)", "s", "1");
  same_rows(f, "(select id, mail from d)", "d", "1");
  same_rows(f, "(" DOCUMENT ")", "doc", "1");
  cr_assert_str_eq(
      ask(f->at_target, "select count(distinct indkey::text) from pg_index where indrelid = 'd'::regclass"), "1");
  cr_assert_str_eq(ask(f->at_source, "select string_agg(concat(relation, key, lane, columns, exclude, mask), ' ' "
                                     "order by relation_name) from rowrelay.captures"),
                   "a{id}{id,v}{} b{id}{secret} c{id}{}{\"secret\": \"xxx\"} d{mail}{secret} e{id}{v}{secret} "
                   "l{id}{secret} p{id}{} s{id}{secret}");
  cr_assert_str_eq(ask(f->at_source, "select sources from rowrelay.documents"), "{public.p:id,\"public.l:p(p, h)\"}");
  /* the key, and the image before */
  cr_assert_str_eq(ask(f->at_source, "select string_agg(distinct left(key, 4), ' ') from rowrelay.history "
                                     "where relation = 'd'::regclass"),
                   "mail");
  cr_assert_str_eq(ask(f->at_source,
                       "select string_agg(distinct k, ' ') from rowrelay.history, "
                       "json_object_keys(old_row::json) as k where relation = 'e'::regclass and op = 'update'"),
                   "id v w");
}

/* The lane of the rows of table e, which share the value that chooses it. */
static int64_t lane_of_e(struct fixture *f, int id) {
  sql(f->at_source, "insert into e values (%d, 'v', 'SECRET', 'w')", id);
  return ask_number(
      f->at_source,
      "select min(rowrelay.lane_position(q.lane)) + 10000 * max(rowrelay.lane_position(q.lane)) from rowrelay.queue q "
      "join rowrelay.change h on h.id = q.change_id join rowrelay.capture c on c.id = h.capture "
      "where c.relation = 'e'::regclass and h.op = 'i'");
}

Test(restored, what_was_said_of_columns_holds_for_those_with_the_same_names) {
  struct fixture f;
  begin(&f, "restored_columns");
  int64_t lane = lane_of_e(&f, 90);
  write_rows(&f, 1);
  nothing_is_seen_or_missing(&f);
  restore(&f, TABLES);
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.as_of(null::b, clock_timestamp())"), "55000");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo_transaction(txid) from rowrelay.history "
                                          "where relation = 'b'::regclass"),
                   "55000");
  rowrelay_ok(&f, "verify", "w", "b", NULL);
  write_rows(&f, 11);
  rowrelay_ok(&f, "resume", "--here", NULL);
  write_rows(&f, 21);
  nothing_is_seen_or_missing(&f);
  mirrored_maintain(&f);
  write_rows(&f, 31);
  nothing_is_seen_or_missing(&f);
  cr_assert(lane_of_e(&f, 91) == lane);
  mirrored_deliver(&f);
  /* what its past says of its columns */
  cr_assert_str_eq(ask(f.at_source, "select string_agg(distinct concat(v, secret), ' ') from rowrelay.as_of(null::b, "
                                    "clock_timestamp())"),
                   "v");
  rowrelay_ok(&f, "verify", "w", NULL);
  /* once more: the names are those of the restored table */
  sql(f.at_source, "alter table b drop v; alter table b add v text");
  mirrored_maintain(&f);
  restore(&f, TABLES);
  sql(f.at_source, "insert into b values (95, 'SECRET', 'w', 'v')");
  cr_assert_str_eq(ask(f.at_source, "select new_row::jsonb from rowrelay.history where relation = 'b'::regclass "
                                    "order by change_id desc limit 1"),
                   "{\"v\": \"v\", \"w\": \"w\", \"id\": 95}");
  fixture_end(&f);
}

/* Nobody saw the column's other name before the dump was made. */
Test(restored, a_column_that_may_be_one_that_was_left_out_is_left_out_and_told_of) {
  struct fixture f;
  begin(&f, "restored_renamed");
  write_rows(&f, 1);
  mirrored_deliver(&f);
  sql(f.at_source, "alter table b rename secret to hidden; alter table c rename secret to hidden;"
                   "alter table b add n int; alter table a rename v to value");
  restore(&f, TABLES);
  for (int maintained = 0; maintained < 2; maintained++) {
    sql(f.at_source,
        "insert into a values (%1$d, 'v', 'SECRET', 'w'); insert into b values (%1$d, 'v', 'SECRET', 'w', "
        "1); insert into c values (%1$d, 'v', 'SECRET', 'w')",
        11 + maintained);
    cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.change h where h::text like '%%SECRET%%'"), "0");
    cr_assert_str_eq(ask(f.at_source,
                         "select string_agg(distinct new_row::jsonb::text, ' ') from rowrelay.history where "
                         "key = '%d'",
                         11 + maintained),
                     maintained == 0 ? "{\"id\": 11} {\"v\": \"v\", \"w\": \"w\", \"id\": 11}"
                                     : "{\"id\": 12} {\"v\": \"v\", \"w\": \"w\", \"id\": 12}");
    cr_assert_str_eq(ask(f.at_source, "select string_agg(substring(note from 'left out: .*'), E'\\n' order by "
                                      "relation_name) from rowrelay.captures where relation in ('b'::regclass, "
                                      "'c'::regclass)"),
                     "left out: hidden, n: capture the table again with --exclude\n"
                     "left out: hidden: capture the table again with --exclude");
    mirrored_maintain(&f);
  }
  rowrelay_ok(&f, "capture", "b", "--exclude", "hidden", NULL);
  sql(f.at_source, "insert into b values (13, 'v', 'SECRET', 'w', 1)");
  cr_assert_str_eq(ask(f.at_source,
                       "select concat(new_row::jsonb, note) from rowrelay.history h join rowrelay.captures c "
                       "using (relation) where h.key = '13'"),
                   "{\"n\": 1, \"v\": \"v\", \"w\": \"w\", \"id\": 13}");
  fixture_end(&f);
}

/* The dump has its number, which another table has in the restored database: that is put here in the place of it. */
Test(restored, a_table_that_got_the_number_of_one_that_was_gone_is_not_captured) {
  struct fixture f;
  mirrored_begin(&f, "restored_gone",
                 "create table gone (id int primary key, v text); create table kept (id int "
                 "primary key, v text); create table other (id int primary key, card text)");
  needs_pg_dump(f.at_source);
  mirrored_capture(&f, "gone");
  mirrored_capture(&f, "kept");
  sql(f.at_source, "insert into gone values (1, 'v'); drop table gone; alter table kept rename to renamed");
  restore(&f, "renamed, other");
  sql(f.at_source, "update rowrelay.capture set relation = 'other'::regclass where relation_name = 'public.gone'");
  rowrelay_ok(&f, "resume", "--here", NULL);
  for (int i = 0; i < 2; i++) {
    sql(f.at_source, "insert into other values (%d, '4111'); insert into renamed values (%d, 'v')", i, i);
    mirrored_maintain(&f);
    rowrelay_ok(&f, "run", "--until-empty", NULL);
  }
  cr_expect_str_eq(ask(f.at_source, "select count(*) from pg_trigger where tgrelid = 'other'::regclass"), "0");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(relation::text, ' ') from rowrelay.captures"), "renamed");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.change where new_row::text like '%%4111%%'"), "0");
  cr_expect_str_eq(ask(f.at_target, "select count(*) from kept"), "2", "a table that was renamed is captured still");
  fixture_end(&f);
}

/* In the new server transactions have small numbers again. */
Test(restored, of_two_transactions_of_one_number_none_is_undone_by_it) {
  struct fixture f;
  const char *errors;
  mirrored_begin(&f, "restored_undo", "create table acct (id int primary key, n int)");
  rowrelay_ok(&f, "capture", "acct", "--before", NULL);
  sql(f.at_source, "insert into acct values (1, 10), (2, 20)");
  sql(f.at_source, "update acct set n = 11 where id = 1");
  sql(f.at_source, "update rowrelay.source set restored_id = (select last_value from rowrelay.change_id)");
  sql(f.at_source, "update acct set n = 21 where id = 2");
  sql(f.at_source, "update rowrelay.change set txid = (select txid from rowrelay.change where id = 3) where id = 4");
  cr_expect_eq(rowrelay(&f, NULL, &errors, "undo", "--txid",
                        ask(f.at_source, "select txid from rowrelay.change where id = 4"), "--apply", NULL),
               2);
  cr_expect_not_null(strstr(errors, "two transactions of the log have number"), "%s", errors);
  cr_expect_str_eq(ask(f.at_source, "select string_agg(n::text, ' ' order by id) from acct"), "11 21");
  rowrelay_ok(&f, "undo", "acct", "2", "4", "--apply", NULL);
  cr_expect_str_eq(ask(f.at_source, "select string_agg(n::text, ' ' order by id) from acct"), "11 20");
  fixture_end(&f);
}

/* A dump has the values in the rows, and not that they are younger than these. */
Test(restored, what_older_rows_have_in_an_added_column_is_known) {
  struct fixture f;
  mirrored_begin(&f, "restored_added",
                 "create table a (gone int, id int primary key, v text); alter table a drop gone");
  needs_pg_dump(f.at_source);
  rowrelay_ok(&f, "capture", "a", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into a values (1, 'a'), (2, 'b')");
  sql(f.at_source, "alter table a add n int default 42");
  mirrored_maintain(&f);
  restore(&f, "a");
  rowrelay_ok(&f, "resume", "--here", NULL);
  mirrored_maintain(&f);
  sql(f.at_source, "update a set v = 'c' where id = 1");
  mirrored_same(&f, "a");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps"), "0");
  /* what nobody saw before the dump was made is told */
  sql(f.at_source, "alter table a add r int default 7");
  restore(&f, "a");
  rowrelay_ok(&f, "resume", "--here", NULL);
  mirrored_deliver(&f);
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps"), "1");
  sql(f.at_source, "update a set v = 'd' where id = 1");
  mirrored_deliver(&f);
  cr_assert(rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL) == 3);
  mirrored_same(&f, "a");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.gaps"), "0");
  fixture_end(&f);
}
