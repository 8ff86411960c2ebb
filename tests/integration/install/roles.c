/* Roles: what each of them may do, and above all what it must not. Each test has a server of its own, as roles have. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mirrored.h"
#include "people.h"
#include "receiver.h"
#include "visitor.h"

/* ---- the rule --------------------------------------------------------------------------------------------------- */

/* What is added to the schema is the admin's, until schema/grants.sql says more. */
Test(roles, nothing_is_for_everybody_and_everything_is_for_the_admin) {
  struct shop s;
  people_begin(&s, "roles_rule");
  PGconn *source = s.fixture.at_source;
  cr_expect_str_eq(ask(source, "select string_agg(p.oid::regprocedure::text, ', ' order by 1) from pg_proc p "
                               "where p.pronamespace = 'rowrelay'::regnamespace "
                               "and has_function_privilege('nobody', p.oid, 'execute')"),
                   "", "functions that everybody may call");
  cr_expect_str_eq(ask(source,
                       "select string_agg(c.oid::regclass::text, ', ' order by 1) from pg_class c "
                       "where c.relnamespace = 'rowrelay'::regnamespace and c.relkind in ('r', 'p', 'v', 'S') "
                       "and case when c.relkind = 'S' then has_sequence_privilege('nobody', c.oid, 'usage') or "
                       "has_sequence_privilege('nobody', c.oid, 'select') "
                       "else has_any_column_privilege('nobody', c.oid, 'select, insert, update, references') end"),
                   "rowrelay.lastval", "tables that everybody may use"); /* see rowrelay.keep_lastval() */
  cr_expect_str_eq(ask(source, "select string_agg(p.oid::regprocedure::text, ', ' order by 1) from pg_proc p "
                               "where p.pronamespace = 'rowrelay'::regnamespace and p.prorettype <> 'trigger'::regtype "
                               "and p.proname !~ '^capture_[0-9]' "
                               "and not has_function_privilege('boss', p.oid, 'execute')"),
                   "", "functions that the admin may not call");
  cr_expect_str_eq(ask(source, "select string_agg(c.oid::regclass::text, ', ' order by 1) from pg_class c "
                               "where c.relnamespace = 'rowrelay'::regnamespace and c.relkind in ('r', 'p', 'v') "
                               "and not c.relispartition and not has_table_privilege('boss', c.oid, 'select')"),
                   "", "tables that the admin may not read");
  cr_expect_str_eq(ask(source,
                       "select string_agg(r.rolname || ': ' || c.oid::regclass::text, ', ' order by 1) "
                       "from pg_class c, pg_roles r "
                       "where c.relnamespace = 'rowrelay'::regnamespace and c.relkind in ('r', 'p', 'v') "
                       "and (r.rolname = 'anna' or r.rolname in ('boss', 'hand') and "
                       "c.relname in ('change', 'capture', 'route', 'target', 'document', 'source', 'migration')) "
                       "and has_table_privilege(r.oid, c.oid, 'insert, update, delete, truncate, trigger')"),
                   "", "tables that are written to by who must not");
  people_end(&s);
}

/* A view's functions are called with the rights of who reads it. */
Test(roles, a_reader_may_call_what_the_views_for_him_call) {
  struct shop s;
  people_begin(&s, "roles_views");
  cr_expect_str_eq(
      ask(s.fixture.at_source,
          "with recursive used(relation) as ("
          "  select c.oid from pg_class c where c.relnamespace = 'rowrelay'::regnamespace and c.relkind = 'v' "
          "     and has_table_privilege('anna', c.oid, 'select') "
          "  union "
          "  select d.refobjid from used u join pg_rewrite r on r.ev_class = u.relation "
          "    join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid "
          "     and d.refclassid = 'pg_class'::regclass) "
          "select string_agg(distinct u.relation::regclass || ': ' || p.oid::regprocedure, ', ') "
          "  from used u join pg_rewrite r on r.ev_class = u.relation "
          "  join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid "
          "   and d.refclassid = 'pg_proc'::regclass "
          "  join pg_proc p on p.oid = d.refobjid and p.pronamespace = 'rowrelay'::regnamespace "
          " where not has_function_privilege('anna', p.oid, 'execute')"),
      "");
  people_end(&s);
}

static const char *status_of_delivery(PGconn *connection, const char *table) {
  return ask(connection,
             "select coalesce(rowrelay.delivery_of(1000, c.id, null, null) #>> '{w,status}', '-') "
             "from rowrelay.capture c where c.relation = 'shop.%s'::regclass",
             table);
}

