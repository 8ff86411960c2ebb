/* Inheritance: the rows are also in tables that were made of the captured one, and keys may be in several of them. */
#include <criterion/criterion.h>
#include <string.h>

#include "mirrored.h"

Test(inheritance, rows_of_inheritance_children_are_the_parents) {
  struct fixture f;
  mirrored_begin(&f, "parts_inherit",
                 "create table animal (id int primary key, name text);"
                 "create table dog (barks bool, primary key (id)) inherits (animal);"
                 "create table poodle (curls int, primary key (id)) inherits (dog)");
  mirrored_capture(&f, "animal");
  sql(f.at_source, "insert into animal values (1, 'cat'), (2, 'cow'); insert into dog values (10, 'rex', true), (11, "
                   "'bello', false);"
                   "insert into poodle values (20, 'fifi', true, 7), (21, 'gigi', null, null);"
                   "update animal set name = upper(name) where id in (2, 11, 21); delete from animal where id in (1, "
                   "10); update dog set barks = true where id = 20;"
                   "update poodle set id = 22 where id = 21");
  mirrored_same(&f, "animal");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.change where new_row::text like '%%barks%%'") == 0);
  sql(f.at_source, "truncate only poodle");
  mirrored_same(&f, "animal");
  sql(f.at_source, "insert into poodle values (30, 'mimi', true, 1); truncate only animal");
  mirrored_same(&f, "animal");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(name, ' ' order by id) from animal"), "BELLO mimi");
  sql(f.at_source, "insert into animal values (40, 'owl'); truncate animal");
  mirrored_same(&f, "animal");
  fixture_end(&f);
}

Test(inheritance, an_inheritance_child_that_comes_later_is_captured_after_maintenance) {
  struct fixture f;
  mirrored_begin(&f, "parts_heir", "create table animal (id int primary key, name text)");
  mirrored_capture(&f, "animal");
  sql(f.at_source, "insert into animal values (1, 'cat'); create table dog (barks bool) inherits (animal)");
  cr_assert_str_neq(ask(f.at_source, "select note from rowrelay.captures"), "");
  sql(f.at_source, "select rowrelay.maintain()");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.captures"), "");
  sql(f.at_source, "insert into dog values (2, 'rex', true); update dog set name = 'x'");
  mirrored_same(&f, "animal");
  fixture_end(&f);
}

Test(inheritance, what_was_written_to_a_child_before_maintenance_is_told_of_until_the_mirror_is_repaired) {
  static const char *const WAYS[] = {"row", "statement"};
  static const char REPAIR[] = "rowrelay verify w public.animal --repair";
  for (int i = 0; i < 2; i++) {
    struct fixture f;
    const char *said;
    mirrored_begin(&f, "parts_heir_late", "create table animal (id int primary key, name text)");
    mirrored_capture(&f, "animal");
    sql(f.at_source, "select rowrelay.capture_table('animal', per => '%s')", WAYS[i]);
    sql(f.at_source, "create table dog (primary key (id)) inherits (animal); insert into dog values (1, 'rex');"
                     "create table cat (primary key (id)) inherits (animal)");
    said = ask(f.at_source, "select string_agg(m, ' ') from rowrelay.maintain() as m");
    cr_expect_not_null(strstr(said, "what was written to child public.dog before it had triggers is not in the log"),
                       "%s: %s", WAYS[i], said);
    sql(f.at_source, "insert into dog values (2, 'x'); insert into cat values (3, 'y')");
    mirrored_deliver(&f);
    cr_expect_not_null(strstr(rowrelay_ok(&f, "status", NULL), REPAIR));
    rowrelay(&f, &said, NULL, "doctor", NULL);
    cr_expect_not_null(strstr(said, REPAIR), "%s", said);
    rowrelay(&f, NULL, NULL, "verify", "w", "public.animal", "--repair", NULL);
    mirrored_same(&f, "animal");
    cr_expect_str_eq(ask(f.at_source, "select concat(note, (select note from rowrelay.captures)) from rowrelay.status"),
                     "");
    sql(f.at_source, "create table cow (primary key (id)) inherits (animal); select rowrelay.maintain()");
    cr_expect_str_eq(ask(f.at_source, "select note from rowrelay.status"), "", "a child that is empty lacks nothing");
    fixture_end(&f);
  }
}

