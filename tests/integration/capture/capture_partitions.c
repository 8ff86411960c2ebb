/* Partitioned tables and inheritance: the rows are in other tables than the one that was captured. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "mirrored.h"

Test(capture_partitions, writes_to_a_partition_and_moves_between_them_arrive) {
  struct fixture f;
  mirrored_begin(&f, "parts_range",
                 "create table orders (id int, day date, note text, primary key (id, day)) partition by range (day);"
                 "create table orders_2023 partition of orders for values from ('2023-01-01') to ('2024-01-01');"
                 "create table orders_2024 partition of orders for values from ('2024-01-01') to ('2025-01-01') "
                 "partition by list (id);"
                 "create table orders_2024_1 partition of orders_2024 for values in (1);"
                 "create table orders_2024_rest partition of orders_2024 default;"
                 "create table orders_old partition of orders default");
  mirrored_capture(&f, "orders");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation::text, ' ') from rowrelay.captures"), "orders");
  sql(f.at_source,
      "insert into orders select n, '2022-07-01'::date + n * 100, 'n' || n from generate_series(1, 12) as n");
  sql(f.at_source, "insert into orders_2023 values (100, '2023-05-05', 'straight'); insert into orders_2024_rest "
                   "values (101, '2024-05-05', 'straight')");
  sql(f.at_source, "update orders_2024 set note = 'straight' where id %% 2 = 0; delete from orders_2023 where id = 3");
  /* into another partition, another level, and out of one that was written straight */
  sql(f.at_source,
      "update orders set day = day + 365 where id < 8; update orders set id = 1, note = 'moved' where id = 101;"
      "update orders_2024 set id = 200 where id = 1");
  mirrored_same(&f, "orders");
  cr_assert(ask_number(f.at_source,
                       "select count(*) from rowrelay.change where key = '[101, \"2024-05-05\"]' and op = 'd'") == 1);
  cr_assert_str_eq(ask(f.at_target, "select relkind from pg_class where oid = 'orders'::regclass"), "r");
  fixture_end(&f);
}

Test(capture_partitions, partitions_with_columns_in_another_order_are_captured_as_their_parent) {
  struct fixture f;
  mirrored_begin(
      &f, "parts_order",
      "create table m (gone text, id int primary key, secret text, v int, j jsonb) partition by list (id); alter table "
      "m drop gone;"
      "create table m_1 (j jsonb, extra int, v int, secret text, id int not null); alter table m_1 drop extra;"
      "alter table m attach partition m_1 for values in (1, 2, 3); create table m_2 partition of m for values in (4, "
      "5, 6)");
  rowrelay_ok(&f, "capture", "m", "--exclude", "secret", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into m (id, secret, v, j) select n, 'secret', n, case when n %% 2 = 0 then 'null'::jsonb "
                   "end from generate_series(1, 6) as n;"
                   "update m set v = v + 10; update m_1 set secret = 'x', v = 0 where id = 2; delete from m where id = "
                   "3; update m set id = 3 where id = 5");
  mirrored_deliver(&f);
  same_rows(&f, "(select id, v, j from m)", "m", "id");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.change where new_row::text like '%%secret%%'") == 0);
  fixture_end(&f);
}

Test(capture_partitions, a_partition_that_comes_later_is_captured) {
  struct fixture f;
  mirrored_begin(&f, "parts_later",
                 "create table orders (id int primary key, note text) partition by range (id);"
                 "create table orders_0 partition of orders for values from (0) to (100)");
  mirrored_capture(&f, "orders");
  sql(f.at_source,
      "create table orders_1 partition of orders for values from (100) to (200); insert into orders values (1), (101)");
  sql(f.at_source, "create table orders_2 (note text, id int not null); alter table orders attach partition orders_2 "
                   "for values from (200) to (300);"
                   "insert into orders_2 values ('straight', 205); insert into orders values (202, 'x'); update orders "
                   "set id = id + 150 where id in (1, 101)");
  sql(f.at_source, "create table orders_3 partition of orders for values from (300) to (400) partition by list (id);"
                   "create table orders_3_1 partition of orders_3 default; insert into orders_3 values (301); insert "
                   "into orders values (302)");
  mirrored_same(&f, "orders");
  /* PostgreSQL does not give partitions a trigger for TRUNCATE; maintenance does. */
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "delete from rowrelay.job; select rowrelay.maintain()");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.captures"), "");
  sql(f.at_source, "truncate orders_2; truncate orders_3_1; insert into orders_3 values (303)");
  mirrored_same(&f, "orders");
  cr_assert(ask_number(f.at_target, "select count(*) from orders") == 2);
  fixture_end(&f);
}

