/* Mirrors that are created like their tables (option --like full), and what becomes of that. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "fixture.h"
#include "mirrored.h"

/* What both sides say of a table's columns, CHECKs and comments; of NOT NULL, also where the key makes it. */
#define COLUMNS                                                                                                        \
  "select string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then "     \
  "'not null' end, pg_get_expr(d.adbin, d.adrelid), (select collname from pg_collation c where c.oid = "               \
  "a.attcollation), '--' || col_description(a.attrelid, a.attnum)), E'\\n' order by a.attnum)"                         \
  " from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum"                       \
  " where a.attrelid = '%s'::regclass and a.attnum > 0 and not a.attisdropped"
#define CHECKS                                                                                                         \
  "select string_agg(format('%%I %%s', conname, pg_get_constraintdef(oid)), E'\\n' order by conname)"                  \
  " from pg_constraint where conrelid = '%s'::regclass and contype = 'c'"

#define COMMENT "select obj_description('%s'::regclass)"

/* CHECKs are compared if the table has some. */
static void same_catalogs(const struct fixture *f, const char *table, bool has_checks) {
  const char *there = ask(f->at_target, COLUMNS, table);
  cr_assert_str_eq(there, ask(f->at_source, COLUMNS, table));
  cr_assert_str_neq(there, "");
  there = ask(f->at_target, CHECKS, table);
  cr_assert_str_eq(there, ask(f->at_source, CHECKS, table));
  cr_assert(!has_checks == (there[0] == '\0'));
  cr_assert_str_eq(ask(f->at_target, COMMENT, table), ask(f->at_source, COMMENT, table));
}

/* Gives what the command said on stderr; the table is then created by the first row. */
static const char *capture_in_full(const struct fixture *f, const char *table) {
  const char *said;
  int status = rowrelay(f, NULL, &said, "capture", table, "--to", "w", "--create", "--like", "full", NULL);
  cr_assert_eq(status, 0, "%s", said);
  return said;
}

static void says(const char *said, const char *words) {
  cr_assert_not_null(strstr(said, words), "\"%s\" is not in\n%s", words, said);
}

/* Delivers all, and fails the test unless the process says this. */
static void delivers_and_says(struct fixture *f, const char *words) {
  pid_t process = fixture_run(f, "--workers", "1", NULL);
  wait_until_says(process, words, 60);
  wait_until_empty(f, 60);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  cr_assert_str_eq(ask(f->at_source, "select string_agg(message, ' ') from rowrelay.errors"), "");
}

static const char EVERYTHING[] =
    "create type mood as enum ('fine', 'it''s odd');"
    "create domain cents as int check (value >= 0);"
    "create table item (id int primary key, name text not null default 'it''s \\ \"x\" %s %I', "
    "  code varchar(20) collate \"C\" not null default upper('ab'), state mood not null default 'it''s odd', "
    "  price cents default 5 not null, at timestamptz not null default now(), day date default current_date, "
    "  later timestamptz default (now() + interval '1 day 2 hours'), ratio float8 default 0.1::float8, "
    "  words text[] default '{a,\"b c\"}', data jsonb default '{\"a\": \"%s\"}' not null, "
    "  made uuid default gen_random_uuid(), who text default current_user, plain text, "
    "  constraint \"Odd %s \"\"one\"\"\" check (price >= 0 and (state <> 'it''s odd' or name <> 'x''y')), "
    "  constraint lengths check (length(name) < 100 and code ~ '^[A-Z0-9]+$' and data <> 'null'), "
    "  check (plain in ('a', 'b', 'c%d'))); "
    "comment on table item is 'It''s %s a \"table\" \\'; comment on column item.name is 'its ''name'' %I'";

Test(likeness, a_mirror_in_full_is_as_the_table_is) {
  struct fixture f;
  mirrored_begin(&f, "likeness_all", EVERYTHING);
  const char *said = capture_in_full(&f, "item");
  cr_assert_str_eq(said,
                   "notice: mirror of public.item at w: without constraints of domain public.cents: the source checks "
                   "the values\n");
  sql(f.at_source, "insert into item (id, plain) select g, 'a' from generate_series(1, 50) g");
  mirrored_same(&f, "item");
  same_catalogs(&f, "item", true);

  sql(f.at_source, "update item set name = 'y', plain = null where id %% 2 = 0; delete from item where id %% 5 = 0; "
                   "update item set id = id + 1000 where id < 9; insert into item (id) values (7)");
  mirrored_same(&f, "item");
  sql(f.at_source, "truncate item; insert into item (id) values (1)");
  mirrored_same(&f, "item");
  rowrelay_ok(&f, "verify", "w", NULL);
  /* A mirror that people may write to, once it is no mirror any more. */
  sql(f.at_target, "insert into item (id) values (2)");
  cr_assert_str_eq(sql_fails(f.at_target, "insert into item (id, plain) values (3, 'z')"), "23514");
  fixture_end(&f);
}

