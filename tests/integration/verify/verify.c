/* verify finds what differs between a mirror and its source, and nothing else, while both are at work. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mirrored.h"
#include "verified.h"
#include "writers.h"

/* The number behind a name in the JSON that verify --json printed; of several the last. */
static long number_of(const char *name) {
  char quoted[64];
  const char *found = NULL;
  snprintf(quoted, sizeof quoted, "\"%s\": ", name);
  for (const char *c = strstr(verified_said, quoted); c != NULL; c = strstr(c + 1, quoted))
    found = c;
  cr_assert(found != NULL, "no %s in %s", name, verified_said);
  return strtol(found + strlen(quoted), NULL, 10);
}

Test(verify, rows_damaged_removed_and_added_at_the_target_are_named_and_repaired) {
  struct fixture f;
  mirrored_begin(&f, "verify_kinds",
                 "create schema shop;"
                 "create table shop.orders (id bigint primary key, status text, total numeric, placed date);"
                 "create table shop.\"Order Line\" (\"line No\" int, \"order\" text, amount int, primary key "
                 "(\"order\", \"line No\"))");
  mirrored_capture(&f, "shop.*");
  sql(f.at_source,
      "insert into shop.orders select n, 'open', n * 1.10, '2024-02-29' from generate_series(1, 3000) as n;"
      "insert into shop.\"Order Line\" select n %% 7, 'o\"' || n, n from generate_series(1, 3000) as n");
  mirrored_deliver(&f);
  verified_equal(&f);
  const char *plain = rowrelay_ok(&f, "verify", "w", NULL);
  cr_expect_not_null(strstr(plain, "shop.orders: 3,000 rows in "), "%s", plain);

  sql(f.at_target,
      "update shop.orders set total = 0, placed = null where id = 17; delete from shop.orders where id in (1, 3000);"
      "insert into shop.orders (id) values (0), (3001), (-5);"
      "delete from shop.\"Order Line\" where \"order\" = 'o\"8';"
      "insert into shop.\"Order Line\" values (1, 'new', 1)");
  VERIFIED_FINDS(&f, "shop.orders: different 17 in placed, total\n", "shop.orders: missing 1\n",
                 "shop.orders: missing 3000\n", "shop.orders: extra 0\n", "shop.orders: extra 3001\n",
                 "shop.orders: extra -5\n", "3,000 rows", "2 missing, 3 extra, 1 different\n",
                 "shop.\"Order Line\": missing [\"o\\\"8\", 1]\n", "shop.\"Order Line\": extra [\"new\", 1]\n");
  cr_assert(strstr(verified_complained, "differs in 8 rows") != NULL, "%s", verified_complained);

  cr_assert(rowrelay(&f, &verified_said, &verified_complained, "verify", "w", "shop.orders", "--limit", "2", NULL) ==
            3);
  cr_assert(strstr(verified_said, "Line") == NULL, "%s", verified_said);
  cr_assert(strstr(verified_said, "(first 2 shown)") != NULL, "%s", verified_said);

  cr_assert(verified(&f, "--json") == 3);
  cr_assert(number_of("differences") == 8);
  cr_assert(ask_number(f.at_source,
                       "select count(*) from json_array_elements($j$%s$j$::json -> 'tables') as t, "
                       "json_array_elements(t -> 'found') as d "
                       "where t ->> 'table' = 'shop.orders' and (d ->> 'kind', d ->> 'key', d ->> 'columns') = "
                       "('different', '17', '[\"placed\", \"total\"]')",
                       verified_said) == 1);
  verified_repaired(&f);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.history where op = 'snapshot'") == 4);
  fixture_end(&f);
}

