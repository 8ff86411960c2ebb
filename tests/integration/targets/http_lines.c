/* JSON lines by HTTP: into a real ClickHouse, and to a real nginx. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "receiver.h"
#include "served.h"

static struct served server;

/* ---- ClickHouse ------------------------------------------------------------------------------------------------ */

#define TABLE                                                                                                          \
  "create table item (id Int32, name String, n Nullable(Int32), at Nullable(DateTime), more Nullable(String), "        \
  "_change_id UInt64, _op String, _deleted UInt8) engine = ReplacingMergeTree(_change_id) order by id"

/* Table item at the source goes to target w, table item of a ClickHouse server. */
static void begin(struct fixture *f, const char *name) {
  served_begin(&server, "clickhouse.sh", false);
  served_ask(&server, "POST", "/", TABLE);
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text, n int, at timestamptz, more text)");
  rowrelay_ok(f, "target", "add", "w", served_url(&server, "clickhouse+http", "/default.item"), "--option", "retries=1",
              NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", NULL);
}

/* Fails the test unless the rows that are not deleted are those of this query of the source. */
static void clickhouse_has(struct fixture *f, const char *query) {
  const char *rows[] = {served_ask(&server, "POST", "/",
                                   "select id, name, n, toString(at) as at, more from item final where _deleted = 0 "
                                   "format JSONEachRow")};
  sql(f->at_source, "drop table if exists found; create temporary table found (id int, row jsonb)");
  PGresult *result = PQexecParams(f->at_source,
                                  "insert into found select (r::json ->> 'id')::int, r::jsonb from "
                                  "unnest(string_to_array(rtrim($1::text, e'\\n'), e'\\n')) as r where r <> ''",
                                  1, NULL, rows, NULL, NULL, 0);
  cr_assert(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(f->at_source));
  PQclear(result);
  const char *differences =
      ask(f->at_source,
          "select string_agg(concat_ws(' ', id, w.row, 'found', left(f.row::text, 200)), e'\\n') from (select t.id, "
          "to_jsonb(t) as row from (%s) as t) as w full join found f using (id) where w.row is distinct from f.row",
          query);
  cr_assert(differences[0] == '\0', "%s", differences);
}

#define ITEMS                                                                                                          \
  "select id, coalesce(name, '') as name, n, to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as at, more "     \
  "from item"

Test(http_lines, rows_arrive_in_clickhouse_and_the_last_of_each_key_counts) {
  struct fixture f;
  begin(&f, "clickhouse_rows");
  sql(f.at_source, "insert into item select n, e'ü\"\\\\\\n\\t' || n, n, '2026-02-03 04:05:06.789+02', '{' from "
                   "generate_series(1, 500) as n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  clickhouse_has(&f, ITEMS);
  sql(f.at_source,
      "update item set n = null, at = null, more = null where id <= 100; delete from item where id between 50 "
      "and 150; insert into item values (60, 'again'); update item set id = 1000 where id = 300");
  rowrelay_ok(&f, "run", "--until-empty", "--workers", "2", NULL);
  clickhouse_has(&f, ITEMS);
  cr_assert_str_eq(
      served_ask(&server, "POST", "/",
                 "select groupArray(_op) from (select _op from item where id = 60 order by _change_id) format TSV"),
      "['insert','update','delete','insert']\n");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  fixture_end(&f);
}

Test(http_lines, a_value_that_clickhouse_cannot_read_is_refused_alone) {
  struct fixture f;
  begin(&f, "clickhouse_bad");
  /* its name is not nullable, and it has no infinity */
  sql(f.at_source, "insert into item select n, case when n <> 13 then 'x' end, n, case when n = 77 then "
                   "'infinity'::timestamptz end from generate_series(1, 100) as n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(key, ' ' order by change_id) from rowrelay.errors"), "13 77");
  cr_assert(strstr(ask(f.at_source, "select detail from rowrelay.errors where key = '13'"), "value of key name") !=
                NULL,
            "%s", ask(f.at_source, "select detail from rowrelay.errors where key = '13'"));
  clickhouse_has(&f, ITEMS " where id not in (13, 77)");
  /* a bad number is a 500 there */
  served_ask(&server, "POST", "/", "drop table item");
  served_ask(&server, "POST", "/",
             "create table item (id Int32, name Int32, _change_id UInt64) engine = ReplacingMergeTree(_change_id) "
             "order by id");
  sql(f.at_source, "insert into item values (201, '1'), (202, 'no number'), (203, '3')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(key, ' ' order by change_id) from rowrelay.errors"),
                   "13 77 202");
  cr_assert_str_eq(served_ask(&server, "POST", "/", "select groupArray(name) from (select * from item order by id)"),
                   "[1,3]\n");
  fixture_end(&f);
}

