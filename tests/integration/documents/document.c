#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "receiver.h"

/* The part of a shop that documents are made of: customers are shared by orders, lines belong to one. */
static const char SHOP[] = "create table customer (id int primary key, name text, visits int);"
                           "create table orders (id bigint primary key, customer_id int, status text);"
                           "create index on orders (customer_id);"
                           "create table line (id int primary key, order_id bigint, item text, noted text);"
                           "create index on line (order_id)";

#define QUERY                                                                                                          \
  "select o.id, o.status, c.name as customer, (select string_agg(l.item, ',' order by l.id) from line l where "        \
  "l.order_id = o.id) as items from orders o left join customer c on c.id = o.customer_id"
#define FOR_KEYS " where o.id = any ($1)"
#define BY_CUSTOMER "customer(name):select o.id from orders o join changed c on c.id = o.customer_id"

static void add_shop(struct fixture *f) {
  sql(f->at_source, "%s", SHOP);
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
}

static void add_document(struct fixture *f) {
  sql(f->at_source,
      "select rowrelay.add_document('doc', 'w', 'id', '%s', array['orders:id', 'line:order_id(order_id, item)', '%s'], "
      "create_table => true, search => '{customer,items}')",
      "select o.id, o.status, c.name as customer, (select string_agg(l.item, '','' order by l.id) from line l where "
      "l.order_id = o.id) as items from orders o left join customer c on c.id = o.customer_id where o.id = any ($1)",
      BY_CUSTOMER);
}

static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  add_shop(f);
  add_document(f);
}

static void build(struct fixture *f) {
  rowrelay_ok(f, "run", "--until-empty", "--workers", "2", NULL);
  cr_assert_str_eq(ask(f->at_source, "select count(*) from rowrelay.errors"), "0");
}

/* Every document is what its query gives, and there is no other. */
static void documents_are_right(struct fixture *f) {
  same_rows(f, "(" QUERY ")", "(select id, status, customer, items from doc)", "1");
}

Test(document, a_change_of_any_of_its_tables_refreshes_it) {
  struct fixture f;
  begin(&f, "doc_any");
  sql(f.at_source, "insert into customer values (1, 'ann', 0), (2, 'bob', 0);"
                   "insert into orders values (10, 1, 'new'), (20, 2, 'new'); insert into line values (1, 10, 'tea')");
  build(&f);
  documents_are_right(&f);
  cr_assert_str_eq(
      ask(f.at_target, "select string_agg(concat_ws('/', id, status, customer, items), ' ' order by id) from doc"),
      "10/new/ann/tea 20/new/bob");
  sql(f.at_source, "update customer set name = 'anna' where id = 1");
  build(&f);
  cr_assert_str_eq(ask(f.at_target, "select customer from doc where id = 10"), "anna");
  sql(f.at_source, "update orders set status = 'paid' where id = 20; insert into line values (2, 20, 'cup')");
  build(&f);
  documents_are_right(&f);
  sql(f.at_source, "delete from line where id = 1; delete from customer where id = 2");
  build(&f);
  documents_are_right(&f);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from doc where search @@ to_tsquery('simple', 'cup')"), "1");
  fixture_end(&f);
}

Test(document, a_row_that_moves_refreshes_both_documents) {
  struct fixture f;
  begin(&f, "doc_move");
  sql(f.at_source, "insert into orders select n, 1, 'new' from generate_series(1, 50) as n;"
                   "insert into line select n, n, 'i' || n from generate_series(1, 50) as n");
  build(&f);
  sql(f.at_source,
      "update line set order_id = 51 - order_id where id <= 20; update line set order_id = null where id = 21;"
      "update line set id = id + 100, order_id = 1 where id = 22");
  build(&f);
  documents_are_right(&f);
  fixture_end(&f);
}

