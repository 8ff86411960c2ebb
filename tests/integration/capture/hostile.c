/* Nothing in an application's session may change what is captured, and nothing of ours may change the session. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mirrored.h"

/* ---- the tables ------------------------------------------------------------------------------------------------- */

/* Tables, each with a primary key of a type whose text or hash could depend on settings. */
static const char *const KEYS[][3] = {
    {"date", "'2024-03-04'", "'2024-05-06'"},
    {"timestamp", "'2024-03-04 05:06:07.125'", "'infinity'"},
    {"timestamptz", "'2024-03-04 05:06:07.125+00'", "'2024-07-04 05:06:07+00'"},
    {"timestamptz[]", "'{2024-03-04 05:06:07+00}'", "'[2:2]={2024-03-04 05:06:07+00}'"},
    {"tstzrange", "'[2024-03-04 05:06:07+00,)'", "'empty'"},
    {"interval", "'-1 days +2 hours 1.5 s'", "'1 year 2 mons'"},
    {"float8", "'0.1'::float8 + '0.2'::float8", "'-0'"},
    {"float4[]", "'{0.1,NaN}'", "'{1e-20}'"},
    {"numeric", "1.500", "1000000.0"},
    {"money", "'1234.5'", "'-7'"},
    {"bytea", "'\\x005c27ff'", "'\\x41'"},
    {"text", "E'it''s \\\\ \"quoted\"'", "''"},
    {"bpchar(5)", "'a'", "'b'"},
    {"bool", "true", "false"},
    {"regclass", "'app.every'", "'pg_class'"},
    {"app.mood", "'it''s ok'", "'sad'"},
    {"app.mood[]", "'{sad,NULL}'", "'{}'"},
    {"app.born", "'2024-03-04 05:06:07+00'", "'infinity'"},
    {"app.pair", "row('2024-03-04', 0.1::float8 + 0.2::float8, '\\x00ff', '1 day 2 hours', '2024-03-04 05:06:07+00')",
     "row(null, null, null, null, null)"},
};
enum { KEY_COUNT = sizeof KEYS / sizeof *KEYS };

static const char TYPES[] =
    "create schema app;"
    "create type app.mood as enum ('it''s ok', 'sad');"
    "create domain app.born as timestamptz;"
    "create type app.pair as (d date, f float8, b bytea, i interval, t timestamptz);"
    "create type app.moody as (m app.mood[]);"
    "create table app.every (id int primary key, d date, ts timestamp, tz timestamptz, i interval, f4 float4, f8 "
    "float8, n numeric,"
    "  m money, b bytea, x text, j json, jb jsonb, tza timestamptz[], da date[], ia interval[], ba bytea[], fa "
    "float8[], r tstzrange, dr daterange,"
    "  c app.pair, ca app.pair[], e app.mood, born app.born, p point, poly polygon, reg regclass, rega regtype[], bits "
    "bit(5), tt timetz, xm xml, ma app.mood[], mb app.moody);"
    "create table app.every_sample as table app.every;"
    "insert into app.every_sample values (1, '2024-03-04', '2024-03-04 05:06:07', '2024-03-04 05:06:07+00', '-1 days "
    "+2 hours', 0.1, 0.1::float8 + 0.2::float8, 1.500,"
    "  '1234.5', '\\x005c27ff', E'it''s \\\\ \"q\" \\u0001', E' {\"a\": \"\\\\u0000\"} ', 'null', '[3:3]={2024-03-04 "
    "05:06:07+00}', '{2024-03-04,infinity,null}',"
    "  '{-1 days +2 hours}', '{\"\\\\x00ff\"}', '[0:1]={0.30000000000000004,NaN}', '[2024-03-04 05:06:07+00,)', "
    "'[2024-03-04,2024-03-05]',"
    "  row('2024-03-04', 0.1::float8 + 0.2::float8, '\\x00ff', '-1 day +2 hours', '2024-03-04 05:06:07+00'),"
    "  array[row('2024-03-04', 0.1::float8 + 0.2::float8, '\\x00ff', '-1 day +2 hours', '2024-03-04 "
    "05:06:07+00')::app.pair],"
    "  'it''s ok', '2024-03-04 05:06:07+00', '(0.1,0.30000000000000004)', '((0,0),(0.1,0.3))', 'app.every', "
    "'{app.pair,integer,\"char\"}', '10101', '05:06:07+03', '<a>&lt;</a>', '{sad,NULL}', '(\"{NULL,sad}\")');"
    "create table app.line (id int primary key, born timestamptz, name text);"
    "create table app.line_sample as table app.line;"
    "insert into app.line_sample values (1, '2024-03-04 05:06:07+00', 'x'), (2, 'infinity', 'y'), (3, null, null)";