Test(capture_partitions, truncating_one_partition_leaves_the_others) {
  static const char *const TABLES[] = {"r", "l", "h", "x"};
  struct fixture f;
  mirrored_begin(&f, "parts_truncate",
                 "create table r (id int, ts timestamptz, primary key (id, ts)) partition by range (ts);"
                 "create table r_1 partition of r for values from ('2024-01-02 00:00+00') to ('2024-02-03 00:00+00');"
                 "create table r_2 partition of r for values from ('2024-02-03 00:00+00') to ('2024-12-01 00:00+00');"
                 "create table r_x partition of r default;"
                 "create table l (id int, \"the kind\" text) partition by list (\"the kind\");"
                 "create table l_1 partition of l for values in ('a', 'it''s', null);"
                 "create table l_2 partition of l for values in ('b');"
                 "create table h (id int primary key, name text) partition by hash (id);"
                 "create table h_0 partition of h for values with (modulus 2, remainder 0);"
                 "create table h_1 partition of h for values with (modulus 2, remainder 1);"
                 "create table x (a int, b int) partition by range (abs(a), b);"
                 "create table x_1 partition of x for values from (0, 0) to (5, 5);"
                 "create table x_2 partition of x for values from (5, 5) to (maxvalue, maxvalue)");
  for (int i = 0; i < 4; i++)
    mirrored_capture(&f, TABLES[i]);
  sql(f.at_source,
      "insert into r select n, '2023-12-30 12:00+00'::timestamptz + n * interval '11 days' from generate_series(0, 40) "
      "as n;"
      "insert into l select n, (array['a', 'it''s', null, 'b'])[1 + n %% 4] from generate_series(1, 20) as n;"
      "insert into h select n, 'h' from generate_series(1, 20) as n;"
      "insert into x select n - 10, n from generate_series(1, 20) as n");
  /* how the session writes dates must not matter: 02/01/2024 is another day elsewhere */
  sql(f.at_source,
      "set datestyle to 'SQL, DMY'; set timezone to 'Asia/Kathmandu'; truncate r_1; reset datestyle; reset timezone");
  sql(f.at_source, "truncate l_1; truncate h_0; truncate x_1; insert into h values (2, 'again'), (4, 'again') on "
                   "conflict do nothing");
  mirrored_same(&f, "r");
  for (int i = 1; i < 4; i++)
    same_rows(&f, TABLES[i], TABLES[i], "1");
  cr_assert(ask_number(f.at_target, "select count(*) from r") == 38);
  sql(f.at_source, "truncate r_x; truncate l_2, x_2; truncate h");
  mirrored_same(&f, "r");
  for (int i = 1; i < 4; i++)
    same_rows(&f, TABLES[i], TABLES[i], "1");
  fixture_end(&f);
}

/*
 * The mirror stands for a server that sorts otherwise: "Banana" comes between lower-case texts there, the lower case of
 * "I" is another letter, and an enum's labels are in another order. The source alone decides which rows are gone.
 */
