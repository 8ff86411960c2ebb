/* Changes and whole transactions are taken back exactly, or not at all. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "fixture.h"
#include "past.h"

#define EVERY_TYPE                                                                                                     \
  "create schema \"Shop\"; create type \"Shop\".mood as enum ('sad', 'hap''py');"                                      \
  "create type \"Shop\".pair as (x int, \"Y\" text); create domain \"Shop\".positive as int check (value > 0);"        \
  "create table \"Shop\".\"Or der\" (id int generated always as identity, part int not null, \"b\"\"q\" text,"         \
  "  n numeric(10,2), nn numeric, f8 float8, f4 real, ts timestamp, tz timestamptz(3), d date, iv interval, by bytea," \
  "  j json, jb jsonb, a int[], aa text[][], m \"Shop\".mood, p \"Shop\".pair, dom \"Shop\".positive, mo money,"       \
  "  c char(5), bp bpchar, vc varchar(7), bo bool, u uuid, ip inet, bt bit(3), r int4range, pnt point, tsv tsvector,"  \
  "  rc regclass, nm name, x xml, g int generated always as (part * 2) stored, primary key (id, part));"
#define ODD_ROWS                                                                                                       \
  "insert into \"Shop\".\"Or der\" (part, \"b\"\"q\", n, nn, f8, f4, ts, tz, d, iv, by, j, jb, a, aa, m, p, dom, mo,"  \
  "  c, bp, vc, bo, u, ip, bt, r, pnt, tsv, rc, nm, x)"                                                                \
  " values (7, E'it''s \\\\ a \"q\"\\n', 1.50, 1.000, 0.1, 1.1, '2020-01-01 10:00:00.123456',"                         \
  "   '2020-01-01 10:00:00+03', 'infinity', '-1 mon +2 days -03:00:00.5', '\\x00ff',"                                  \
  "   E' {\"a\": 1.0, \"a\":\"\\\\u0000\\\\u0041\"} ', '{\"b\":[1.00,null]}', '[2:3]={1,null}',"                       \
  "   '{{a,\"b c\"},{NULL,\"x\\\"y\"}}', 'hap''py', row(1, 'a,\"b'), 5, '12.34', 'ab', 'ab  ', 'x', true,"             \
  "   gen_random_uuid(), '10.0.0.1/8', b'101', '[1,5)', '(1.5,2)', 'a:1 b:2', '\"Shop\".\"Or der\"', 'nam', '<a/>'),"  \
  " (8, '', 'NaN', 'NaN', '-0', '-infinity', '0044-03-15 00:00 BC', '-infinity', '10000-01-01', '1 year', '',"         \
  "   'null', 'null', '{}', null, null, row(null, null), null, '-1', '', '', '', false, null, '::1', null, 'empty',"   \
  "   null, '', null, '', null)"
#define OTHER_VALUES                                                                                                   \
  "update \"Shop\".\"Or der\" set \"b\"\"q\" = 'other', n = 3, nn = 1.0, f8 = 0, f4 = 3, ts = null, tz = now(),"       \
  "  d = '2020-01-01', iv = '1 day', by = '\\x01', j = E'\"x\\\\u0041\"', jb = '1', a = '{5}', aa = '{}', m = 'sad',"  \
  "  p = row(2, 'b'), dom = 6, mo = 1, c = 'zz', bp = 'ab', vc = 'y', bo = null, u = null, ip = null, bt = b'111',"    \
  "  r = null, pnt = '(3,3)', tsv = 'q', rc = null, nm = 'o', x = '<b/>'"
#define HOSTILE                                                                                                        \
  "set datestyle = 'SQL, DMY'; set timezone = 'Asia/Tokyo'; set intervalstyle = 'sql_standard';"                       \
  "set bytea_output = 'escape'; set extra_float_digits = -15"

/* Three tables, with all that a foreign key can do. */
#define SHOP                                                                                                           \
  "create table customer (id int primary key, email text unique, boss int references customer);"                       \
  "create table orders (id int primary key, customer int references customer on delete cascade on update cascade,"     \
  "  total int default 0);"                                                                                            \
  "create table line (o int references orders on delete cascade on update cascade, n int, item text,"                  \
  "  substitute text references customer (email) on delete set null on update cascade, primary key (o, n));"           \
  "select rowrelay.capture_table('customer'), rowrelay.capture_table('orders', before => 'full'),"                     \
  "  rowrelay.capture_table('line');"                                                                                  \
  "insert into customer values (1, 'a', null), (2, 'b', 1), (3, 'c', 2);"                                              \
  "insert into orders values (10, 1, 5), (11, 2, 6), (12, 2, 7);"                                                      \
  "insert into line values (10, 1, 'x', 'b'), (10, 2, 'y', null), (11, 1, 'z', 'a'), (12, 1, 'v', null)"