/* At once, and its triggers go when maintenance can have its lock: until then the functions know it. */
Test(inheritance, a_child_that_no_longer_inherits_is_captured_no_more) {
  struct fixture f;
  mirrored_begin(&f, "parts_orphan",
                 "create table animal (id int primary key, name text); create table dog (barks bool) inherits (animal);"
                 "create table poodle () inherits (dog); create table cat () inherits (animal)");
  mirrored_capture(&f, "animal");
  sql(f.at_source, "insert into animal values (1, 'owl'); insert into poodle values (2, 'fifi', true);"
                   "delete from poodle; alter table dog no inherit animal;"
                   "insert into dog values (1, 'rex', true); insert into poodle values (3, 'gigi', true);"
                   "update dog set name = 'x'; insert into cat values (4, 'tom'); delete from dog; truncate dog");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.captures"),
                   "maintenance will drop its triggers from tables that no longer belong to it: dog, poodle");
  PGconn *session = connect_to(f.source, NULL);
  sql(session, "begin; insert into dog values (5, 'rex', true)");
  sql(f.at_source, "delete from cat; drop table cat"); /* the last child */
  cr_assert(strstr(ask(f.at_source, "select string_agg(m, ' ') from rowrelay.maintain() as m"),
                   "table public.animal: its triggers could not be dropped from tables that no longer belong to it "
                   "(public.dog, public.poodle)") != NULL);
  sql(session, "insert into dog values (6, 'rex', true); commit");
  PQfinish(session);
  rowrelay_ok(&f, "capture", "animal", "--before", NULL); /* which makes a function for a table without children */
  sql(f.at_source, "insert into dog values (7, 'rex', true)");
  sql(f.at_source, "delete from rowrelay.job; select rowrelay.maintain()");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.captures"), "");
  cr_assert(ask_number(f.at_source, "select count(*) from pg_trigger where tgname like '!rowrelay%%' and "
                                    "tgrelid <> 'animal'::regclass") == 0);
  sql(f.at_source, "insert into dog values (8, 'rex', true); insert into animal values (9, 'owl')");
  mirrored_same(&f, "animal");
  /* nothing is in its way when it is captured by itself */
  rowrelay_ok(&f, "capture", "dog", "--key", "", NULL);
  fixture_end(&f);
}

Test(inheritance, a_child_that_a_transaction_cannot_see_as_one_yet_is_captured) {
  struct fixture f;
  mirrored_begin(&f, "parts_unseen", "create table animal (id int primary key, name text)");
  mirrored_capture(&f, "animal");
  PGconn *session = connect_to(f.source, NULL);
  sql(session, "begin isolation level repeatable read; select from animal");
  sql(f.at_source, "create table dog (barks bool, primary key (id)) inherits (animal);"
                   "create table poodle (primary key (id)) inherits (dog); select rowrelay.maintain()");
  sql(session,
      "insert into dog values (1, 'rex', true), (2, 'bello', true); insert into poodle values (3, 'gigi', true);"
      "update dog set name = 'x'; delete from dog where id = 2; insert into poodle values (4, 'mimi', true);"
      "truncate poodle; insert into poodle values (5, 'lulu', true); commit");
  PQfinish(session);
  mirrored_same(&f, "animal");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id || name, ' ' order by id) from animal"), "1x 5lulu");
  fixture_end(&f);
}

Test(inheritance, a_child_gets_its_triggers_when_the_function_knows_of_children) {
  struct fixture f;
  mirrored_begin(&f, "parts_known", "create table animal (id int primary key, name text)");
  mirrored_capture(&f, "animal");
  sql(f.at_source, "create table dog (barks bool, primary key (id)) inherits (animal)");
  PGconn *session = connect_to(f.source, NULL);
  sql(session, "begin; select from rowrelay.target for update");
  sql(f.at_source, "select rowrelay.maintain(); insert into dog values (1, 'rex', true)");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.change where new_row::text like '%%barks%%'") == 0);
  sql(session, "commit");
  PQfinish(session);
  sql(f.at_source, "delete from dog; delete from rowrelay.job; select rowrelay.maintain()");
  sql(f.at_source, "insert into dog values (2, 'rex', true)");
  mirrored_same(&f, "animal");
  fixture_end(&f);
}