Test(document, a_key_without_a_row_is_deleted) {
  struct fixture f;
  begin(&f, "doc_gone");
  sql(f.at_source, "insert into orders values (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c')");
  build(&f);
  sql(f.at_source, "delete from orders where id = 1; update orders set id = 4 where id = 2");
  build(&f);
  documents_are_right(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from doc"), "3 4");
  fixture_end(&f);
}

/* A trigger of the target's counts how often a document is written. */
Test(document, fifty_changes_of_one_order_build_it_once) {
  struct fixture f;
  begin(&f, "doc_once");
  sql(f.at_source, "insert into orders values (1, 1, 'a'), (2, 1, 'b')");
  build(&f);
  sql(f.at_target, "create table written (id bigint); create function count_it() returns trigger language plpgsql as "
                   "$$ begin insert into written values (new.id); return null; end $$;"
                   "create trigger count_it after insert or update on doc for each row execute function count_it()");
  for (int i = 0; i < 50; i++)
    sql(f.at_source, "insert into line values (%d, 1, 'x')", i);
  sql(f.at_source, "update orders set status = 'c' where id = 1");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from written"), "1");
  documents_are_right(&f);
  fixture_end(&f);
}

/* A customer and his address change; both lead to his orders. */
Test(document, documents_to_which_rows_of_several_tables_lead_are_built_once) {
  struct fixture f;
  fixture_begin(&f, "doc_shared_once");
  add_shop(&f);
  sql(f.at_source,
      "create table address (id int primary key, customer_id int, town text);"
      "select rowrelay.add_document('doc', 'w', 'id', 'select o.id, c.name, a.town from orders o join customer c on "
      "c.id "
      "= o.customer_id join address a on a.customer_id = c.id where o.id = any ($1)', array['orders:id', '%s', "
      "'address:with a as (select customer_id from changed) select o.id from orders o join a using (customer_id)'], "
      "create_table => true)",
      BY_CUSTOMER);
  sql(f.at_source, "insert into orders select n, 1, 'new' from generate_series(1, 20) as n");
  build(&f);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.history where op = 'refresh'"), "0");
  sql(f.at_source, "insert into customer values (1, 'ann', 0); insert into address values (1, 1, 'Ulm')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from doc where name = 'ann' and town = 'Ulm'"), "20");
  cr_assert_str_eq(
      ask(f.at_source, "select sum(json_array_length(new_row)) from rowrelay.history where op = 'refresh'"), "20");
  fixture_end(&f);
}

Test(document, show_prints_the_query_as_it_was_written_and_sources_that_can_be_given_again) {
  struct fixture f;
  fixture_begin(&f, "doc_show");
  add_shop(&f);
  sql(f.at_source,
      "alter table customer rename name to \"Full Name\";"
      "select rowrelay.add_document('doc', 'w', 'id', E'select id, status\n\t from orders\n where id = any ($1)', "
      "array['orders:id(id,status)', 'customer(visits,\"Full Name\"):select id from orders join changed using (id)'])");
  const char *shown = rowrelay_ok(&f, "document", "show", "doc", NULL);
  cr_assert_not_null(
      strstr(shown, "from      public.orders:id(id, status)\n"
                    "from      public.customer(visits, \"Full Name\"):select id from orders join changed using (id)\n"
                    "query     select id, status\n"
                    "               from orders\n"
                    "           where id = any ($1)\n"),
      "%s", shown);
  fixture_end(&f);
}

Test(document, a_change_of_columns_that_it_does_not_use_does_not_refresh_it) {
  struct fixture f;
  begin(&f, "doc_columns");
  sql(f.at_source, "insert into customer values (1, 'ann', 0); insert into orders values (10, 1, 'new');"
                   "insert into line values (1, 10, 'tea')");
  build(&f);
  sql(f.at_source, "update line set noted = 'x'; update customer set visits = visits + 1");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "0");
  sql(f.at_source, "update line set item = 'cup', noted = 'y'");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "1");
  build(&f);
  documents_are_right(&f);
  fixture_end(&f);
}

Test(document, a_truncated_table_refreshes_all) {
  struct fixture f;
  begin(&f, "doc_truncate");
  sql(f.at_source, "insert into orders select n, 1, 'new' from generate_series(1, 500) as n;"
                   "insert into line select n, n, 'i' || n from generate_series(1, 500) as n");
  build(&f);
  sql(f.at_source, "truncate line; insert into line values (1, 7, 'new')");
  build(&f);
  documents_are_right(&f);
  sql(f.at_source, "truncate orders; insert into orders values (9, 1, 'again')");
  build(&f);
  documents_are_right(&f);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from doc"), "1");
  fixture_end(&f);
}