Test(roles, a_reader_is_told_of_deliveries_of_readable_tables_only) {
  struct shop s;
  people_begin(&s, "roles_deliveries");
  cr_expect_str_eq(status_of_delivery(s.as_boss, "secret"), "complete");
  cr_expect_str_eq(status_of_delivery(s.as_anna, "item"), "complete");
  cr_expect_str_eq(status_of_delivery(s.as_anna, "secret"), "-");
  sql(s.fixture.at_source, "alter table shop.item enable row level security");
  cr_expect_str_eq(status_of_delivery(s.as_anna, "item"), "-");
  people_end(&s);
}

/* A refusal is not hidden by another one, of a function that makes its hint. */
Test(roles, who_may_ask_may_read_the_hint) {
  struct shop s;
  people_begin(&s, "roles_hints");
  PGconn *const askers[] = {s.as_boss, s.as_anna};
  for (size_t i = 0; i < sizeof askers / sizeof askers[0]; i++)
    cr_expect_str_eq(sql_fails(askers[i], "select rowrelay.undo('shop.item', '1', 99)"), "P0002");
  cr_expect_str_eq(sql_fails(s.as_hand, "select rowrelay.retry('nobody')"), "42704");
  people_end(&s);
}

/* Where a user's own text is read, her search_path is a parameter. */
Test(roles, what_runs_with_the_owners_rights_looks_up_no_names_of_the_caller) {
  struct shop s;
  people_begin(&s, "roles_path");
  cr_expect_str_eq(
      ask(s.fixture.at_source,
          "select string_agg(p.proname, ', ' order by p.proname) from pg_proc p "
          "where p.pronamespace = 'rowrelay'::regnamespace and p.prosecdef "
          "and p.prorettype <> 'trigger'::regtype "
          "and not exists (select from unnest(p.proconfig) as c where c = 'search_path=pg_catalog, pg_temp')"),
      "");
  cr_expect_str_eq(ask(s.fixture.at_source, "select string_agg(p.proname, ', ' order by p.proname) from pg_proc p "
                                            "where p.proname in ('add_document', 'backfill', 'capture_statements', "
                                            "'capture_table', 'check_document') "
                                            "and (has_function_privilege('hand', p.oid, 'execute') or "
                                            "has_function_privilege('anna', p.oid, 'execute'))"),
                   "", "only who may act for the owner anyway may call those");
  people_end(&s);
}

/* A row, or a value of a user-defined type, holds what its maker likes, and can run his code. */
Test(roles, what_runs_with_the_owners_rights_takes_plain_values_only) {
  struct shop s;
  people_begin(&s, "roles_values");
  cr_expect_str_eq(ask(s.fixture.at_source,
                       "select string_agg(p.oid::regprocedure::text, ', ' order by 1) from pg_proc p "
                       "where p.pronamespace = 'rowrelay'::regnamespace and p.prosecdef "
                       "and exists (select from unnest(p.proargtypes) as a(type) join pg_type t on t.oid = a.type "
                       "left join pg_type e on e.oid = t.typelem and t.typcategory = 'A' "
                       "where t.typtype <> 'b' or t.oid >= 16384 or e.typtype <> 'b')"),
                   "");
  people_end(&s);
}

/* ---- the application -------------------------------------------------------------------------------------------- */

Test(roles, an_application_without_any_right_keeps_writing) {
  struct shop s;
  people_begin(&s, "roles_app");
  cr_assert_str_eq(ask(s.as_app, "select has_schema_privilege('rowrelay', 'usage')"), "f");
  sql(s.as_app, "insert into shop.item values (1, 'tea', 2); update shop.item set price = 3; delete from shop.item");
  /* the slow way, too */
  sql(s.fixture.at_source, "alter table shop.item rename price to cost");
  sql(s.as_app, "insert into shop.item values (2, 'pot', 9)");
  /* and what the admin asks for */
  sql(s.as_boss, "select rowrelay.capture_table('shop.item', row_filter => 'id > 0', mask => '{\"name\": \"x\"}')");
  sql(s.as_app, "insert into shop.item values (3, 'cup', 1)");
  cr_expect_str_eq(ask(s.as_boss, "select string_agg(op::text, '' order by id) from rowrelay.change where op <> 'b'"),
                   "iudii");
  people_may_not(s.as_app, "select * from rowrelay.history");
  people_may_not(
      s.as_app, "insert into rowrelay.change (txid, captured_at, day, capture, op) values ('1', now(), now(), 1, 'd')");
  people_may_not(s.as_app, "select rowrelay.release_table('shop.item')");
  people_end(&s);
}

