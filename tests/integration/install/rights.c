/*
 * Nobody else's code runs with the rights of the schema's owner: neither a worker's, nor that of who owns a captured
 * table and its types. Each test has a server of its own, as roles have.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "people.h"

/*
 * evil.spy() is what somebody hostile puts wherever a type, a table or a policy takes a function. It counts the calls
 * that are made with the rights of the schema's owner; a sequence keeps them, also when all else is rolled back.
 */
static const char SPY[] =
    "create schema evil; grant usage, create on schema evil to public;"
    "create sequence evil.calls; grant usage on sequence evil.calls to public;"
    "create function evil.spy() returns bool language plpgsql as $f$ begin"
    "  if current_user = 'keeper' then perform pg_catalog.nextval('evil.calls'); end if; return true; end $f$";

static void spied_begin(struct shop *s, const char *name) {
  people_begin(s, name);
  sql(s->fixture.at_source, "%s", SPY);
}

/* Fails the test if evil.spy() ran with the rights of the schema's owner. */
static void nobody_ran_as_owner(const struct shop *s, const char *when) {
  cr_expect_str_eq(ask(s->fixture.at_source, "select is_called from evil.calls"), "f", "%s", when);
  sql(s->fixture.at_source, "select setval('evil.calls', 1, false)");
}

/* ---- a worker --------------------------------------------------------------------------------------------------- */

Test(rights, a_worker_cannot_make_up_a_row_that_the_owner_believes) {
  struct shop s;
  spied_begin(&s, "rights_row");
  sql(s.as_hand, "create function pg_temp.trap(int) returns bool language sql as 'select evil.spy()';"
                 "create domain pg_temp.bait as int check (pg_temp.trap(value));"
                 "create temp table trap (id pg_temp.bait primary key); grant select on trap to public");
  cr_expect_str_eq(sql_fails(s.as_hand, "select rowrelay.backfill_holder(json_populate_record(null::rowrelay.backfill, "
                                        "json_build_object('capture', (select min(id) from rowrelay.capture), 'part', "
                                        "'trap'::regclass::oid, 'position', array[1])))"),
                   "42883");
  nobody_ran_as_owner(&s, "backfill_holder");
  people_end(&s);
}

/* ---- the owner of a captured table and of its types ---------------------------------------------------------------
 */

/* Types with casts and CHECKs that tell evil.spy(), as the owner of the tables can make them at any time. */
static const char TRAPS[] =
    "grant create on schema shop to shopkeeper; set role shopkeeper;"
    "create type shop.mood as enum ('ok', 'sad'); create type shop.span as range (subtype = int4);"
    "create type shop.pair as (n int, m shop.mood);"
    "create function evil.checks(int) returns bool language sql as 'select evil.spy()';"
    "create domain shop.code as int check (evil.checks(value));"
    "do $do$ declare t text; j text; begin"
    "  foreach t in array '{shop.mood,shop.span,shop.pair,shop.mood[],shop.pair[]}'::text[] loop"
    "    foreach j in array '{json,jsonb,text}'::text[] loop"
    "      execute format('create function evil.%s(%s) returns %1$s language plpgsql as $f$ begin perform evil.spy(); "
    "return %3$L; end $f$', j, t, case j when 'text' then 'x' else '\"x\"' end);"
    "      execute format('create cast (%2$s as %1$s) with function evil.%1$s(%2$s)', j, t);"
    "    end loop;"
    "  end loop;"
    "end $do$; reset role;";

static void trapped_begin(struct shop *s, const char *name, const char *tables) {
  spied_begin(s, name);
  sql(s->fixture.at_source, "%s", TRAPS);
  sql(s->fixture.at_source, "set role shopkeeper; %s; reset role", tables);
  sql(s->fixture.at_source, "grant select, insert, update, delete, truncate on all tables in schema shop to app");
}