Test(likeness, what_is_not_asked_for_is_not_there) {
  struct fixture f;
  mirrored_begin(&f, "likeness_minimal", EVERYTHING);
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", "--like", "minimal", NULL);
  sql(f.at_source, "insert into item (id) values (1)");
  mirrored_same(&f, "item");
  cr_assert_str_eq(ask(f.at_target, CHECKS, "item"), "");
  cr_assert_str_eq(ask(f.at_target,
                       "select count(*) from pg_attribute where attrelid = 'item'::regclass and attnum > 0 "
                       "and (attnotnull or atthasdef)"),
                   "1");
  /* A table that is there is not altered. */
  capture_in_full(&f, "item");
  sql(f.at_source, "insert into item (id) values (2)");
  mirrored_same(&f, "item");
  cr_assert_str_eq(ask(f.at_target, CHECKS, "item"), "");
  fixture_end(&f);
}

Test(likeness, what_a_mirror_lacks_is_told_once) {
  struct fixture f;
  mirrored_begin(&f, "likeness_once", "create table item (id int primary key, n int); create index on item (n)");
  says(capture_in_full(&f, "item"), "notice: mirror of public.item at w: without index item_n_idx");
  cr_assert_str_eq(capture_in_full(&f, "item"), "");
  rowrelay_ok(&f, "route", "item", "w", "--remove", NULL);
  says(capture_in_full(&f, "item"), "without index item_n_idx");
  fixture_end(&f);
}

Test(likeness, what_partitions_have_of_their_own_and_comments_of_the_key_are_told_too) {
  struct fixture f;
  mirrored_begin(&f, "likeness_own",
                 "create table item (id int, n int, primary key (id)) partition by range (id);"
                 "create table item_1 partition of item for values from (0) to (9);"
                 "create index item_n on item (n); create index item_1_own on item_1 (n);"
                 "create unique index item_1_once on item_1 (id, n);"
                 "comment on index item_pkey is 'a'; comment on constraint item_1_pkey on item_1 is 'b';"
                 "comment on index item_n is 'c'");
  const char *said = capture_in_full(&f, "item");
  says(said, "without index item_n: ");
  says(said, "without index of a partition item_1_own: ");
  says(said, "without unique index of a partition item_1_once: ");
  says(said, "without comment of index item_pkey: ");
  says(said, "without comment of index item_1_pkey: ");
  cr_assert_null(strstr(said, "comment of index item_n"), "%s", said);
  cr_assert_null(strstr(said, "item_1_n_idx"), "%s", said);
  fixture_end(&f);
}

Test(likeness, a_copy_fills_such_a_mirror) {
  struct fixture f;
  mirrored_begin(&f, "likeness_copy", EVERYTHING);
  sql(f.at_source, "insert into item (id) select generate_series(1, 1000)");
  capture_in_full(&f, "item");
  rowrelay_ok(&f, "backfill", "item", "--to", "w", NULL);
  mirrored_same(&f, "item");
  same_catalogs(&f, "item", true);
  fixture_end(&f);
}