Test(inheritance, a_child_comes_after_a_column_of_the_filter_was_renamed) {
  struct fixture f;
  mirrored_begin(&f, "parts_renamed",
                 "create table animal (id int primary key, name text, \"new.\" text default 'x');"
                 "create table cat () inherits (animal)");
  rowrelay_ok(&f, "capture", "animal", "--where", "name <> 'new.it''s' and \"new.\" <> E'new.\\\\' and name <> 'rex'",
              "--to", "w", "--create", NULL);
  sql(f.at_source, "alter table animal rename name to called; create table dog (barks bool) inherits (animal)");
  sql(f.at_source, "insert into cat values (1, 'tom'); delete from rowrelay.job; select rowrelay.maintain()");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.captures"), "");
  sql(f.at_source, "insert into dog values (2, 'rex'), (3, 'bello'), (4, 'new.it''s'), (5, 'old.it''s');"
                   "update dog set called = 'rex' where id = 3; update dog set called = 'bello' where id = 2;"
                   "update cat set called = 'cat'; delete from dog where id = 5");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, called), ' ' order by id) from animal"),
                   "1cat 2bello");
  /* all of them anew, as when a trigger was lost */
  sql(f.at_source, "drop trigger \"!rowrelay_update\" on dog; delete from rowrelay.job; select rowrelay.maintain()");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.captures"), "");
  fixture_end(&f);
}

Test(inheritance, a_column_that_parent_and_children_get_is_in_their_images_at_once) {
  struct fixture f;
  mirrored_begin(
      &f, "parts_wider",
      "create table p (id int primary key, f1 int); create table c (extra smallint, primary key (id)) inherits (p);"
      "create table j (id int primary key, f1 json); create table k (extra json, primary key (id)) inherits (j)");
  mirrored_capture(&f, "p");
  rowrelay_ok(&f, "capture", "j", "--before", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into p values (1, 1); insert into c values (2, 2, 2); insert into j values (1, '{}');"
                   "insert into k values (2, '[]', '7')");
  sql(f.at_source, "alter table p add f2 int; insert into p values (3, 3, 3); insert into c values (4, 4, 4, 4);"
                   "update p set f2 = id where f2 is null; alter table c add more int; update c set more = 1, f1 = 0;"
                   "alter table j add f2 int; insert into k values (4, '[4]', '7', 4); update j set f2 = 5");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.change where new_row::text like '%%extra%%' or "
                                    "new_row::text like '%%more%%'") == 0);
  mirrored_same(&f, "p");
  same_rows(&f, "j", "j", "id");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(f2::text, ' ' order by id) from p"), "1 2 3 4");
  fixture_end(&f);
}

Test(inheritance, keys_that_children_share_are_refused_or_listed) {
  struct fixture f;
  mirrored_begin(&f, "parts_shared",
                 "create table p (id int primary key, n int); create table c (primary key (id)) inherits (p);"
                 "insert into p values (1, 1), (2, 2); insert into c values (1, 3)");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.capture_table('p')"), "23505");
  cr_assert(strstr(PQerrorMessage(f.at_source), "They are in public.p and public.c") != NULL, "%s",
            PQerrorMessage(f.at_source));
  /* without a key all rows arrive */
  rowrelay_ok(&f, "capture", "p", "--key", "", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "backfill", "p", "--to", "w", NULL);
  sql(f.at_source, "update c set n = 4; insert into c values (2, 2)");
  mirrored_same(&f, "p");
  cr_assert(ask_number(f.at_target, "select count(*) from p") == 4);
  sql(f.at_source, "select rowrelay.release_table('p'); delete from only p where id < 3;"
                   "select rowrelay.capture_table('p')");
  sql(f.at_source,
      "insert into p values (1, 7); insert into p values (9, 9); insert into c values (8, 8); update c set "
      "id = 9 where id = 8");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(key, ' ' order by id) from rowrelay.change where caveat ->> "
                                    "'problem' like '%%has the same key'"),
                   "1 9");
  /* when one of them goes, the other is there */
  sql(f.at_source, "delete from only p where id = 1");
  cr_assert_str_eq(ask(f.at_source, "select new_row ->> 'n' from rowrelay.change where key = '1' order by id desc"),
                   "4");
  fixture_end(&f);
}

static const char *keys_listed(struct fixture *f) {
  rowrelay_ok(f, "run", "--until-empty", NULL);
  return ask(f->at_source, "select string_agg(distinct key, ' ' order by key) from rowrelay.errors");
}