Test(capture_partitions, truncating_one_takes_the_same_rows_where_the_target_sorts_otherwise) {
  static const char *const TABLES[] = {"o", "m", "e", "f"};
  static const char *const KEYS[] = {"'apple', 'Banana', 'cherry', 'pear'", "'apple', 'Banana', 'cherry', 'pear'",
                                     "'sad', 'ok', 'glad'", "'i', 'I', 'k'"};
  struct fixture f;
  mirrored_begin(&f, "parts_sorted",
                 "create table o (k text, v int, primary key (k, v)) partition by range (k);"
                 "create table o_1 partition of o for values from ('a') to ('n');"
                 "create table o_x partition of o default;"
                 /* a level of texts above */
                 "create table m (k text, v int, primary key (k, v)) partition by range (k);"
                 "create table m_0 partition of m for values from ('a') to ('n') partition by list (v);"
                 "create table m_1 partition of m_0 for values in (1);"
                 "create table m_x partition of m default;"
                 "create type mood as enum ('sad', 'ok', 'glad');"
                 "create table e (k mood, v int, primary key (k, v)) partition by range (k);"
                 "create table e_1 partition of e for values from ('sad') to ('glad');"
                 "create table e_x partition of e default;"
                 "create table f (k text, v int) partition by list (lower(k));"
                 "create table f_1 partition of f for values in ('i');"
                 "create table f_x partition of f default");
  sql(f.at_target,
      "create collation other (provider = icu, locale = 'en-US');"
      "create collation turkish (provider = icu, locale = 'tr');"
      "create type mood as enum ('glad', 'sad', 'ok');"
      "create table o (k text collate other, v int, primary key (k, v)); create table m (like o including all);"
      "create table e (k mood, v int, primary key (k, v)); create table f (k text collate turkish, v int)");
  for (int i = 0; i < 4; i++) {
    mirrored_capture(&f, TABLES[i]);
    sql(f.at_source, "insert into %s select k, 1 from unnest(array[%s]::%s[]) as k", TABLES[i], KEYS[i],
        strcmp(TABLES[i], "e") == 0 ? "mood" : "text");
  }
  mirrored_deliver(&f);
  for (int i = 0; i < 4; i++)
    sql(f.at_source, "truncate %s_1; insert into %s values ('%s', 1)", TABLES[i], TABLES[i],
        strcmp(TABLES[i], "e") == 0 ? "ok" : "i");
  mirrored_deliver(&f);
  for (int i = 0; i < 4; i++)
    same_rows(&f, TABLES[i], TABLES[i], "k::text collate \"C\"");
  for (int i = 0; i < 4; i++)
    sql(f.at_source, "truncate %s_x", TABLES[i]);
  mirrored_deliver(&f);
  for (int i = 0; i < 4; i++)
    same_rows(&f, TABLES[i], TABLES[i], "k::text collate \"C\"");
  fixture_end(&f);
}

Test(capture_partitions, one_whose_condition_means_the_same_anywhere_is_truncated_by_one_change) {
  static const struct {
    const char *columns, *by, *first;
    bool by_one;
  } CASES[] = {
      {"a int, b timestamptz", "range (a, b)", "from (1, '2024-01-01 00:00+00') to (7, 'infinity')", true},
      {"a numeric, b uuid", "range (a, b)", "from (0.1, minvalue) to ('NaN', minvalue)", true},
      {"a text, b varchar(9)", "list (b)", "in ('a', 'it''s', E'\\\\', null)", true},
      {"a text collate \"C\", b int", "list (a)", "in ('a')", true},
      {"a text, b int", "range (b, a)", "from (0, 'a') to (7, 'b')", false},
      {"a text, b int", "range (a text_pattern_ops)", "from ('a') to ('b')", false},
      {"a text collate \"en-US-x-icu\", b int", "list (a)", "in ('a')", false},
      {"a text collate folded, b int", "list (a)", "in ('a')", false},
      {"a char(3), b int", "list (a)", "in ('a')", false},
      {"a jsonb, b int", "range (a)", "from ('\"a\"') to ('\"n\"')", false},
      {"a text[], b int", "range (a)", "from ('{a}') to ('{n}')", false},
      {"a mood, b int", "list (a)", "in ('a')", false},
      {"a int, b int", "range (b, abs(a))", "from (0, 0) to (7, 7)", false},
      {"a int, b int", "range (a upwards)", "from (0) to (7)", false},
      {"a int, b int", "hash (a)", "with (modulus 1, remainder 0)", false},
  };
  static const size_t COUNT = sizeof CASES / sizeof *CASES;
  struct fixture f;
  mirrored_begin(&f, "parts_portable",
                 "create type mood as enum ('a'); create collation folded (provider = icu, locale = "
                 "'und-u-ks-level2', deterministic = false);"
                 "create operator class upwards for type int using btree as operator 1 <, operator 2 <=, operator 3 =,"
                 "operator 4 >=, operator 5 >, function 1 btint4cmp(int, int)");
  for (size_t i = 0; i < COUNT; i++) {
    char name[16];
    snprintf(name, sizeof name, "t_%zu", i);
    sql(f.at_source, "create table %s (%s) partition by %s; create table %s_0 partition of %s for values %s", name,
        CASES[i].columns, CASES[i].by, name, name, CASES[i].first);
    if (strncmp(CASES[i].by, "hash", 4) != 0)
      sql(f.at_source, "create table %s_x partition of %s default", name, name);
    rowrelay_ok(&f, "capture", name, "--to", "w", NULL);
    sql(f.at_source, "truncate %s_0", name);
    cr_expect(ask_number(f.at_source,
                         "select count(*) from rowrelay.truncation t join rowrelay.capture c on c.id = "
                         "t.capture where c.relation = '%s'::regclass",
                         name) == CASES[i].by_one,
              "%s, by %s", CASES[i].columns, CASES[i].by);
    if (strncmp(CASES[i].by, "hash", 4) == 0)
      continue;
    sql(f.at_source, "truncate %s_x", name);
    cr_expect(ask_number(f.at_source,
                         "select count(*) from rowrelay.truncation t join rowrelay.capture c on c.id = "
                         "t.capture where c.relation = '%s'::regclass",
                         name) == 2 * CASES[i].by_one,
              "%s, by %s: default", CASES[i].columns, CASES[i].by);
  }
  fixture_end(&f);
}