Test(rights, casts_of_a_tables_owner_do_not_run_as_the_schemas_owner) {
  struct shop s;
  trapped_begin(
      &s, "rights_casts",
      "create table shop.trap (id int primary key, m shop.mood, ms shop.mood[], p shop.pair, ps shop.pair[], s "
      "shop.span);"
      "create table shop.one (m shop.mood primary key, v int);"
      "create table shop.two (m shop.mood, s shop.span, v int, primary key (m, s));"
      "create table shop.pile (ms shop.mood[], p shop.pair, v int)");
  static const char *const TABLES[] = {"trap", "one", "two", "pile"};
  sql(s.as_boss, "select rowrelay.capture_table('shop.trap', lane => '{m}', before => 'full');"
                 "select rowrelay.capture_table('shop.one'); select rowrelay.capture_table('shop.two', lane => '{s}');"
                 "select rowrelay.capture_table('shop.pile');"
                 "select rowrelay.add_document('card', 'w', 'id', 'select id from shop.trap where id = any ($1)', "
                 "array['shop.trap:id'])");
  nobody_ran_as_owner(&s, "when captured");
  sql(s.as_app, "insert into shop.trap values (1, 'ok', '{ok,sad}', '(1,ok)', '{\"(1,ok)\"}', '[1,3)');"
                "insert into shop.one values ('ok', 1); insert into shop.two values ('ok', '[1,3)', 1);"
                "insert into shop.pile values ('{ok}', '(1,ok)', 1)");
  nobody_ran_as_owner(&s, "at an insert");
  sql(s.as_app, "update shop.trap set m = 'sad'; update shop.one set m = 'sad'; update shop.two set s = '[5,6)'; "
                "update shop.pile set v = 2; update shop.one set v = 2");
  nobody_ran_as_owner(&s, "at an update");
  cr_expect_str_eq(ask(s.as_boss, "select string_agg(concat_ws(' ', key, new_row), ', ' order by id) "
                                  "from rowrelay.change where op <> 'b' and new_row is not null"),
                   "1 {\"id\":1,\"m\":\"ok\",\"ms\":[\"ok\",\"sad\"],\"p\":{\"n\":1,\"m\":\"ok\"},"
                   "\"ps\":[{\"n\":1,\"m\":\"ok\"}],\"s\":\"[1,3)\"}, "
                   "ok {\"m\":\"ok\",\"v\":1}, [\"ok\", \"[1,3)\"] {\"m\":\"ok\",\"s\":\"[1,3)\",\"v\":1}, "
                   "{\"ms\":[\"ok\"],\"p\":{\"n\":1,\"m\":\"ok\"},\"v\":1}, "
                   "1 {\"id\":1,\"m\":\"sad\",\"ms\":[\"ok\",\"sad\"],\"p\":{\"n\":1,\"m\":\"ok\"},"
                   "\"ps\":[{\"n\":1,\"m\":\"ok\"}],\"s\":\"[1,3)\"}, "
                   "sad {\"m\":\"sad\",\"v\":1}, [\"ok\", \"[5,6)\"] {\"m\":\"ok\",\"s\":\"[5,6)\",\"v\":1}, "
                   "{\"ms\":[\"ok\"],\"p\":{\"n\":1,\"m\":\"ok\"},\"v\":2}, sad {\"m\":\"sad\",\"v\":2}",
                   "and the values are as if there were no cast");
  for (size_t i = 0; i < sizeof TABLES / sizeof TABLES[0]; i++) {
    if (strcmp(TABLES[i], "pile") == 0)
      continue;
    rowrelay_ok(&s.boss, "route", TABLES[i][0] == 't' ? "shop.t*" : "shop.one", "w", "--create", NULL);
  }
  rowrelay_ok(&s.boss, "backfill", "shop.trap", "shop.one", "shop.two", "--to", "w", "--no-copy", NULL);
  sql(s.as_boss, "select rowrelay.requeue('shop.trap', 'w', '{1,7}'), rowrelay.requeue('shop.one', 'w', '{ok,sad}')");
  nobody_ran_as_owner(&s, "when rows are read");
  /* and the slow way */
  sql(s.fixture.at_source, "alter table shop.trap rename m to mm; alter table shop.one rename m to mm; alter table "
                           "shop.two rename m to mm; alter table shop.pile rename v to vv");
  sql(s.as_app, "update shop.trap set mm = 'ok'; update shop.one set mm = 'ok'; update shop.two set s = '[7,8)'; "
                "update shop.pile set vv = 5");
  nobody_ran_as_owner(&s, "the slow way");
  sql(s.as_app, "delete from shop.trap; delete from shop.one; delete from shop.two; delete from shop.pile");
  nobody_ran_as_owner(&s, "at a delete");
  cr_expect_str_eq(ask(s.as_boss, "select string_agg(caveat ->> 'problem', ', ') from rowrelay.change"), "");
  people_end(&s);
}