/* Tables of keys, every, and line; all captured in some way that takes more than the plain one. */
static void make_tables(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "%s", TYPES);
  for (int i = 0; i < KEY_COUNT; i++) {
    sql(f->at_source, "create table app.k%d (k %s primary key, v text); create table app.k%d_sample as table app.k%d;",
        i, KEYS[i][0], i, i);
    sql(f->at_source,
        "insert into app.k%d_sample values (%s, 'one'); create table app.k%d_other as select k from app.k%d; insert "
        "into app.k%d_other values (%s)",
        i, KEYS[i][1], i, i, i, KEYS[i][2]);
    sql(f->at_source, "select rowrelay.capture_table('app.k%d', before => '%s')", i, i % 2 == 0 ? "none" : "full");
  }
  sql(f->at_source, "select rowrelay.capture_table('app.every', before => 'full')");
  sql(f->at_source,
      "select rowrelay.capture_table('app.line', lane => '{born}', exclude => '{name}', row_filter => 'id < 3')");
  sql(f->at_source, "select rowrelay.add_target('w', 'stdout:')");
  sql(f->at_source, "select rowrelay.route(relation, 'w') from rowrelay.captures");
}

/*
 * Writes to all of them, with statements that need no function or operator, and gives what was captured, a line for
 * each change; it is the caller's to free. Sizes are left out of the slow way, where they depend on how PostgreSQL
 * passes values.
 */
static char *write_all(struct fixture *f, PGconn *session, const char *key) {
  for (int i = 0; i < KEY_COUNT; i++)
    sql(session,
        "insert into app.k%d select * from app.k%d_sample; update app.k%d set v = 'two'; update app.k%d as k set %s = "
        "o.k from app.k%d_other as o; delete from app.k%d",
        i, i, i, i, key, i, i);
  sql(session, "insert into app.every select * from app.every_sample; update app.every set x = 'two'; update app.every "
               "set id = 2; delete from app.every");
  sql(session, "insert into app.line select * from app.line_sample; update app.line set born = '2000-01-01 "
               "00:00:00+00'; delete from app.line");
  sql(session, "insert into app.every select * from app.every_sample; truncate app.every, app.line");
  char query[512];
  snprintf(query, sizeof query,
           "select string_agg(concat_ws(' | ', c.relation_name, h.op, h.key, h.old_row, h.new_row, h.caveat, q.lane, "
           "%s), E'\\n' order by h.id) "
           "from rowrelay.change h join rowrelay.capture c on c.id = h.capture left join rowrelay.queue q on "
           "q.change_id = h.id",
           strcmp(key, "k") == 0 ? "q.bytes" : "null");
  PGresult *reply = PQexec(f->at_source, query);
  cr_assert(PQresultStatus(reply) == PGRES_TUPLES_OK, "%s", PQerrorMessage(f->at_source));
  char *captured = strdup(PQgetvalue(reply, 0, 0));
  PQclear(reply);
  sql(f->at_source, "truncate rowrelay.change, rowrelay.queue");
  return captured;
}

static void same_changes(const char *expected, const char *got) {
  int changes = 0;
  while (*expected != '\0' || *got != '\0') {
    size_t length = strcspn(expected, "\n");
    size_t got_length = strcspn(got, "\n");
    cr_assert(length == got_length && strncmp(expected, got, length) == 0, "captured otherwise:\n%.*s\n%.*s",
              (int)length, expected, (int)got_length, got);
    expected += length + (expected[length] == '\n');
    got += got_length + (got[got_length] == '\n');
    changes++;
  }
  cr_assert(changes > 5 * KEY_COUNT);
}