/* It is refused: rather than rows that the source still has, none are deleted. */
Test(capture_partitions, one_of_texts_that_the_mirror_takes_for_equal_is_not_truncated_there) {
  struct fixture f;
  mirrored_begin(&f, "parts_folded",
                 "create table t (id int, k text) partition by list (k); create table t_1 partition of t for values in "
                 "('a'); create table t_x partition of t default");
  sql(f.at_target, "create collation folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
                   "create table t (id int, k text collate folded)");
  mirrored_capture(&f, "t");
  sql(f.at_source, "insert into t values (1, 'a'), (2, 'A')");
  mirrored_deliver(&f);
  sql(f.at_source, "truncate t_1");
  cr_assert(wait_process(fixture_run(&f, "--until-empty", NULL), 60) == 0);
  cr_assert(strstr(ask(f.at_source, "select message from rowrelay.errors"), "nondeterministic collation") != NULL);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(k, ' ' order by id) from t"), "a A");
  fixture_end(&f);
}

/* A condition on a column that is left out means nothing in the target. */
Test(capture_partitions, a_partition_is_truncated_where_its_key_is_left_out_or_filtered) {
  struct fixture f;
  mirrored_begin(
      &f, "parts_left_out",
      "create table a (id int, kind text) partition by list (kind);"
      "create table a_1 partition of a for values in ('a'); create table a_2 partition of a for values in ('b');"
      "create unique index on a_1 (id); create unique index on a_2 (id);"
      "create table b (id int, kind text, primary key (id, kind)) partition by list (kind);"
      "create table b_1 partition of b for values in ('a'); create table b_2 partition of b for values in ('b')");
  rowrelay_ok(&f, "capture", "a", "--key", "id", "--exclude", "kind", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "b", "--where", "id % 2 = 0", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into a select n, case when n < 5 then 'a' else 'b' end from generate_series(1, 9) as n; "
                   "insert into b select * from a");
  sql(f.at_source, "truncate a_1; truncate b_1");
  mirrored_deliver(&f);
  same_rows(&f, "(select id from a)", "a", "id");
  same_rows(&f, "(select * from b where id % 2 = 0)", "b", "id");
  sql(f.at_source, "truncate a; truncate b");
  mirrored_deliver(&f);
  cr_assert(ask_number(f.at_target, "select (select count(*) from a) + (select count(*) from b)") == 0);
  fixture_end(&f);
}