Test(verify, tables_without_a_key_are_compared_by_how_many_rows_there_are_of_each) {
  struct fixture f;
  mirrored_begin(&f, "verify_keyless", "create table pile (new text, n int)");
  mirrored_capture(&f, "pile");
  sql(f.at_source, "insert into pile select 'w' || n %% 10, n %% 7 from generate_series(1, 2000) as n; insert into "
                   "pile values (null, null), ('', null)");
  mirrored_deliver(&f);
  verified_equal(&f);
  sql(f.at_target,
      "delete from pile where ctid = any (array(select ctid from pile where new = 'w3' and n = 2 limit 2));"
      "insert into pile values ('w4', 1), (null, null); update pile set new = null where new = ''");
  VERIFIED_FINDS(&f, "missing (w3,2) (2 times)\n", "extra (w4,1)\n", "extra (,) (2 times)\n", "missing (\"\",)\n",
                 "3 missing, 3 extra");
  cr_assert(verified(&f, "--repair") == 3);
  cr_assert(strstr(verified_complained,
                   "run: rowrelay backfill public.pile --to w; it waits until you have emptied public.pile there\n") !=
                NULL,
            "%s", verified_complained);
  fixture_end(&f);
}

/* The two sides have their rows in other blocks. */
Test(verify, tables_that_are_read_block_by_block_are_compared_as_a_whole) {
  static const char MAKE[] =
      "create table pile (n int, pad text) partition by list ((n % 2));"
      "create table pile_0 partition of pile for values in (0);"
      "create table pile_1 partition of pile for values in (1);"
      "alter table pile_0 alter pad set storage plain; alter table pile_1 alter pad set storage plain";
  struct fixture f;
  mirrored_begin(&f, "verify_blocks", MAKE);
  sql(f.at_target, "%s", MAKE);
  sql(f.at_source, "insert into pile select n, repeat('x', 1900) from generate_series(1, 20000) as n");
  sql(f.at_target, "insert into pile select n, repeat('x', 1900) from generate_series(20000, 1, -1) as n");
  cr_assert(ask_number(f.at_source, "select pg_relation_size('pile_0') / current_setting('block_size')::int") > 2048);
  rowrelay_ok(&f, "capture", "pile", "--to", "w", NULL);
  verified_equal(&f);
  cr_assert(strstr(verified_said, " 20,000 rows ") != NULL, "%s", verified_said);
  sql(f.at_target,
      "update pile set pad = 'y' where n = 1; delete from pile where n = 20000; insert into pile values (10000, 'z')");
  VERIFIED_FINDS(&f, "missing (1,xxx", "missing (20000,xxx", "extra (1,y)\n", "extra (10000,z)\n",
                 "2 missing, 2 extra");
  fixture_end(&f);
}

static void finds_nothing_under_load(const char *name, const char *option, int transactions) {
  struct fixture f;
  struct writers writers;
  fixture_begin(&f, name);
  writers_make_tables(f.at_source);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", option, NULL);
  mirrored_capture(&f, "stock");
  mirrored_capture(&f, "ledger");
  writers_fill_tables(f.at_source, 3000);
  sql(f.at_source,
      "insert into ledger values ('first', 1)"); /* or the table may not be there yet when it is compared */
  pid_t processes[] = {fixture_run(&f, "--workers", "2", NULL), fixture_run(&f, "--workers", "2", NULL)};
  wait_until_empty(&f, 30);
  writers_start(&writers, f.source, 4, transactions, 50, 3000);
  int times = 0;
  while (!writers_are_done(&writers)) {
    int status = verified(&f, NULL);
    cr_assert(status == 0, "exit status %d\n%s%s", status, verified_said, verified_complained);
    times++;
  }
  cr_assert(times > 0, "it was slower than the writers");
  wait_until_empty(&f, 30);
  verified_equal(&f);
  for (int i = 0; i < 2; i++)
    cr_assert(stop_process(processes[i], SIGTERM) == 0);
  fixture_end(&f);
}

Test(verify, nothing_is_found_under_load_when_there_is_nothing) {
  finds_nothing_under_load("verify_live", "retries=3", 8000);
}

/* What is on its way is not in the queue then. */
Test(verify, nothing_is_found_where_changes_are_sent_at_most_once) {
  finds_nothing_under_load("verify_once", "guarantee=at-most-once", 4000);
}

