/*
 * A role that may create functions in schema public makes overloads there that match better than the server's own.
 * They never run with the rights of who runs our commands, nor of the schema's owner.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "fixture.h"

static struct fixture f;

/*
 * Each tells a sequence, which keeps it also where all else is rolled back. The last two are what a user's filter and
 * query find once they exist.
 */
static const char SPY[] = "create sequence public.calls; grant usage on sequence public.calls to public;"
                          "create function public.spy() returns bool language plpgsql as $f$ begin"
                          "  perform pg_catalog.nextval('public.calls'); return true; end $f$;"
                          "create function public.unnest(text[]) returns setof text language sql as $f$"
                          "  select u from pg_catalog.unnest($1) as u where public.spy() $f$;"
                          "create function public.format(text, text) returns text language sql as $f$"
                          "  select pg_catalog.format($1, $2) where public.spy() $f$;"
                          "create function public.format(text, text, text) returns text language sql as $f$"
                          "  select pg_catalog.format($1, $2, $3) where public.spy() $f$;"
                          "create function public.concat(text, text) returns text language sql as $f$"
                          "  select pg_catalog.concat($1, $2) where public.spy() $f$;"
                          "create function public.concat_ws(text, text, text) returns text language sql as $f$"
                          "  select pg_catalog.concat_ws($1, $2, $3) where public.spy() $f$;"
                          "create function public.array_to_string(text[], text) returns text language sql as $f$"
                          "  select pg_catalog.array_to_string($1, $2) where public.spy() $f$;"
                          "create function public.cardinality(text[]) returns int language sql as $f$"
                          "  select pg_catalog.cardinality($1) where public.spy() $f$;"
                          "create function public.to_json(text) returns json language sql as $f$"
                          "  select pg_catalog.to_json($1) where public.spy() $f$;"
                          "create function public.starts_with(text, text) returns bool language sql as $f$"
                          "  select pg_catalog.starts_with($1, $2) and public.spy() $f$;"
                          "create function public.same(oid, regclass) returns bool language sql as $f$"
                          "  select $1 operator(pg_catalog.=) $2::oid and public.spy() $f$;"
                          "create operator public.= (leftarg = oid, rightarg = regclass, function = public.same);"
                          "create function public.same(name, text) returns bool language sql as $f$"
                          "  select $1::text operator(pg_catalog.=) $2 and public.spy() $f$;"
                          "create operator public.= (leftarg = name, rightarg = text, function = public.same)";

/* As another role than those who run commands: what they have made themselves in public is theirs to run. */
static void make_as_stranger(const char *statements) {
  sql(f.at_source, "do $$ begin create role overloads_stranger; exception when duplicate_object then null; end $$;"
                   "grant create on schema public to overloads_stranger; set role overloads_stranger");
  sql(f.at_source, "%s", statements);
  sql(f.at_source, "reset role");
}

static void nothing_ran(const char *when) {
  cr_expect_str_eq(ask(f.at_source, "select is_called from public.calls"), "f", "%s", when);
  sql(f.at_source, "select setval('public.calls', 1, false)");
}

/* Those that rowrelay.capture_table() and others call, with the rights of the schema's owner. */
Test(overloads, overloads_in_public_never_run_as_the_schemas_owner) {
  fixture_begin(&f, "overloads_run");
  sql(f.at_source, "%s", SPY);
  sql(f.at_source, "create table item (id int primary key, status text);"
                   "create table sale (id int primary key, item int); insert into item values (1, 'open')");
  sql(f.at_source, "select rowrelay.add_target('w', '%s')", f.target_url);
  nothing_ran("before");
  sql(f.at_source, "select rowrelay.capture_table('item', row_filter => 'status = ''open''', target => 'w', "
                   "create_table => true)");
  nothing_ran("capture_table");
  ask(f.at_source, "select count(*) from rowrelay.capture_statements('sale', before => 'full')");
  nothing_ran("capture_statements");
  sql(f.at_source, "select rowrelay.backfill('item', 'w', row_filter => 'id > 0')");
  nothing_ran("backfill");
  sql(f.at_source, "select rowrelay.add_document('card', 'w', 'id', 'select s.id, s.item from sale s where s.id = "
                   "any ($1)', array['sale:id', 'item:select s.id from sale s join changed c on c.id = s.item'], "
                   "create_table => true)");
  nothing_ran("add_document");
  sql(f.at_source, "update item set status = 'open' where id = 1; insert into sale values (1, 1); "
                   "update sale set item = 2; delete from sale; select rowrelay.maintain()");
  nothing_ran("writers");
  fixture_end(&f);
}