Test(capture_partitions, a_detached_partition_is_a_table_of_its_own) {
  struct fixture f;
  mirrored_begin(&f, "parts_detach",
                 "create table orders (id int primary key, note text) partition by range (id);"
                 "create table orders_0 partition of orders for values from (0) to (100);"
                 "create table orders_1 partition of orders for values from (100) to (200)");
  mirrored_capture(&f, "orders");
  sql(f.at_source, "insert into orders values (1), (101)");
  mirrored_deliver(&f);
  sql(f.at_source, "alter table orders detach partition orders_1; insert into orders_1 values (102); delete from "
                   "orders_1 where id = 101");
  cr_assert_str_eq(captured_changes(&f, "orders"), "i:1 i:101");
  /* its former rows may be elsewhere by now */
  sql(f.at_source,
      "create table orders_new partition of orders for values from (100) to (200);"
      "insert into orders values (102, 'elsewhere'); truncate orders_1; insert into orders_1 values (105)");
  mirrored_same(&f, "(select * from orders union select 101, null)");
  /* and may be captured by itself */
  sql(f.at_source,
      "select rowrelay.capture_table('orders_1'); select rowrelay.route('orders_1', 'w', create_table => true)");
  sql(f.at_source, "insert into orders_1 values (103); truncate orders_1; insert into orders_1 values (104); insert "
                   "into orders values (2)");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from orders"), "1 2 101 102");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from orders_1"), "104");
  fixture_end(&f);
}

/* ---- two captures of one row --------------------------------------------------------------------------------------
 */

Test(capture_partitions, no_row_is_captured_twice) {
  struct fixture f;
  mirrored_begin(&f, "parts_overlap",
                 "create table animal (id int primary key); create table dog (primary key (id)) inherits (animal);"
                 "create table poodle (primary key (id)) inherits (dog);"
                 "create table ship (id int primary key); create table plane (id int);"
                 "create table seaplane (primary key (id)) inherits (ship, plane);"
                 "create table sale (id int primary key) partition by range (id);"
                 "create table sale_1 partition of sale for values from (0) to (9) partition by range (id);"
                 "create table sale_11 partition of sale_1 for values from (0) to (9)");
  static const char *const pairs[][3] = {
      /* captured, refused, both have */
      {"poodle", "animal", "poodle"}, {"animal", "poodle", "poodle"}, {"ship", "plane", "seaplane"},
      {"sale_11", "sale", "sale_11"}, {"sale", "sale_1", "sale_1"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    char expected[128];
    sql(f.at_source, "select rowrelay.capture_table('%s')", pairs[i][0]);
    cr_expect_str_eq(sql_fails(f.at_source, "select rowrelay.capture_table('%s')", pairs[i][1]), "42710");
    snprintf(expected, sizeof expected, "Rows of public.%s would be captured twice", pairs[i][2]);
    cr_expect(strstr(PQerrorMessage(f.at_source), expected) != NULL, "%s", PQerrorMessage(f.at_source));
    sql(f.at_source, "select rowrelay.release_table('%s')", pairs[i][0]);
  }
  fixture_end(&f);
}

Test(capture_partitions, a_captured_table_that_becomes_a_child_of_another_goes_on_by_itself) {
  struct fixture f;
  mirrored_begin(&f, "parts_adopted",
                 "create table animal (id int primary key, name text);"
                 "create table dog (id int primary key, name text)");
  mirrored_capture(&f, "animal");
  mirrored_capture(&f, "dog");
  sql(f.at_source, "alter table dog inherit animal");
  cr_expect(strstr(ask(f.at_source, "select string_agg(m, ' ') from rowrelay.maintain() as m"),
                   "could not be attached: table public.animal is already captured with table public.dog") != NULL);
  /* It is logged once, not every half minute. */
  sql(f.at_source, "update rowrelay.job set held_until = now()");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(m, ' ') from rowrelay.maintain() as m"), "");
  cr_expect_str_eq(ask(f.at_source, "select cardinality(failed) from rowrelay.job where name = 'maintain'"), "1");
  sql(f.at_source, "insert into dog values (1, 'rex')");
  cr_expect_str_eq(captured_changes(&f, "dog"), "i:1");
  cr_expect_str_eq(captured_changes(&f, "animal"), "");
  /* Released, it is captured with the other one. */
  sql(f.at_source, "select rowrelay.release_table('dog'); update rowrelay.job set held_until = now()");
  sql(f.at_source, "select rowrelay.maintain()");
  cr_expect_str_eq(ask(f.at_source, "select cardinality(failed) from rowrelay.job where name = 'maintain'"), "0");
  sql(f.at_source, "insert into dog values (2, 'bello')");
  cr_expect_str_eq(captured_changes(&f, "animal"), "i:2");
  cr_expect_str_eq(ask(f.at_source, "select note from rowrelay.captures"), "");
  fixture_end(&f);
}

Test(capture_partitions, a_truncate_is_told_once_whatever_partitions_there_are) {
  struct fixture f;
  mirrored_begin(&f, "parts_once",
                 "create table t (id int, kind int) partition by range (id);"
                 "create table t_1 partition of t for values from (0) to (10);"
                 "create table t_2 partition of t for values from (10) to (20) partition by hash (kind);"
                 "create table t_2_0 partition of t_2 for values with (modulus 2, remainder 0);"
                 "create table t_2_1 partition of t_2 for values with (modulus 2, remainder 1);"
                 "create table u (id int primary key, kind int) partition by hash (id);"
                 "create table u_0 partition of u for values with (modulus 2, remainder 0);"
                 "create table u_1 partition of u for values with (modulus 2, remainder 1)");
  mirrored_capture(&f, "t");
  mirrored_capture(&f, "u");
  sql(f.at_source, "insert into t select i, i from generate_series(0, 19) as i; insert into u select * from t");
  sql(f.at_source, "truncate t, u");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.change where op in ('t', 'd')") == 2);
  sql(f.at_source, "insert into t select i, i from generate_series(0, 19) as i; truncate t_2");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.change where op in ('t', 'd')") == 3);
  /* a rolled-back change captures nothing, and hides nothing */
  sql(f.at_source, "begin; savepoint s; truncate t; rollback to s; truncate t_1; insert into t values (3, 3); commit");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.change where op in ('t', 'd')") == 4);
  mirrored_same(&f, "t");
  same_rows(&f, "u", "u", "1");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id::text, ' ') from t"), "3");
  fixture_end(&f);
}