/* deploy/README.md: the right to the tables may be revoked when they are captured. */
Test(roles, an_owner_of_the_schema_that_may_no_longer_use_the_tables_captures_them_as_before) {
  struct shop s;
  people_begin(&s, "roles_lost");
  PGconn *super = s.fixture.at_source;
  sql(super,
      "create schema store authorization shopkeeper; grant usage on schema store to app; set role shopkeeper;"
      "create table store.plain (id int primary key, n int, s text default 'x'); "
      "create table store.before (like store.plain including all); "
      "create table store.masked (like store.plain including all);"
      "create table store.filtered (like store.plain including all);"
      "create table store.lanes (like store.plain including all); create table store.bare (id int, n int, s text);"
      "create table store.whole (like store.plain including all);"
      "create table store.parts (id int primary key, n int, s text) partition by range (id);"
      "create table store.low partition of store.parts for values from (0) to (3);"
      "create table store.high partition of store.parts default;"
      "grant all on all tables in schema store to app; reset role");
  static const char *const TABLES[][2] = {
      {"plain", ""},
      {"before", ", before => 'full'"},
      {"masked", ", mask => '{\"s\": \"x\"}'"},
      {"filtered", ", row_filter => 'id > 0'"},
      {"lanes", ", lane => '{n}'"},
      {"bare", ""},
      {"whole", ", per => 'statement'"},
      {"parts", ""},
  };
  enum { COUNT = sizeof TABLES / sizeof *TABLES };
  for (size_t i = 0; i < COUNT; i++)
    sql(super, "select rowrelay.capture_table('store.%s', target => 'w', create_table => true%s)", TABLES[i][0],
        TABLES[i][1]);
  sql(super, "revoke shopkeeper from keeper");
  /* nor may it when it may name them and not read them */
  for (int may_name = 0; may_name <= 1; may_name++) {
    PGconn *app = connect_to(s.fixture.source, "user=app");
    for (size_t i = 0; i < COUNT; i++) {
      const char *t = TABLES[i][0];
      sql(app, "insert into store.%s values (1, 1, 'x'); insert into store.%s values (2, 2, 'x'), (3, 3, 'x')", t, t);
      sql(app, "update store.%s set n = n + 1; update store.%s set n = n + 1 where id = 1", t, t);
      sql(app,
          "begin; update store.%s set n = n + 1; update store.%s set n = n + 1; delete from store.%s where id = 2;"
          "insert into store.%s values (2, 7, 'x'); commit",
          t, t, t, t);
      sql(app, "begin; select from store.%s for update; update store.%s set n = 8; commit", t, t);
      sql(app, "update store.%s set id = id + 10; delete from store.%s where id = 11", t, t);
      char name[64];
      snprintf(name, sizeof name, "store.%s", t);
      mirrored_same(&s.fixture, name);
      sql(app, "truncate store.%s", t);
      mirrored_same(&s.fixture, name);
    }
    /* what is written by a transaction that may see older catalogs than its rows is listed, and fails neither */
    sql(app,
        "begin isolation level repeatable read; insert into store.plain values (21); insert into store.whole values "
        "(21); insert into store.bare values (21); commit");
    rowrelay_ok(&s.fixture, "run", "--until-empty", NULL);
    cr_expect(ask_number(super, "select count(*) from rowrelay.errors") == (may_name ? 0 : 3));
    sql(super, "select rowrelay.skip('w'); grant usage on schema store to keeper");
    sql(super, "delete from store.plain; delete from store.whole; delete from store.bare");
    rowrelay_ok(&s.fixture, "run", "--until-empty", NULL);
    PQfinish(app);
  }
  people_end(&s);
}