/* Writes that nest, keys that rows share and what is filtered make functions read a row again by its key's text. */
Test(rights, casts_from_text_do_not_run_as_the_schemas_owner) {
  struct shop s;
  trapped_begin(
      &s, "rights_text",
      "create table shop.kin (m shop.mood primary key, v int); create table shop.kid () inherits (shop.kin);"
      "create table shop.sieve (s shop.span primary key, v int);"
      "create table shop.list (ms shop.mood[] primary key, v int);"
      "create table shop.row (p shop.pair primary key, v int);"
      "create function evil.read(text) returns shop.mood language plpgsql as $f$ begin perform evil.spy(); "
      "return (enum_range(null::shop.mood))[1]; end $f$; create cast (text as shop.mood) with function "
      "evil.read(text);"
      "create function evil.span(text) returns shop.span language plpgsql as $f$ begin perform evil.spy(); "
      "return shop.span(1, 2); end $f$; create cast (text as shop.span) with function evil.span(text);"
      "create function evil.moods(text) returns shop.mood[] language plpgsql as $f$ begin perform evil.spy(); "
      "return enum_range(null::shop.mood); end $f$; create cast (text as shop.mood[]) with function "
      "evil.moods(text);"
      "create function evil.pair(text) returns shop.pair language plpgsql as $f$ begin perform evil.spy(); "
      "return row(1, null); end $f$; create cast (text as shop.pair) with function evil.pair(text)");
  sql(s.as_boss, "select rowrelay.capture_table(t::regclass, row_filter => 'v > 0') from "
                 "unnest('{shop.kin,shop.sieve,shop.list,shop.row}'::text[]) as t");
  sql(s.as_app, "insert into shop.kin values ('ok', 1); insert into shop.kid values ('ok', 1), ('sad', 1);"
                "insert into shop.sieve values ('[1,3)', 1); insert into shop.list values ('{ok}', 1);"
                "insert into shop.row values ('(1,ok)', 1);"
                "delete from shop.kid where m = 'ok'; update shop.kin set v = 0; update shop.kin set v = 2;"
                "begin; update shop.sieve set v = 0; update shop.sieve set v = 1; delete from shop.sieve;"
                "insert into shop.sieve values ('[1,3)', 1); update shop.sieve set s = '[7,9)'; "
                "update shop.list set v = 0; update shop.list set v = 1; update shop.list set ms = '{sad}';"
                "delete from shop.list; update shop.row set v = 0; update shop.row set p = '(2,ok)', v = 1; commit;"
                "delete from shop.row");
  nobody_ran_as_owner(&s, "when rows are looked at again");
  cr_expect_str_eq(ask(s.as_boss, "select string_agg(caveat ->> 'problem', ', ') from rowrelay.change"),
                   "another row of the table, or of its inheritance children, has the same key");
  sql(s.fixture.at_source, "alter table shop.kin rename m to mm; alter table shop.sieve rename s to ss");
  sql(s.as_app, "insert into shop.kid values ('ok', 1); delete from shop.kid; delete from shop.sieve;"
                "insert into shop.sieve values ('[1,3)', 1)");
  nobody_ran_as_owner(&s, "the slow way");
  rowrelay_ok(&s.boss, "route", "shop.kin", "w", "--create", NULL);
  rowrelay_ok(&s.boss, "route", "shop.sieve", "w", "--create", NULL);
  sql(s.as_boss, "select rowrelay.requeue('shop.kin', 'w', '{ok,sad}'), rowrelay.requeue('shop.sieve', 'w', "
                 "'{\"[1,3)\",\"[4,5)\"}')");
  nobody_ran_as_owner(&s, "when rows are read");
  people_end(&s);
}

static void compared(struct shop *s, const char *target, int expected, const char *shown) {
  const char *said;
  int status = rowrelay(&s->boss, &said, NULL, "verify", target, "--wait", "0", NULL);
  cr_expect_eq(status, expected, "%s: %d: %s", target, status, said);
  cr_expect(strstr(said, shown) != NULL, "%s: no \"%s\" in: %s", target, shown, said);
  nobody_ran_as_owner(s, target);
}

/* Who compares, or looks at what an undo would do, is often an admin, who must not run what a table's owner wrote. */
Test(rights, casts_of_a_tables_owner_do_not_run_as_who_compares) {
  struct shop s;
  trapped_begin(&s, "rights_compare",
                "create table shop.trap (id int primary key, m shop.mood, ms shop.mood[], p shop.pair, ps shop.pair[], "
                "s shop.span);"
                "create table shop.one (m shop.mood primary key, v int);"
                "create table shop.two (m shop.mood, s shop.span, v int, primary key (m, s));"
                "create table shop.pile (ms shop.mood[], p shop.pair, c shop.code);"
                "create table shop.trap2 (like shop.trap including all); create table shop.one2 (like shop.one "
                "including all); create table shop.two2 (like shop.two including all); create table shop.pile2 (like "
                "shop.pile);"
                "create function evil.text(shop.pile) returns text language plpgsql as $f$ begin perform evil.spy(); "
                "return 'x'; end $f$; create cast (shop.pile as text) with function evil.text(shop.pile);"
                "create function evil.mood(text) returns shop.mood language plpgsql as $f$ begin perform evil.spy(); "
                "return 'ok'; end $f$; create cast (text as shop.mood) with function evil.mood(text)");
  PGconn *super = s.fixture.at_source;
  sql(super, "create or replace function evil.spy() returns bool language plpgsql as $f$ begin"
             "  if current_user = 'boss' then perform pg_catalog.nextval('evil.calls'); end if; return true; end $f$;"
             "grant select on all tables in schema shop to boss, hand");
  rowrelay_ok(&s.boss, "target", "add", "here", "postgresql:", NULL);
  rowrelay_ok(&s.boss, "capture", "shop.trap", "shop.one", "shop.two", "shop.pile", "--to", "w", "--create", "--before",
              NULL);
  static const char *const TABLES[] = {"shop.trap", "shop.one", "shop.two", "shop.pile"};
  for (size_t i = 0; i < sizeof TABLES / sizeof TABLES[0]; i++) {
    char into[64];
    snprintf(into, sizeof into, "%s2", TABLES[i]);
    rowrelay_ok(&s.boss, "route", TABLES[i], "here", "--into", into, NULL);
  }
  sql(s.as_app, "insert into shop.trap select n, 'ok', '{ok,sad}', '(1,ok)', '{\"(1,ok)\"}', '[1,3)' from "
                "generate_series(1, 9) as n; insert into shop.one values ('ok', 1), ('sad', 2);"
                "insert into shop.two values ('ok', '[1,3)', 1), ('sad', '[1,3)', 1);"
                "insert into shop.pile values ('{ok}', '(1,ok)', 1), ('{sad}', '(1,sad)', 2)");
  rowrelay_ok(&s.fixture, "run", "--until-empty", NULL);
  sql(super, "select setval('evil.calls', 1, false)");
  compared(&s, "w", 0, "");
  compared(&s, "here", 0, "");
  sql(super, "update shop.trap2 set m = 'sad' where id = 3; update shop.one2 set v = 7 where m = 'sad'; "
             "update shop.two2 set v = 7 where m = 'sad'; update shop.pile2 set ms = '{ok}'");
  sql(s.fixture.at_target,
      "update shop.trap set m = 'sad' where id = 3; update shop.one set v = 7 where m::text = 'sad'; "
      "update shop.two set v = 7 where m::text = 'sad'; update shop.pile set ms = '{ok}'");
  compared(&s, "w", 3, "shop.trap");
  compared(&s, "here", 3, "shop.two");
  sql(s.as_app, "update shop.trap set m = 'sad', ms = null where id = 4; update shop.pile set c = 3 where c = 2");
  const char *id = ask(super, "select max(change_id) from rowrelay.history where relation = 'shop.trap'::regclass");
  const char *undo = rowrelay_ok(&s.boss, "undo", "shop.trap", "4", id, NULL);
  cr_expect(strstr(undo, "'ok'::shop.mood") != NULL, "%s", undo);
  nobody_ran_as_owner(&s, "undo");
  const char *past = rowrelay_ok(&s.boss, "log", "shop.trap", "4", "--as-of", "now", NULL);
  cr_expect(strstr(past, "sad") != NULL, "%s", past);
  nobody_ran_as_owner(&s, "log --as-of");
  people_end(&s);
}