Test(capture_partitions, what_other_triggers_write_before_a_truncate_is_gone_and_after_it_is_there) {
  struct fixture f;
  mirrored_begin(&f, "parts_around",
                 "create table t (id int primary key);"
                 "create function around() returns trigger language plpgsql as $$ begin"
                 "  insert into t values (case tg_when when 'BEFORE' then 100 else 200 end); return null; end $$;"
                 "create trigger before before truncate on t for each statement execute function around();"
                 "create trigger after after truncate on t for each statement execute function around()");
  mirrored_capture(&f, "t");
  sql(f.at_source, "insert into t values (1); truncate t");
  mirrored_same(&f, "t");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id::text, ' ') from t"), "200");
  fixture_end(&f);
}

/* "new" alone would be the column. */
Test(capture_partitions, a_table_with_columns_called_new_and_old_is_truncated) {
  struct fixture f;
  mirrored_begin(&f, "parts_names",
                 "create table t (id int primary key, new text, old text);"
                 "create function around() returns trigger language plpgsql as $$ begin"
                 "  insert into t values (7, 'n', 'o'); return null; end $$;"
                 "create trigger after after truncate on t for each statement execute function around()");
  mirrored_capture(&f, "t");
  sql(f.at_source, "insert into t values (1, 'a', 'b'); truncate t");
  mirrored_same(&f, "t");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, new, old), ' ') from t"), "7no");
  fixture_end(&f);
}

/* Its snapshot shows two versions of what the server knows of the table: the old one, and its own. */
Test(capture_partitions, a_table_that_another_one_has_truncated_since_is_captured_after_a_truncate) {
  struct fixture f;
  mirrored_begin(&f, "parts_versions",
                 "create table t (id int primary key, v text); create table s (id int primary key, v text);"
                 "create table r (id int primary key, v text[])");
  mirrored_capture(&f, "t");
  mirrored_capture(&f, "r");
  rowrelay_ok(&f, "capture", "s", "--to", "w", "--create", "--per", "statement", NULL);
  PGconn *early = connect_to(f.source, NULL);
  static const char *const TABLES[] = {"t", "s", "r"};
  for (size_t i = 0; i < 3; i++) {
    sql(early, "begin isolation level repeatable read; select");
    sql(f.at_source, "truncate %s", TABLES[i]);
    sql(early,
        "truncate %1$s; insert into %1$s values (1, '{a}'); update %1$s set v = '{b}'; "
        "insert into %1$s values (2, '{a}'), (3, '{a}'); delete from %1$s where id = 2; commit",
        TABLES[i]);
    mirrored_same(&f, TABLES[i]);
    cr_expect(ask_number(f.at_target, "select count(*) from %s", TABLES[i]) == 2);
  }
  cr_expect_str_eq(ask(f.at_source, "select string_agg(message, ', ') from rowrelay.errors"), "");
  PQfinish(early);
  fixture_end(&f);
}

