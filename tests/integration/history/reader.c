/* The role rowrelay_reader: it sees what was captured of tables that its members may read, and nothing else. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "people.h"

Test(reader, a_reader_writes_nothing_and_sees_no_table_of_the_schema) {
  struct shop s;
  people_begin(&s, "reader_anna");
  static const char *const STATEMENTS[] = {
      "select * from rowrelay.change_key",
      "select * from rowrelay.truncation",
      "select * from rowrelay.change",
      "select * from rowrelay.queue",
      "select * from rowrelay.refusal",
      "select * from rowrelay.target",
      "select * from rowrelay.targets",
      "select * from rowrelay.document",
      "delete from rowrelay.lease",
      "delete from rowrelay.queue",
      "select rowrelay.skip()",
      "select rowrelay.retry()",
      "select rowrelay.maintain()",
      "select rowrelay.capture_table('shop.item')",
      "select rowrelay.pause('w')",
      "select nextval('rowrelay.change_id')",
      "select setval('rowrelay.doorbell', 0)",
      "create table rowrelay.mine (id int)",
      "select rowrelay.add_change(1, 'd', null, null, null, null)",
  };
  for (size_t i = 0; i < sizeof STATEMENTS / sizeof STATEMENTS[0]; i++)
    people_may_not(s.as_anna, STATEMENTS[i]);
  people_end(&s);
}

/* What a function in WHERE is given, it can tell. */
static const char LEAK[] = "create function pg_temp.leak(value text) returns boolean language plpgsql cost 0.0001 as "
                           "$$begin raise exception 'it is told: %', value; end$$;";

Test(reader, a_reader_sees_refused_rows_only_of_tables_that_he_may_read) {
  struct shop s;
  people_begin(&s, "reader_errors");
  sql(s.fixture.at_target,
      "create schema shop; create table shop.item (id int primary key, name text, price numeric check (false));"
      "create table shop.secret (id int primary key, word text check (false))");
  sql(s.as_boss, "select rowrelay.set_target('w', options => '{\"retries\": 0}')");
  sql(s.as_app, "insert into shop.item values (1, 'tea', 1); insert into shop.secret values (1, 'abracadabra')");
  rowrelay_ok(&s.hand, "run", "--until-empty", NULL);
  cr_assert(ask_number(s.as_boss, "select count(*) from rowrelay.errors") == 2);
  cr_expect_str_eq(ask(s.as_anna, "select string_agg(relation::text, ', ') from rowrelay.errors"), "shop.item");
  sql(s.as_anna, "%s", LEAK);
  const char *told = sql_fails(s.as_anna, "select * from rowrelay.errors where pg_temp.leak(new_row::text)");
  cr_expect_str_eq(told, "P0001");
  cr_expect(strstr(PQerrorMessage(s.as_anna), "tea") != NULL, "%s", PQerrorMessage(s.as_anna));
  sql(s.as_anna,
      "select * from rowrelay.errors where key = '1' and message <> '' and relation <> 'shop.item'::regclass "
      "and pg_temp.leak(new_row::text)");
  /* nor by operators and functions of his own in the place of ours */
  sql(s.fixture.at_source, "create schema evil authorization anna");
  sql(s.as_anna,
      "create function evil.has_table_privilege(regclass, text) returns boolean language sql as 'select true';"
      "create function evil.has_table_privilege(oid, text) returns boolean language sql as 'select true';"
      "create function evil.pg_has_role(oid, text) returns boolean language sql as 'select true';"
      "set search_path = evil, pg_catalog");
  cr_expect(ask_number(s.as_anna, "select count(*) from rowrelay.errors") == 1);
  /* a policy hides some of its rows, so none can be shown */
  sql(s.fixture.at_source, "alter table shop.item enable row level security");
  cr_expect(ask_number(s.as_anna, "select count(*) from rowrelay.errors") == 0);
  sql(s.fixture.at_source, "alter table shop.item disable row level security; drop table shop.item");
  cr_expect(ask_number(s.as_anna, "select count(*) from rowrelay.errors") == 0, "of a table that is gone");
  cr_expect(ask_number(s.as_boss, "select count(*) from rowrelay.errors") == 2);
  people_end(&s);
}