/* PostgreSQL asks whether the one who makes a partition may use the triggers of its table. */
Test(roles, who_owns_a_captured_table_goes_on_making_partitions) {
  struct shop s;
  people_begin(&s, "roles_parts");
  PGconn *owner = connect_to(s.fixture.source, "user=shopkeeper");
  PGconn *super = s.fixture.at_source;
  sql(super, "grant create on schema shop to shopkeeper, app; set role shopkeeper;"
             "create table shop.sale (id int, day date, primary key (id, day)) partition by range (day); reset role");
  sql(s.as_boss, "select rowrelay.capture_table('shop.sale')");
  const char *capture = ask(super, "select id from rowrelay.capture where relation = 'shop.sale'::regclass");
  sql(owner, "create table shop.sale_1 partition of shop.sale for values from ('2026-01-01') to ('2027-01-01')");
  sql(owner, "insert into shop.sale values (1, '2026-05-05')");
  /* the table has another owner now, who may make partitions as soon as maintain() has run */
  sql(super, "alter table shop.sale owner to app; update rowrelay.job set held_until = now()");
  sql(s.as_hand, "select rowrelay.maintain()");
  sql(s.as_app, "create table shop.sale_2 partition of shop.sale for values from ('2027-01-01') to ('2028-01-01')");
  sql(s.as_app, "insert into shop.sale values (2, '2027-05-05')");
  cr_expect(ask_number(super, "select count(*) from rowrelay.change where capture = %s", capture) == 2);
  cr_expect_str_eq(ask(super,
                       "select string_agg(grantee, ', ') from information_schema.routine_privileges "
                       "where routine_name = 'capture_%s' and grantee <> 'keeper'",
                       capture),
                   "app", "nobody else may make triggers of it, and write into the log by them");
  sql(super, "grant usage, create on schema shop to anna");
  sql(s.as_anna, "create table shop.mine (id int, day date)");
  char statement[256];
  snprintf(statement, sizeof statement,
           "create trigger forge after insert on shop.mine for each row execute function rowrelay.capture_%s()",
           capture);
  people_may_not(s.as_anna, statement);
  PQfinish(owner);
  people_end(&s);
}

/* ---- the worker ------------------------------------------------------------------------------------------------- */

/* Targets of every kind, made by the admin: a mirror (w), changes, the source itself, a webhook, a file, a document. */
static void add_targets(struct shop *s, const struct receiver *receiver) {
  sql(s->fixture.at_source, "create schema here authorization hand; grant create on database %s to hand",
      s->fixture.name);
  rowrelay_ok(&s->boss, "target", "add", "log", s->fixture.target_url, "--option", "mode=append", NULL);
  rowrelay_ok(&s->boss, "target", "add", "here", "postgresql:", NULL);
  rowrelay_ok(&s->boss, "target", "add", "hook", receiver_url(receiver, "/hook"), "--option", "claim=lease", NULL);
  rowrelay_ok(&s->boss, "target", "add", "file", "file:/dev/null", NULL);
  rowrelay_ok(&s->boss, "route", "shop.item", "log", "--create", NULL);
  rowrelay_ok(&s->boss, "route", "shop.item", "here", "--into", "here.item", "--create", NULL);
  rowrelay_ok(&s->boss, "route", "shop.item", "hook", NULL);
  rowrelay_ok(&s->boss, "route", "shop.item", "file", NULL);
  sql(s->as_boss,
      "select rowrelay.add_document('card', 'w', 'id', 'select id, name from shop.item where id = any ($1)', "
      "array['shop.item:id', 'shop.secret(word):select id from changed'], create_table => true)");
}

Test(roles, a_worker_delivers_to_every_kind_of_target) {
  struct shop s;
  people_begin(&s, "roles_work");
  struct receiver *receiver = receiver_begin();
  sql(s.as_app, "set rowrelay.skip = on; insert into shop.item select n, 'old', 1 from generate_series(1, 20) as n;"
                "insert into shop.secret select n, 'old' from generate_series(1, 20) as n; reset rowrelay.skip");
  add_targets(&s, receiver);
  /* as a whole what it may read; the rest in pieces, by a function of the owner's */
  sql(s.as_boss, "select rowrelay.backfill('shop.item', 'w'), rowrelay.backfill('shop.secret', 'w'), "
                 "rowrelay.rebuild('card')");
  pid_t process = fixture_run(&s.hand, "--workers", "2", "--listen", "127.0.0.1:0", NULL);
  PGconn *source = s.fixture.at_source;
  wait_until(source, "done,done", 20, "select string_agg(state, ',') from rowrelay.backfills");
  sql(s.as_app, "insert into shop.item values (50, 'tea', 2); update shop.item set price = 3 where id = 50");
  sql(s.as_app, "insert into shop.secret values (50, 'abc'); delete from shop.item where id = 3; truncate shop.secret");
  wait_until_empty(&s.fixture, 20);
  int port = visitor_port(process);
  cr_expect_not_null(strstr(visit(port, "GET", "/metrics", NULL, NULL).body, "\nrowrelay_log_overdue_partitions 0\n"));
  const struct visit seen = visit(port, "GET", "/api/overview", NULL, NULL);
  cr_expect(seen.status == 200, "%s", seen.body);
  char *log = strdup(process_log(process));
  cr_expect(strstr(log, "denied") == NULL && strstr(log, "warning") == NULL, "%s", log);
  free(log);
  cr_assert(stop_process(process, SIGTERM) == 0);
  cr_expect_str_eq(ask(source, "select string_agg(target || ': ' || message, '; ') from rowrelay.errors"), "");
  cr_expect_str_eq(
      ask(source, "select string_agg(concat_ws(': ', relation_name, way), ', ' order by relation_name) "
                  "from rowrelay.backfill join rowrelay.capture c on c.id = capture where relation_name like 'shop%%'"),
      "shop.item: copy, shop.secret: pieces");
  cr_expect(ask_number(s.fixture.at_target, "select count(*) from shop.item") == 20);
  cr_expect(ask_number(s.fixture.at_target, "select count(*) from shop.secret") == 0);
  cr_expect(ask_number(s.fixture.at_target, "select count(*) from card") == 20);
  cr_expect(ask_number(s.fixture.at_target, "select count(*) from shop.item_changes") == 3);
  cr_expect(ask_number(source, "select count(*) from here.item") == 1);
  cr_expect(receiver_count(receiver) == 3);
  receiver_end(receiver);
  people_end(&s);
}