#define WHOLE_SHOP                                                                                                     \
  "select concat((select json_agg(c order by id) from customer c), (select json_agg(o order by id) from orders o),"    \
  "  (select json_agg(l order by o, n) from line l))"
#define LAST_TXID "(select txid from rowrelay.change order by txid desc limit 1)"

static const char *last_change(struct fixture *f, const char *table, const char *key) {
  return ask(f->at_source,
             "select max(h.id) from rowrelay.change h join rowrelay.capture c on c.id = h.capture"
             " where c.relation = '%s'::regclass and h.key = '%s'",
             table, key);
}

/* The statements as a person would run them. */
static const char *statements_of_last_transaction(struct fixture *f) {
  return ask(f->at_source, "select string_agg(s, '; ' order by n) from rowrelay.undo_transaction(" LAST_TXID
                           ") with ordinality as u(s, n)");
}

static void undo_last_transaction(struct fixture *f) {
  sql(f->at_source, "select rowrelay.undo_transaction(" LAST_TXID ", true)");
}

static void begin(struct fixture *f, const char *name, const char *script) {
  fixture_begin(f, name);
  sql(f->at_source, "%s", script);
}

Test(undo, brings_back_every_type_as_it_was_whatever_the_settings_of_who_does_it) {
  struct fixture f;
  begin(&f, "undo_types", EVERY_TYPE);
  sql(f.at_source, "select rowrelay.capture_table('\"Shop\".\"Or der\"')");
  sql(f.at_source, ODD_ROWS);
  sql(f.at_source, "create table truth as table \"Shop\".\"Or der\"");
  const char *const writes[] = {OTHER_VALUES, "delete from \"Shop\".\"Or der\"",
                                "update \"Shop\".\"Or der\" set part = part + 1"};
  for (size_t by_hand = 0; by_hand < 2; by_hand++)
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++) {
      sql(f.at_source, "%s", writes[i]);
      sql(f.at_source, HOSTILE);
      if (by_hand == 1)
        sql(f.at_source, "%s", statements_of_last_transaction(&f));
      else
        undo_last_transaction(&f);
      sql(f.at_source, "reset all");
      /* byte by byte */
      cr_assert(ask_number(f.at_source, "select count(*) from truth a join \"Shop\".\"Or der\" b on a.id = b.id"
                                        " where a.* *= b.*") == 2,
                "write %zu: %s", i, ask(f.at_source, "select json_agg(t) from \"Shop\".\"Or der\" t"));
    }
  fixture_end(&f);
}

Test(undo, of_a_transaction_keeps_the_order_that_foreign_keys_ask_for) {
  static const char *const TRANSACTIONS[] = {
      /* everything of a customer goes along */
      "update customer set boss = null where boss = 1; delete from customer where id = 1",
      /* keys that others follow, twice, beside other changes of the same rows */
      "update orders set id = 100 where id = 10; update orders set customer = 2, id = 101 where id = 100;"
      "update line set item = 'q' where o = 101; delete from line where o = 101 and n = 2",
      "update customer set email = 'new', boss = 3 where id = 1; update customer set email = 'newer' where id = 1;"
      "update line set item = 'w', substitute = 'c' where o = 11",
      /* values that are unique */
      "update customer set email = 'tmp' where id = 1; update customer set email = 'a' where id = 2;"
      "update customer set email = 'b' where id = 1",
      /* a whole family comes and moves */
      "insert into customer values (4, 'd', 1), (5, 'e', 4); insert into orders values (13, 5); insert into line values"
      "(13, 1, 'n', 'd'); update orders set customer = 5; update customer set boss = 5 where id = 3; delete from "
      "orders "
      "where id = 12; insert into orders values (12, 4)",
  };
  struct fixture f;
  begin(&f, "undo_order", SHOP);
  char before[4096];
  strncpy(before, ask(f.at_source, WHOLE_SHOP), sizeof before - 1);
  for (size_t i = 0; i < sizeof TRANSACTIONS / sizeof TRANSACTIONS[0]; i++)
    for (size_t by_hand = 0; by_hand < 2; by_hand++) {
      sql(f.at_source, "begin; %s; commit", TRANSACTIONS[i]);
      cr_assert_str_neq(ask(f.at_source, WHOLE_SHOP), before);
      if (by_hand == 1)
        sql(f.at_source, "begin; %s; commit", statements_of_last_transaction(&f));
      else
        undo_last_transaction(&f);
      cr_assert_str_eq(ask(f.at_source, WHOLE_SHOP), before, "transaction %zu: %s", i,
                       statements_of_last_transaction(&f));
    }
  fixture_end(&f);
}