Test(likeness, numbers_from_sequences_are_given_there_too) {
  struct fixture f;
  mirrored_begin(
      &f, "likeness_identity",
      "create table serials (id serial primary key, n smallserial, b bigint generated always as identity "
      "(start with 7 increment by -3 minvalue -50 maxvalue 7 cycle), d int generated by default as identity);"
      "create sequence shared_seq; create table shared (id bigint primary key default "
      "nextval('shared_seq'), nullable int default nextval('shared_seq'), "
      "odd int not null default 2 * nextval('shared_seq'))");
  cr_assert_str_eq(capture_in_full(&f, "serials"), "");
  const char *said = capture_in_full(&f, "shared");
  says(said, "without identity nullable: an identity column must be NOT NULL");
  says(said, "without default odd: it uses sequence public.shared_seq");
  sql(f.at_source, "insert into serials default values; insert into serials default values; insert into shared default "
                   "values");
  mirrored_same(&f, "serials");
  mirrored_same(&f, "shared");
  cr_assert_str_eq(ask(f.at_target,
                       "select string_agg(attname || attidentity::text, ' ' order by attrelid, attnum) from "
                       "pg_attribute where attrelid in ('serials'::regclass, 'shared'::regclass) and "
                       "attnum > 0"),
                   "idd nd bd dd idd nullable odd");
  cr_assert_str_eq(ask(f.at_target, "select concat_ws(' ', seqstart, seqincrement, seqmin, seqmax, seqcycle) from "
                                    "pg_sequence where seqrelid = pg_get_serial_sequence('serials', 'b')::regclass"),
                   "7 -3 -50 7 t");
  sql(f.at_source, "update serials set n = n + 5, id = id + 10; update shared set nullable = null");
  mirrored_same(&f, "serials");
  mirrored_same(&f, "shared");
  fixture_end(&f);
}

static const char LEFT_OUT[] =
    "create extension citext; create collation german (provider = icu, locale = 'de');"
    "create function own(int) returns boolean language sql immutable as 'select true';"
    "create function public.initial() returns int language sql as 'select 1';"
    "create table parent (id int primary key);"
    "create table item (id int primary key, a int unique, b int default initial(), c int check (own(c)), d text "
    "  collate german, e citext, f int generated always as (id + 1) stored, g timestamptz check (g < now()), h int "
    "  references parent, i text check (i = current_user), j int4range, k int not null, l text default "
    "  current_setting('app.tenant', true), m text default pg_read_file('/etc/hostname'), "
    "  exclude using gist (j with &&), check (item is distinct from null)); "
    "create index \"Look %s\" on item (lower(d), k) where k > 3; create unique index half on item (k) where k > 5;"
    "alter table item add constraint late check (k > 0) not valid";

Test(likeness, what_is_left_out_is_told_with_the_reason) {
  struct fixture f;
  mirrored_begin(&f, "likeness_left_out", LEFT_OUT);
  sql(f.at_target, "create extension citext");
  sql(f.at_source, "insert into parent values (1)");
  const char *said = capture_in_full(&f, "item");
  says(said, "without collation d: collation public.german is not PostgreSQL's own\nhint: Create the collation there");
  says(said, "without default b: it uses function public.initial()");
  says(said, "without default l: it uses function current_setting()");
  says(said, "without default m: it uses function pg_read_file()");
  says(said, "without generated column f: its values come from here, into a plain column");
  says(said, "without check item_c_check: it uses function public.own(integer)");
  says(said, "without check item_g_check: it uses function now()");
  says(said, "without check item_i_check: it uses the current time or user");
  says(said, "without check item_check: it uses the whole row");
  says(said, "without check late: it is not valid for rows that were there before it");
  says(said, "without foreign key item_h_fkey: rows of different tables arrive in any order");
  says(said, "without unique index item_a_key: rows arrive in several lanes");
  says(said, "without exclusion constraint item_j_excl: rows arrive in several lanes");
  says(said, "without unique index half: rows arrive in several lanes");
  says(said, "without type public.citext: extension citext has it");
  says(said, "CREATE INDEX ON public.item USING btree (lower(d), k) WHERE (k > 3);\n");
  sql(f.at_source, "insert into item (id, a, d, e, h, i, k) values (1, 1, 'x', 'Y', 1, current_user, 9)");
  mirrored_same(&f, "item");
  cr_assert_str_eq(ask(f.at_target, CHECKS, "item"), "");
  cr_assert_str_eq(ask(f.at_target,
                       "select string_agg(attname, ' ' order by attnum) from pg_attribute where attrelid = "
                       "'item'::regclass and attnum > 0 and (attnotnull or atthasdef)"),
                   "id k");
  cr_assert_str_eq(ask(f.at_target, "select count(*) from pg_index where indrelid = 'item'::regclass"), "1");
  sql(f.at_target, "CREATE INDEX ON public.item USING btree (lower(d), k) WHERE (k > 3)");
  /* Two rows exchange what is unique; one without a value of what was not valid yet. */
  sql(f.at_source,
      "insert into item (id, a, k) values (2, 2, 1); begin; update item set a = 3 where id = 1; update item "
      "set a = 1 where id = 2; update item set a = 2 where id = 1; commit");
  mirrored_same(&f, "item");
  fixture_end(&f);
}