Test(roles, a_worker_isolates_what_is_refused) {
  struct shop s;
  people_begin(&s, "roles_refuse");
  sql(s.fixture.at_target,
      "create schema shop; create table shop.item (id int primary key, name text check (name <> 'bad'), price numeric);"
      "create table card (id int primary key, name text check (name <> 'bad'))");
  sql(s.as_boss,
      "select rowrelay.add_document('card', 'w', 'id', 'select id, name from shop.item where id = any ($1)', "
      "array['shop.item:id'])");
  sql(s.as_boss, "select rowrelay.set_target('w', options => '{\"retries\": 0}')");
  sql(s.as_app, "insert into shop.item values (1, 'bad', 1), (2, 'good', 1)");
  rowrelay_ok(&s.hand, "run", "--until-empty", NULL);
  cr_expect_str_eq(
      ask(s.as_boss, "select string_agg(target || ' ' || state, ', ' order by target) from rowrelay.errors"),
      "card error, w error");
  sql(s.fixture.at_target,
      "alter table shop.item drop constraint item_name_check; alter table card drop constraint card_name_check");
  rowrelay_ok(&s.boss, "retry", "--all", NULL);
  rowrelay_ok(&s.hand, "run", "--until-empty", NULL);
  cr_expect_str_eq(
      ask(s.fixture.at_target, "select (select count(*) from shop.item) || ' ' || (select count(*) from card)"), "2 2");
  people_end(&s);
}

Test(roles, worker_notes_that_a_target_was_restored) {
  struct shop s;
  people_begin(&s, "roles_restored");
  sql(s.as_app, "insert into shop.item values (1, 'tea', 1)");
  rowrelay_ok(&s.hand, "run", "--until-empty", NULL);
  sql(s.fixture.at_target, "delete from shop.item; delete from rowrelay_target.fence");
  rowrelay_ok(&s.hand, "run", "--until-empty", NULL);
  cr_expect_not_null(
      strstr(ask(s.as_boss, "select note from rowrelay.status where target = 'w'"), "the server has lost what it had"));
  people_end(&s);
}

Test(roles, a_worker_does_nothing_else) {
  struct shop s;
  people_begin(&s, "roles_hand");
  static const char *const STATEMENTS[] = {
      "select * from shop.secret",
      "insert into shop.item values (1)",
      "update rowrelay.capture set row_filter = 'false'",
      "delete from rowrelay.capture",
      "insert into rowrelay.route default values",
      "update rowrelay.target set url = 'https://elsewhere'",
      "update rowrelay.backfill set condition = 'true'",
      "update rowrelay.document set query = 'select 1'",
      "insert into rowrelay.change (txid, captured_at, day, capture, op) values ('1', now(), now(), 1, 'd')",
      "update rowrelay.change set new_row = null",
      "delete from rowrelay.change",
      "truncate rowrelay.queue",
      "select rowrelay.capture_table('shop.item')",
      "select rowrelay.release_table('shop.item')",
      "select rowrelay.add_target('x', 'stdout:')",
      "select rowrelay.set_target('w', 'stdout:')",
      "select rowrelay.drop_target('w')",
      "select rowrelay.route('shop.item', 'w')",
      "select rowrelay.unroute('shop.item', 'w')",
      "select rowrelay.backfill('shop.item', 'w')",
      "select rowrelay.skip()",
      "select rowrelay.requeue('shop.item', 'w', '{1}')",
      "select rowrelay.queue_documents(1, 'select 1', null)",
      "select rowrelay.make_trigger_function(1)",
      "create table rowrelay.mine (id int)",
      "drop table rowrelay.job",
      "drop trigger \"!rowrelay\" on shop.item",
  };
  for (size_t i = 0; i < sizeof STATEMENTS / sizeof STATEMENTS[0]; i++)
    people_may_not(s.as_hand, STATEMENTS[i]);
  cr_expect(rowrelay(&s.hand, NULL, NULL, "capture", "shop.item", NULL) != 0);
  cr_expect(rowrelay(&s.hand, NULL, NULL, "uninstall", "--force", NULL) != 0);
  people_end(&s);
}