Test(undo, of_a_transaction_closes_circles_of_references) {
  struct fixture f;
  begin(&f, "undo_circle",
        "create table hen (id int primary key, egg int); create table egg (id int primary key, hen int references hen);"
        "alter table hen add foreign key (egg) references egg deferrable;"
        "select rowrelay.capture_table('hen'), rowrelay.capture_table('egg');"
        "begin; set constraints all deferred; insert into hen values (1, 1), (2, 2); insert into egg values (2, 1), "
        "(1, 2);"
        "commit; begin; set constraints all deferred; delete from egg; delete from hen; commit");
  undo_last_transaction(&f);
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(concat(h, e), ' ' order by h.id) from hen h join egg e using (id)"),
      "(1,1)(1,2) (2,2)(2,1)");
  sql(f.at_source, "begin; %s; commit",
      ask(f.at_source, "select string_agg(s, '; ' order by n) from rowrelay.undo_transaction((select txid from "
                       "rowrelay.change order by id"
                       " desc limit 1)) with ordinality as u(s, n)"));
  cr_assert(ask_number(f.at_source, "select count(*) from hen, egg") == 0);
  fixture_end(&f);
}

Test(undo, restores_what_was_before_random_transactions) {
  struct fixture f;
  begin(&f, "undo_random",
        SHOP
        "; create function some_write() returns void language plpgsql as $$ declare c int := 1 + random() * 5;"
        " o int := 10 + random() * 5; begin case (random() * 9)::int"
        " when 0 then insert into customer values (c, md5(random()::text), null) on conflict (id) do update set email "
        "= excluded.email;"
        " when 1 then update customer set boss = (select min(id) from customer where id < c) where id = c;"
        " when 2 then delete from customer where id = c;"
        " when 3 then insert into orders select o, min(id) from customer on conflict do nothing;"
        " when 4 then update orders set id = 10 + (id - 9) % 7, total = total + 1 where id = o;"
        " when 5 then delete from orders where id = o;"
        " when 6 then insert into line select id, c, 'new', (select min(email) from customer) from orders on conflict "
        "do nothing;"
        " when 7 then update line set item = item || c where n = c;"
        " when 8 then update line set n = n + 10 where line.o = 10 + c;"
        " else delete from line where n = c; end case; exception when integrity_constraint_violation then null; end $$;"
        "create function shop() returns text language sql as $$ " WHOLE_SHOP " $$;"
        "select setseed(0.5)");
  int64_t changes = 0;
  for (int i = 0; i < 25; i++) {
    sql(f.at_source, "create temporary table was as select shop() as shop, rowrelay.last_change_id() as id");
    sql(f.at_source, "do $$ begin for i in 1..8 loop perform some_write(); end loop; end $$");
    changes += ask_number(f.at_source, "select count(*) from rowrelay.change where id > (select id from was)");
    sql(f.at_source, "create temporary table txid as select txid from rowrelay.change where id > (select id from was) "
                     "order by txid desc limit 1");
    sql(f.at_source, "select rowrelay.undo_transaction(txid, true) from txid where txid is not null");
    cr_assert_str_eq(ask(f.at_source, "select shop() = shop from was"), "t", "%s",
                     ask(f.at_source, "select shop() || ' was ' || shop from was"));
    /* on to somewhere else */
    sql(f.at_source, "select some_write(); drop table was, txid");
  }
  cr_assert(changes > 50);
  fixture_end(&f);
}

Test(undo, takes_back_one_change_and_either_half_of_an_updated_key) {
  struct fixture f;
  begin(&f, "undo_one", SHOP);
  char before[4096];
  strncpy(before, ask(f.at_source, WHOLE_SHOP), sizeof before - 1);
  sql(f.at_source, "insert into customer values (9, 'i')");
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.undo('customer', '9', %s, true)",
                       last_change(&f, "customer", "9")) == 1);
  for (int half = 0; half < 2; half++) {
    sql(f.at_source, "update orders set id = 50, total = 9 where id = 12");
    cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.undo('orders', '%s', %s, true)",
                         half == 0 ? "12" : "50", last_change(&f, "orders", half == 0 ? "12" : "50")) == 1);
  }
  cr_assert_str_eq(ask(f.at_source, WHOLE_SHOP), before);
  /* two rows */
  sql(f.at_source, "begin; delete from line where o = 12; insert into line values (11, 5, 'other'); commit");
  sql(f.at_source, "select rowrelay.undo('line', '[11, 5]', %s, true)", last_change(&f, "line", "[11, 5]"));
  cr_assert(ask_number(f.at_source, "select count(*) from line") == 3);
  /* the undo is in the log like any change, with the person as its actor */
  cr_assert_str_eq(ask(f.at_source, "select op || ' ' || actor from rowrelay.history order by change_id desc limit 1"),
                   ask(f.at_source, "select 'delete ' || session_user"));
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo('line', '[11, 5]', 1)"), "P0002");
  fixture_end(&f);
}