Test(likeness, a_mirror_gives_way_to_what_the_table_takes_since) {
  struct fixture f;
  mirrored_begin(&f, "likeness_since",
                 "create table item (id int primary key, a int not null, b int not null, constraint small check (a < "
                 "10), check (b > 0))");
  capture_in_full(&f, "item");
  sql(f.at_source, "insert into item select g, 1, 1 from generate_series(1, 100) g");
  mirrored_same(&f, "item");
  sql(f.at_source, "alter table item alter a drop not null, drop constraint small; "
                   "update item set a = null where id = 3; update item set a = 11 where id = 4; update item set b = 2");
  delivers_and_says(&f,
                    "mirror public.item: dropped its NOT NULL of column a, which a row of public.item does not meet");
  same_rows(&f, "item", "item", "id");
  same_catalogs(&f, "item", true);
  rowrelay_ok(&f, "verify", "w", NULL);

  /* A CHECK that somebody has made there is not ours to drop. */
  sql(f.at_target, "alter table item add constraint theirs check (b < 5)");
  sql(f.at_source, "update item set b = 6 where id = 5");
  pid_t process = fixture_run(&f, "--until-empty", NULL);
  wait_process(process, 60);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(key, ' ') from rowrelay.errors"), "5");
  cr_assert_str_eq(ask(f.at_target, "select count(*) from pg_constraint where conname = 'theirs'"), "1");
  fixture_end(&f);
}

Test(likeness, older_rows_than_its_constraints_are_delivered) {
  struct fixture f;
  mirrored_begin(&f, "likeness_older", "create table item (id int primary key, a int, n jsonb)");
  capture_in_full(&f, "item");
  sql(f.at_source,
      "insert into item values (1, null, 'null'), (2, 5, '{}'); update item set a = 7 where a is null; "
      "alter table item alter a set not null, alter n set not null, add column c int not null default 4, "
      "add check (a > 5) not valid; insert into item values (3, 6, '3', 4); update item set a = 6 where id "
      "= 2; alter table item validate constraint item_a_check");
  mirrored_same(&f, "item");
  rowrelay_ok(&f, "verify", "w", NULL);
  fixture_end(&f);
}

Test(likeness, a_mirror_in_the_source_itself_gives_way_too) {
  struct fixture f;
  mirrored_begin(&f, "likeness_itself", "create table item (id int primary key, a int not null check (a > 0))");
  rowrelay_ok(&f, "target", "add", "here", "postgresql:", NULL);
  rowrelay_ok(&f, "capture", "item", NULL);
  rowrelay_ok(&f, "route", "item", "here", "--into", "copy.\"It's %s\"", "--create", "--like", "full", NULL);
  sql(f.at_source, "insert into item values (1, 1)");
  mirrored_deliver(&f);
  cr_assert_str_eq(sql_fails(f.at_source, "insert into copy.\"It's %%s\" values (2, null)"), "23502");
  cr_assert_str_eq(sql_fails(f.at_source, "insert into copy.\"It's %%s\" values (2, 0)"), "23514");
  sql(f.at_source, "alter table item alter a drop not null, drop constraint item_a_check; insert into item values (2, "
                   "null), (3, 0), (4, 4)");
  delivers_and_says(&f, "dropped its CHECK item_a_check");
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(format('%%s:%%s', id, a), ' ' order by id) from copy.\"It's %%s\""),
      "1:1 2: 3:0 4:4");
  fixture_end(&f);
}

Test(likeness, masked_and_excluded_columns_do_without) {
  struct fixture f;
  mirrored_begin(
      &f, "likeness_masked",
      "create table item (id int primary key, a text not null check (a <> ''), b text not null default 'x', "
      "c text not null, check (length(b || c) > 1), check (length(c) > 0)); comment on column item.b is 'b'; "
      "create index on item (b); create index on item (c)");
  const char *said;
  cr_assert_eq(rowrelay(&f, NULL, &said, "capture", "item", "--mask", "a", "--exclude", "b", "--to", "w", "--create",
                        "--like", "full", NULL),
               0);
  says(said, "without not null a: its values are masked\n");
  says(said, "without check item_a_check: column a is masked or not captured\n");
  says(said, "without check item_check: column b is masked or not captured\n");
  says(said, "without index item_b_idx: delivering and copying is faster without it\nnotice");
  sql(f.at_source, "insert into item values (1, 'secret', 'x', 'yz')");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, COLUMNS, "item"), "id integer not null\na text default\nc text not null default");
  cr_assert_str_eq(ask(f.at_target, CHECKS, "item"), "item_c_check CHECK ((length(c) > 0))");
  fixture_end(&f);
}