/* ---- the admin -------------------------------------------------------------------------------------------------- */

Test(roles, an_admin_does_what_commands_do) {
  struct shop s;
  people_begin(&s, "roles_boss");
  const struct fixture *boss = &s.boss;
  static const char QUERY[] = "/tmp/rowrelay-roles-query.sql";
  sql(s.as_app, "insert into shop.item select n, 'tea', 1 from generate_series(1, 20) as n");
  rowrelay_ok(boss, "capture", "shop.item", "--before", "--mask", "name=x", NULL);
  rowrelay_ok(boss, "status", NULL);
  rowrelay_ok(boss, "errors", NULL);
  rowrelay_ok(boss, "log", "shop.item", "1", NULL);
  rowrelay_ok(boss, "target", "set", "w", "--option", "retries=1", NULL);
  rowrelay_ok(boss, "target", "show", "w", NULL);
  rowrelay_ok(boss, "target", "pause", "w", NULL);
  rowrelay_ok(boss, "target", "resume", "w", NULL);
  rowrelay_ok(boss, "backfill", "shop.secret", "--to", "w", NULL);
  FILE *file = fopen(QUERY, "w");
  cr_assert(file != NULL);
  fputs("select id, name from shop.item where id = any ($1)", file);
  fclose(file);
  rowrelay_ok(boss, "document", "add", "card", "--target", "w", "--key", "id", "--query", QUERY, "--create", "--from",
              "shop.item:id", NULL);
  remove(QUERY);
  rowrelay_ok(boss, "backfill", "--document", "card", NULL);
  rowrelay_ok(boss, "document", "rebuild", "card", "1", NULL);
  rowrelay_ok(boss, "document", "show", "card", NULL);
  rowrelay_ok(&s.hand, "run", "--until-empty", NULL);
  rowrelay_ok(boss, "retry", "--all", NULL);
  rowrelay_ok(boss, "skip", "--all", NULL);
  rowrelay_ok(boss, "document", "drop", "card", NULL);
  sql(s.as_boss, "select rowrelay.capture_natively(false)");
  rowrelay_ok(boss, "route", "shop.item", "w", "--remove", NULL);
  rowrelay_ok(boss, "release", "shop.item", NULL);
  rowrelay_ok(boss, "target", "drop", "w", NULL);
  people_end(&s);
}

/* To be a member of a superuser is to be one. */
Test(roles, who_captures_a_superusers_table_is_not_told_to_become_one) {
  struct shop s;
  const char *told;
  people_begin(&s, "roles_super");
  sql(s.fixture.at_source, "create table shop.own (id int primary key)");
  cr_assert_eq(rowrelay(&s.boss, NULL, &told, "capture", "shop.own", NULL), 1);
  cr_assert_not_null(strstr(told,
                            "does not own table shop.own\nhint: The owner is a superuser: give the table to another "
                            "role, such as: alter table shop.own owner to keeper.\n"),
                     "%s", told);
  sql(s.fixture.at_source, "alter table shop.own owner to keeper");
  rowrelay_ok(&s.boss, "capture", "shop.own", NULL);
  people_end(&s);
}

Test(roles, an_admin_owns_nothing_and_is_not_the_owner) {
  struct shop s;
  people_begin(&s, "roles_limit");
  static const char *const STATEMENTS[] = {
      "select * from shop.secret",
      "insert into shop.item values (1)",
      "update rowrelay.capture set row_filter = 'false'",
      "insert into rowrelay.change (txid, captured_at, day, capture, op) values ('1', now(), now(), 1, 'd')",
      "update rowrelay.change set new_row = null",
      "delete from rowrelay.change",
      "truncate rowrelay.change",
      "drop schema rowrelay cascade",
      "drop trigger \"!rowrelay\" on shop.item",
      "alter table shop.item disable trigger \"!rowrelay\"",
      "create function rowrelay.mine() returns int language sql as 'select 1'",
      "create table foreign_one (id int); select rowrelay.capture_table('foreign_one')",
  };
  sql(s.fixture.at_source, "grant create on schema public to boss");
  for (size_t i = 0; i < sizeof STATEMENTS / sizeof STATEMENTS[0]; i++)
    people_may_not(s.as_boss, STATEMENTS[i]);
  cr_expect_str_eq(
      ask(s.fixture.at_source,
          "select string_agg(c.oid::regclass::text, ', ') from pg_class c join pg_roles r on r.oid = c.relowner "
          "where r.rolname in ('boss', 'hand', 'anna') or r.rolname like 'rowrelay%%'"),
      "");
  const char *errors;
  cr_expect(rowrelay(&s.boss, NULL, &errors, "uninstall", "--force", NULL) == 1);
  cr_expect(strstr(errors, "Nothing was changed.") != NULL, "%s", errors);
  cr_expect(ask_number(s.fixture.at_source, "select count(*) from rowrelay.captures where note is null") == 2,
            "what is captured still is: %s", errors);
  people_end(&s);
}