Test(undo, refuses_when_somebody_came_between) {
  struct fixture f;
  begin(&f, "undo_between", SHOP);
  sql(f.at_source,
      "begin; update orders set total = 50 where id = 10; update orders set total = 60 where id = 11; commit");
  char txid[32], by_hand[2048];
  strncpy(txid, ask(f.at_source, "select " LAST_TXID), sizeof txid - 1);
  strncpy(by_hand, statements_of_last_transaction(&f), sizeof by_hand - 1);
  /* a write that the log does not have */
  sql(f.at_source, "begin; set local rowrelay.skip = on; update orders set total = 51 where id = 10; commit");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo_transaction('%s', true)", txid), "55000");
  cr_assert(ask_number(f.at_source, "select total from orders where id = 11") == 60);
  sql(f.at_source, "%s", by_hand);
  cr_assert(ask_number(f.at_source, "select total from orders where id = 10") == 51, "a row was written over");
  /* one that it has, though the row is as it was */
  sql(f.at_source, "update orders set total = 60 where id = 11");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo_transaction('%s')", txid), "55000");
  /* another session that is about to change it */
  sql(f.at_source, "update orders set total = 70 where id = 12");
  PGconn *other = connect_to(f.source, NULL);
  sql(other, "begin; update orders set total = 71 where id = 12; update orders set total = 70 where id = 12");
  char change[32];
  strncpy(change, last_change(&f, "orders", "12"), sizeof change - 1);
  start(f.at_source, "select rowrelay.undo('orders', '12', %s, true)", change);
  wait_until_blocked(other, f.at_source, 10);
  sql(other, "commit");
  PGresult *result = PQgetResult(f.at_source);
  cr_assert_str_eq(PQresultErrorField(result, PG_DIAG_SQLSTATE), "55000");
  PQclear(result);
  cr_assert_null(PQgetResult(f.at_source));
  PQfinish(other);
  /* referring rows that would be deleted too */
  sql(f.at_source, "insert into customer values (9, 'i')");
  strncpy(change, last_change(&f, "customer", "9"), sizeof change - 1);
  strncpy(by_hand, ask(f.at_source, "select rowrelay.undo('customer', '9', %s)", change), sizeof by_hand - 1);
  sql(f.at_source, "insert into orders values (90, 9)");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo('customer', '9', %s, true)", change), "55000");
  sql(f.at_source, "%s", by_hand);
  cr_assert(ask_number(f.at_source, "select count(*) from orders where id = 90") == 1);
  /* the key was given to another row */
  sql(f.at_source, "delete from orders where id = 90");
  strncpy(change, last_change(&f, "orders", "90"), sizeof change - 1);
  sql(f.at_source, "begin; set local rowrelay.skip = on; insert into orders values (90, 1); commit");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo('orders', '90', %s, true)", change), "55000");
  sql(f.at_source, "truncate line");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo_transaction(" LAST_TXID ")"), "55000");
  cr_assert_str_eq(
      sql_fails(f.at_source, "select rowrelay.undo('line', '[10, 1]', %s)", last_change(&f, "line", "[10, 1]")),
      "55000");
  fixture_end(&f);
}

Test(undo, refuses_where_the_log_does_not_hold_what_it_takes) {
  struct fixture f;
  begin(&f, "undo_lacks",
        "create table person (id int primary key, name text, card text, pin int);"
        "insert into person values (1, 'Anna', '41', 1), (2, 'Bert', '42', 2), (3, 'Cora', '43', 3)");
  sql(f.at_source, "select rowrelay.capture_table('person', exclude => '{card}', mask => '{\"pin\": 0}')");
  /* nothing is known of what it was */
  sql(f.at_source, "update person set name = 'Ann' where id = 1");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo('person', '1', %s)", last_change(&f, "person", "1")),
                   "55000");
  sql(f.at_source, "update person set name = 'Anne', card = '44', pin = 4 where id = 1");
  sql(f.at_source, "select rowrelay.undo('person', '1', %s, true)", last_change(&f, "person", "1"));
  cr_assert_str_eq(ask(f.at_source, "select p::text from person p where id = 1"), "(1,Ann,44,4)");
  /* a row would come back without what is left out */
  sql(f.at_source, "delete from person where id = 1");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo('person', '1', %s)", last_change(&f, "person", "1")),
                   "55000");
  sql(f.at_source, "select rowrelay.capture_table('person', before => 'full', reset => true)");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo('person', '1', %s)", last_change(&f, "person", "1")),
                   "55000");
  /* columns have each other's names by now, and one is gone */
  sql(f.at_source,
      "delete from person where id = 2; update person set card = 'other' where id = 3;"
      "alter table person rename name to called; alter table person rename card to name; alter table person drop pin");
  /* columns that came since are as in a row that was there */
  sql(f.at_source, "alter table person add grade int not null default 7;"
                   "alter table person alter grade set default 8");
  sql(f.at_source, "select rowrelay.undo('person', '2', %s, true)", last_change(&f, "person", "2"));
  cr_assert_str_eq(ask(f.at_source, "select p::text from person p where id = 2"), "(2,Bert,42,7)");
  sql(f.at_source, "select rowrelay.undo('person', '3', %s, true)", last_change(&f, "person", "3"));
  cr_assert_str_eq(ask(f.at_source, "select name from person where id = 3"), "43");
  /* values that were removed from the log */
  sql(f.at_source, "delete from person where id = 3");
  sql(f.at_source, "select rowrelay.redact('person', '3', '{name}')");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo('person', '3', %s)", last_change(&f, "person", "3")),
                   "55000");
  cr_assert_not_null(strstr(PQerrorMessage(f.at_source), "is redacted"), "%s", PQerrorMessage(f.at_source));
  fixture_end(&f);
}