Test(likeness, partitions_and_hostile_names_are_no_obstacle) {
  struct fixture f;
  mirrored_begin(
      &f, "likeness_names",
      "create schema \"My %s \"\"Shop\"\"\"; set search_path = \"My %s \"\"Shop\"\"\"; "
      "create table \"It's; %I\" (\"I'd\" int not null, \"a \"\"%s\"\" \\\" int not null default 3, \"select\" "
      "text default '; drop table x' check (\"select\" <> 'a'), primary key (\"I'd\")) partition by range "
      "(\"I'd\"); "
      "create table p1 partition of \"It's; %I\" for values from (0) to (10); "
      "create table p2 partition of \"It's; %I\" for values from (10) to (20); "
      "comment on column \"It's; %I\".\"a \"\"%s\"\" \\\" is '''; %s'; reset search_path");
  const char *table = "\"My %s \"\"Shop\"\"\".\"It's; %I\"";
  cr_assert_str_eq(capture_in_full(&f, table), "");
  sql(f.at_source, "insert into %s values (1), (11)", table);
  mirrored_same(&f, table);
  same_catalogs(&f, "\"My %s \"\"Shop\"\"\".\"It''s; %I\"", true);
  sql(f.at_source, "alter table %s alter \"a \"\"%%s\"\" \\\" drop not null; update %s set \"a \"\"%%s\"\" \\\" = null",
      table, table);
  mirrored_same(&f, table);
  fixture_end(&f);
}

/* The partitions of a table, each with its bounds and what it is partitioned by itself. */
#define PARTITIONS                                                                                                     \
  "select string_agg(concat_ws(' ', c.oid::regclass, pg_get_expr(c.relpartbound, c.oid), 'by ' || "                    \
  "pg_get_partkeydef(c.oid)), E'\\n' order by t.level, c.oid::regclass::text) from pg_partition_tree('%s') t "         \
  "join pg_class c on c.oid = t.relid"

/* Of partitions and their columns. */
#define COMMENTS                                                                                                       \
  "select string_agg(concat(a.attname || ': ', d.description), ', ' order by d.description) "                          \
  "from pg_partition_tree('%s') t join pg_description d on d.objoid = t.relid and d.classoid = 'pg_class'::regclass "  \
  "left join pg_attribute a on a.attrelid = t.relid and a.attnum = d.objsubid and d.objsubid > 0 where t.level > 0"

static const char PARTITIONED[] =
    "create table item (id int not null, at timestamptz not null, tag text not null default 'x', primary key (id, at, "
    "tag)) partition by range (at); create schema old;"
    "create table old.item_0 partition of item for values from (minvalue) to ('2024-01-01');"
    "create table item_24 partition of item for values from ('2024-01-01') to ('2025-01-01') partition by list (tag);"
    "create table item_24x partition of item_24 for values in ('x', 'it''s %s');"
    "create table item_24r partition of item_24 default partition by hash (id);"
    "create table item_24r0 partition of item_24r for values with (modulus 2, remainder 0);"
    "create table item_24r1 partition of item_24r for values with (modulus 2, remainder 1);"
    "comment on table item_24 is 'year 24'; comment on column old.item_0.tag is 'old tag';"
    "comment on table item_24r1 is 'it is ''%I''s\\';"
    "insert into item select g, '2023-07-01'::timestamptz + g * interval '1 day', case g % 3 when 0 then 'x' when 1 "
    "then 'y' else 'it''s %s' end from generate_series(1, 500) g;";