/* What is hidden is not taken for what never was. */
Test(reader, what_a_reader_may_not_see_is_said_to_be_hidden) {
  struct shop s;
  const char *said;
  people_begin(&s, "reader_hidden");
  sql(s.as_app, "insert into shop.secret values (1, 'abracadabra')");
  sql(s.fixture.at_target, "create schema if not exists shop;"
                           "create table if not exists shop.secret (id int primary key, word text);"
                           "alter table shop.secret add check (word <> 'abracadabra')");
  rowrelay_ok(&s.boss, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(s.fixture.at_source, "select count(*) from rowrelay.errors"), "1");
  static const char HIDDEN[] = "role anna may not read shop.secret, so nothing of it is shown\n"
                               "hint: Ask an administrator: grant select on shop.secret to anna\n";
  char txid[32];
  snprintf(txid, sizeof txid, "%s", ask(s.fixture.at_source, "select min(txid::text::bigint) from rowrelay.change"));
  const char *const uses[][4] = {{"errors"}, {"log"}, {"log", "shop.secret"}, {"log", "shop.secret", "1"}};
  for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
    cr_expect_eq(rowrelay(&s.anna, NULL, &said, uses[i][0], uses[i][1], uses[i][2], NULL), 0);
    cr_expect_not_null(strstr(said, HIDDEN), "%s: %s", uses[i][0], said);
    rowrelay(&s.boss, NULL, &said, uses[i][0], uses[i][1], uses[i][2], NULL);
    cr_expect_str_eq(said, "");
  }
  cr_expect_eq(rowrelay(&s.anna, NULL, &said, "log", "shop.secret", "--as-of", "now", NULL), 1);
  cr_expect_not_null(strstr(said, "hint: Ask an administrator: grant select on shop.secret to anna\n"), "%s", said);
  cr_expect_eq(rowrelay(&s.anna, NULL, &said, "undo", "shop.secret", "1", "1", NULL), 1);
  cr_expect_not_null(strstr(said, HIDDEN), "%s", said);
  cr_expect_eq(rowrelay(&s.anna, NULL, &said, "undo", "--txid", txid, NULL), 1);
  cr_expect_not_null(strstr(said, "changed tables that anna may not read\n"), "%s", said);
  cr_expect_not_null(strstr(said, "hint: Ask an administrator: grant select on shop.secret to anna\n"), "%s", said);
  rowrelay(&s.anna, &said, NULL, "doctor", NULL);
  cr_expect_not_null(strstr(said, "role anna may not read shop.secret"), "%s", said);
  cr_expect_not_null(strstr(said, "grant select on shop.secret to anna"), "%s", said);
  rowrelay(&s.anna, NULL, &said, "log", "shop.item", NULL);
  cr_expect_null(strstr(said, "may not read"), "%s", said);
  sql(s.fixture.at_source, "alter table shop.item enable row level security");
  rowrelay(&s.anna, NULL, &said, "log", "shop.item", NULL);
  cr_expect_not_null(strstr(said, "hint: Ask an administrator: alter role anna bypassrls\n"), "%s", said);
  sql(s.fixture.at_source, "drop table shop.secret");
  rowrelay(&s.anna, NULL, &said, "log", "shop.secret", NULL);
  cr_expect_not_null(strstr(said, "hint: Ask an administrator: grant rowrelay_admin to anna\n"), "%s", said);
  people_end(&s);
}