Test(verify, what_is_damaged_under_load_is_found_and_repaired) {
  struct fixture f;
  struct writers writers;
  fixture_begin(&f, "verify_damage");
  writers_make_tables(f.at_source);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  mirrored_capture(&f, "stock");
  sql(f.at_source, "insert into stock select n, 0, 'new' from generate_series(1, 3000) as n");
  sql(f.at_source, "insert into stock select n, 0, 'calm' from generate_series(1000001, 1000100) as n");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until_empty(&f, 30);
  sql(f.at_target, "delete from stock where id = 1000007; update stock set note = 'x' where id = 1000050;"
                   "insert into stock values (2000000, 1, 'extra')");
  writers_start(&writers, f.source, 4, 6000, 50, 3000);
  int status = verified(&f, "--repair");
  cr_assert(status == 3, "exit status %d\n%s%s", status, verified_said, verified_complained);
  cr_assert(strstr(verified_said, "1 missing, 1 extra, 1 different") != NULL, "%s", verified_said);
  cr_assert(strstr(verified_said, "missing 1000007") != NULL &&
                strstr(verified_said, "different 1000050 in note") != NULL &&
                strstr(verified_said, "extra 2000000") != NULL,
            "%s", verified_said);
  writers_finish(&writers, 60);
  wait_until_empty(&f, 30);
  verified_equal(&f);
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

Test(verify, each_kind_of_value_is_told_from_others) {
  static const struct {
    const char *column;
    const char *type;
    const char *value;
    const char *other; /* expression */
  } VALUES[] = {
      {"t", "text", "''", "null"},
      {"v", "varchar(10)", "null", "''"},
      {"f", "float8", "0.1", "0.1::float8 + 1e-17 * 2"},
      {"r", "float4", "'NaN'", "'Infinity'"},
      {"n", "numeric", "1.50", "1.5"},
      {"ts", "timestamptz", "'2024-02-29 12:00:00.000001+05:45'", "'2024-02-29 12:00:00.000002+05:45'"},
      {"d", "date", "'infinity'", "'-infinity'"},
      {"iv", "interval", "'1 day'", "'24:00'"},
      {"b", "bytea", "'\\x00ff'", "'\\x00fe'"},
      {"j", "json", "'{\"a\":  1}'", "'{\"a\": 1}'"},
      {"jb", "jsonb", "'null'", "null"},
      {"a", "text[]", "'{a,NULL}'", "'{a,\"NULL\"}'"},
      {"m", "money", "12.50", "12.51"},
      {"o", "bool", "true", "null"},
      {"y", "jsonb", "'1.0'", "'1.00'"},
      {"z", "text", "'a~b'", "'a~c'"},
  };
  enum { COUNT = sizeof VALUES / sizeof *VALUES };
  struct fixture f;
  char definition[2048] = "id int primary key";
  char values[2048] = "";
  for (int i = 0; i < COUNT; i++) {
    snprintf(definition + strlen(definition), sizeof definition - strlen(definition), ", %s %s", VALUES[i].column,
             VALUES[i].type);
    snprintf(values + strlen(values), sizeof values - strlen(values), ", %s", VALUES[i].value);
  }
  fixture_begin(&f, "verify_values");
  sql(f.at_source, "create table item (%s)", definition);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item select n%s from generate_series(1, %d) as n; insert into item (id) values (1000)",
      values, COUNT);
  mirrored_deliver(&f);
  verified_equal(&f);
  /* other settings there must not matter */
  sql(f.at_target,
      "alter database %s set timezone to 'Asia/Tokyo'; alter database %s set extra_float_digits to -10;"
      "alter database %s set bytea_output to 'escape'; alter database %s set datestyle to 'German'",
      f.name, f.name, f.name, f.name);
  verified_equal(&f);
  for (int i = 0; i < COUNT; i++)
    sql(f.at_target, "update item set %s = %s where id = %d", VALUES[i].column, VALUES[i].other, i + 1);
  cr_assert(verified(&f, NULL) == 3);
  for (int i = 0; i < COUNT; i++) {
    char line[64];
    snprintf(line, sizeof line, "different %d in %s\n", i + 1, VALUES[i].column);
    cr_expect(strstr(verified_said, line) != NULL, "\"%s\" is not in\n%s", line, verified_said);
  }
  verified_repaired(&f);
  fixture_end(&f);
}