/* What a row with a shared key becomes says nothing of the others: they stay listed until there is one. */
Test(inheritance, a_key_that_rows_share_is_listed_as_long_as_they_do) {
  struct fixture f;
  mirrored_begin(&f, "parts_listed",
                 "create table p (id int primary key, n int); create table c (own int) inherits (p)");
  rowrelay_ok(&f, "capture", "p", "--where", "n > 0", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into p values (1, 1), (2, 0), (3, 3); insert into c values (1, 2)");
  cr_expect_str_eq(keys_listed(&f), "1");
  sql(f.at_source, "update c set n = 5; update only p set n = 6 where id = 1");
  cr_expect_str_eq(keys_listed(&f), "1", "an update tells of one of them");
  /* within one child */
  sql(f.at_source, "insert into c values (7, 1), (8, 1); insert into c values (7, 2), (7, 3), (9, 1);"
                   "update c set id = 8 where id = 9");
  cr_expect_str_eq(keys_listed(&f), "1 7 8");
  sql(f.at_source, "delete from c where id = 7 and n = 1; delete from only p where id = 1");
  cr_expect_str_eq(keys_listed(&f), "7 8", "two are left of one, and one of the other");
  /* one that the filter leaves out is none */
  sql(f.at_source, "insert into c values (2, 1); update c set n = 0 where id = 7 and n = 2;"
                   "update c set id = 10 where ctid = (select max(ctid) from only c where id = 8)");
  cr_expect_str_eq(keys_listed(&f), "");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, ':', n), ' ' order by id) from p"),
                   "1:5 2:1 3:3 7:3 8:1 10:1");
  /* nor does who repairs */
  sql(f.at_source, "insert into c values (10, 2)");
  cr_expect_str_eq(keys_listed(&f), "10");
  sql(f.at_source, "select rowrelay.requeue('p', 'w', '{10,3}')");
  cr_expect_str_eq(keys_listed(&f), "10");
  rowrelay_ok(&f, "skip", "--all", NULL);
  cr_expect_str_eq(sql_fails(f.at_source, "select rowrelay.backfill('p', 'w')"), "23505");
  sql(f.at_source, "select rowrelay.requeue('p', 'w', '{10,3}')");
  cr_expect_str_eq(keys_listed(&f), "10");
  rowrelay_ok(&f, "retry", "--all", NULL);
  cr_expect_str_eq(keys_listed(&f), "10");
  sql(f.at_source, "delete from c where id = 10 and n = 2");
  cr_expect_str_eq(keys_listed(&f), "");
  /* all rows of one table go, but not the other with the key */
  sql(f.at_source, "insert into c values (3, 1)");
  cr_expect_str_eq(keys_listed(&f), "3");
  sql(f.at_source, "truncate c");
  cr_expect_str_eq(keys_listed(&f), "");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, ':', n), ' ' order by id) from p"), "3:3");
  sql(f.at_source, "insert into p values (15, 1); insert into c values (15, 2); update p set n = 3 where id = 15;"
                   "truncate only p");
  cr_expect_str_eq(keys_listed(&f), "");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, ':', n), ' ' order by id) from p"), "15:3");
  sql(f.at_source, "insert into p values (15, 4), (3, 4); truncate p");
  cr_expect_str_eq(keys_listed(&f), "");
  cr_assert_str_eq(ask(f.at_target, "select count(*) from p"), "0");
  /* one that is written again before its trigger is told */
  sql(f.at_source, "create function bump(i int) returns int language plpgsql as $$ begin"
                   "  update c set n = n + 1 where id = i - 1; return i; end $$;"
                   "insert into p values (11, 1); insert into c select i, bump(i) from generate_series(11, 13) as i");
  cr_expect_str_eq(keys_listed(&f), "11");
  fixture_end(&f);
}

/* Its rows are captured as deleted by the first trigger, and others may write before it is empty. */
Test(inheritance, what_triggers_write_while_a_table_is_truncated_leaves_its_mirror) {
  struct fixture f;
  mirrored_begin(&f, "parts_emptied",
                 "create table animal (id int primary key, name text);"
                 "create table dog (tail int, primary key (id)) inherits (animal);"
                 "create function meddle() returns trigger language plpgsql as $$ begin "
                 "update animal set name = 'changed'; insert into animal values (9, 'new'); return null; end $$;"
                 "create trigger meddle before truncate on animal for each statement execute function meddle()");
  mirrored_capture(&f, "animal");
  sql(f.at_source, "insert into animal values (1, 'cow'), (2, 'cat'); insert into dog values (3, 'rex', 1)");
  sql(f.at_source, "truncate only animal");
  cr_expect_eq(ask_number(f.at_source, "select count(*) from animal"), 1);
  mirrored_same(&f, "animal");
  sql(f.at_source, "insert into animal values (1, 'cow'); truncate animal");
  cr_expect_eq(ask_number(f.at_source, "select count(*) from animal"), 0);
  mirrored_same(&f, "animal");
  fixture_end(&f);
}