/* ---- the sessions ----------------------------------------------------------------------------------------------- */

/* Everything of pg_catalog that our functions use by name, with the same arguments: it counts its calls, then fails. */
static const char EVIL[] =
    "create schema evil; create sequence evil.calls;"
    "create function evil.fail() returns int language plpgsql as $f$ begin perform pg_catalog.nextval('evil.calls'); "
    "raise 'hostile'; end $f$;"
    "create table evil.change (x int); create table evil.queue (x int); create table evil.pg_class (x int); create "
    "table evil.pg_attribute (x int);"
    "do $do$ declare f record; begin"
    "  for f in select distinct p.proname, pg_get_function_identity_arguments(p.oid) as arguments, "
    "pg_get_function_result(p.oid) as result"
    "             from pg_proc p"
    "            where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind = 'f'"
    "              and p.proname in (select m[1] from pg_proc o, regexp_matches(o.prosrc, '(\\w+) ?\\(', 'g') as m "
    "where o.pronamespace = 'rowrelay'::regnamespace)"
    "  loop"
    "    begin execute format('create function evil.%I(%s) returns %s language plpgsql as $f$ begin perform "
    "evil.fail(); end $f$', f.proname, f.arguments, f.result);"
    "    exception when others then null; end;"
    "  end loop;"
    "  for f in select o.oprname, l.typname as l, r.typname as r, o.oprresult::regtype as result"
    "             from pg_operator o join pg_type l on l.oid = o.oprleft join pg_type r on r.oid = o.oprright"
    "            where o.oprnamespace = 'pg_catalog'::regnamespace"
    "              and o.oprname in ('=', '<>', '<', '<=', '>', '>=', '||', '+', '-', '&', '->', '->>', '~~', '~', "
    "'@>', '<@', '&&')"
    "              and array[l.typname, r.typname] <@ array['text', 'int2', 'int4', 'int8', 'char', 'bool', 'date', "
    "'json', 'oid', 'xid', 'xid8', 'name',"
    "                                                      'timestamptz', 'interval', 'anyarray', "
    "'anycompatiblearray', 'anyelement', 'anynonarray']::name[]"
    "  loop"
    "    begin execute format('create function evil.operator(%I, %I) returns %s language plpgsql as $f$ begin perform "
    "evil.fail(); end $f$', f.l, f.r, f.result);"
    "    exception when duplicate_function then null; when others then continue; end;"
    "    begin execute format('create operator evil.%s (leftarg = %I, rightarg = %I, procedure = evil.operator)', "
    "f.oprname, f.l, f.r);"
    "    exception when others then null; end;"
    "  end loop;"
    "end $do$;"
    "create function evil.json_build_object(variadic \"any\") returns json language internal as "
    "'json_build_object_noargs';"
    "create function evil.json_build_array(variadic \"any\") returns json language internal as "
    "'json_build_array_noargs';"
    "do $do$ declare t text; begin"
    "  foreach t in array array['text', 'int4', 'int8', 'bool', 'json', 'jsonb', 'char', 'date', 'regclass', 'xid8', "
    "'timestamptz', 'name', 'numeric', 'oid', 'record'] loop"
    "    execute format('create domain evil.%I as pg_catalog.varchar check (evil.fail() = 0)', t);"
    "  end loop;"
    "end $do$;"
    "grant usage on schema evil to public; grant usage on sequence evil.calls to public";

static const char *const SETTINGS[][2] = {
    {"datestyle", "German, DMY"},
    {"intervalstyle", "sql_standard"},
    {"bytea_output", "escape"},
    {"extra_float_digits", "-15"},
    {"timezone", "Asia/Kathmandu"},
    {"standard_conforming_strings", "off"},
    {"escape_string_warning", "off"},
    {"backslash_quote", "on"},
    {"quote_all_identifiers", "on"},
    {"plan_cache_mode", "force_custom_plan"},
    {"transform_null_equals", "on"},
    {"array_nulls", "off"},
    {"xmloption", "document"},
    {"xmlbinary", "hex"},
    {"row_security", "off"},
    {"check_function_bodies", "off"},
    {"plpgsql.extra_errors", "all"},
    {"default_transaction_isolation", "serializable"},
    {"client_min_messages", "error"},
    {"work_mem", "64kB"},
    {"enable_hashjoin", "off"},
    {"lc_monetary", "C.UTF-8"},
    {"lc_numeric", "C.UTF-8"},
    {"client_encoding", "LATIN1"},
    {"search_path", "evil, pg_catalog, app"},
};
enum { SETTING_COUNT = sizeof SETTINGS / sizeof *SETTINGS };