Test(document, what_is_there_already_is_built_by_rebuild) {
  struct fixture f;
  fixture_begin(&f, "doc_rebuild");
  add_shop(&f);
  sql(f.at_source, "insert into orders select n, 1, 'new' from generate_series(1, 3000) as n");
  add_document(&f);
  cr_assert_str_eq(rowrelay_ok(&f, "document", "rebuild", "doc", "1", "2", "99999", NULL), "document doc: 3 queued\n");
  build(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from doc"), "1 2");
  cr_assert_str_eq(rowrelay_ok(&f, "document", "rebuild", "doc", NULL), "document doc: 3000 queued\n");
  build(&f);
  documents_are_right(&f);
  fixture_end(&f);
}

/* Only keys are queued, piece by piece, and the documents are built while their tables are written to. */
Test(document, what_is_there_already_is_built_by_backfill) {
  struct fixture f;
  fixture_begin(&f, "doc_backfill");
  add_shop(&f);
  sql(f.at_source, "insert into orders select n, 1, 'new' from generate_series(1, 3000) as n;"
                   "insert into line select n, n, 'i' from generate_series(1, 3000) as n");
  add_document(&f);
  pid_t command = fixture_start(&f, "backfill", "--document", "doc", "--rate", "1000", NULL);
  for (int i = 1; i <= 10; i++)
    sql(f.at_source, "update line set order_id = %d where id %% 100 = %d; delete from orders where id %% 200 = %d",
        4 * i, i, i);
  cr_assert_eq(wait_process(command, 30), 0);
  build(&f);
  documents_are_right(&f);
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "backfill", "--document", "doc", "orders", NULL), 2);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "backfill", "--document", "none", NULL), 2);
  cr_assert_not_null(strstr(errors, "Documents are: \"doc\""), "%s", errors);
  fixture_end(&f);
}

Test(document, who_builds_all_is_told_how_long_it_takes_and_how_far_it_is) {
  struct fixture f;
  const char *said;
  fixture_begin(&f, "doc_progress");
  add_shop(&f);
  sql(f.at_source, "insert into orders select n, 1, 'new' from generate_series(1, 3000) as n; analyze orders");
  add_document(&f);
  said = rowrelay_ok(&f, "backfill", "--document", "doc", NULL);
  cr_assert_not_null(strstr(said, "doc: 3,000 documents to be built; to build them: rowrelay run\n"), "%s", said);
  build(&f);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "running", 20, "select state from rowrelay.status where target = 'doc'");
  said = rowrelay_ok(&f, "backfill", "--document", "doc", NULL);
  cr_assert_not_null(strstr(said, "doc: 3,000 documents built in "), "%s", said);
  documents_are_right(&f);
  rowrelay_ok(&f, "target", "pause", "doc", NULL);
  said = rowrelay_ok(&f, "backfill", "--document", "doc", NULL);
  cr_assert_not_null(strstr(said, "paused by "), "%s", said);
  cr_assert_not_null(strstr(said, "; to build them: rowrelay target resume doc\n"), "%s", said);
  stop_process(process, SIGTERM);

  /* What it takes to read them is measured before it is added. */
  char path[] = "/tmp/rowrelay-query-XXXXXX";
  int file = mkstemp(path);
  static const char WANTED[] = "select id, status from orders where id = any ($1)";
  cr_assert(write(file, WANTED, strlen(WANTED)) == (ssize_t)strlen(WANTED) && close(file) == 0);
  cr_assert_eq(rowrelay(&f, NULL, &said, "document", "add", "brief", "--target", "w", "--key", "id", "--query", path,
                        "--create", "--from", "orders:id", NULL),
               0);
  unlink(path);
  cr_assert_not_null(strstr(said, "document \"brief\": some 3000 documents; 100 were read in "), "%s", said);
  cr_assert_not_null(strstr(said, ", so a worker reads all of them in about 1 s\n"), "%s", said);
  fixture_end(&f);
}

/* A customer has 10,000 orders; each document takes the target a millisecond. Somebody else's order does not wait for
 * them. */