Test(inheritance, truncates_of_siblings_do_not_wait_for_each_other) {
  struct fixture f;
  mirrored_begin(&f, "parts_siblings",
                 "create table p (id int primary key); create table c (primary key (id)) inherits (p);"
                 "create table d (primary key (id)) inherits (p)");
  mirrored_capture(&f, "p");
  sql(f.at_source, "insert into c values (1), (2); insert into d values (3)");
  PGconn *other = connect_to(f.source, NULL);
  sql(other, "begin; truncate c");
  sql(f.at_source, "set statement_timeout to '10s'; truncate d");
  sql(other, "commit");
  PQfinish(other);
  cr_expect_str_eq(keys_listed(&f), "");
  cr_assert_str_eq(ask(f.at_target, "select count(*) from p"), "0");
  fixture_end(&f);
}

/* What comes later decides, however it spells the key. */
Test(inheritance, a_key_that_rows_spell_differently_is_listed_as_long_as_the_mirror_lacks_it) {
  struct fixture f;
  mirrored_begin(&f, "parts_spelled", "select");
  for (int i = 0; i < 2; i++)
    sql(i == 0 ? f.at_source : f.at_target, "create extension citext");
  sql(f.at_source, "create table p (id citext primary key, n int); create table c (primary key (id)) inherits (p)");
  mirrored_capture(&f, "p");
  sql(f.at_source, "insert into c values ('a', 2)");
  /* a delete that does not see the row that is left */
  PGconn *early = connect_to(f.source, NULL);
  sql(early, "begin isolation level repeatable read; select from c");
  sql(f.at_source, "insert into p values ('A', 1); update only p set n = 3");
  sql(early, "delete from c; commit");
  PQfinish(early);
  cr_expect_str_eq(keys_listed(&f), "A", "the mirror lacks it");
  cr_expect_str_eq(ask(f.at_target, "select count(*) from p"), "0");
  sql(f.at_source, "update p set n = 4");
  cr_expect_str_eq(keys_listed(&f), "");
  cr_assert_str_eq(ask(f.at_target, "select id || n from p"), "A4");
  fixture_end(&f);
}

Test(inheritance, a_pattern_that_names_parent_and_child_captures_the_parent) {
  struct fixture f;
  mirrored_begin(&f, "parts_pattern",
                 "create schema shop; create table shop.animal (id int primary key, name text);"
                 "create table shop.dog (barks bool, primary key (id)) inherits (shop.animal);"
                 "create table shop.poodle (curls int, primary key (id)) inherits (shop.dog);"
                 "create table shop.zoo (id int primary key)");
  mirrored_capture(&f, "shop.*");
  sql(f.at_source, "insert into shop.poodle values (1, 'fifi', true, 7)");
  mirrored_same(&f, "shop.animal");
  cr_expect_str_eq(
      ask(f.at_source, "select string_agg(relation::text, ' ' order by relation::text) from rowrelay.captures"),
      "shop.animal shop.zoo");
  /* One that is captured by itself is released by a pattern, too. */
  sql(f.at_source, "create table shop.sale (id int primary key) partition by range (id);"
                   "create table shop.sale_1 partition of shop.sale for values from (0) to (9)");
  rowrelay_ok(&f, "capture", "shop.sale_1", NULL);
  rowrelay_ok(&f, "release", "shop.*", NULL);
  cr_expect_str_eq(ask(f.at_source, "select string_agg(relation::text, ' ') from rowrelay.captures"), "");
  fixture_end(&f);
}

/* It may have to read the log, for each key that was delivered: seconds, where equal keys may have other texts. */
Test(inheritance, whether_a_mirror_may_lack_a_row_is_asked_only_where_something_was_refused) {
  struct fixture f;
  mirrored_begin(
      &f, "parts_asked",
      "create extension citext; create table animal (id citext primary key, n int);"
      "create table dog (primary key (id)) inherits (animal);"
      "do $$ begin execute format('alter database %I set track_functions = ''all''', current_database()); end $$");
  sql(f.at_target, "create extension citext");
  mirrored_capture(&f, "animal");
  sql(f.at_source, "insert into animal values ('cat', 1), ('cow', 1); insert into dog values ('rex', 1);"
                   "update animal set n = 2");
  mirrored_same(&f, "animal");
  cr_expect_str_eq(ask(f.at_source, "select coalesce(sum(calls), 0) from pg_stat_user_functions "
                                    "where schemaname = 'rowrelay' and funcname = 'is_undecided'"),
                   "0");
  sql(f.at_source, "set track_functions = 'all'; begin");
  cr_assert_str_eq(ask(f.at_source, "select rowrelay.is_undecided(c.capture, c.key, c.id) from rowrelay.change c "
                                    "where c.op = 'u' order by c.id desc limit 1"),
                   "f");
  cr_assert_str_eq(ask(f.at_source, "select pg_stat_get_xact_function_calls("
                                    "'rowrelay.spellings(integer[], text[])'::regprocedure)"),
                   "1");
  sql(f.at_source, "commit");
  fixture_end(&f);
}