static void set_all(PGconn *session) {
  for (int i = 0; i < SETTING_COUNT; i++)
    sql(session, "select pg_catalog.set_config('%s', '%s', false)", SETTINGS[i][0], SETTINGS[i][1]);
}

static void settings_are_as_set(PGconn *session) {
  for (int i = 0; i < SETTING_COUNT; i++)
    cr_assert_str_eq(ask(session, "show %s", SETTINGS[i][0]), SETTINGS[i][1], "%s", SETTINGS[i][0]);
}

Test(hostile, shadowing_functions_operators_and_types_change_nothing) {
  struct fixture f;
  make_tables(&f, "hostile_path");
  char *plain = write_all(&f, f.at_source, "k");
  sql(f.at_source, "%s", EVIL);
  cr_assert(ask_number(f.at_source, "select count(*) from pg_proc where pronamespace = 'evil'::regnamespace") > 100);
  cr_assert(ask_number(f.at_source, "select count(*) from pg_operator where oprnamespace = 'evil'::regnamespace") >
            100);
  PGconn *session = connect_to(f.source, NULL);
  sql(session, "create temp table change (x int); create temp table queue (x int); create temp table pg_class (x int);"
               "create domain pg_temp.text as int; create domain pg_temp.int4 as bool; create domain pg_temp.json as "
               "bool; create domain pg_temp.record as bool");
  sql(session, "set search_path to evil, pg_temp, pg_catalog");
  cr_assert_str_eq(sql_fails(session, "select 1 = 1"), "P0001");
  int64_t calls = ask_number(f.at_source, "select last_value from evil.calls");
  char *hostile = write_all(&f, session, "k");
  same_changes(plain, hostile);
  cr_assert(ask_number(f.at_source, "select last_value from evil.calls") == calls, "something hostile was called");
  PQfinish(session);
  free(plain);
  free(hostile);
  fixture_end(&f);
}

/* Extension intarray has such ones, which refuse nulls, in the schema of most tables. */
Test(hostile, operators_for_arrays_of_integers_are_in_nobodys_way) {
  struct fixture f;
  mirrored_begin(&f, "hostile_intarray",
                 "create function refuse(int[], int[]) returns bool language plpgsql as $$ begin raise 'not this one'; "
                 "end $$;"
                 "create operator <@ (leftarg = int[], rightarg = int[], function = refuse);"
                 "create operator @> (leftarg = int[], rightarg = int[], function = refuse);"
                 "create operator && (leftarg = int[], rightarg = int[], function = refuse);"
                 "create table t (id int, n int, note text, primary key (id, n))");
  mirrored_capture(&f, "t");
  sql(f.at_source, "insert into t values (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')");
  rowrelay_ok(&f, "capture", "t", "--lane", "n", "--exclude", "note", NULL);
  rowrelay_ok(&f, "capture", "t", "--key", "n,id", "--reset", "--before", NULL);
  sql(f.at_source, "update t set note = 'd'; delete from t where id = 2; select rowrelay.maintain()");
  mirrored_same(&f, "t");
  sql(f.at_target, "delete from t");
  cr_expect_eq(rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL), 3);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  mirrored_same(&f, "t");
  sql(f.at_source, "select * from rowrelay.changes_since('', 100); select rowrelay.prune('0 days');"
                   "select rowrelay.undo('t', key, change_id) from rowrelay.history where op = 'delete'");
  rowrelay_ok(&f, "doctor", NULL);
  rowrelay_ok(&f, "release", "t", NULL);
  fixture_end(&f);
}