/* Everything that is there to read the past with: first what he may see, then what he must not. */
Test(reader, a_reader_sees_the_past_only_of_tables_that_he_may_read) {
  struct shop s;
  people_begin(&s, "reader_past");
  PGconn *super = s.fixture.at_source;
  sql(s.as_boss, "select rowrelay.capture_table('shop.item', before => 'full')");
  sql(s.as_app,
      "begin; insert into shop.item values (1, 'tea', 1); insert into shop.secret values (1, 'abracadabra'); commit;"
      "update shop.item set name = 'pot'");
  char moment[64];
  snprintf(moment, sizeof moment, "%s", ask(super, "select clock_timestamp()"));
  sql(s.as_app, "update shop.item set name = 'cup'; update shop.secret set word = 'sesame'; truncate shop.secret");
  char txid[32];
  snprintf(txid, sizeof txid, "%s", ask(super, "select min(txid::text::bigint) from rowrelay.change"));
  for (int ticked = 0; ticked < 2; ticked++) {
    cr_expect_str_eq(ask(s.as_anna,
                         "select string_agg(concat_ws(' ', relation, op, new_row ->> 'name'), ', ' order by change_id) "
                         "from rowrelay.history"),
                     "shop.item insert tea, shop.item update pot, shop.item update cup");
    cr_expect(ask_number(s.as_boss, "select count(*) from rowrelay.history") == 6);
    cr_expect(ask_number(s.as_anna, "select count(*) from rowrelay.history_of('shop.item', '1')") == 3);
    cr_expect(ask_number(s.as_boss, "select count(*) from rowrelay.history_of('shop.secret', '1')") == 3);
    cr_expect(ask_number(s.as_anna, "select count(*) from rowrelay.history_of('shop.secret', '1')") == 0);
    cr_expect(ask_number(s.as_anna, "select count(*) from rowrelay.changes_of_key('shop.secret', '1')") == 0);
    cr_expect(ask_number(s.as_anna, "select count(*) from rowrelay.truncates_of('shop.secret')") == 0);
    cr_expect(ask_number(s.as_anna, "select count(*) from rowrelay.transaction('%s')", txid) == 1);
    cr_expect(ask_number(s.as_boss, "select count(*) from rowrelay.transaction('%s')", txid) == 2);
    cr_expect(ask_number(s.as_anna, "select count(*) from rowrelay.readable_key") == (ticked ? 3 : 0));
    sql(super, "select rowrelay.tick(at_once => true)");
  }
  cr_expect(ask_number(s.as_boss, "select count(*) from rowrelay.change_key") == 6);
  cr_expect_str_eq(ask(s.as_anna, "select name from rowrelay.as_of(null::shop.item, '%s')", moment), "pot");
  cr_expect_str_eq(ask(s.as_anna, "select name from rowrelay.row_as_of(null::shop.item, '1', '%s')", moment), "pot");
  char statement[256];
  snprintf(statement, sizeof statement, "select * from rowrelay.as_of(null::shop.secret, '%s')", moment);
  people_may_not(s.as_anna, statement);
  cr_expect_str_neq(
      ask(s.as_anna, "select rowrelay.undo('shop.item', '1', (select max(change_id) from rowrelay.history))"), "");
  sql_fails(s.as_anna, "select rowrelay.undo('shop.secret', '1', %s)",
            ask(super, "select min(change_id) from rowrelay.every_change where relation = 'shop.secret'::regclass"));
  cr_expect(strstr(PQerrorMessage(s.as_anna), "abra") == NULL, "%s", PQerrorMessage(s.as_anna));
  snprintf(statement, sizeof statement, "select rowrelay.undo_transaction('%s')", txid);
  people_may_not(s.as_anna, statement);
  /* what he may see he may not change */
  sql_fails(s.as_anna, "select rowrelay.undo('shop.item', '1', (select max(change_id) from rowrelay.history), true)");
  cr_expect_str_eq(ask(super, "select name from shop.item"), "cup");
  people_may_not(s.as_anna, "select * from rowrelay.every_change");
  people_may_not(s.as_hand, "select * from rowrelay.every_change");

  sql(s.as_anna, "%s", LEAK);
  static const char *const VIEWS[] = {"history", "readable_change"};
  for (size_t i = 0; i < sizeof VIEWS / sizeof VIEWS[0]; i++) {
    sql_fails(s.as_anna, "select * from rowrelay.%s where pg_temp.leak(new_row::text)", VIEWS[i]);
    cr_expect(strstr(PQerrorMessage(s.as_anna), "it is told: ") != NULL, "%s", PQerrorMessage(s.as_anna));
    cr_expect(strstr(PQerrorMessage(s.as_anna), "tea") != NULL, "%s", PQerrorMessage(s.as_anna));
    sql(s.as_anna, "select * from rowrelay.%s where new_row ->> 'word' <> '' and pg_temp.leak(new_row::text)",
        VIEWS[i]);
  }
  people_end(&s);
}