Test(verify, filters_masks_left_out_columns_and_other_names_count) {
  struct fixture f;
  mirrored_begin(&f, "verify_shape",
                 "create table item (id int primary key, kind text, iban text, secret text, note text, pin int)");
  rowrelay_ok(&f, "capture", "item", "--where", "kind = 'open'", "--mask", "iban=***,pin", "--exclude", "secret", NULL);
  rowrelay_ok(&f, "route", "item", "w", "--into", "copy.\"Item\"", "--create", NULL);
  sql(f.at_source, "insert into item select n, case when n %% 3 = 0 then 'shut' else 'open' end, 'DE' || n, 's', '', n "
                   "from generate_series(1, 600) as n");
  mirrored_deliver(&f);
  verified_equal(&f);
  cr_assert(strstr(verified_said, "400 rows") != NULL, "%s", verified_said);
  sql(f.at_target, "alter table copy.\"Item\" add own text default 'x'");
  verified_equal(&f);
  sql(f.at_target, "update copy.\"Item\" set iban = 'DE7', pin = 7 where id = 7; insert into copy.\"Item\" (id, kind) "
                   "values (3, 'shut')");
  VERIFIED_FINDS(&f, "different 7 in iban, pin\n", "extra 3\n", "0 missing, 1 extra, 1 different");
  verified_repaired(&f);
  sql(f.at_target, "alter table copy.\"Item\" drop note");
  verified_equal(&f);
  cr_assert(strstr(verified_said, "not compared, since the target lacks it: note") != NULL, "%s", verified_said);
  fixture_end(&f);
}

Test(verify, columns_of_another_type_are_compared_as_they_arrive) {
  struct fixture f;
  mirrored_begin(
      &f, "verify_types",
      "create table item (id int primary key, a float4, b timestamptz, c json, d char(5), e numeric, f bool, g int[])");
  sql(f.at_target, "create table item (id bigint primary key, a float8, b text, c jsonb, d text, e numeric(10, 3), f "
                   "text, g jsonb)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item select n, 0.1, '2024-02-29 12:00+01', '{\"b\":  1, \"a\": [1.0]}', 'x', 1.5, "
                   "true, '{1,2}' from generate_series(1, 100) as n;"
                   "insert into item (id) values (101)");
  mirrored_deliver(&f);
  verified_equal(&f);
  sql(f.at_target, "update item set b = b || ' ' where id = 5; update item set g = '[1]' where id = 6");
  VERIFIED_FINDS(&f, "different 5 in b\n", "different 6 in g\n");
  verified_repaired(&f);
  fixture_end(&f);
}

/* What is in a range on one side may be in another on the other side, or no index may be of use there. */
Test(verify, keys_that_sort_otherwise_at_the_target_do_not_matter) {
  struct fixture f;
  mirrored_begin(&f, "verify_order",
                 "create table one (k text collate \"C\" primary key, n int);"
                 "create table two (a int, b int, n int, primary key (a, b));"
                 "create table three (k text, n int); create unique index on three (k desc); create type size as enum "
                 "('s', 'm', 'l');"
                 "create table four (k size, j int, n int, primary key (k, j))");
  sql(f.at_target,
      "create collation backwards (provider = icu, locale = 'en-u-kf-upper');"
      "create table one (k text collate backwards primary key, n int); create table two (a int, b int, n int, primary "
      "key (b, a));"
      "create type size as enum ('l', 's', 'm'); create table four (k size, j int, n int, primary key (k, j))");
  rowrelay_ok(&f, "capture", "one", "two", "four", "--to", "w", NULL);
  rowrelay_ok(&f, "capture", "three", "--key", "k", "--to", "w", "--create", NULL);
  sql(f.at_source,
      "insert into one select chr(65 + n %% 26 + 32 * (n %% 2)) || n, n from generate_series(1, 5000) as n;"
      "insert into two select n %% 50, n, n from generate_series(1, 5000) as n;"
      "insert into three select 'k' || n, n from generate_series(1, 5000) as n;"
      "insert into four select (enum_range(null::size))[1 + n %% 3], n, n from generate_series(1, 5000) as n");
  mirrored_deliver(&f);
  verified_equal(&f);
  sql(f.at_target,
      "update one set n = 0 where n = 4711; update two set n = 0 where n = 4711; delete from three where n = 4711;"
      "insert into four values ('m', 0, 0)");
  VERIFIED_FINDS(&f, "different f4711 in n\n", "different [11, 4711] in n\n", "missing k4711\n", "extra [\"m\", 0]\n");
  verified_repaired(&f);
  fixture_end(&f);
}