Test(http_lines, a_table_that_is_not_there_and_a_server_that_is_away_are_waited_for) {
  struct fixture f;
  begin(&f, "clickhouse_away");
  served_ask(&server, "POST", "/", "drop table item");
  sql(f.at_source, "insert into item values (1, 'a')");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "failing", 10, "select state from rowrelay.status");
  served_ask(&server, "POST", "/", TABLE);
  wait_until_empty(&f, 20);
  served_control(&server, "stop");
  sql(f.at_source, "insert into item values (2, 'b')");
  wait_until(f.at_source, "failing", 10, "select state from rowrelay.status");
  served_control(&server, "start");
  wait_until_empty(&f, 20);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  clickhouse_has(&f, ITEMS);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  cr_assert(strstr(rowrelay_ok(&f, "target", "test", "w", NULL), "it took a request without lines") != NULL);
  fixture_end(&f);
}

Test(http_lines, two_tables_are_not_mixed_in_one_of_clickhouse) {
  struct fixture f;
  fixture_begin(&f, "clickhouse_mixed");
  sql(f.at_source, "create table item (id int primary key); create table other (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", "clickhouse+http://localhost:1/default.item", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "other", "--to", "w", NULL), 2);
  cr_assert(strstr(errors, "table \"default.item\" cannot be both public.item and public.other") != NULL, "%s", errors);
  fixture_end(&f);
}

/* ---- others ---------------------------------------------------------------------------------------------------- */

Test(http_lines, a_server_gets_a_line_for_each_change) {
  struct fixture f;
  served_begin(&server, "nginx.sh", false);
  fixture_begin(&f, "ndjson_nginx");
  sql(f.at_source, "create table item (id int primary key, name text, more json)");
  rowrelay_ok(&f, "target", "add", "w", served_url(&server, "ndjson+http", "/keep"), "--option", "batch_rows=100",
              NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--before", NULL);
  sql(f.at_source,
      "insert into item select n, e'ü\"\\n' || n, e'{\\n \"a\": [1,\\r\\n 2]\\n}\\n' from generate_series(1, 500) "
      "as n; update item set name = repeat('x', 1000) where id %% 7 = 0; delete from item where id %% 11 = 0");
  rowrelay_ok(&f, "run", "--until-empty", "--workers", "2", NULL);
  char command[512];
  snprintf(command, sizeof command, "cat %s/bodies/* > %s/all; chmod a+r %s/all", server.directory, server.directory,
           server.directory);
  cr_assert_eq(system(command), 0);
  sql(f.at_source,
      "create temp table lines (line json); copy lines from program 'cat %s/all' (format csv, delimiter e'\\x01', "
      "quote "
      "e'\\x02')",
      server.directory);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from lines join rowrelay.history h on h.change_id = (line ->> "
                                    "'change_id')::bigint and h.key = "
                                    "line ->> 'key' and h.op = line ->> 'op' and h.txid = (line ->> 'txid')::xid8 and "
                                    "h.new_row ->> 'name' is not "
                                    "distinct from line -> 'new_row' ->> 'name' and h.old_row ->> 'name' is not "
                                    "distinct from line -> 'old_row' ->> "
                                    "'name' and (line -> 'new_row' is null or line ->> 'new_row' is null or line -> "
                                    "'new_row' -> 'more' -> 'a' ->> 1 = "
                                    "'2')"),
                   ask(f.at_source, "select count(*) from rowrelay.history"));
  cr_assert_str_eq(ask(f.at_source, "select count(*) from lines"),
                   ask(f.at_source, "select count(*) from rowrelay.history"));
  fixture_end(&f);
}

Test(http_lines, a_refused_line_is_found_and_all_others_arrive) {
  static const struct answer BAD = {.status = 400, .body = "line 1: poison"};
  struct fixture f;
  struct receiver *receiver = receiver_begin();
  fixture_begin(&f, "ndjson_refused");
  sql(f.at_source, "create table item (id int primary key, name text)");
  char url[128];
  snprintf(url, sizeof url, "ndjson+%s", receiver_url(receiver, "/in"));
  rowrelay_ok(&f, "target", "add", "w", url, "--option", "retries=1", "--option", "lanes=1", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  receiver_answer(receiver, NULL, 1, (struct answer){.status = 503});
  receiver_answer(receiver, NULL, 1, (struct answer){.status = 429, .headers = "Retry-After: 1\r\n"});
  receiver_answer(receiver, NULL, 1, (struct answer){.status = 404, .body = "no such thing"});
  receiver_answer(receiver, NULL, 1, (struct answer){.status = 200, .body = "0123456789", .cut = 50});
  receiver_answer(receiver, "poison", 0, BAD);
  receiver_answer(receiver, NULL, 0, (struct answer){.status = 200, .body = "anything"});
  sql(f.at_source,
      "insert into item select n, case n when 20 then 'poison' else 'well' end from generate_series(1, 64) as n");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_empty(&f, 30);
  stop_process(process, SIGTERM);
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(concat_ws('|', key, message, detail), ' ') from rowrelay.errors"),
      "20|HTTP 400|line 1: poison");
  receiver_load(receiver, f.at_source);
  cr_assert_str_eq(ask(f.at_source,
                       "select count(distinct line::json ->> 'key') from request cross join lateral "
                       "unnest(string_to_array(rtrim(body, e'\\n'), e'\\n')) as line where status = 200 and n > 4"),
                   "63");
  cr_assert(ask_number(f.at_source, "select count(*) from request") < 30);
  fixture_end(&f);
  receiver_end(receiver);
}