/* They go with the truncate, and no statement of its transaction shows them. */
Test(capture_partitions, that_a_truncate_may_take_rows_that_its_transaction_does_not_see_is_listed) {
  struct fixture f;
  mirrored_begin(&f, "parts_snapshot",
                 "create table p (id int primary key); create table c (primary key (id)) inherits (p);"
                 "create table h (id int primary key) partition by hash (id);"
                 "create table h_0 partition of h for values with (modulus 1, remainder 0)");
  mirrored_capture(&f, "p");
  mirrored_capture(&f, "h");
  sql(f.at_source, "insert into p values (1); insert into c values (2); insert into h values (1)");
  PGconn *early = connect_to(f.source, NULL);
  sql(early, "begin isolation level repeatable read; select; truncate h_0; insert into h values (2); truncate h_0;"
             "truncate c; commit");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0", "nobody else has written");
  cr_expect_str_eq(ask(f.at_target, "select (select string_agg(id::text, ' ') from p) || (select count(*) from h)"),
                   "10");

  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; insert into c values (3)");
  sql(early, "begin isolation level repeatable read; select");
  sql(writer, "commit; insert into h values (3)");
  sql(early, "truncate c; truncate h_0; commit");
  sql(early, "begin isolation level repeatable read; truncate only p; truncate c, h_0; commit");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_source, "select string_agg(concat(relation, ' ', op, ' ', substring(message from "
                                    "'rows of table [^ ]+')), ', ' order by change_id) from rowrelay.errors "
                                    "where state = 'error'"),
                   "p truncate rows of table public.c, h truncate rows of table public.h_0");
  PQfinish(early);
  PQfinish(writer);

  rowrelay_ok(&f, "skip", "--all", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_eq(rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL), 3);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  rowrelay_ok(&f, "verify", "w", NULL);
  fixture_end(&f);
}

/* Its tables have other oids than those that the trigger functions name, until maintenance has made these anew. */
Test(capture_partitions, a_database_that_was_restored_from_a_dump_captures_them_at_once) {
  struct fixture f;
  char command[4096];
  mirrored_begin(&f, "parts_restored",
                 "create table t (id int primary key, n int) partition by range (id);"
                 "create table t_1 partition of t for values from (0) to (10) partition by list (id);"
                 "create table t_1_1 partition of t_1 default; create table t_2 partition of t default;"
                 "create table s (id int primary key, n int) partition by hash (id);"
                 "create table s_0 partition of s for values with (modulus 1, remainder 0);"
                 "create table p (id int primary key); create table c (primary key (id)) inherits (p);"
                 "create table d (primary key (id)) inherits (c)");
  needs_pg_dump(f.at_source);
  mirrored_capture(&f, "t");
  rowrelay_ok(&f, "capture", "s", "--where", "n > 0", "--to", "w", "--create", NULL);
  mirrored_capture(&f, "p");
  snprintf(command, sizeof command,
           "bin=$(tests/support/pg.sh bin); dump=$($bin/pg_dump '%s') && "
           "$bin/psql -XAtqc 'drop schema rowrelay cascade; drop table t, s, d, c, p' '%s' >/dev/null 2>&1 && "
           "printf '%%s\n' \"$dump\" | $bin/psql -XAtq '%s' >/dev/null 2>&1",
           f.source, f.source, f.source);
  cr_assert(system(command) == 0);
  rowrelay_ok(&f, "resume", "--here", NULL);
  for (int maintained = 0; maintained < 2; maintained++) {
    sql(f.at_source,
        "insert into t values (1, 1), (20, 1), (3, 3); insert into t_1_1 values (2, 2); update t set n = 5;"
        "update t set id = 21 where id = 1; delete from t where id = 3");
    sql(f.at_source, "insert into s values (1, 1), (2, 0), (3, 3); update s set n = 0 where id = 1; update s set n = 4 "
                     "where id = 2");
    sql(f.at_source, "insert into p values (1); insert into c values (2), (3); insert into d values (4), (5); update p "
                     "set id = id + 10; delete from c where id = 15");
    mirrored_deliver(&f);
    same_rows(&f, "t", "t", "id");
    same_rows(&f, "(select * from s where n > 0)", "s", "id");
    same_rows(&f, "p", "p", "id");
    cr_assert_str_eq(ask(f.at_target, "select concat((select count(*) from t), (select count(*) from s), (select "
                                      "count(*) from p))"),
                     "324");
    sql(f.at_source, "truncate t_2, c; truncate t, s, p; delete from rowrelay.job; select rowrelay.maintain()");
  }
  fixture_end(&f);
}