Test(document, a_live_change_overtakes_the_many_that_a_shared_row_makes_stale) {
  struct fixture f;
  begin(&f, "doc_shared");
  sql(f.at_source, "insert into customer values (1, 'ann', 0), (2, 'bob', 0);"
                   "insert into orders select n, 1, 'new' from generate_series(1, 10000) as n;"
                   "insert into orders values (20000, 2, 'new')");
  build(&f);
  sql(f.at_target,
      "create function slow() returns trigger language plpgsql as $$ begin if new.id <= 10000 then perform "
      "pg_sleep(0.001); end if; return new; end $$;"
      "create trigger slow before insert or update on doc for each row execute function slow()");
  sql(f.at_source, "update customer set name = 'anna' where id = 1");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_target, "t", 30, "select count(*) > 500 from doc where customer = 'anna'");
  sql(f.at_source, "update orders set status = 'paid' where id = 20000");
  wait_until(f.at_target, "paid", 5, "select status from doc where id = 20000");
  cr_assert(ask_number(f.at_target, "select count(*) from doc where customer = 'anna'") < 9500,
            "it was delivered after all the others");
  /* and the backlog survives a kill half-way */
  stop_process(process, SIGKILL);
  sql(f.at_target, "drop trigger slow on doc");
  build(&f);
  documents_are_right(&f);
  fixture_end(&f);
}

Test(document, a_document_that_cannot_be_built_is_refused_alone) {
  struct fixture f;
  fixture_begin(&f, "doc_refused");
  sql(f.at_source, "create table t (id int primary key, v int)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_source,
      "select rowrelay.add_document('doc', 'w', 'id', 'select id, 10 / v as v from t where id = any ($1)', "
      "'{t:id}', create_table => true)");
  sql(f.at_source, "insert into t select n, n - 5 from generate_series(1, 100) as n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from doc"), "99");
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', target, op, key, sqlstate) from rowrelay.errors"),
                   "doc refresh 5 22012");
  sql(f.at_source, "set rowrelay.skip = on; update t set v = 1 where id = 5");
  rowrelay_ok(&f, "retry", "--all", NULL);
  build(&f);
  same_rows(&f, "(select id, 10 / v as v from t)", "doc", "1");
  /* what the target refuses, too; and the next change makes it good */
  sql(f.at_target, "alter table doc add constraint small check (v < 1000)");
  sql(f.at_target, "alter table doc add constraint odd check (id <> 7) not valid");
  sql(f.at_source, "reset rowrelay.skip; update t set v = 2");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', target, key, sqlstate) from rowrelay.errors"),
                   "doc 7 23514");
  sql(f.at_target, "alter table doc drop constraint odd");
  sql(f.at_source, "update t set v = 3 where id = 7");
  build(&f);
  same_rows(&f, "(select id, 10 / v as v from t)", "doc", "1");
  fixture_end(&f);
}

/* The query that leads from customers to orders breaks when a column is renamed: status says so, and it is made good.
 */
Test(document, a_broken_query_between_tables_is_told_and_waited_for) {
  struct fixture f;
  begin(&f, "doc_broken");
  sql(f.at_source, "insert into customer values (1, 'ann', 0); insert into orders values (10, 1, 'new')");
  build(&f);
  sql(f.at_source, "create view who as select id, customer_id from orders");
  sql(f.at_source,
      "update rowrelay.document_source set resolved_query = 'select w.id from public.who w join changed c on "
      "c.id = w.customer_id' where keys_query is not null");
  sql(f.at_source, "alter view who rename column customer_id to customer; update customer set name = 'anna'");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "t", 20,
             "select note like '%%customer_id does not exist%%' from rowrelay.status where target = 'doc'");
  sql(f.at_source, "alter view who rename column customer to customer_id");
  wait_until(f.at_target, "anna", 60, "select customer from doc where id = 10");
  wait_until(f.at_source, "0", 20, "select count(*) from rowrelay.trouble");
  stop_process(process, SIGTERM);
  documents_are_right(&f);
  fixture_end(&f);
}

/*
 * The first builder has read, and is held up in the target; the document is made stale again meanwhile. Nobody builds
 * it before the first releases its lock, and the new one is there in the end.
 */