Test(verify, rows_that_share_a_key_are_counted) {
  struct fixture f;
  mirrored_begin(&f, "verify_shared", "create table item (id int, v int); create unique index item_id on item (id)");
  rowrelay_ok(&f, "capture", "item", "--key", "id", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item select n, n from generate_series(1, 1000) as n; drop index item_id;"
                   "insert into item values (7, 7), (7, 7)");
  mirrored_deliver(&f);
  VERIFIED_FINDS(&f, "missing 7 (2 times)\n");
  int status = verified(&f, "--repair");
  cr_assert_eq(status, 3);
  cr_assert(strstr(verified_complained, "none could be queued again") != NULL, "%s", verified_complained);
  sql(f.at_source, "delete from item where ctid in (select max(ctid) from item where id = 7 union all"
                   "  select min(ctid) from item where id = 7)");
  mirrored_deliver(&f);
  verified(&f, "--repair"); /* where the deletes took the mirror's only row of that key away */
  mirrored_deliver(&f);
  verified_equal(&f);
  verified_equal(&f);
  fixture_end(&f);
}

Test(verify, partitions_children_and_the_source_itself_are_compared) {
  struct fixture f;
  mirrored_begin(&f, "verify_parts",
                 "create table part (id int, day date, n int, primary key (id, day)) partition by range (day);"
                 "create table part_1 partition of part for values from ('2024-01-01') to ('2024-06-01');"
                 "create table part_2 partition of part default;"
                 "create table parent (id int primary key, n int); create table child (own text, primary key (id)) "
                 "inherits (parent)");
  rowrelay_ok(&f, "target", "add", "own", "postgresql:", NULL);
  rowrelay_ok(&f, "capture", "part", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "parent", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "route", "part", "own", "--into", "copy.part", "--create", NULL);
  sql(f.at_source, "insert into part select n, date '2024-01-01' + n %% 300, n from generate_series(1, 3000) as n;"
                   "insert into parent values (1, 1); insert into child values (2, 2, 'x')");
  mirrored_deliver(&f);
  verified_equal(&f);
  sql(f.at_target, "update part set n = 0 where id in (10, 2999); delete from parent where id = 2");
  VERIFIED_FINDS(&f, "different [10, \"2024-01-11\"] in n\n", "2 different", "public.parent: missing 2\n");
  verified_repaired(&f);
  rowrelay_ok(&f, "verify", "own", NULL);
  sql(f.at_source, "delete from copy.part where id = 5");
  cr_assert(rowrelay(&f, &verified_said, NULL, "verify", "own", NULL) == 3);
  cr_assert(strstr(verified_said, "public.part: missing [5, \"2024-01-06\"]") != NULL, "%s", verified_said);
  fixture_end(&f);
}

Test(verify, of_many_rows_only_those_that_differ_come_over_the_wire) {
  struct fixture f;
  mirrored_begin(&f, "verify_many", "create table item (id int primary key, note text)");
  sql(f.at_source, "insert into item select n, repeat('x', 50) || n from generate_series(1, 200000) as n");
  sql(f.at_target, "create table item (id int primary key, note text);"
                   "insert into item select n, repeat('x', 50) || n from generate_series(1, 200000) as n");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  cr_assert(verified(&f, "--json") == 0, "%s", verified_complained);
  cr_assert(number_of("rows_received") < 200, "%s", verified_said);
  sql(f.at_target, "update item set note = 'x' where id = 3; delete from item where id = 99999; insert into item "
                   "values (200001, 'y')");
  cr_assert(verified(&f, "--json") == 3, "%s", verified_complained);
  cr_assert(number_of("differences") == 3, "%s", verified_said);
  cr_assert(number_of("rows_received") < 4000, "%s", verified_said);
  cr_assert(number_of("bytes_received") < 200000, "%s", verified_said);
  fixture_end(&f);
}

Test(verify, a_refused_change_is_named_as_the_reason) {
  struct fixture f;
  mirrored_begin(&f, "verify_refused", "create table item (id int primary key, n int)");
  sql(f.at_target, "create table item (id int primary key, n int constraint n_is_small check (n < 100))");
  rowrelay_ok(&f, "target", "set", "w", "--option", "retries=0", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1, 1), (2, 200)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  VERIFIED_FINDS(&f, "public.item: missing 2; a change of it was refused: ", "n_is_small");
  sql(f.at_target, "alter table item drop constraint n_is_small");
  verified_repaired(&f);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.errors") == 0);
  fixture_end(&f);
}