/* Domains wherever types may have them, each with a CHECK that tells evil.spy(), and fails for 13. */
static const char NESTED[] =
    "set role shopkeeper;"
    "create domain shop.even as int check (evil.checks(value) and value <> 13);"
    "create type shop.inner as (c shop.even, n int);"
    "create domain shop.boxed as shop.inner check (evil.checks((value).n));"
    "create type shop.outer as (b shop.boxed, bs shop.boxed[], cs shop.even[], t timestamptz);"
    "create type shop.reach as range (subtype = shop.even);"
    "create domain shop.list as int[] check (evil.checks(value[1]));"
    "create type shop.lists as (ls shop.list[]);"
    "create table shop.deep (id int primary key, o shop.outer, os shop.outer[], r shop.reach, "
    "b shop.boxed, c shop.even, "
    "cs shop.even[], l shop.lists, ls shop.list[], added int);"
    "create table shop.heap (o shop.outer, r shop.reach, c shop.even);"
    "create table shop.reached (r shop.reach primary key, v int);"
    "create table shop.paired (i shop.inner, n int, v int, r int, p int, x int, s int, f int, w "
    "int, c int, primary key (i, n));"
    "reset role";

/* Reads and prints all that has domains inside, as an admin who compares, undoes and looks back. */
static void look_at_nested(struct shop *s) {
  PGconn *super = s->fixture.at_source;
  static const char *const TABLES[] = {"shop.deep", "shop.heap", "shop.reached", "shop.paired"};
  compared(s, "w", 0, "");
  compared(s, "here", 0, "");
  for (size_t i = 0; i < sizeof TABLES / sizeof TABLES[0]; i++) {
    const char *past = rowrelay_ok(&s->boss, "log", TABLES[i], "--as-of", "now", "--json", NULL);
    cr_expect(strstr(past, i < 2 ? "\"c\":2" : "\"v\":1") != NULL, "%s: %s", TABLES[i], past);
    nobody_ran_as_owner(s, TABLES[i]);
    const char *txid =
        ask(super, "select max(txid::text::bigint) from rowrelay.history where relation = '%s'::regclass", TABLES[i]);
    const char *undo = rowrelay_ok(&s->boss, "undo", "--txid", txid, NULL);
    cr_expect(strstr(undo, TABLES[i]) != NULL, "%s: %s", TABLES[i], undo);
    nobody_ran_as_owner(s, undo);
  }
}