/* ---- foreign tables ---------------------------------------------------------------------------------------------- */

/* Table "far" of this database, as the foreign tables that belong to captured ones see it. */
static void far_begin(struct fixture *f, const char *name, const char *script) {
  mirrored_begin(f, name,
                 "create table far (id int, name text); create extension postgres_fdw; do $$ begin execute format("
                 "'create server here foreign data wrapper postgres_fdw options (host %L, port %L, dbname %L)', "
                 "split_part(current_setting('unix_socket_directories'), ', ', 1), current_setting('port'), "
                 "current_database()); end $$; create user mapping for current_user server here");
  sql(f->at_source, "%s", script);
}

/* Its rows change elsewhere, and before PostgreSQL 16 it has no triggers for TRUNCATE. */
Test(inheritance, a_foreign_partition_or_child_is_told_of_and_its_truncate_captured_where_the_server_can) {
  static const char *const MADE[] = {
      "create table animal (id int, name text) partition by range (id);"
      "create table near partition of animal for values from (0) to (10);"
      "create foreign table away partition of animal for values from (10) to (20) server here options (table_name "
      "'far')",
      "create table animal (id int, name text); create foreign table away () inherits (animal) server here options "
      "(table_name 'far')"};
  for (int i = 0; i < 2; i++) {
    struct fixture f;
    const char *said;
    far_begin(&f, "parts_foreign", MADE[i]);
    rowrelay(&f, &said, NULL, "doctor", "animal", NULL);
    cr_expect_not_null(strstr(said, "foreign tables: animal — "), "%s", said);
    cr_assert(rowrelay(&f, NULL, &said, "capture", "animal", "--to", "w", "--create", NULL) == 0);
    cr_expect_not_null(strstr(said, "what is written at their own servers is not captured"), "%s", said);
    cr_expect_not_null(strstr(rowrelay_ok(&f, "status", "--tables", NULL), ": away"));
    sql(f.at_source, "insert into animal values (1, 'cat'); insert into away values (11, 'dog'), (12, 'cow')");
    mirrored_same(&f, "animal");
    cr_assert_str_eq(ask(f.at_source, "select string_agg(m, ' ') from rowrelay.maintain() as m"), "");
    sql(f.at_source, "truncate away");
    if (PQserverVersion(f.at_source) >= 160000) {
      mirrored_same(&f, "animal");
    } else {
      cr_expect_not_null(strstr(rowrelay_ok(&f, "status", "--tables", NULL),
                                i == 0 ? ", nor is TRUNCATE of one of them alone" : ", nor is their TRUNCATE"));
    }
    if (PQserverVersion(f.at_source) >= 160000 || i == 0) {
      sql(f.at_source, "insert into away values (13, 'owl'); truncate animal; insert into away values (14, 'hen')");
      mirrored_same(&f, "animal");
      cr_expect_str_eq(ask(f.at_target, "select string_agg(name, ' ') from animal"), "hen");
    }
    rowrelay_ok(&f, "release", "animal", NULL);
    cr_expect(ask_number(f.at_source, "select count(*) from pg_trigger where tgname like '!rowrelay%%'") == 0);
    fixture_end(&f);
  }
}