static void fails(struct fixture *f, int expected, const char *target, const char *table, const char *words) {
  int status = rowrelay(f, &verified_said, &verified_complained, "verify", target, table, NULL);
  cr_assert(status == expected, "exit status %d\n%s%s", status, verified_said, verified_complained);
  cr_assert(strstr(verified_complained, words) != NULL, "\"%s\" is not in\n%s", words, verified_complained);
}

Test(verify, what_cannot_be_compared_is_told) {
  struct fixture f;
  mirrored_begin(&f, "verify_wrong",
                 "create table item (id int primary key, n int); create table other (id int primary key)");
  rowrelay_ok(&f, "target", "add", "f", "file:/tmp/nowhere", NULL);
  rowrelay_ok(&f, "target", "add", "a", f.target_url, "--option", "mode=append", NULL);
  fails(&f, 2, "none", NULL, "target \"none\" does not exist");
  fails(&f, 2, "w", NULL, "no table is routed to target \"w\"");
  mirrored_capture(&f, "item");
  fails(&f, 2, "w", "other", "no table routed to target \"w\" matches \"other\"");
  fails(&f, 2, "f", NULL, "only mirrors in PostgreSQL can be compared");
  fails(&f, 2, "a", NULL, "mode=append");
  verified_equal(&f); /* there is nothing yet that could be there */
  sql(f.at_source, "insert into item values (1, 1)");
  fails(&f, 1, "w", NULL, "does not exist in the target");
  mirrored_deliver(&f);
  verified_equal(&f);
  /* The others are compared all the same. */
  mirrored_capture(&f, "other");
  sql(f.at_target, "alter table item rename to moved; create table other (id int primary key)");
  fails(&f, 1, "w", NULL, "table public.item, the destination of public.item, does not exist in the target");
  cr_expect(strstr(verified_said, "item: not compared: table public.item") != NULL, "%s", verified_said);
  cr_expect(strstr(verified_said, "other: 0 rows") != NULL, "%s", verified_said);
  cr_assert(rowrelay(&f, &verified_said, &verified_complained, "verify", "w", "--json", NULL) == 1);
  cr_expect_str_eq(ask(f.at_source,
                       "select string_agg(concat_ws(' ', t ->> 'table', t ->> 'rows', left(t ->> 'error', 5)), ', ') "
                       "from json_array_elements('%s'::json -> 'tables') as t",
                       verified_said),
                   "public.item table, public.other 0", "%s", verified_said);
  sql(f.at_target, "insert into other values (7)");
  fails(&f, 3, "w", NULL, "target \"w\" differs in 1 row");
  sql(f.at_target, "truncate other; create view item as select * from moved");
  fails(&f, 1, "w", NULL, "new.ctid does not exist");
  cr_expect(strstr(verified_said, "other: 0 rows in") != NULL, "%s", verified_said);
  sql(f.at_target, "drop view item; alter table moved rename to item");
  verified_equal(&f);
  /* Nobody knows what is different while changes of it wait. */
  sql(f.at_source, "update item set n = 2");
  rowrelay_ok(&f, "target", "pause", "w", NULL);
  fails(&f, 1, "w", NULL, "their changes wait for target \"w\", which is paused");
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  cr_assert(rowrelay(&f, &verified_said, &verified_complained, "verify", "w", "--wait", "1", NULL) == 1);
  cr_assert(strstr(verified_complained, "not running") != NULL, "%s", verified_complained);
  /* Nobody delivers: nothing is to be waited for, unless that is asked for. */
  time_t began = time(NULL);
  fails(&f, 1, "w", NULL, "their changes wait for target \"w\", which is not running");
  cr_assert(strstr(verified_complained, "hint: run: rowrelay run --until-empty --target w") != NULL);
  cr_assert(time(NULL) - began < 30);
  mirrored_deliver(&f);
  verified_equal(&f);
  /* A key that the type there cannot have. */
  sql(f.at_source, "alter table item alter id type bigint; insert into item values (5000000000, 1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_target, "insert into other values (8)");
  fails(&f, 3, "w", NULL, "target \"w\" differs in 1 row");
  cr_expect(strstr(verified_said, "item: not compared: value \"5000000000\" is out of range") != NULL, "%s",
            verified_said);
  fixture_end(&f);
}

/* More rows than are decided together; no process delivers them, but one may be started. */
Test(verify, rows_that_wait_for_their_target_are_undecided_after_one_wait) {
  struct fixture f;
  mirrored_begin(&f, "verify_waits",
                 "create table item (id int primary key, n int); create table pair (a int, b text, "
                 "primary key (a, b)); create table still (id int primary key)");
  mirrored_capture(&f, "item");
  mirrored_capture(&f, "pair");
  mirrored_capture(&f, "still");
  sql(f.at_source,
      "insert into item select n, 0 from generate_series(1, 16000) as n; insert into pair values (1, 'x')");
  mirrored_deliver(&f);
  sql(f.at_source, "update item set n = 1; insert into pair values (2, 'y')");
  double began = seconds_now();
  cr_expect_eq(rowrelay(&f, &verified_said, &verified_complained, "verify", "w", "--wait", "0", NULL), 1);
  double at_once = seconds_now() - began;
  began = seconds_now();
  cr_expect_eq(
      rowrelay(&f, &verified_said, &verified_complained, "verify", "w", "--wait", "12", "--limit", "20000", NULL), 1);
  double took = seconds_now() - began;
  cr_expect(took < 2 * at_once + 40, "it took %.1f s, and %.1f s without waiting", took, at_once);
  cr_expect_not_null(strstr(verified_said, "item: undecided 1\n"), "%s", verified_said);
  cr_expect_not_null(strstr(verified_said, "pair: undecided [\"2\", \"y\"]\n"), "%s", verified_said);
  cr_expect_not_null(strstr(verified_said, "still: 0 rows in "), "%s", verified_said);
  cr_expect_not_null(strstr(verified_complained, "16001 rows of public.item, public.pair could not be compared"), "%s",
                     verified_complained);
  mirrored_deliver(&f);
  verified_equal(&f);
  fixture_end(&f);
}

Test(verify, a_transaction_that_stays_open_is_not_waited_for) {
  struct fixture f;
  mirrored_begin(&f, "verify_open", "create table item (id int primary key, n int)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item select n, n from generate_series(1, 100) as n");
  mirrored_deliver(&f);
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; update item set n = 0 where id = 7");
  sql(f.at_target, "update item set n = 1 where id = 8");
  double began = seconds_now();
  VERIFIED_FINDS(&f, "different 8 in n\n", "0 missing, 0 extra, 1 different");
  cr_assert(seconds_now() - began < 10);
  PQfinish(writer);
  fixture_end(&f);
}

/* Begins verify in the background. */
static pid_t start_verify(struct fixture *f) {
  pid_t process = fork();
  cr_assert(process >= 0);
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl(getenv("ROWRELAY_BIN"), "rowrelay", "-d", f->source, "verify", "w", (char *)NULL);
    _exit(127);
  }
  return process;
}