Test(rights, checks_of_domains_in_rows_arrays_and_ranges_do_not_run_as_who_compares) {
  struct shop s;
  trapped_begin(&s, "rights_nested", NESTED);
  PGconn *super = s.fixture.at_source;
  sql(super,
      "create or replace function evil.spy() returns bool language plpgsql as $f$ begin"
      "  if current_user = 'boss' then perform pg_catalog.nextval('evil.calls'); end if; return true; end $f$;"
      "set role shopkeeper; create table shop.deep2 (like shop.deep including all); create table shop.heap2 "
      "(like shop.heap); create table shop.reached2 (like shop.reached including all); create table shop.paired2 "
      "(like shop.paired including all); reset role; grant select on all tables in schema shop to boss, hand");
  rowrelay_ok(&s.boss, "target", "add", "here", "postgresql:", NULL);
  static const char *const NAMES[] = {"deep", "heap", "reached", "paired"};
  for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
    char table[32];
    char into[32];
    snprintf(table, sizeof table, "shop.%s", NAMES[i]);
    snprintf(into, sizeof into, "shop.%s2", NAMES[i]);
    rowrelay_ok(&s.boss, "capture", table, "--to", "w", "--create", "--before", NULL);
    rowrelay_ok(&s.boss, "route", table, "here", "--into", into, NULL);
  }
  sql(s.as_app,
      "insert into shop.deep select n, '(\"(2,3)\",\"{\"\"(4,5)\"\",NULL}\",\"[0:1]={6,7}\",\"2024-02-29 12:00+01\")', "
      "'{\"(\\\"(2,3)\\\",,,)\"}', '[2,7)', '(2,3)', 2, '{2,4}', '(\"{\"\"{2,3}\"\",NULL}\")', '{\"{2,3}\",\"{4}\"}' "
      "from generate_series(1, 3) as n;"
      "insert into shop.heap select o, r, c from shop.deep; insert into shop.reached values ('[2,4)', 1), ('[5,6)', 1);"
      "insert into shop.paired values ('(2,3)', 1, 1), ('(4,5)', 1, 1)");
  rowrelay_ok(&s.fixture, "run", "--until-empty", NULL);
  sql(s.as_app, "update shop.deep set o.t = 'infinity', os = null, r = '[3,9)', b = null, cs = '{6}', l.ls[1] = '{8}', "
                "ls = '{\"{8,9}\"}' where "
                "id = 1;"
                "update shop.heap set r = null; update shop.reached set r = '[7,8)' where r = '[5,6)';"
                "update shop.paired set i = '(8,9)' where n = 1 and (i).n = 5; delete from shop.deep where id = 3");
  rowrelay_ok(&s.fixture, "run", "--until-empty", NULL);
  sql(super, "select setval('evil.calls', 1, false)");
  look_at_nested(&s);
  cr_expect(strstr(rowrelay_ok(&s.boss, "log", "shop.reached", "[2,4)", "--as-of", "now", NULL), "[2,4)") != NULL);
  nobody_ran_as_owner(&s, "the past of one row");
  sql(super,
      "update shop.deep2 set o.cs[1] = 8 where id = 1; update shop.heap2 set r = '[2,9)'; update shop.reached2 set "
      "v = 5 where r = '[2,4)'; update shop.paired2 set v = 5 where (i).n = 9");
  compared(&s, "here", 3, "shop.deep: different 1 in o");
  compared(&s, "here", 3, "shop.reached: different [2,4) in v");
  compared(&s, "here", 3, "in v");
  /* the values have become wrong since */
  sql(super,
      "alter domain shop.even drop constraint even_check; set role shopkeeper; alter domain shop.even add check "
      "(evil.checks(value) and value > 100) not valid; reset role; update shop.deep2 set o = d.o from shop.deep d "
      "where d.id = deep2.id; update shop.reached2 set v = 1; update shop.paired2 set v = 1; truncate shop.heap2; "
      "insert into shop.heap2 table shop.heap; select setval('evil.calls', 1, false)");
  look_at_nested(&s);
  people_end(&s);
}

Test(rights, a_column_that_comes_later_does_not_run_its_casts_as_the_schemas_owner) {
  struct shop s;
  trapped_begin(&s, "rights_later",
                "create table shop.late (id int primary key, v text, n int);"
                "create table shop.kind (id int primary key, v text);"
                "create table shop.root (id int, v text, primary key (id)) partition by range (id);"
                "create table shop.leaf partition of shop.root for values from (1) to (9)");
  PGconn *super = s.fixture.at_source;
  sql(s.as_boss, "select rowrelay.capture_table('shop.late'); select rowrelay.capture_table('shop.kind'); "
                 "select rowrelay.capture_table('shop.root')");
  sql(s.as_app, "insert into shop.late values (1, 'a', 1); insert into shop.kind values (1, 'a');"
                "insert into shop.root values (1, 'a')");
  /* a transaction that does not see in the catalogs what was altered since */
  sql(s.as_app, "begin isolation level repeatable read; select count(*) from shop.secret");
  sql(super, "set role shopkeeper; alter table shop.late add m shop.mood, add ps shop.pair[]; alter table shop.kind "
             "alter v type shop.mood using 'ok'; alter table shop.root alter v type shop.mood using 'ok'; reset role");
  sql(s.as_app,
      "insert into shop.late values (2, 'b', 2, 'ok', '{\"(1,ok)\"}'); insert into shop.kind values (2, 'ok');"
      "insert into shop.root values (2, 'ok'); truncate shop.leaf; commit");
  nobody_ran_as_owner(&s, "under an old snapshot");
  sql(s.as_app,
      "insert into shop.late values (3, 'b', 2, 'ok', '{\"(1,ok)\"}'); insert into shop.kind values (3, 'ok');"
      "insert into shop.root values (3, 'ok'); truncate shop.leaf");
  nobody_ran_as_owner(&s, "before the trigger functions are made anew");
  cr_expect_str_eq(ask(super, "select new_row from rowrelay.change where key = '3' and capture = (select id from "
                              "rowrelay.capture where relation = 'shop.late'::regclass)"),
                   "{\"id\":3,\"v\":\"b\",\"n\":2,\"m\":\"ok\",\"ps\":[{\"n\":1,\"m\":\"ok\"}]}",
                   "and the new column is captured");
  sql(super, "set role shopkeeper; alter type shop.pair add attribute more shop.mood; reset role");
  sql(s.as_app, "insert into shop.late values (4, 'b', 2, 'ok', '{\"(1,ok,sad)\"}')");
  nobody_ran_as_owner(&s, "with another row type");
  cr_expect_str_eq(ask(super, "select new_row -> 'ps' from rowrelay.change where key = '4'"),
                   "[{\"n\":1,\"m\":\"ok\",\"more\":\"sad\"}]");
  sql(super, "update rowrelay.job set held_until = now()");
  sql(s.as_hand, "select rowrelay.maintain()");
  sql(s.as_app, "insert into shop.late values (5, 'b', 2, 'ok', '{\"(1,ok,sad)\"}')");
  nobody_ran_as_owner(&s, "made anew");
  cr_expect_str_eq(ask(super, "select new_row -> 'ps' from rowrelay.change where key = '5'"),
                   "[{\"n\":1,\"m\":\"ok\",\"more\":\"sad\"}]");
  people_end(&s);
}