Test(hostile, settings_change_nothing_and_are_not_changed) {
  struct fixture f;
  make_tables(&f, "hostile_settings");
  sql(f.at_source, "create schema evil");
  char *plain = write_all(&f, f.at_source, "k");
  PGconn *session = connect_to(f.source, NULL);
  set_all(session);
  settings_are_as_set(session);
  char *hostile = write_all(&f, session, "k");
  same_changes(plain, hostile);
  settings_are_as_set(session);
  free(hostile);

  /* The same within one transaction, where something fails in between. */
  sql(session, "begin");
  sql(session, "set local timezone to 'Asia/Tokyo'; set datestyle to 'SQL, MDY'");
  sql(session, "insert into app.k2 select * from app.k2_sample; savepoint a");
  sql_fails(session, "insert into app.k2 select * from app.k2_sample");
  sql(session, "rollback to a; delete from app.k2");
  sql_fails(session, "insert into app.every select * from app.every_sample union all select * from app.every_sample");
  sql(session, "rollback to a; insert into app.every select * from app.every_sample; delete from app.every");
  cr_assert_str_eq(ask(session, "show timezone"), "Asia/Tokyo");
  cr_assert_str_eq(ask(session, "show datestyle"), "SQL, MDY");
  cr_assert_str_eq(ask(session, "show bytea_output"), "escape");
  sql(session, "commit");
  cr_assert_str_eq(ask(session, "show timezone"), "Asia/Kathmandu");
  cr_assert_str_eq(ask(session, "show datestyle"), "SQL, MDY");
  PQfinish(session);
  free(plain);
  fixture_end(&f);
}

/* PostgreSQL does not read the name that it gives to such a time zone. */
Test(hostile, a_time_zone_that_cannot_be_set_by_its_name_breaks_no_writer_and_stays) {
  struct fixture f;
  mirrored_begin(&f, "hostile_zone",
                 "create table item (id int primary key, at timestamptz); create table full_item (like item including "
                 "all); create table whole (like item including all); create table bare (at timestamptz, id int);"
                 "create table timed (at timestamptz primary key, id int[])");
  mirrored_capture(&f, "item");
  mirrored_capture(&f, "bare");
  mirrored_capture(&f, "timed");
  rowrelay_ok(&f, "capture", "full_item", "--to", "w", "--create", "--before", NULL);
  rowrelay_ok(&f, "capture", "whole", "--to", "w", "--create", "--per", "statement", NULL);
  PGconn *session = connect_to(f.source, NULL);
  sql(session, "set time zone interval '-00:00:30'");
  const char *const tables[] = {"item", "full_item", "whole", "bare", "timed"};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    const char *t = tables[i];
    const char *id = strcmp(t, "timed") == 0 ? "array[i]" : "i";
    sql(session,
        "begin; insert into %s (id, at) select %s, '2026-01-01'::timestamptz + i * interval '1 s' from "
        "generate_series(1, 3) as i",
        t, id);
    sql(session,
        "update %s set at = at + interval '1 min'; update %s set at = at + interval '1 day' where at < "
        "'2026-01-01 00:01:02'",
        t, t);
    sql(session,
        "delete from %s where at < '2026-01-01 00:01:03'; insert into %s (at) select '2027-01-01' where '%s' in "
        "('bare', 'timed')",
        t, t, t);
    cr_assert_str_eq(ask(session, "show timezone"), "<-00:00:30>+00:00:30");
    sql(session, "commit");
    mirrored_same(&f, t);
  }
  PQfinish(session);
  fixture_end(&f);
}

/* A column that was renamed since makes the trigger function fall back to what the catalogs say. */
Test(hostile, nothing_changes_what_is_captured_the_slow_way_either) {
  struct fixture f;
  make_tables(&f, "hostile_slow");
  for (int i = 0; i < KEY_COUNT; i++)
    sql(f.at_source, "alter table app.k%d rename k to renamed", i);
  sql(f.at_source, "alter table app.every rename j to renamed; alter table app.line rename name to renamed");
  sql(f.at_source, "update app.every_sample set j = '[1]'"); /* irrelevant here */
  char *plain = write_all(&f, f.at_source, "renamed");
  sql(f.at_source, "%s", EVIL);
  PGconn *session = connect_to(f.source, NULL);
  set_all(session);
  int64_t calls = ask_number(f.at_source, "select last_value from evil.calls");
  char *hostile = write_all(&f, session, "renamed");
  same_changes(plain, hostile);
  cr_assert(ask_number(f.at_source, "select last_value from evil.calls") == calls, "something hostile was called");
  settings_are_as_set(session);
  PQfinish(session);
  free(plain);
  free(hostile);
  fixture_end(&f);
}