Test(document, nobody_builds_a_document_that_another_is_building) {
  struct fixture f;
  begin(&f, "doc_two");
  sql(f.at_source, "insert into orders values (1, 1, 'a')");
  build(&f);
  sql(f.at_target, "begin; update doc set status = status where id = 1");
  sql(f.at_source, "update orders set status = 'b' where id = 1");
  pid_t first = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "1", 10, LOCKED_LANES);
  pid_t second = fixture_run(&f, "--workers", "1", NULL);
  sql(f.at_source, "update orders set status = 'c' where id = 1");
  sleep_seconds(1);
  cr_assert_str_eq(ask(f.at_source, LOCKED_LANES), "1");
  sql(f.at_target, "commit");
  wait_until_empty(&f, 20);
  documents_are_right(&f);
  stop_process(first, SIGTERM);
  stop_process(second, SIGTERM);
  fixture_end(&f);
}

/* As text, for PostgreSQL does not read \\u0000 within JSON, though a json column may hold it. */
Test(document, json_that_cannot_be_read_arrives) {
  struct fixture f;
  fixture_begin(&f, "doc_unreadable");
  sql(f.at_source, "create table page (id int primary key, body json)");
  sql(f.at_target, "create table whole (id int primary key, document json)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_source,
      "select rowrelay.add_document('doc', 'w', 'id', 'select id, body, body as \"Two\" from page where id "
      "= any ($1)', '{page:id}', create_table => true);"
      "select rowrelay.add_document('whole', 'w', 'id', 'select json_build_object(''id'', id, ''body'', "
      "body) from page where id = any ($1)', '{page:id}')");
  sql(f.at_source, "%s",
      "insert into page values (1, '{\"a\": \"x\\u0000y\"}'), (2, '{\"a\": \"\\\\u0000\"}'), (3, 'null'), "
      "(4, null), (5, '[\"\\ud800\"]'), (6, '\"plain\"')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "(select id, body::text, body::text from page)", "(select id, body::text, \"Two\"::text from doc)",
            "id");
  cr_expect_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from whole where document::text like "
                                    "'%%body%%'"),
                   "1 2 3 4 6");
  cr_expect_str_eq(ask(f.at_target, "select document::text from whole where id = 1"),
                   ask(f.at_source, "select json_build_object('id', id, 'body', body)::text from page where id = 1"));
  cr_expect_str_eq(ask(f.at_source, "select string_agg(concat(target, ' ', key), ',') from rowrelay.errors"),
                   "whole 5");
  fixture_end(&f);
}

Test(document, a_query_may_give_one_json) {
  struct fixture f;
  fixture_begin(&f, "doc_json");
  add_shop(&f);
  rowrelay_ok(&f, "target", "add", "out", "stdout:", NULL);
  sql(f.at_source,
      "select rowrelay.add_document(name, target, 'id', $$select json_build_object('id', o.id, 'status', o.status) "
      "from orders o where o.id = any ($1)$$, '{orders:id}', create_table => true) "
      "from (values ('doc', 'w'), ('lines', 'out')) as v(name, target)");
  sql(f.at_source, "insert into orders values (1, 1, 'a')");
  const char *lines = rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_not_null(strstr(lines, "\"new_row\":{\"id\" : 1, \"status\" : \"a\"}"), "%s", lines);
  cr_assert_str_eq(ask(f.at_target, "select document ->> 'status' from doc where id = 1"), "a");
  fixture_end(&f);
}

Test(document, a_query_may_use_its_keys_in_any_way) {
  struct fixture f;
  fixture_begin(&f, "doc_keys_used");
  add_shop(&f);
  sql(f.at_source,
      "set search_path = public; select rowrelay.add_document('doc', 'w', 'id', $$select o.id, "
      "$1[array_position($1, o.id)] as own, (select count(*) from unnest($1) as k where k = o.id) as times, "
      "$1::text[] && array[o.id::text] as asked from orders o where o.id = any ($1)$$, "
      "'{orders:id}', create_table => true)");
  sql(f.at_source, "insert into orders values (1), (2)");
  build(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat_ws(' ', id, own, times, asked), ', ' order by id) "
                                    "from doc"),
                   "1 1 1 t, 2 2 1 t");
  fixture_end(&f);
}

#define ADD "select rowrelay.add_document('doc', 'w', 'id', %s, %s)"