/* A transaction of which nothing else is left would look as if it were undone as a whole. */
Test(undo, says_which_updates_it_passes_over_because_the_log_has_nothing_of_them) {
  struct fixture f;
  begin(&f, "undo_passes",
        "create table person (id int primary key, name text, card text, pin int);"
        "insert into person values (1, 'Anna', '41', 1), (2, 'Bert', '42', 2), (3, 'Cora', '43', 3)");
  sql(f.at_source,
      "select rowrelay.capture_table('person', exclude => '{card}', mask => '{\"pin\": 0}', before => 'full')");
  sql(f.at_source, "begin; update person set card = 'x' where id = 1; update person set pin = 9 where id = 2;"
                   "update person set name = 'Cara' where id = 3; commit");
  char txid[32];
  const char *said;
  const char *statements;
  snprintf(txid, sizeof txid, "%s", ask(f.at_source, LAST_TXID));
  cr_assert_eq(rowrelay(&f, &statements, &said, "undo", "--txid", txid, NULL), 0);
  cr_expect_not_null(strstr(said, "warning: change 1 of table person and 1 more cannot be undone: the log has no value "
                                  "that it changed\nhint: "),
                     "%s", said);
  cr_expect_not_null(strstr(said, ": card, pin.\n"), "%s", said);
  cr_expect_not_null(strstr(statements, "'Cora'"), "%s", statements);
  cr_assert_eq(rowrelay(&f, NULL, &said, "undo", "person", "3", "3", NULL), 0);
  cr_expect_str_eq(said, "");
  fixture_end(&f);
}

Test(undo, does_not_guess_what_the_log_does_not_know) {
  struct fixture f;
  begin(&f, "undo_guesses",
        "create table older (id int primary key, x int); create table loose (n int, hidden int);"
        "create table bare (); select rowrelay.capture_table('older'), rowrelay.capture_table('bare'),"
        "  rowrelay.capture_table('loose', mask => '{\"hidden\": 0}');"
        "insert into older values (1, 1), (2, 2); insert into loose values (1, 1); insert into loose values (1, 2)");
  /* of several rows that look the same it may be any */
  cr_expect_str_eq(sql_fails(f.at_source, "select rowrelay.undo_transaction(" LAST_TXID ", true)"), "55000");
  /* a row that is older than a column has its default as it is, whatever the session says */
  sql(f.at_source, "alter table older add m money default 1234.5, add f float8 default 0.30000000000000004,"
                   "  add d date default '2020-03-04', add b bytea default '\\x00ff5c';"
                   "create table was as table older; delete from older where id = 1; " HOSTILE);
  undo_last_transaction(&f);
  sql(f.at_source, "reset all");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from (table older except table was) as i"), "0");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from older"), "2");
  /* unless it was computed for each row */
  sql(f.at_source, "alter table older add u uuid default gen_random_uuid(); delete from older where id = 2");
  cr_expect_str_eq(sql_fails(f.at_source, "select rowrelay.undo_transaction(" LAST_TXID ", true)"), "55000");
  sql(f.at_source, "insert into bare default values; insert into bare default values");
  undo_last_transaction(&f);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from bare"), "0");
  sql(f.at_source, "insert into bare default values");
  sql(f.at_source, "delete from bare");
  undo_last_transaction(&f);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from bare"), "1");
  fixture_end(&f);
}