/* PostgreSQL makes row triggers for it at once, and none for TRUNCATE. */
Test(capture_partitions, a_new_partition_that_was_truncated_before_it_had_triggers_is_told_of) {
  struct fixture f;
  const char *errors;
  mirrored_begin(&f, "parts_cut",
                 "create table t (id int primary key) partition by range (id);"
                 "create table t_1 partition of t for values from (0) to (10)");
  mirrored_capture(&f, "t");
  sql(f.at_source, "truncate t_1; create table t_2 partition of t for values from (10) to (20);"
                   "create table t_3 partition of t for values from (20) to (30);"
                   "insert into t values (11), (21)");
  sql(f.at_source, "truncate t_3");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "t", NULL), 0);
  cr_expect(strstr(errors, "partition public.t_3 may have been truncated") != NULL, "%s", errors);
  cr_expect(strstr(errors, "verify w public.t --repair") != NULL, "%s", errors);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  rowrelay(&f, NULL, NULL, "verify", "w", "t", "--repair", NULL);
  mirrored_same(&f, "t");
  sql(f.at_source, "truncate t_2");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "t", NULL), 0);
  cr_expect(strstr(errors, "truncated") == NULL, "%s", errors);
  mirrored_same(&f, "t");
  fixture_end(&f);
}

/*
 * A table that becomes a partition comes with rows that no trigger saw; one that is made as a partition does not. Of
 * one that has rows now it is not known whether it came with them.
 */
Test(capture_partitions, rows_that_a_partition_had_before_it_was_attached_are_told_to_be_missing) {
  struct fixture f;
  mirrored_begin(&f, "parts_attached",
                 "create table a (id int primary key, v int default 1) partition by range (id);"
                 "create table b (id int primary key, v int) partition by range (id);"
                 "create table c (id int primary key, v int default 1) partition by range (id);"
                 "create table d (id int primary key, v int) partition by range (id);"
                 "create table e (id int primary key, v int) partition by range (id)");
  rowrelay_ok(&f, "capture", "a", "b", "c", "d", "e", "--to", "w", "--create", NULL);
  mirrored_maintain(&f);
  sql(f.at_source, "create table a1 (id int primary key, v int default 1); insert into a1 values (1, 1)");
  sql(f.at_source, "alter table a attach partition a1 for values from (0) to (10)");
  sql(f.at_source, "begin; create table b1 (id int primary key, v int); insert into b1 values (1, 1);"
                   "alter table b attach partition b1 for values from (0) to (10); commit");
  sql(f.at_source, "begin; create table c1 partition of c for values from (0) to (10); insert into c values (1);"
                   "commit; create table c2 partition of c for values from (10) to (20); insert into c values (11);"
                   "create table c3 (id int primary key, v int default 1);"
                   "alter table c attach partition c3 for values from (20) to (30); insert into c values (21)");
  sql(f.at_source, "create table d1 (id int primary key, v int) partition by range (id);"
                   "create table d2 partition of d1 for values from (0) to (5); insert into d1 values (1);"
                   "alter table d attach partition d1 for values from (0) to (10)");
  sql(f.at_source, "create table e1 partition of e for values from (0) to (10) partition by range (id);"
                   "create table e2 partition of e1 for values from (0) to (10); insert into e values (1)");
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ' order by relation_name) from rowrelay.gaps"),
                   "public.a public.b public.c public.d");
  mirrored_deliver(&f);
  cr_assert(rowrelay(&f, NULL, NULL, "verify", "w", "c", "--repair", NULL) == 0);
  rowrelay(&f, NULL, NULL, "backfill", "a", "b", "d", "--to", "w", NULL);
  mirrored_same(&f, "c");
  mirrored_same(&f, "e");
  mirrored_same(&f, "a");
  mirrored_same(&f, "b");
  mirrored_same(&f, "d");
  fixture_end(&f);
}