/* ---- roles ------------------------------------------------------------------------------------------------------- */

Test(hostile, a_role_that_may_only_write_the_table_is_captured) {
  struct fixture f;
  role_begin("test_hostile_app");
  role_begin("test_hostile_boss");
  mirrored_begin(&f, "hostile_role",
                 "create table item (id int primary key, name text);"
                 "create function put(id int) returns void language sql security definer as $$ insert into item values "
                 "(id, current_user) $$;"
                 "revoke all on schema public from public; grant usage on schema public to test_hostile_app;"
                 "grant select, insert, update, delete, truncate on item to test_hostile_app;"
                 "grant insert, update (name) on item to test_hostile_boss; grant usage on schema public to "
                 "test_hostile_boss; grant test_hostile_boss to test_hostile_app");
  mirrored_capture(&f, "item");
  PGconn *session = connect_to(f.source, "user=test_hostile_app");
  cr_assert_str_eq(sql_fails(session, "select * from rowrelay.change"), "42501");
  sql(session, "insert into item values (1, 'one'), (2, 'two'); update item set id = 3, name = 'three' where id = 2; "
               "delete from item where id = 1");
  sql(session, "truncate item; insert into item values (4, 'four')");
  sql(session, "set role test_hostile_boss; insert into item values (5, 'five'); update item set name = 'x'; reset "
               "role; select put(6)");
  sql(session, "set rowrelay.actor to 'anna'; insert into item values (7, 'seven'); reset rowrelay.actor; insert into "
               "item values (8, '8')");
  mirrored_same(&f, "item");
  cr_assert_str_eq(captured_changes(&f, "item"), "i:1 i:2 d:2 i:3 d:1 t:- i:4 i:5 u:4 u:5 i:6 i:7 i:8");
  /* the actor is the user who logged in, unless the application names another */
  cr_assert_str_eq(ask(f.at_source, "select string_agg(distinct actor, ' ') from rowrelay.history"),
                   "anna test_hostile_app");
  cr_assert_str_eq(ask(f.at_source, "select key from rowrelay.history where actor = 'anna'"), "7");
  PQfinish(session);
  fixture_end(&f);
  role_end("test_hostile_app");
  role_end("test_hostile_boss");
}

Test(hostile, a_session_whose_login_was_dropped_meanwhile_goes_on_and_is_named) {
  struct fixture f;
  role_begin("test_hostile_group");
  role_begin("test_hostile_brief");
  mirrored_begin(
      &f, "hostile_brief",
      "create table item (id int primary key, name text); create table whole (like item including all);"
      "create table bare (id int, name text); grant usage on schema public to test_hostile_group;"
      "grant all on item, whole, bare to test_hostile_group; grant test_hostile_group to test_hostile_brief");
  mirrored_capture(&f, "item");
  mirrored_capture(&f, "bare");
  rowrelay_ok(&f, "capture", "whole", "--to", "w", "--create", "--per", "statement", NULL);
  PGconn *session = connect_to(f.source, "user=test_hostile_brief");
  sql(session, "set role test_hostile_group");
  role_end("test_hostile_brief");
  cr_assert_not_null(sql_fails(session, "select session_user"));
  const char *const tables[] = {"item", "whole", "bare"};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    sql(session, "insert into %s values (0, 'none'); truncate %s", tables[i], tables[i]);
    sql(session, "insert into %s values (1, 'one'), (2, 'two'); update %s set name = 'x'", tables[i], tables[i]);
    sql(session, "update %s set id = id + 10; delete from %s where id = 12", tables[i], tables[i]);
    mirrored_same(&f, tables[i]);
  }
  cr_assert_str_eq(ask(f.at_source, "select string_agg(distinct db_user, ' ') from rowrelay.history"),
                   "test_hostile_brief as test_hostile_group");
  PQfinish(session);
  fixture_end(&f);
  role_end("test_hostile_group");
}