Test(undo, works_without_a_key_and_across_partitions) {
  struct fixture f;
  begin(&f, "undo_shapes",
        "create table bag (v int, t text); insert into bag values (1, 'x'), (1, 'x'), (2, null);"
        "create table part (id int primary key, v int) partition by range (id);"
        "create table part_1 partition of part for values from (0) to (10);"
        "create table part_2 partition of part for values from (10) to (20);"
        "create table dot (p point, w int, primary key (w)) partition by list (w);"
        "select rowrelay.capture_table('bag'), rowrelay.capture_table('part');"
        "insert into part values (1, 1), (11, 2)");
  sql(f.at_source, "begin; update bag set v = 5 where t = 'x'; delete from bag where v = 2; insert into bag values (8, "
                   "'y'); commit");
  undo_last_transaction(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(b::text, ' ' order by v) from bag b"), "(1,x) (1,x) (2,)");
  sql(f.at_source, "begin; update part set id = 12, v = 9 where id = 1; delete from part where id = 11; commit");
  undo_last_transaction(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(p::text, ' ' order by id) from part p"), "(1,1) (11,2)");
  sql(f.at_source, "insert into bag values (9, 'z')");
  sql(f.at_source, "select rowrelay.undo('bag', null, rowrelay.last_change_id(), true)");
  cr_assert(ask_number(f.at_source, "select count(*) from bag") == 3);
  /* with more columns than a function takes arguments */
  sql(f.at_source,
      "do $$ begin execute (select format('create table wide (id int primary key, %%s)', "
      "string_agg('c' || n || ' text', ', ')) from generate_series(1, 150) as n); end $$;"
      "select rowrelay.capture_table('wide', before => 'full'); insert into wide (id, c7) values (1, 'x')");
  sql(f.at_source, "update wide set c150 = 'y', c7 = null");
  undo_last_transaction(&f);
  cr_assert_str_eq(ask(f.at_source, "select concat(c7, c150) from wide"), "x");
  fixture_end(&f);
}

Test(undo, leaves_everything_when_a_trigger_makes_something_else_of_it) {
  struct fixture f;
  begin(&f, "undo_triggers",
        SHOP "; create function keep_total() returns trigger language plpgsql as $$ begin"
             "  update orders set total = total + 1 where id = new.o; return null; end $$;"
             "create trigger keep_total after insert or update on line for each row execute "
             "function keep_total()");
  sql(f.at_source, "update line set item = 'other' where o = 10 and n = 1");
  char before[4096];
  strncpy(before, ask(f.at_source, WHOLE_SHOP), sizeof before - 1);
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo_transaction(" LAST_TXID ", true)"), "27000");
  cr_assert_str_eq(ask(f.at_source, WHOLE_SHOP), before);
  fixture_end(&f);
}

/* The log has one row for each key: the last one that was written, of whichever table. */
Test(undo, is_refused_for_rows_of_a_table_and_its_children_that_share_a_key) {
  struct fixture f;
  begin(&f, "undo_shared",
        "create table p (id int primary key, n int); create table c (primary key (id)) inherits (p);"
        "select rowrelay.capture_table('p'); insert into p values (1, 1), (2, 2); insert into c values (1, 6), (3, 3);"
        "update c set n = 7; update only p set n = n + 1");
  sql(f.at_source, "update c set n = 8 where id = 1");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo_transaction(" LAST_TXID ", true)"), "55000");
  cr_assert(strstr(PQerrorMessage(f.at_source), "have the key 1, or had it") != NULL, "%s",
            PQerrorMessage(f.at_source));
  sql(f.at_source, "update p set n = 9 where id > 1");
  sql(f.at_source, "select rowrelay.undo_transaction(" LAST_TXID ", true)");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat(id, n), ' ' order by id, n) from p"), "12 18 23 37");
  fixture_end(&f);
}

Test(undo, is_refused_for_a_column_that_came_after_the_rows_previous_change) {
  struct fixture f;
  begin(&f, "undo_column",
        "create table item (id int primary key, n int); select rowrelay.capture_table('item');"
        "insert into item values (1, 1), (2, 2), (3, 3); alter table item add note text");
  sql(f.at_source, "update item set note = 'x' where id = 1");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo_transaction(" LAST_TXID ", true)"), "55000");
  cr_assert(strstr(PQerrorMessage(f.at_source), "previous change is older than column note") != NULL, "%s",
            PQerrorMessage(f.at_source));
  /* what has it, or had no other value for it, is undone */
  sql(f.at_source, "update item set note = 'y' where id = 1");
  sql(f.at_source, "select rowrelay.undo_transaction(" LAST_TXID ", true); delete from item where id = 3");
  sql(f.at_source, "select rowrelay.undo_transaction(" LAST_TXID ", true)");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat(id, note), ' ' order by id) from item"), "1y 2 3");
  fixture_end(&f);
}