Test(document, what_cannot_work_is_said_when_it_is_added) {
  struct fixture f;
  fixture_begin(&f, "doc_add");
  add_shop(&f);
  cr_assert_str_eq(sql_fails(f.at_source, ADD, "'select 1 as id'", "'{orders:id}'"), "22023");
  cr_assert_str_eq(sql_fails(f.at_source, ADD, "'select id from ordes where id = any ($1)'", "'{orders:id}'"), "42P01");
  cr_assert_str_eq(sql_fails(f.at_source, ADD, "'select status from orders where id = any ($1)'", "'{orders:id}'"),
                   "42703");
  cr_assert_str_eq(sql_fails(f.at_source, ADD, "'select id from orders where id = any ($1)'", "'{orders:nr}'"),
                   "42703");
  cr_assert_str_eq(sql_fails(f.at_source, ADD, "'select id from orders where id = any ($1)'", "'{ordes:id}'"), "42P01");
  cr_assert_str_eq(sql_fails(f.at_source, ADD, "'select id from orders where id = any ($1)'",
                             "array['orders:id', 'line:select nothing from changed']"),
                   "42703");
  cr_assert_str_eq(sql_fails(f.at_source, ADD, "'select id from orders where id = any ($1)'", "'{}'"), "22023");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.captures"), "0");

  sql(f.at_source,
      "insert into line select n, n from generate_series(1, 9000) as n; analyze line; drop index line_order_id_idx;"
      "insert into orders values (1, 1)");
  const char *errors;
  sql(f.at_source, "create table q (t text)");
  int status = rowrelay(&f, NULL, &errors, "document", "add", "doc", "--target", "w", "--key", "id", "--query",
                        "/dev/null", "--from", "orders:id", NULL);
  cr_assert(status == 2 && strstr(errors, "$1") != NULL, "%s", errors);
  fixture_end(&f);
}

#define ADD_JOIN                                                                                                       \
  "select rowrelay.add_document('doc', 'w', '%s', 'select o.id, o.id::text as name, o.customer_id, l.item from "       \
  "orders "                                                                                                            \
  "o join line l on l.order_id = o.id where o.id = any ($1)', '{orders:id,line:order_id}', create_table => true)"

Test(document, rows_that_are_not_one_for_each_key_are_refused_when_it_is_added) {
  struct fixture f;
  fixture_begin(&f, "doc_one_row");
  add_shop(&f);
  cr_expect_str_eq(sql_fails(f.at_source, ADD_JOIN, "name"), "42804"); /* text, where orders have numbers */
  sql(f.at_source, "insert into orders values (1, 7, 'a'); insert into line values (1, 1, 'tea'), (2, 1, 'cup')");
  cr_expect_str_eq(sql_fails(f.at_source, ADD_JOIN, "id"), "21000");
  cr_expect_str_eq(sql_fails(f.at_source, ADD_JOIN, "customer_id"), "22023");
  cr_expect_str_eq(sql_fails(f.at_source, ADD, "'select json_build_object(''nr'', id) from orders where id = any ($1)'",
                             "'{orders:id}'"),
                   "22023"); /* its JSON has no member "id" */
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.documents"), "0");
  sql(f.at_source, "delete from line where id = 2");
  sql(f.at_source, ADD_JOIN, "id");
  fixture_end(&f);
}

/* Nothing showed it when it was added, because the tables were empty. */
Test(document, a_row_of_a_key_that_was_not_asked_for_is_an_error_and_no_delete) {
  struct fixture f;
  fixture_begin(&f, "doc_strange");
  add_shop(&f);
  sql(f.at_source, ADD_JOIN, "customer_id");
  sql(f.at_source, "insert into orders values (1, 7, 'a'); insert into line values (1, 1, 'tea')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', key, message) from rowrelay.errors"),
                   "1 the document's query returned a row whose \"customer_id\" is none of the keys in $1");
  fixture_end(&f);
}