static void runs(const char *a, const char *b, const char *c, const char *d, const char *e, const char *g) {
  rowrelay_ok(&f, a, b, c, d, e, g, NULL);
  nothing_ran(a);
}

Test(overloads, overloads_in_public_never_run_as_who_runs_commands) {
  fixture_begin(&f, "overloads_commands");
  rowrelay_ok(&f, "uninstall", "--force", NULL);
  make_as_stranger(SPY);
  sql(f.at_source, "create table item (id int primary key, status text);"
                   "create table sale (id int primary key, item int); insert into item values (1, 'open')");
  nothing_ran("before");
  runs("doctor", "item", "sale", NULL, NULL, NULL);
  runs("init", "--publish-anyway", NULL, NULL, NULL, NULL);
  runs("init", NULL, NULL, NULL, NULL, NULL);
  runs("target", "add", "w", f.target_url, NULL, NULL);
  runs("capture", "item", "--where", "status = 'open'", "--to", "w");
  runs("capture", "sale", "--before", "--to", "w", "--create");
  runs("route", "item", "w", "--create", NULL, NULL);
  runs("backfill", "item", "--to", "w", NULL, NULL);
  sql(f.at_source, "update item set status = 'open' where id = 1; insert into sale values (1, 1); "
                   "update sale set item = 2; delete from sale");
  nothing_ran("writers");
  runs("run", "--until-empty", NULL, NULL, NULL, NULL);
  runs("status", "--tables", NULL, NULL, NULL, NULL);
  runs("doctor", NULL, NULL, NULL, NULL, NULL);
  runs("log", "item", NULL, NULL, NULL, NULL);
  runs("log", "sale", "1", NULL, NULL, NULL);
  runs("errors", NULL, NULL, NULL, NULL, NULL);
  runs("verify", "w", NULL, NULL, NULL, NULL);
  runs("export", NULL, NULL, NULL, NULL, NULL);
  runs("keep", "90 days", "item", NULL, NULL, NULL);
  runs("prune", NULL, NULL, NULL, NULL, NULL);
  runs("release", "sale", NULL, NULL, NULL, NULL);
  /* names are full where others can make such functions, or have made them */
  const char *output;
  sql(f.at_source, "revoke create on schema public from overloads_stranger");
  rowrelay(&f, &output, NULL, "capture", "sale", NULL);
  nothing_ran("what was made before the right was taken away");
  cr_expect_str_eq(output, "public.sale: captured\n");
  sql(f.at_source, "drop owned by overloads_stranger cascade; create sequence calls");
  rowrelay(&f, &output, NULL, "release", "sale", NULL);
  cr_expect_str_eq(output, "sale: released\n");
  runs("uninstall", "--force", NULL, NULL, NULL, NULL);
  fixture_end(&f);
}