Test(likeness, a_partitioned_table_has_a_partitioned_mirror) {
  struct fixture f;
  mirrored_begin(&f, "likeness_parts", PARTITIONED);
  const char *said = capture_in_full(&f, "item");
  cr_assert_null(strstr(said, "without"), "%s", said);
  rowrelay_ok(&f, "backfill", "item", "--to", "w", NULL);
  mirrored_same(&f, "item");
  same_catalogs(&f, "item", false);
  cr_assert_str_eq(ask(f.at_source, COMMENTS, "item"), "it is '%I's\\, tag: old tag, year 24");
  cr_assert_str_eq(ask(f.at_target, COMMENTS, "item"), ask(f.at_source, COMMENTS, "item"));
  const char *here = ask(f.at_source, PARTITIONS, "item");
  cr_assert_not_null(strstr(here, "old.item_0 "));
  cr_assert_str_eq(ask(f.at_target, "select replace($x$%s$x$, 'old.item_0', 'old_item_0')", here),
                   ask(f.at_target, PARTITIONS, "item"));
  sql(f.at_source, "update item set tag = 'z' where id %% 5 = 0; update item set at = at - interval '1 year' where id "
                   "%% 7 = 0; delete from item where id %% 11 = 0; truncate item_24x");
  mirrored_same(&f, "item");
  rowrelay_ok(&f, "verify", "w", NULL);
  sql(f.at_source, "truncate item; insert into item values (1, '2024-02-02')");
  mirrored_same(&f, "item");
  fixture_end(&f);
}

Test(likeness, a_partition_that_the_table_gets_later_is_added_with_its_first_row) {
  struct fixture f;
  mirrored_begin(&f, "likeness_part_later", PARTITIONED);
  capture_in_full(&f, "item");
  sql(f.at_source, "insert into item values (600, '2024-05-05')");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until_empty(&f, 60);
  /* The process has read what the table was like before. */
  sql(f.at_source, "create table item_25 partition of item for values from ('2025-01-01') to ('2026-01-01'); "
                   "create table item_26 partition of item for values from ('2026-01-01') to ('2027-01-01'); "
                   "comment on table item_25 is 'year 25'; comment on column item_26.tag is 'of 26'");
  sql(f.at_source,
      "insert into item select g, '2025-01-01'::timestamptz + g * interval '1 day' from generate_series(1, "
      "300) g");
  wait_until_says(process, "mirror public.item: added the partitions that public.item has got since", 60);
  wait_until_empty(&f, 60);
  cr_assert_str_eq(ask(f.at_target, COMMENTS, "item"), ask(f.at_source, COMMENTS, "item"));
  /* One of which the table is rid when its row comes; and the mirror has no other. */
  stop_process(process, SIGTERM);
  sql(f.at_source, "create table item_x partition of item default; insert into item values (700, '2030-01-01'); drop "
                   "table item_x");
  delivers_and_says(&f, "added a default partition, because no partition of public.item takes a row");
  cr_assert_str_eq(
      ask(f.at_target,
          "select string_agg(tableoid::regclass || ' ' || n, ', ' order by n, tableoid::regclass::text) from (select "
          "tableoid, count(*) as n from item group by 1) x"),
      "item_24x 1, item_default 1, item_25 300");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(message, ' ') from rowrelay.errors"), "");
  fixture_end(&f);
}

Test(likeness, a_partition_whose_name_is_taken_there_is_made_up_for) {
  struct fixture f;
  mirrored_begin(&f, "likeness_part_taken", PARTITIONED);
  sql(f.at_target, "create table old_item_0 (n int)");
  capture_in_full(&f, "item");
  sql(f.at_source, "insert into item values (1001, '2024-05-05'), (1002, '2023-05-05')");
  delivers_and_says(&f, "mirror public.item was created without partition public.old_item_0: relation \"old_item_0\" "
                        "already exists");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(tableoid::regclass::text, ' ' order by id) from item"),
                   "item_24x item_default");
  fixture_end(&f);
}

/* Its partitions have its name before theirs, because theirs are taken. */
Test(likeness, a_partitioned_mirror_in_the_source_itself) {
  struct fixture f;
  mirrored_begin(&f, "likeness_part_itself", PARTITIONED);
  rowrelay_ok(&f, "target", "add", "here", "postgresql:", NULL);
  rowrelay_ok(&f, "capture", "item", NULL);
  rowrelay_ok(&f, "route", "item", "here", "--into", "public.\"It's\"", "--create", "--like", "full", NULL);
  sql(f.at_source, "insert into item values (1001, '2024-05-05'), (1002, '2023-05-05')");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(tableoid::regclass::text, ' ' order by id) from \"It's\""),
                   "\"It's_item_24x\" \"It's_old_item_0\"");
  sql(f.at_source, "create table item_25 partition of item for values from ('2025-01-01') to ('2026-01-01'); "
                   "insert into item values (1003, '2025-05-05'); drop table old.item_0; "
                   "create table old.item_0 partition of item default; insert into item values (1004, '2028-01-01')");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(tableoid::regclass::text, ' ' order by id) from \"It's\" "
                                    "where id > 1002"),
                   "\"It's_item_25\" \"It's_default\"");
  fixture_end(&f);
}