/* Such a row is known by its values alone, so they are counted. */
Test(undo, notices_what_a_trigger_makes_of_a_row_without_a_key) {
  struct fixture f;
  begin(&f, "undo_keyless",
        "create table bag (v int, t text); select rowrelay.capture_table('bag');"
        "insert into bag values (1, 'a'), (1, 'a'), (2, 'b');"
        "create function shout() returns trigger language plpgsql as $$ begin"
        "  if new.v < 10 then new.t := upper(new.t); end if; return new; end $$;"
        "create function follow() returns trigger language plpgsql as $$ begin"
        "  insert into bag values (new.v + 10, 'f'); return null; end $$");
  sql(f.at_source, "create trigger shout before insert or update on bag for each row execute function shout()");
  for (int i = 0; i < 2; i++) {
    sql(f.at_source, "%s", i == 0 ? "delete from bag where v = 1" : "update bag set v = 11 where v = 2");
    cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo_transaction(" LAST_TXID ", true)"), "27000");
    cr_assert_str_eq(ask(f.at_source, "select string_agg(b::text, ' ' order by v) from bag b"),
                     i == 0 ? "(2,b)" : "(11,b)");
  }
  sql(f.at_source,
      "drop trigger shout on bag; truncate bag; insert into bag values (1, 'a'), (1, 'a'), (2, 'b');"
      "create trigger follow after insert on bag for each row when (new.v < 10) execute function follow()");
  sql(f.at_source, "delete from bag where v = 1");
  undo_last_transaction(&f); /* other rows are not looked at, as for tables with a key */
  cr_assert_str_eq(ask(f.at_source, "select string_agg(b::text, ' ' order by v) from bag b"),
                   "(1,a) (1,a) (2,b) (11,f) (11,f)");
  sql(f.at_source, "insert into bag values (11, 'f')");
  sql(f.at_source, "begin; delete from bag where v = 2; delete from bag where v = 11; insert into bag values (12, 'f');"
                   "commit");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo_transaction(" LAST_TXID ", true)"), "27000");
  fixture_end(&f);
}

Test(undo, is_a_command_that_prints_and_applies_on_request) {
  struct fixture f;
  const char *errors;
  begin(&f, "undo_command", SHOP);
  sql(f.at_source, "update orders set total = 50");
  char txid[32] = "", mistyped[40];
  strncpy(txid, ask(f.at_source, "select " LAST_TXID), sizeof txid - 1);
  /* PostgreSQL before 16 reads the number that a word begins with. */
  snprintf(mistyped, sizeof mistyped, "%sx", txid);
  cr_assert(rowrelay(&f, NULL, &errors, "undo", "--txid", mistyped, "--apply", NULL) == 2);
  cr_assert_not_null(strstr(errors, "--txid must be a transaction id"), "%s", errors);
  cr_assert(ask_number(f.at_source, "select min(total) from orders") == 50);
  const char *said = rowrelay_ok(&f, "undo", "--txid", txid, NULL);
  cr_assert(
      strncmp(said, "begin;\nupdate public.orders as t set total = '7'::integer where t.id = '12'::integer ", 82) == 0,
      "%s", said);
  cr_assert_str_eq(said + strlen(said) - 8, "commit;\n");
  cr_assert(ask_number(f.at_source, "select min(total) from orders") == 50);
  rowrelay_ok(&f, "undo", "orders", "11", last_change(&f, "orders", "11"), "--apply", NULL);
  cr_assert(ask_number(f.at_source, "select total from orders where id = 11") == 6);
  cr_assert(rowrelay(&f, NULL, &errors, "undo", "--txid", txid, "--apply", NULL) == 2);
  cr_assert_not_null(strstr(errors, "changed again later"), "%s", errors);
  cr_assert(rowrelay(&f, NULL, &errors, "undo", "orders", NULL) == 2);
  cr_assert(rowrelay(&f, NULL, &errors, "undo", "orders", "1", "2", "--txid", "3", NULL) == 2);
  fixture_end(&f);
}

/* On closed days and open ones, indexed and not, and in another capture of the same table. */
Test(undo, of_a_transaction_finds_what_rows_were_on_whatever_day_they_were_written) {
  struct fixture f;
  begin(&f, "undo_days",
        "create table item (id int primary key, v text); create table twin (like item including all);"
        "select rowrelay.capture_table('item'), rowrelay.capture_table('twin');"
        "insert into item select n, 'first' from generate_series(1, 60) n; insert into twin select * from item");
  static const int DAYS_AGO[] = {9, 6, 4};
  for (int i = 0; i < 3; i++) {
    sql(f.at_source, "update item set v = 'day %d' where id %% 10 = %d", DAYS_AGO[i], i + 1);
    sql(f.at_source, "update twin set v = 'not this' where id %% 10 = %d", i + 2);
    /* Some days are indexed, and one is closed with a tick that is behind it. */
    if (i != 1)
      sql(f.at_source, "select rowrelay.tick(at_once => true)");
    past_move(f.at_source, DAYS_AGO[i]);
    past_close(f.at_source);
  }
  sql(f.at_source, "update item set v = 'today' where id %% 10 = 4");
  sql(f.at_source, "select rowrelay.tick(at_once => true)");
  sql(f.at_source, "update item set v = 'not indexed' where id %% 10 = 5");
  sql(f.at_source, "delete from item where id = 6; insert into item values (6, 'again')");
  sql(f.at_source, "create table truth as table item");
  sql(f.at_source, "begin; update item set v = 'wrong' where id <= 50; update item set v = 'more wrong' where id <= 5;"
                   "delete from item where id > 50; commit");
  undo_last_transaction(&f);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from (table truth except table item) as t"), "0");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from item"), "60");
  fixture_end(&f);
}