/* Nor do those of a key's new type, by which the trigger functions would look for a row that was written again. */
/* Nobody can pass on such a row, here because the functions say so; what is left is its key. */
Test(rights, a_key_that_gets_another_type_is_not_read_of_a_row_that_is_too_large) {
  struct shop s;
  trapped_begin(&s, "rights_large_key",
                "create table shop.plain (id text primary key, v text);"
                "create table shop.noted (id text primary key, v text, f int)");
  PGconn *super = s.fixture.at_source;
  sql(s.as_boss, "select rowrelay.capture_table('shop.plain');"
                 "select rowrelay.capture_table('shop.noted', row_filter => 'f is null')");
  sql(super, "set role shopkeeper; alter table shop.plain alter id type shop.mood using 'ok';"
             "alter table shop.noted alter id type shop.mood using 'ok'; reset role;"
             "create function too_big(given record) returns integer language plpgsql as $$ begin"
             "  raise 'tuple is too big' using errcode = 'program_limit_exceeded'; end $$;"
             "do $$ declare f text; begin"
             "  for f in select pg_get_functiondef(p.oid) from pg_proc p where p.pronamespace ="
             "             'rowrelay'::regnamespace and p.proname ~ '^capture_[0-9]+$'"
             "  loop execute replace(f, 'pg_catalog.pg_column_size(coalesce(old, new))',"
             "                       'public.too_big(coalesce(old, new))'); end loop; end $$");
  static const char *const TABLES[] = {"plain", "noted"};
  for (int i = 0; i < 2; i++) {
    sql(s.as_app,
        "insert into shop.%s (id, v) values ('ok', 'x'); update shop.%s set v = 'y'; update shop.%s set id = 'sad';"
        "delete from shop.%s",
        TABLES[i], TABLES[i], TABLES[i], TABLES[i]);
    nobody_ran_as_owner(&s, TABLES[i]);
  }
  cr_expect_str_eq(ask(super, "select concat(count(*) > 7, bool_and(caveat ->> 'problem' is not null)) from"
                              " rowrelay.change"),
                   "tt");
  people_end(&s);
}

Test(rights, a_key_that_gets_another_type_does_not_run_its_casts_as_the_schemas_owner) {
  struct shop s;
  trapped_begin(&s, "rights_later_key",
                "create table shop.plain (id text primary key, v int);"
                "create table shop.many (id text primary key, v int, a int[], j jsonb);"
                "create table shop.moody (id text primary key, v int, m shop.mood);"
                "create table shop.hidden (id text primary key, v int, w text)");
  static const char *const TABLES[] = {"plain", "many", "moody", "hidden"};
  PGconn *super = s.fixture.at_source;
  sql(s.as_boss, "select rowrelay.capture_table('shop.plain'); select rowrelay.capture_table('shop.many');"
                 "select rowrelay.capture_table('shop.moody', before => 'full');"
                 "select rowrelay.capture_table('shop.hidden', exclude => '{w}')");
  for (size_t i = 0; i < sizeof TABLES / sizeof TABLES[0]; i++) {
    const char *table = TABLES[i];
    sql(s.as_app, "insert into shop.%s values ('ok', 1); update shop.%s set v = 2; delete from shop.%s", table, table,
        table);
    sql(super, "set role shopkeeper; alter table shop.%s alter id type shop.mood using 'ok'; reset role", table);
    for (int anew = 0; anew < 2; anew++) {
      sql(s.as_app,
          "begin; insert into shop.%s (id, v) values ('ok', 1); update shop.%s set v = 2;"
          "insert into shop.%s (id, v) values ('ok', 1) on conflict (id) do update set v = 3;"
          "update shop.%s set id = 'sad'; delete from shop.%s; commit",
          table, table, table, table, table);
      nobody_ran_as_owner(&s, table);
      sql(super, "update rowrelay.job set held_until = now()");
      sql(s.as_hand, "select rowrelay.maintain()");
    }
  }
  cr_expect_str_eq(ask(super, "select string_agg(distinct key, ',' order by key) from rowrelay.change where key <> ''"),
                   "ok,sad");
  people_end(&s);
}