Test(likeness, why_a_mirror_is_not_partitioned_is_told) {
  struct fixture f;
  mirrored_begin(
      &f, "likeness_part_not",
      "create function own(int) returns int language sql immutable as 'select $1';"
      "create table a (id int not null, b int) partition by list (own(b));"
      "create table a_1 partition of a default;"
      "create table b (id int primary key, k int) partition by range (id); create table b_1 partition of b for "
      "values from (0) to (9)");
  const char *said;
  says(capture_in_full(&f, "a"), "without partitions of a: they depend on function public.own(integer)\n");
  cr_assert_eq(
      rowrelay(&f, NULL, &said, "capture", "b", "--mask", "k", "--to", "w", "--create", "--like", "full", NULL), 0,
      "%s", said);
  cr_assert_str_eq(said, "");
  sql(f.at_source, "insert into a values (1, 1); insert into b values (1, 1)");
  mirrored_deliver(&f);
  cr_assert_str_eq(
      ask(f.at_target,
          "select string_agg(relkind::text, '' order by relname) from pg_class where relname in ('a', 'b')"),
      "rp");
  fixture_end(&f);
}

Test(likeness, what_the_target_does_not_accept_is_left_out_and_logged) {
  struct fixture f;
  mirrored_begin(&f, "likeness_refused",
                 "create type mood as enum ('old', 'new'); create table item (id int primary key, m mood default 'new' "
                 "not null, n int not null)");
  /* as a role that may not add the label there */
  sql(f.at_target,
      "drop role if exists likeness_app; create role likeness_app login; create type mood as enum ('old');"
      "grant create on schema public to likeness_app;"
      "do $$ begin execute format('grant create on database %%I to likeness_app', current_database()); end $$");
  char url[600];
  snprintf(url, sizeof url, "%s&user=likeness_app", f.target_url);
  rowrelay_ok(&f, "target", "set", "w", "--url", url, NULL);
  capture_in_full(&f, "item");
  sql(f.at_source, "insert into item values (1, 'old', 1)");
  delivers_and_says(&f, "mirror public.item was created without default m: invalid input value for enum mood: \"new\"");
  same_rows(&f, "item", "item", "id");
  cr_assert_str_eq(ask(f.at_target,
                       "select string_agg(attname, ' ' order by attnum) from pg_attribute where attrelid = "
                       "'item'::regclass and attnum > 0 and attnotnull"),
                   "id m n");
  sql(f.at_target, "drop owned by likeness_app cascade; drop role likeness_app");
  fixture_end(&f);
}

Test(likeness, a_missing_type_of_an_extension_is_told_with_what_to_do) {
  struct fixture f;
  mirrored_begin(&f, "likeness_type", "create extension citext; create table item (id int primary key, c citext)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1, 'x')");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_source, "t", 20,
             "select note like '%%create in the target what table public.item needs, such as the extension%%' from "
             "rowrelay.status where target = 'w'");
  sql(f.at_target, "create extension citext");
  wait_until(f.at_source, "0", 60, "select count(*) from rowrelay.hold");
  wait_until_empty(&f, 60);
  stop_process(process, SIGTERM);
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

Test(likeness, wrong_use_is_refused) {
  struct fixture f;
  const char *said;
  mirrored_begin(&f, "likeness_wrong", "create table item (id int primary key)");
  cr_assert_eq(rowrelay(&f, NULL, &said, "capture", "item", "--to", "w", "--create", "--like", "twin", NULL), 2);
  says(said, "option --like cannot be \"twin\"\nhint: one of: minimal, full");
  cr_assert_eq(rowrelay(&f, NULL, &said, "capture", "item", "--to", "w", "--like", "full", NULL), 2);
  says(said, "option --like needs --create");
  rowrelay_ok(&f, "capture", "item", NULL);
  cr_assert_eq(rowrelay(&f, NULL, &said, "route", "item", "w", "--like", "full", NULL), 2);
  says(said, "option --like needs --create");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.route('item', 'w', create_like => 'twin')"), "22023");
  rowrelay_ok(&f, "target", "add", "log", "file:/dev/null", NULL);
  cr_assert_eq(rowrelay(&f, NULL, &said, "route", "item", "log", "--create", "--like", "full", NULL), 0);
  says(said, "target \"log\" has no mirrors");
  fixture_end(&f);
}