Test(undo, of_a_transaction_reads_the_log_a_few_times_however_many_rows_there_are) {
  struct fixture f;
  begin(
      &f, "undo_passes",
      "create table item (id int primary key, v text); select rowrelay.capture_table('item');"
      "insert into item select n, 'right' from generate_series(1, 300) n; update item set v = 'wrong' where id > 100");
  const char *partition = ask(f.at_source, "select 'change_' || to_char(rowrelay.partition_day(), 'YYYYMMDD')");
  sql(f.at_source, "begin");
  undo_last_transaction(&f);
  /* No tick has been taken, so there is no other way to find a change than to read it. */
  int64_t rows = ask_number(
      f.at_source, "select seq_tup_read + coalesce(idx_tup_fetch, 0) from pg_stat_xact_all_tables where relname = '%s'",
      partition);
  cr_assert(rows < 20 * 500, "%lld rows of 500", (long long)rows);
  sql(f.at_source, "rollback");
  fixture_end(&f);
}

Test(undo, of_a_transaction_looks_at_the_columns_a_few_times_however_many_rows_there_are) {
  struct fixture f;
  begin(&f, "undo_columns",
        "create table item (id int primary key, v text, tags text[]); select rowrelay.capture_table('item');"
        "insert into item select n, 'right', case when n % 3 > 0 then '{a}'::text[] end from generate_series(1, 300) n;"
        "create table was as table item");
  sql(f.at_source,
      "begin; update item set v = 'wrong' where id <= 100; delete from item where id between 101 and 200;"
      "update item set id = -id where id > 200; insert into item select n, 'new' from generate_series(400, "
      "500) n; commit");
  sql(f.at_source, "set track_functions = 'all'; begin");
  undo_last_transaction(&f);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from (table item except table was) as i"), "0");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from item"), "300");
  int64_t calls = ask_number(
      f.at_source, "select sum(calls) from pg_stat_xact_user_functions where schemaname = 'rowrelay' and funcname in"
                   " ('attribute_names', 'current_shape', 'image_columns', 'image_shape', 'is_whole_row', 'live_key',"
                   "  'text_columns', 'type_structure', 'undo_columns')");
  cr_assert(calls > 0 && calls < 200, "%lld calls for 400 rows", (long long)calls);
  sql(f.at_source, "rollback");
  fixture_end(&f);
}

Test(undo, is_refused_where_one_of_many_rows_was_changed_since_however_long_ago) {
  struct fixture f;
  begin(&f, "undo_since",
        "create table item (id int primary key, v text); select rowrelay.capture_table('item');"
        "insert into item select n, 'right' from generate_series(1, 60) n");
  sql(f.at_source, "update item set v = 'wrong'");
  const char *txid = ask(f.at_source, "select " LAST_TXID);
  sql(f.at_source, "update item set v = 'another' where id = 17");
  for (int days_ago = 9; days_ago > 3; days_ago -= 5) {
    cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo_transaction('%s')", txid), "55000");
    cr_assert_not_null(strstr(PQerrorMessage(f.at_source), "row 17 of table item was changed again later"), "%s",
                       PQerrorMessage(f.at_source));
    sql(f.at_source, "select rowrelay.tick(at_once => true)");
    cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo_transaction('%s')", txid), "55000");
    past_move(f.at_source, days_ago);
    past_close(f.at_source);
  }
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.undo_transaction('%s')", txid), "55000");
  fixture_end(&f);
}

Test(undo, a_key_that_is_json_null_is_brought_back_as_that) {
  struct fixture f;
  begin(&f, "undo_null",
        "create table note (k jsonb primary key, v int); select rowrelay.capture_table('note');"
        "insert into note values ('null', 1), ('\"null\"', 2)");
  sql(f.at_source, "delete from note where k = 'null'");
  undo_last_transaction(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat(k, v), ' ' order by v) from note"), "null1 \"null\"2");
  fixture_end(&f);
}