Test(document, warnings_name_tables_that_would_make_it_stale_or_slow) {
  struct fixture f;
  fixture_begin(&f, "doc_warn");
  add_shop(&f);
  sql(f.at_source,
      "insert into line select n, n from generate_series(1, 9000) as n; drop index line_order_id_idx; analyze line;"
      "insert into orders values (1, 1)");
  char path[] = "/tmp/rowrelay_query.XXXXXX";
  int fd = mkstemp(path);
  FILE *file = fdopen(fd, "w");
  fprintf(file, "%s", QUERY FOR_KEYS ";\n");
  fclose(file);
  const char *errors;
  int status = rowrelay(&f, NULL, &errors, "document", "add", "doc", "--target", "w", "--key", "id", "--query", path,
                        "--from", "orders:id", "--from", "line:order_id", NULL);
  remove(path);
  cr_assert(status == 0, "%s", errors);
  cr_assert_not_null(strstr(errors, "reads public.customer, which no source names"), "%s", errors);
  cr_assert_not_null(strstr(errors, "reads the whole of public.line"), "%s", errors);
  cr_assert_not_null(strstr(rowrelay_ok(&f, "document", "list", NULL), "doc       w       doc         id"));
  cr_assert_not_null(strstr(rowrelay_ok(&f, "document", "show", "doc", NULL), "from      public.line:order_id\n"));
  rowrelay_ok(&f, "document", "drop", "doc", NULL);
  sql(f.at_source, "update orders set status = 'x'");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "0");
  fixture_end(&f);
}

Test(document, it_is_paused_and_dropped_with_its_target) {
  struct fixture f;
  begin(&f, "doc_pause");
  rowrelay_ok(&f, "target", "pause", "w", NULL);
  sql(f.at_source, "insert into orders values (1, 1, 'a')");
  cr_assert_str_eq(ask(f.at_source, "select state from rowrelay.status where target = 'doc'"), "paused");
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  build(&f);
  documents_are_right(&f);
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.route('orders', 'doc')"), "22023");
  rowrelay_ok(&f, "target", "drop", "w", NULL);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.documents"), "0");
  sql(f.at_source, "insert into orders values (2, 1, 'a')");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "0");
  fixture_end(&f);
}

/* The query itself tells how many statements its session keeps. The target in its own database has some there, too. */
Test(document, settings_that_are_read_again_leave_no_statements_behind) {
  struct fixture f;
  fixture_begin(&f, "doc_statements");
  sql(f.at_source, "%s", SHOP);
  sql(f.at_source, "select rowrelay.add_target('here', 'postgresql:');"
                   "select rowrelay.add_document('doc', 'here', 'id', 'select o.id, o.status, (select count(*) from "
                   "pg_prepared_statements) as kept from orders o where o.id = any ($1)', array['orders:id'], "
                   "create_table => true)");
  sql(f.at_source, "insert into orders values (1, 1, 'new')");
  build(&f);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  int64_t first = 0;
  for (int64_t i = 1; i <= 10; i++) {
    rowrelay_ok(&f, "target", "set", "doc", "--option", i % 2 == 0 ? "retries=3" : "retries=4", NULL);
    sql(f.at_source, "update orders set status = 'n%d' where id = 1", (int)i);
    wait_until(f.at_source, "1", 20, "select count(*) from doc where status = 'n%d'", (int)i);
    int64_t kept = ask_number(f.at_source, "select kept from doc");
    first = i == 2 ? kept : first; /* all were used by then */
    cr_expect(i <= 2 || kept <= first, "%d, then %d", (int)first, (int)kept);
  }
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

/* It stops the document, and the reason that is noted tells no more of the key than fits. */
Test(document, a_refused_key_is_shortened_between_letters) {
  struct fixture f;
  struct receiver *receiver = receiver_begin();
  fixture_begin(&f, "doc_letters");
  receiver_answer(receiver, NULL, 0, (struct answer){.status = 422});
  sql(f.at_source, "create table person (name text primary key)");
  rowrelay_ok(&f, "target", "add", "w", receiver_url(receiver, "/"), NULL);
  sql(f.at_source, "select rowrelay.add_document('doc', 'w', 'name', 'select p.name from person p where p.name = any "
                   "($1)', array['person:name'])");
  sql(f.at_source, "insert into person values ('x' || repeat('\xc3\xbc', 200))");
  rowrelay_ok(&f, "target", "set", "doc", "--option", "on_error=halt", "--option", "retries=0", NULL);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "halted", 20, "select state from rowrelay.status where target = 'doc'");
  cr_expect_str_eq(ask(f.at_source, "select note from rowrelay.status where target = 'doc'"),
                   ask(f.at_source, "select format('the document with key x%%s was refused: retry or skip it, then "
                                    "resume', repeat('\xc3\xbc', 49))"));
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
  receiver_end(receiver);
}