/* ---- coming and going ------------------------------------------------------------------------------------------- */

Test(roles, who_lacks_a_right_is_told_the_least_role_that_gives_it) {
  struct shop s;
  people_begin(&s, "roles_told");
  struct fixture nobody = people_seen_by(&s.fixture, "nobody");
  const struct {
    const struct fixture *who;
    const char *command;
    const char *role;
  } tries[] = {{&nobody, "status", "rowrelay_admin for all else"},
               {&nobody, "errors", "rowrelay_reader to read the log"},
               {&s.anna, "status", "rowrelay_worker is the least"},
               {&s.anna, "seal", "rowrelay_admin is the least"},
               {&s.hand, "errors", "rowrelay_reader is the least"}};
  for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
    const char *errors;
    cr_expect_neq(rowrelay(tries[i].who, NULL, &errors, tries[i].command, NULL), 0);
    cr_expect(strstr(errors, "permission denied for ") != NULL && strstr(errors, "hint: ") != NULL &&
                  strstr(errors, tries[i].role) != NULL && strstr(errors, "run: rowrelay doctor\n") != NULL,
              "%s: %s", tries[i].command, errors);
  }
  const char *errors;
  cr_expect_eq(rowrelay(&s.anna, NULL, &errors, "run", NULL), 1);
  cr_expect(strstr(errors, "rowrelay_worker is the least") != NULL, "%s", errors);
  cr_expect_eq(rowrelay(&nobody, NULL, &errors, "run", "--until-empty", NULL), 1);
  cr_expect_neq(rowrelay(&s.boss, NULL, &errors, "init", NULL), 0);
  cr_expect(strstr(errors, "belongs to role keeper, and boss may not change it") != NULL, "%s", errors);
  people_end(&s);
}

Test(roles, who_may_not_create_roles_is_told_what_has_to_be_run) {
  struct shop s;
  people_begin(&s, "roles_dba");
  PGconn *super = s.fixture.at_source;
  const char *errors;
  rowrelay_ok(&s.keeper, "uninstall", "--force", NULL);
  cr_expect_str_eq(ask(super, "select string_agg(rolname, ', ') from pg_roles where rolname like 'rowrelay%%'"), "");
  struct fixture nobody = people_seen_by(&s.fixture, "nobody");
  cr_expect(rowrelay(&nobody, NULL, &errors, "init", NULL) == 1);
  cr_expect(strstr(errors, "grant create on database test_roles_dba to nobody") != NULL, "%s", errors);
  sql(super, "alter role keeper nocreaterole");
  cr_assert(rowrelay(&s.keeper, NULL, &errors, "init", "--roles", NULL) == 1);
  cr_expect(strstr(errors, "create role rowrelay_admin; create role rowrelay_worker; create role rowrelay_reader") !=
                NULL,
            "%s", errors);
  cr_expect_str_eq(ask(super, "select to_regnamespace('rowrelay') is null"), "t", "nothing was changed");
  sql(super, "create role rowrelay_admin; create role rowrelay_worker; create role rowrelay_reader; grant "
             "rowrelay_admin to boss");
  rowrelay_ok(&s.keeper, "init", "--roles", NULL);
  sql(s.as_boss, "select rowrelay.add_target('x', 'stdout:')");
  rowrelay_ok(&s.keeper, "uninstall", "--force", NULL);
  cr_expect_str_eq(ask(super, "select count(*) from pg_roles where rolname like 'rowrelay%%'"), "3",
                   "they were not ours");
  people_end(&s);
}