Test(hostile, a_session_that_fires_no_ordinary_triggers_is_captured) {
  struct fixture f;
  mirrored_begin(&f, "hostile_replica",
                 "create table item (id int primary key, name text); create table part (id int primary key) partition "
                 "by range (id);"
                 "create table part_1 partition of part for values from (1) to (10)");
  mirrored_capture(&f, "item");
  mirrored_capture(&f, "part");
  sql(f.at_source, "set session_replication_role to replica");
  sql(f.at_source, "insert into item values (1, 'one'), (2, 'two'); update item set name = 'x'; delete from item where "
                   "id = 2; truncate item; insert into item values (3)");
  sql(f.at_source, "insert into part values (1), (2); insert into part_1 values (3); delete from part_1 where id = 1; "
                   "update part set id = 4 where id = 2;"
                   "truncate part_1; insert into part_1 values (5)");
  mirrored_same(&f, "item");
  same_rows(&f, "part", "part", "id");
  cr_assert_str_eq(captured_changes(&f, "item"), "i:1 i:2 u:1 u:2 d:2 t:- i:3");
  fixture_end(&f);
}

/* plpgsql_check in a mode in which it checks every function that is called, and makes a mistake an error. */
Test(hostile, plpgsql_check_in_passive_mode_fails_no_writer) {
  static const char *const TABLES[] = {"a", "b", "c", "d", "e", "f", "g"};
  static const char *const VALUES[] = {"'a'", "'{}'", "'a'", "'a'", "'a'", "'a'", "'a'"};
  struct fixture f;
  fixture_begin(&f, "hostile_checked");
  if (ask_number(f.at_source, "select count(*) from pg_available_extensions where name = 'plpgsql_check'") == 0) {
    fixture_end(&f);
    cr_skip_test("extension plpgsql_check is not available");
  }
  sql(f.at_source, "create extension plpgsql_check;"
                   "create table a (id int primary key, v text); create table b (id int primary key, v jsonb);"
                   "create table c (id int primary key, v text); create table d (id int, v text);"
                   "create table e (id int primary key, v text, w int[]);"
                   "create table f (id int primary key, v text) partition by hash (id);"
                   "create table f0 partition of f for values with (modulus 1, remainder 0);"
                   "create table g (id int primary key, v text); create table g1 () inherits (g)");
  rowrelay_ok(&f, "capture", "a", NULL);
  rowrelay_ok(&f, "capture", "b", NULL);
  rowrelay_ok(&f, "capture", "c", "--where", "id <> 5", NULL);
  rowrelay_ok(&f, "capture", "d", NULL);
  rowrelay_ok(&f, "capture", "e", "--exclude", "v", "--before", NULL);
  rowrelay_ok(&f, "capture", "f", NULL);
  rowrelay_ok(&f, "capture", "g", NULL);
  sql(f.at_source, "load 'plpgsql'; load 'plpgsql_check'");
  sql(f.at_source, "set plpgsql_check.mode = 'every_start'");
  for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
    const char *t = TABLES[i];
    const char *v = VALUES[i];
    sql(f.at_source, "insert into %1$s values (1, %2$s), (2, %2$s)", t, v);
    sql(f.at_source, "update %1$s set v = %2$s", t, v);
    sql(f.at_source, "update %s set id = id + 10 where id = 1", t); /* another key: what is not ordinary */
    sql(f.at_source, "begin; update %1$s set v = %2$s; update %1$s set v = v; delete from %1$s; commit", t, v);
    sql(f.at_source, "alter table %s add z int", t);
    sql(f.at_source, "insert into %s values (3, %s)", t, v);
    sql(f.at_source, "alter table %s add y text[]", t);
    sql(f.at_source, "update %s set v = %s", t, v);
    sql(f.at_source, "truncate %s", t);
  }
  cr_expect(ask_number(f.at_source, "select count(distinct capture) from rowrelay.change where op = 'u'") == 7);
  cr_expect_str_eq(ask(f.at_source, "select caveat from rowrelay.change where caveat is not null"), "");
  fixture_end(&f);
}