Test(rights, checks_of_domains_do_not_run_as_the_schemas_owner) {
  struct shop s;
  trapped_begin(&s, "rights_domains", "create table shop.coded (id shop.code primary key, other shop.code, v text)");
  PGconn *super = s.fixture.at_source;
  sql(s.as_boss, "select rowrelay.capture_table('shop.coded'); select rowrelay.route('shop.coded', 'w');"
                 "select rowrelay.add_document('card', 'w', 'id', 'select id::int as id from shop.coded where id = any "
                 "($1)', array['shop.coded:id', 'shop.coded:select id::int from changed'])");
  sql(s.as_app, "insert into shop.coded select n, n, 'x' from generate_series(1, 9) as n");
  const char *backfill = ask(s.as_boss, "select rowrelay.backfill('shop.coded', 'w', copy => false)");
  for (int i = 0; i < 6; i++) {
    sql(s.as_hand, "select rowrelay.backfill_step(%s, 4)", backfill);
    sleep_seconds(0.06);
  }
  cr_expect_str_eq(ask(super, "select state from rowrelay.backfill where id = %s", backfill), "done");
  nobody_ran_as_owner(&s, "backfill_values");
  sql(s.as_hand,
      "select rowrelay.expand_documents(d.target, array(select id from rowrelay.change), array(select distinct "
      "day from rowrelay.change)) from rowrelay.document d");
  nobody_ran_as_owner(&s, "documents");
  people_end(&s);
}

/* A writer of a partition has no lock on the parent, whose name may become a view's while a trigger waits for it. */
Test(rights, what_has_a_tables_name_by_now_is_not_read) {
  struct shop s;
  trapped_begin(&s, "rights_name",
                "create table shop.root (id int primary key, v text) partition by range (id);"
                "create table shop.leaf partition of shop.root for values from (1) to (9)");
  sql(s.as_boss, "select rowrelay.capture_table('shop.root')");
  sql(s.as_app, "insert into shop.leaf values (1, 'a')");
  PGconn *owner = connect_to(s.fixture.source, NULL);
  sql(owner, "set role shopkeeper");
  sql(s.as_app, "insert into shop.leaf values (2, 'b'); delete from shop.leaf where id = 2");
  sql(owner, "begin; alter table shop.root rename to branch;"
             "create view shop.root as select g as id, 'x'::text as v, '0'::xid as xmax, '1'::xid as xmin, '1'::cid as "
             "cmin from generate_series(1, 9) as g where evil.spy()");
  start(s.as_app, "begin; insert into shop.leaf values (3, 'c'); delete from shop.leaf where id = 3; commit");
  wait_until(s.fixture.at_source, "t", 10, "select exists (select from pg_locks where not granted)");
  sql(owner, "commit");
  finish(s.as_app);
  nobody_ran_as_owner(&s, "in the place of a table");
  cr_expect_str_eq(ask(s.as_boss, "select string_agg(op::text || key, ' ' order by id) from rowrelay.change"),
                   "i1 i2 d2 i3 d3");
  PQfinish(owner);
  people_end(&s);
}

Test(rights, a_trigger_function_serves_no_other_table) {
  struct shop s;
  trapped_begin(&s, "rights_other",
                "create table shop.root (id int primary key, v text) partition by range (id);"
                "create table shop.leaf partition of shop.root for values from (1) to (9);"
                "create table shop.other (id int primary key, v shop.mood)");
  PGconn *super = s.fixture.at_source;
  sql(s.as_boss, "select rowrelay.capture_table('shop.root', row_filter => 'id > 0')");
  const char *capture = ask(super, "select id from rowrelay.capture where relation = 'shop.root'::regclass");
  sql(super, "grant rowrelay_reader to shopkeeper"); /* or he could not name it */
  sql(super,
      "set role shopkeeper; create trigger forge after insert on shop.other for each row execute function "
      "rowrelay.capture_%s('INSERT'); reset role",
      capture);
  sql(s.as_app, "insert into shop.other values (1, 'ok')");
  cr_expect_str_eq(ask(super, "select count(*) from rowrelay.change where op <> 'b'"), "0",
                   "and no row of it is captured");
  nobody_ran_as_owner(&s, "by a trigger on another table");
  /* nor does a condition that somebody puts in the place of ours */
  sql(super,
      "set role shopkeeper; drop trigger \"!rowrelay_insert\" on shop.root; create trigger \"!rowrelay_insert\" "
      "after insert on shop.root for each row when (evil.spy()) execute function rowrelay.capture_%s('INSERT');"
      "reset role",
      capture);
  sql(s.as_app, "insert into shop.root values (1, 'x')");
  sql(s.as_boss, "select rowrelay.route('shop.root', 'w')");
  const char *backfill = ask(s.as_boss, "select rowrelay.backfill('shop.root', 'w', copy => false)");
  sql(s.as_hand, "select rowrelay.backfill_step(%s, 4)", backfill);
  sleep_seconds(0.06);
  sql(s.as_hand, "select rowrelay.backfill_step(%s, 4)", backfill);
  cr_expect_str_eq(sql_fails(s.as_hand, "select rowrelay.backfill_step(%s, 4)", backfill), "55000");
  nobody_ran_as_owner(&s, "as a row filter");
  people_end(&s);
}