Test(inheritance, a_foreign_child_that_comes_later_gets_its_triggers_and_is_told_of) {
  struct fixture f;
  const char *said;
  far_begin(&f, "parts_foreign_late", "create table animal (id int, name text)");
  mirrored_capture(&f, "animal");
  sql(f.at_source, "create foreign table away () inherits (animal) server here options (table_name 'far')");
  said = ask(f.at_source, "select string_agg(m, ' ') from rowrelay.maintain() as m");
  cr_expect_not_null(strstr(said, "what was written to child public.away before it had triggers is not in the log"),
                     "%s", said);
  cr_assert_str_eq(
      ask(f.at_source, "delete from rowrelay.job; select string_agg(m, ' ') from rowrelay.maintain() as m"), "");
  cr_expect_not_null(strstr(ask(f.at_source, "select note from rowrelay.captures"), ": away"));
  sql(f.at_source, "create table dog () inherits (animal); delete from rowrelay.job; select rowrelay.maintain();"
                   "insert into away values (1, 'cat'); insert into dog values (2, 'rex')");
  mirrored_same(&f, "animal");
  sql(f.at_source, "alter foreign table away no inherit animal; delete from rowrelay.job; select rowrelay.maintain()");
  cr_expect_str_eq(ask(f.at_source, "select note from rowrelay.captures"), "");
  cr_expect(ask_number(f.at_source, "select count(*) from pg_trigger where tgrelid = 'away'::regclass") == 0);
  fixture_end(&f);
}

Test(inheritance, verify_repairs_rows_that_changed_at_the_server_of_a_foreign_child) {
  struct fixture f;
  far_begin(&f, "parts_foreign_repair",
            "create table animal (id int primary key, name text); create foreign table away () inherits (animal) "
            "server here options (table_name 'far'); insert into far values (11, 'dog'), (12, 'cow')");
  mirrored_capture(&f, "animal");
  sql(f.at_source, "insert into animal values (1, 'cat')");
  mirrored_deliver(&f);
  rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL);
  mirrored_same(&f, "animal");
  sql(f.at_source, "update far set name = 'x' where id = 11; delete from far where id = 12;"
                   "insert into far values (14, 'hen')");
  rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL);
  mirrored_same(&f, "animal");
  fixture_end(&f);
}

/* ---- writers of tables with foreign parts ------------------------------------------------------------------------ */

#define PLAIN "create table animal (id int primary key, name text);"
#define WITH_ARRAY "alter table far add tags int[]; create table animal (id int primary key, name text, tags int[]);"
#define DOG "create table dog (primary key (id)) inherits (animal);"
#define AWAY "create foreign table away () inherits (animal) server here options (table_name 'far');"
#define NEAR                                                                                                           \
  "create table animal (id int, name text) partition by range (id);"                                                   \
  "create table near partition of animal (primary key (id)) for values from (0) to (10);"                              \
  "create table next partition of animal (primary key (id)) for values from (20) to (30);"
#define AWAY_PART                                                                                                      \
  "create foreign table away partition of animal for values from (10) to (20) server here options (table_name 'far');"
/* not by the key, so rows of each partition may have it */
#define NEAR_BY_PLACE                                                                                                  \
  "alter table far add place int; create table animal (id int, name text, place int default 1) partition by list "     \
  "(place); create table near partition of animal (primary key (id)) for values in (1);"                               \
  "create table next partition of animal (primary key (id)) for values in (2);"
#define AWAY_PLACE                                                                                                     \
  "create foreign table away partition of animal for values in (3) server here options (table_name 'far');"
#define WRITES(table)                                                                                                  \
  "insert into " table " values (2, 'dog'), (3, 'cow'); update only " table " set name = 'hen' where id = 1;"          \
  "update only " table " set id = 4 where id = 1; delete from only " table " where id = 2;"                            \
  "insert into " table " values (5, 'owl'); update only " table " set name = 'emu' where id = 5;"                      \
  "update only " table " set id = 6 where id = 5; delete from only " table " where id = 6;"                            \
  "insert into " table " values (6, 'elk'), (7, 'rat'); delete from only " table " where id = 7;"                      \
  "with gone as (delete from only " table " where id = 3 returning 1) "                                                \
  "update only " table " set name = 'fox' where id = 4"

struct near_table {
  const char *name, *made, *options[2];
  const char *later; /* what is done when it is captured */
  bool is_maintained;
  const char *writes;
};