Test(roles, rights_come_with_each_init_and_what_else_was_granted_stays) {
  struct shop s;
  people_begin(&s, "roles_anew");
  PGconn *super = s.fixture.at_source;
  sql(super, "revoke all on rowrelay.queue from rowrelay_worker; grant select on rowrelay.change to rowrelay_reader;"
             "grant update (query) on rowrelay.document to rowrelay_worker;"
             "grant execute on function rowrelay.skip to public; grant select on rowrelay.status to nobody");
  rowrelay_ok(&s.keeper, "init", NULL);
  people_may_not(s.as_anna, "select * from rowrelay.change");
  people_may_not(s.as_anna, "select rowrelay.skip()");
  people_may_not(s.as_hand, "update rowrelay.document set query = ''");
  sql(s.as_hand, "delete from rowrelay.queue");
  cr_expect_str_eq(ask(super, "select has_table_privilege('nobody', 'rowrelay.status', 'select')"), "t");
  /* correct roles are not touched */
  const char *before = ask(super, "select md5(string_agg(xmin::text, ',' order by oid)) from pg_class where "
                                  "relnamespace = 'rowrelay'::regnamespace and relkind <> 'v'");
  rowrelay_ok(&s.keeper, "init", NULL);
  cr_expect_str_eq(ask(super, "select md5(string_agg(xmin::text, ',' order by oid)) from pg_class where relnamespace = "
                              "'rowrelay'::regnamespace and relkind <> 'v'"),
                   before);
  people_end(&s);
}

/* In one line, which is not printed where only the owner has rights. */
Test(roles, init_and_doctor_list_who_has_rights) {
  static const char RIGHTS[] =
      "the owner is keeper; nobody has rights that were granted by hand; "
      "rowrelay_admin (boss) may do everything, and run SQL as the owner by filters and queries; "
      "rowrelay_reader (anna, \"Ärger\") may read the history of tables that it may select from; "
      "rowrelay_worker (hand) may deliver, and read the whole log\n";
  struct shop s;
  people_begin(&s, "roles_listed");
  const char *output;
  sql(s.fixture.at_source, "create role readers; create role \"Ärger\" login; grant rowrelay_reader to readers;"
                           "grant readers to \"Ärger\"; grant usage on schema rowrelay to nobody");
  rowrelay(&s.keeper, &output, NULL, "init", NULL);
  cr_expect(strstr(output, "rights in schema rowrelay: ") != NULL && strstr(output, RIGHTS) != NULL, "%s", output);
  rowrelay(&s.boss, &output, NULL, "doctor", "shop.item", NULL);
  cr_expect(strstr(output, "ok    access — ") != NULL && strstr(output, RIGHTS) != NULL, "%s", output);
  sql(s.fixture.at_source, "revoke usage on schema rowrelay from nobody");
  rowrelay_ok(&s.keeper, "uninstall", "--force", NULL);
  rowrelay(&s.keeper, &output, NULL, "init", NULL);
  cr_expect_null(strstr(output, "rights in schema"), "%s", output);
  rowrelay(&s.keeper, &output, NULL, "doctor", NULL);
  cr_expect_null(strstr(output, "ok    access — "), "%s", output);
  people_end(&s);
}

Test(roles, another_database_gives_them_rights_if_asked_and_keeps_them) {
  struct shop s;
  people_begin(&s, "roles_two");
  struct fixture other;
  fixture_begin(&other, "roles_other");
  static const char has_rights[] =
      "select has_schema_privilege('boss', 'rowrelay', 'usage'), (select count(*) from pg_class c, "
      "aclexplode(c.relacl) as "
      "a where c.relnamespace = 'rowrelay'::regnamespace and a.grantee <> all (array[0::oid, c.relowner]))";
  rowrelay_ok(&other, "uninstall", "--force", NULL);
  rowrelay_ok(&other, "init", NULL);
  cr_expect_str_eq(ask(other.at_source, "select r::text from (%s) as r", has_rights), "(f,0)");
  rowrelay_ok(&other, "init", "--roles", NULL);
  cr_expect_str_neq(ask(other.at_source, "select r::text from (%s) as r", has_rights), "(f,0)");
  rowrelay_ok(&s.keeper, "uninstall", "--force", NULL);
  cr_expect_str_eq(ask(other.at_source, "select count(*) from pg_roles where rolname like 'rowrelay%%'"), "3");
  cr_expect_str_eq(
      ask(other.at_source, "select has_function_privilege('boss', 'rowrelay.skip(text, bigint[])', 'execute')"), "t");
  rowrelay_ok(&other, "uninstall", "--force", NULL);
  cr_expect_str_eq(ask(other.at_source, "select count(*) from pg_roles where rolname like 'rowrelay%%'"), "0");
  fixture_end(&other);
  people_end(&s);
}