/* The slow way is correct, and many times as slow. */
Test(rights, rows_of_types_that_somebody_made_do_not_take_the_slow_way) {
  struct shop s;
  trapped_begin(
      &s, "rights_fast",
      "create table shop.odd (begin shop.mood, by shop.mood[], \"if\" shop.pair, loop int, execute shop.code, "
      "\"new\" shop.span, i1 shop.pair[], primary key (begin, loop));"
      "create table shop.upper (id int primary key, while int); create table shop.lower (more shop.mood) "
      "inherits (shop.upper);"
      "create table shop.root (id int primary key, strict shop.mood) partition by range (id);"
      "create table shop.leaf (strict shop.mood, gone int, id int not null);"
      "alter table shop.leaf drop gone; alter table shop.root attach partition shop.leaf for values from (1) "
      "to (9)");
  sql(s.as_boss, "select rowrelay.capture_table('shop.odd', before => 'full'); select rowrelay.capture_table("
                 "'shop.upper', before => 'full'); select rowrelay.capture_table('shop.root', before => 'full')");
  sql(s.fixture.at_source,
      "create or replace function rowrelay.record_row(capture_id integer, operation text, before_row "
      "record, after_row record, problem text, relation oid default null, is_at tid default null, was_at tid "
      "default null) returns void language plpgsql as $$ begin raise "
      "exception 'the slow way: %%', problem; end $$");
  sql(s.as_app, "insert into shop.odd values ('ok', '{ok,sad}', '(1,ok)', 1, 5, '[1,2)', '{\"(1,ok)\"}'); "
                "update shop.odd set by = null; update shop.odd set begin = 'sad'; delete from shop.odd;"
                "insert into shop.upper values (1, 1); insert into shop.lower values (2, 2, 'ok'); "
                "update shop.upper set while = 3; delete from shop.upper;"
                "insert into shop.root values (1, 'ok'); update shop.root set strict = 'sad'; delete from shop.leaf");
  cr_expect_str_eq(ask(s.as_boss, "select string_agg(op::text, '' order by id) from rowrelay.change"),
                   "iudidiiuuddiud");
  people_end(&s);
}

/* ---- the owner of a captured table leaves ------------------------------------------------------------------------ */

Test(rights, a_role_can_be_dropped_when_its_captured_partitioned_table_is_dropped) {
  struct shop s;
  people_begin(&s, "rights_drop");
  PGconn *super = s.fixture.at_source;
  sql(super, "create role tenant; grant tenant to keeper; grant create on schema shop to tenant; set role tenant;"
             "create table shop.rent (id int, day date, primary key (id, day)) partition by range (day); reset role");
  sql(s.as_boss, "select rowrelay.capture_table('shop.rent')");
  sql(super, "drop table shop.rent; revoke create on schema shop from tenant");
  cr_expect_str_eq(sql_fails(super, "drop role tenant"), "2BP01");
  sql(super, "update rowrelay.job set held_until = now()");
  cr_expect_str_eq(ask(s.as_hand, "select * from rowrelay.maintain()"),
                   "table shop.rent was dropped: trigger function dropped");
  sql(super, "drop role tenant");
  cr_expect_str_eq(ask(super, "select note from rowrelay.captures where relation_name = 'shop.rent'"),
                   "the table is gone: release it");
  people_end(&s);
}

/* Until maintenance makes its functions anew, they know it by the name that it had. */
Test(rights, a_table_that_left_a_schema_that_may_not_be_used_any_more_breaks_no_writer) {
  static const char *const WAYS[] = {"row", "statement"};
  struct shop s;
  people_begin(&s, "rights_moved");
  PGconn *super = s.fixture.at_source;
  sql(super,
      "create schema former; grant usage on schema former to public; grant create on schema former to shopkeeper;"
      "grant create on schema shop to shopkeeper; create schema work; grant all on schema work to public");
  for (int i = 0; i < 2; i++) {
    sql(super,
        "set role shopkeeper; create table former.%1$s (id int primary key, n int);"
        "create function work.again_%1$s() returns trigger language plpgsql as $$ begin "
        "  execute format('update %%s set n = 2 where id = $1', tg_relid::regclass) using new.id; return null; end $$;"
        "create trigger again after insert or update on former.%1$s for each row when (new.n = 1) "
        "execute function work.again_%1$s(); reset role",
        WAYS[i]);
    sql(s.as_boss, "select rowrelay.capture_table('former.%1$s', per => '%1$s')", WAYS[i]);
    sql(super, "grant all on former.%1$s to app; alter table former.%1$s set schema shop", WAYS[i]);
  }
  sql(super, "revoke all on schema former from public, shopkeeper");
  for (int i = 0; i < 2; i++) {
    sql(s.as_app, "insert into shop.%1$s values (1, 1), (2, 2); update shop.%1$s set n = 3; delete from shop.%1$s",
        WAYS[i]);
    cr_expect_str_eq(ask(s.as_boss,
                         "select string_agg(k.key || k.ops, ' ' order by k.key) from (select key, "
                         "string_agg(op::text, '' order by id) as ops from rowrelay.change c where c.capture = (select "
                         "id from rowrelay.capture where relation = 'shop.%1$s'::regclass) group by key) as k",
                         WAYS[i]),
                     i == 0 ? "1iuud 2iud" : "1urud 2iud", "%s", WAYS[i]);
  }
  people_end(&s);
}