/* What comes later under a name in a filter or a query means nothing, also when both are made again. */
Test(overloads, a_function_made_after_the_review_is_not_used) {
  fixture_begin(&f, "overloads_later");
  sql(f.at_source, "create table item (id int primary key, status varchar(9)); insert into item values (1, 'open');"
                   "create table sale (id int primary key, item int); insert into sale values (7, 1)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--where", "lower(status) = 'open'", "--to", "w", "--create", NULL);
  sql(f.at_source, "select rowrelay.add_document('card', 'w', 'id', 'select s.id, jsonb_build_object(''status'', "
                   "(select i.status from item i where i.id = s.item)) as body from sale s where s.id = "
                   "any ($1)', array['sale:id', 'item:select s.id from sale s join changed c on abs(c.id) = s.item'], "
                   "create_table => true)");
  make_as_stranger(SPY);
  make_as_stranger("create function public.lower(varchar) returns text language sql as $f$"
                   "  select 'open'::text where public.spy() $f$;"
                   "create function public.abs(int) returns int language sql as $f$ select 1 where public.spy() $f$;"
                   "create function public.jsonb_build_object(text, text) returns jsonb language sql as $f$"
                   "  select '{}'::jsonb where public.spy() $f$;"
                   "create function public.jsonb_build_object(text, varchar) returns jsonb language sql as $f$"
                   "  select '{}'::jsonb where public.spy() $f$");
  sql(f.at_source, "select rowrelay.rebuild('card'); drop trigger \"!rowrelay_insert\" on item");
  rowrelay_ok(&f, "init", NULL);
  sql(f.at_source, "set client_min_messages to error; select rowrelay.maintain(); "
                   "insert into item values (2, 'shut'), (3, 'open'); update item set status = 'OPEN' where id = 1");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  nothing_ran("building");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.change where op = 'i'"), "1");
  cr_expect_str_eq(ask(f.at_target, "select body from card where id = 7"), "{\"status\": \"OPEN\"}");
  rowrelay_ok(&f, "verify", "w", NULL);
  nothing_ran("comparing");
  fixture_end(&f);
}

static void refuses_to_install(const char *prepared, const char *words) {
  const char *errors;
  sql(f.at_source, "%s", prepared);
  cr_expect_neq(rowrelay(&f, NULL, &errors, "init", NULL), 0, "%s", prepared);
  cr_expect_not_null(strstr(errors, words), "%s", errors);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from pg_proc p join pg_namespace n on n.oid = p.pronamespace "
                                    "where n.nspname = 'rowrelay' and p.proname <> 'mine'"),
                   "0", "%s", prepared);
  sql(f.at_source, "drop schema rowrelay cascade");
}

Test(overloads, what_another_role_made_before_is_not_adopted) {
  fixture_begin(&f, "overloads_before");
  rowrelay_ok(&f, "uninstall", "--force", NULL);
  sql(f.at_source, "do $$ begin create role overloads_stranger; exception when duplicate_object then null; end $$");
  refuses_to_install("create schema rowrelay authorization overloads_stranger",
                     "schema rowrelay belongs to role overloads_stranger");
  refuses_to_install("create schema rowrelay; create function rowrelay.mine() returns int language sql as 'select 1';"
                     "alter function rowrelay.mine() owner to overloads_stranger",
                     "function rowrelay.mine()");
  refuses_to_install("create schema rowrelay; create table rowrelay.migration (version int primary key, applied_at "
                     "timestamptz default now()); alter table rowrelay.migration owner to overloads_stranger",
                     "table rowrelay.migration");
  sql(f.at_source, "create schema rowrelay");
  rowrelay_ok(&f, "init", NULL);
  fixture_end(&f);
}

Test(overloads, what_another_role_made_at_a_target_is_not_adopted) {
  fixture_begin(&f, "overloads_target");
  sql(f.at_target, "do $$ begin create role overloads_stranger; exception when duplicate_object then null; end $$");
  sql(f.at_target, "create schema rowrelay_target authorization overloads_stranger");
  sql(f.at_source, "create table item (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item values (1)");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "t", 20, "select note like '%%is another role''s%%' from rowrelay.status where target = 'w'");
  cr_expect_str_eq(
      ask(f.at_target, "select count(*) from pg_class where relnamespace = 'rowrelay_target'::regnamespace"), "0");
  sql(f.at_target, "drop schema rowrelay_target");
  wait_until(f.at_target, "1", 60, "select count(*) from pg_class where relname = 'item'");
  wait_until(f.at_target, "1", 60, "select count(*) from item");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}