/* Those that get a foreign part later are written to before or after maintenance knows of it. */
static const struct near_table NEAR_TABLES[] = {
    {"animal", PLAIN AWAY DOG, {NULL}, "", false, WRITES("animal") "; insert into dog values (8, 'rex'); truncate dog"},
    {"animal", PLAIN AWAY DOG, {"--where", "id > 0"}, "", false, WRITES("animal")},
    {"animal", PLAIN AWAY DOG, {"--key", ""}, "", false, WRITES("animal")},
    {"animal", WITH_ARRAY AWAY, {NULL}, "", false, WRITES("animal")},
    {"dog", PLAIN DOG, {NULL}, AWAY, false, WRITES("dog")},
    {"dog", PLAIN DOG, {NULL}, AWAY, true, WRITES("dog")},
    {"animal", PLAIN, {NULL}, AWAY, false, WRITES("animal")},
    {"animal", PLAIN, {NULL}, AWAY, true, WRITES("animal")},
    {"animal", PLAIN, {"--per", "statement"}, AWAY, false, WRITES("animal")},
    {"animal", WITH_ARRAY, {NULL}, AWAY, false, WRITES("animal")},
    {"near", NEAR, {"--key", "id"}, AWAY_PART, false, WRITES("near") "; update animal set id = 25 where id = 4"},
    {"near", NEAR, {"--key", "id"}, AWAY_PART, true, WRITES("near") "; update animal set id = 25 where id = 4"},
    {"near",
     NEAR_BY_PLACE,
     {"--key", "id"},
     AWAY_PLACE,
     false,
     WRITES("near") "; update animal set place = 2 where place = 1"},
    {"near",
     NEAR_BY_PLACE,
     {"--key", "id"},
     AWAY_PLACE,
     true,
     WRITES("near") "; update animal set place = 2 where place = 1"},
};

/* It may not answer, and a transaction that was there cannot be prepared. */
Test(inheritance, writers_of_local_rows_do_not_connect_to_the_servers_of_foreign_tables, .timeout = 300) {
  own_server("source", "max_prepared_transactions=2");
  for (size_t i = 0; i < sizeof NEAR_TABLES / sizeof NEAR_TABLES[0]; i++) {
    const struct near_table *table = &NEAR_TABLES[i];
    struct fixture f;
    far_begin(&f, "parts_near", table->made);
    rowrelay_ok(&f, "capture", "animal", "--to", "w", "--create", table->options[0], table->options[1], NULL);
    sql(f.at_source, "%s", table->later);
    if (table->is_maintained)
      sql(f.at_source, "delete from rowrelay.job; select rowrelay.maintain()");
    PGconn *writer = connect_to(f.source, NULL);
    for (int step = 0; step < 2; step++) {
      sql(writer, "begin");
      if (step == 0)
        sql(writer, "insert into %s values (1, 'cat')", table->name);
      else
        sql(writer, "%s", table->writes);
      if (PQserverVersion(writer) >= 140000)
        cr_expect_eq(ask_number(writer, "select count(*) from postgres_fdw_get_connections()"), 0, "table %zu", i);
      PGresult *result = PQexec(writer, "prepare transaction 'near'");
      cr_expect_eq(PQresultStatus(result), PGRES_COMMAND_OK, "table %zu, step %d: %s", i, step, PQerrorMessage(writer));
      if (PQresultStatus(result) == PGRES_COMMAND_OK)
        sql(writer, "commit prepared 'near'");
      PQclear(result);
    }
    PQfinish(writer);
    mirrored_same(&f, "animal");
    cr_expect_eq(ask_number(f.at_target, "select count(*) from animal where name in ('fox', 'elk')"), 2, "table %zu",
                 i);
    fixture_end(&f);
  }
}

Test(inheritance, what_is_written_through_a_foreign_child_is_captured_by_its_key) {
  struct fixture f;
  far_begin(&f, "parts_foreign_key", PLAIN AWAY);
  mirrored_capture(&f, "animal");
  sql(f.at_source,
      "insert into animal values (1, 'cat');"
      "insert into away values (11, 'dog'), (12, 'cow'), (13, 'hen'); update animal set name = name || '!';"
      "update away set id = 14 where id = 13; delete from animal where id = 12");
  mirrored_same(&f, "animal");
  cr_expect_str_eq(ask(f.at_target, "select string_agg(id || name, ' ' order by id) from animal"),
                   "1cat! 11dog! 14hen!");
  /* only this side is seen */
  sql(f.at_source, "insert into away values (1, 'owl')");
  cr_expect_str_eq(keys_listed(&f), "1");
  sql(f.at_source, "delete from away where id = 1");
  cr_expect_str_eq(keys_listed(&f), "");
  sql(f.at_source, "insert into animal values (11, 'owl'); delete from only animal where id = 11");
  cr_expect_str_eq(keys_listed(&f), "");
  const char *said;
  rowrelay(&f, &said, NULL, "verify", "w", "--repair", NULL);
  cr_expect_not_null(strstr(said, "missing 11"), "%s", said);
  mirrored_same(&f, "animal");
  fixture_end(&f);
}