Test(verify, an_interrupt_ends_it_and_what_the_servers_do_for_it) {
  struct fixture f;
  mirrored_begin(&f, "verify_interrupt", "create table item (id int primary key, n int)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1, 1)");
  mirrored_deliver(&f);
  sql(f.at_target, "begin; lock table item");
  pid_t process = start_verify(&f);
  PGconn *watcher = connect_to(f.target, NULL);
  wait_until(watcher, "1", 20, "select count(*) from pg_locks where relation = 'item'::regclass and not granted");
  kill(process, SIGINT);
  int status;
  double began = seconds_now();
  cr_assert(waitpid(process, &status, 0) == process);
  cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  cr_assert(seconds_now() - began < 5);
  wait_until(watcher, "0", 5, "select count(*) from pg_locks where relation = 'item'::regclass and not granted");
  PQfinish(watcher);
  fixture_end(&f);
}

/* A mirror is made when the first row comes. */
Test(verify, a_table_that_is_empty_and_has_no_mirror_yet_is_equal) {
  struct fixture f;
  const char *output;
  const char *errors;
  fixture_begin(&f, "verify_empty");
  sql(f.at_source, "create table item (id int primary key, n int); create table bare (n int);"
                   "create table few (id int primary key, n int); insert into few values (1, 1);"
                   "create table by_hand (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "by_hand", "--to", "w", NULL);
  sql(f.at_source, "select rowrelay.add_document('page', 'w', 'id', 'select id from item where id = any ($1)', "
                   "'{item:id}', create_table => true)");
  rowrelay_ok(&f, "capture", "item", "bare", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "few", "--to", "w", "--create", "--where", "n > 5", NULL);
  cr_assert_eq(rowrelay(&f, &output, &errors, "verify", "w", NULL), 0, "%s", errors);
  cr_assert_not_null(strstr(output, "public.item"), "%s", output);
  cr_assert_not_null(strstr(output, "public.by_hand: 0 rows"), "%s", output);
  cr_assert_not_null(strstr(output, "page: 0 rows"), "%s", output);
  cr_assert_eq(rowrelay(&f, &output, &errors, "verify", "w", "bare", "--json", NULL), 0, "%s", errors);
  /* One that has rows must be there. */
  sql(f.at_source, "set rowrelay.skip = on; insert into item values (1, 1)");
  cr_assert_eq(rowrelay(&f, &output, &errors, "verify", "w", NULL), 1, "%s", output);
  cr_assert_not_null(strstr(errors, "the destination of public.item, does not exist in the target"), "%s", errors);
  cr_assert_eq(rowrelay(&f, &output, &errors, "verify", "w", "few", NULL), 0, "%s", errors);
  fixture_end(&f);
}

Test(verify, tables_without_columns_and_keys_that_are_json_are_compared) {
  struct fixture f;
  mirrored_begin(
      &f, "verify_bare",
      "create table bare (); create table hidden (a int, b int); create table tagged (tag jsonb primary key, "
      "n int)");
  mirrored_capture(&f, "bare");
  mirrored_capture(&f, "tagged");
  rowrelay_ok(&f, "capture", "hidden", "--to", "w", "--create", "--exclude", "a,b", NULL);
  sql(f.at_source, "insert into bare default values; insert into bare default values; insert into hidden values (1, 2);"
                   "insert into tagged values ('{\"a\": 1}', 1), ('\"a\"', 2), ('null', 3)");
  mirrored_deliver(&f);
  verified_equal(&f);
  sql(f.at_target, "insert into bare default values; delete from hidden; update tagged set n = 7");
  VERIFIED_FINDS(&f, "public.bare: 2 rows in", "0 missing, 1 extra, 0 different", "public.hidden: 1 row in",
                 "1 missing, 0 extra, 0 different", "public.tagged: different {\"a\": 1} in n",
                 "public.tagged: different \"a\" in n", "public.tagged: different null in n");
  fixture_end(&f);
}

/* They are listed when they are written, but not those of before, nor after a skip. */
Test(verify, rows_with_null_in_their_key_are_missing) {
  struct fixture f;
  mirrored_begin(&f, "verify_null",
                 "create table one (id int unique, n int); create table two (a int, b text, n int, unique (a, b));"
                 "insert into one values (null, 1), (null, 2)");
  rowrelay_ok(&f, "capture", "one", "--key", "id", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "two", "--key", "a,b", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into one select n, n from generate_series(1, 2000) as n;"
                   "insert into two select n, 'b', n from generate_series(1, 10) as n;"
                   "insert into two values (11, null, 1), (null, 'x', 2), (null, null, 3)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  rowrelay_ok(&f, "skip", "--all", NULL);
  VERIFIED_FINDS(&f, "one: missing [null]; no target gets a row with null in its key\n",
                 "two: missing [\"11\", null]; no target gets a row with null in its key\n",
                 "two: missing [null, \"x\"]; no target", "two: missing [null, null]; no target", "3 missing, 0 extra");
  cr_assert(verified(&f, "--repair") == 3);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "0");
  sql(f.at_source, "delete from one where id is null; delete from two where a is null or b is null");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  rowrelay_ok(&f, "skip", "--all", NULL);
  verified_equal(&f);
  fixture_end(&f);
}
