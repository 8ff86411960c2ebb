/* Search indexes: what is found in a real engine. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "fixture.h"
#include "writers.h"

/* The first of them waits until the engine is there, which may have to be fetched. */

#define ITEMS "select id::text, to_jsonb(t) from item as t"

/* Table item at the source goes to target w, which is the index `name`; `option` as target set takes it, or NULL. */
static void begin(struct fixture *f, const char *name, const char *option) {
  engine_begin();
  fixture_begin(f, name);
  char path[128];
  snprintf(path, sizeof path, "/%s", name);
  sql(f->at_source, "create table item (id int primary key, name text, n int)");
  rowrelay_ok(f, "target", "add", "w", engine_url("opensearch+http", path), NULL);
  if (option != NULL)
    rowrelay_ok(f, "target", "set", "w", "--option", option, NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", "--create", NULL);
}

static void deliver(struct fixture *f) {
  rowrelay_ok(f, "run", "--until-empty", "--workers", "2", NULL);
  cr_assert_str_eq(ask(f->at_source, "select string_agg(concat_ws(' ', relation, key, message, detail), e'\\n') "
                                     "from rowrelay.errors"),
                   "");
}

Test(search, rows_arrive_and_go_with_their_ids) {
  struct fixture f;
  begin(&f, "search_rows", NULL);
  sql(f.at_source, "insert into item select n, e'ü\"\\\\\\n' || n, n from generate_series(1, 500) as n");
  deliver(&f);
  engine_has(&f, "search_rows", ITEMS);
  sql(f.at_source, "update item set n = -n where id <= 100; delete from item where id between 50 and 150;"
                   "insert into item values (60, 'again', null); update item set id = 1000 where id = 300");
  deliver(&f);
  engine_has(&f, "search_rows", ITEMS);
  /* deleted and inserted between two looks, and the other way around */
  sql(f.at_source,
      "delete from item where id = 1; insert into item values (1, 'new', 1); insert into item values (2000);"
      "delete from item where id = 2000");
  deliver(&f);
  engine_has(&f, "search_rows", ITEMS);
  /* Each document's version is the id of its last change. */
  cr_assert_str_eq(ask(f.at_source, "select count(*) from found join lateral (select max(change_id) as last from "
                                    "rowrelay.history where key = found.id) h on h.last = found.version"),
                   ask(f.at_source, "select count(*) from item"));
  fixture_end(&f);
}

Test(search, each_table_has_an_index_of_its_own_and_keys_of_several_columns_are_ids) {
  struct fixture f;
  engine_begin();
  fixture_begin(&f, "search_tables");
  sql(f.at_source,
      "create schema \"Search Tables\"; create table \"Search Tables\".\"Ünlaut & Söhne\" (a int, b text, c "
      "text, primary key (b, a)); create table \"Search Tables\".plain (k text primary key)");
  rowrelay_ok(&f, "target", "add", "w", engine_url("opensearch+http", "/"), NULL);
  rowrelay_ok(&f, "capture", "\"Search Tables\".*", "--to", "w", NULL);
  sql(f.at_source,
      "insert into \"Search Tables\".\"Ünlaut & Söhne\" values (1, 'x', 'one'), (1, 'y \"z\"', 'two'), (2, 'x', "
      "'three'); insert into \"Search Tables\".plain values (' a/b?c#d%%e '), (repeat('k', 2000) || '1'), "
      "(repeat('k', 2000) || '2'), (repeat('ü', 700))");
  deliver(&f);
  engine_has(&f, "search_tables._nlaut___s_hne",
             "select h.key, to_jsonb(t) from \"Search Tables\".\"Ünlaut & Söhne\" t join rowrelay.history h on "
             "h.new_row::jsonb = to_jsonb(t)");
  engine_load(&f, "search_tables.plain");
  cr_assert_str_eq(
      ask(f.at_source, "select count(distinct id) from found join \"Search Tables\".plain on k = row ->> 'k'"), "4");
  sql(f.at_source,
      "update \"Search Tables\".\"Ünlaut & Söhne\" set c = 'four' where a = 2; delete from \"Search "
      "Tables\".plain where k <> ' a/b?c#d%%e '; delete from \"Search Tables\".\"Ünlaut & Söhne\" where b = 'x' "
      "and a = 1");
  deliver(&f);
  engine_has(&f, "search_tables.plain", "select k, to_jsonb(t) from \"Search Tables\".plain t");
  engine_load(&f, "search_tables._nlaut___s_hne");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(row ->> 'c', ' ' order by row ->> 'c') from found"), "four two");
  fixture_end(&f);
}

/* By each of them row 1 of table search_types is found. */
static const char *const QUERIES[] = {
    "day:2026-02-03",
    "at:[2026-02-03T04:05:06 TO 2026-02-03T04:05:07]",
    "atz:[2026-02-03T02:05:06 TO 2026-02-03T02:05:07]",
    "t:text",
    "t.keyword:\"Some text\"",
    "nu:>1 AND nu:<2",
    "b:true",
    "p.street:high",
    "numbers:2",
    "u:\"00000000-0000-0000-0000-000000000001\"",
};

static void finds_the_first(struct fixture *f, const char *query) {
  char body[512];
  snprintf(body, sizeof body, "%s",
           ask(f->at_source,
               "select json_build_object('query', json_build_object('query_string', "
               "json_build_object('query', '%s')))",
               query));
  const char *hits = engine_ask("GET", "/public.search_types/_search", body);
  cr_assert(strstr(hits, "\"_id\":\"1\"") != NULL, "%s: %s", query, hits);
}

Test(search, an_index_is_made_with_fields_of_the_columns_types) {
  struct fixture f;
  engine_begin();
  fixture_begin(&f, "search_types");
  sql(f.at_source,
      "create type mood as enum ('sad', 'glad'); create type place as (street text, n int);"
      "create domain positive as int check (value > 0);"
      "create table search_types (id bigint primary key, small smallint, i int, nu numeric(10, 2), d double precision, "
      "b boolean, day date, at timestamp, atz timestamptz(3), t text, v varchar(20), c char(3), u uuid, j json, jb "
      "jsonb, "
      "m mood, p place, r daterange, tm time, iv interval, ip inet, tags text[], numbers int[], raw bytea, x positive, "
      "\"odd \"\" name\" text)");
  rowrelay_ok(&f, "target", "add", "w", engine_url("elasticsearch+http", "/"), NULL);
  rowrelay_ok(&f, "capture", "search_types", "--to", "w", "--create", NULL);
  sql(f.at_source,
      "insert into search_types values (1, 1, 1, 1.5, 1.5, true, '2026-02-03', '2026-02-03 04:05:06.123456', "
      "'2026-02-03 04:05:06.7+02', 'Some text', 'v', 'c', '00000000-0000-0000-0000-000000000001', '{\"a\": [1, {}]}', "
      "'[1]', 'sad', ('High Street', 7), '[2026-01-01,2026-02-01)', '10:00', '1 day', '10.0.0.1', '{a,b}', '{1,2}', "
      "'\\x00ff', 3, 'odd'), "
      /* what a field could not hold, and what would not go into the same field as the row before */
      "(2, null, null, 'NaN', 'Infinity', null, 'infinity', '0044-03-15 BC', '-infinity', '2026-01-01', '', null, "
      "null, "
      "'{\"a\": \"text\"}', '\"text\"', 'glad', null, 'empty', null, '-3 mons', null, '{2026-01-01,x}', '{}', '', "
      "null, "
      "null), (3, null, 1, 1e7, 1e300, false, '12026-01-01', null, null, repeat('long ', 10000), null, null, null, "
      "'null', "
      "null, null, (null, null), null, null, null, null, '{{a,b},{c,d}}', '{{1},{2}}', null, null, '1')");
  deliver(&f);
  engine_has(&f, "public.search_types", "select id::text, to_jsonb(s) from search_types as s");
  const char *fields = ask(f.at_source,
                           "select string_agg(concat(k, ':', v ->> 'type'), ' ' order by k collate \"C\") from "
                           "jsonb_each('%s'::jsonb -> 'public.search_types' -> 'mappings' -> 'properties') "
                           "as m(k, v) where k !~ 'odd'",
                           engine_ask("GET", "/public.search_types/_mapping", NULL));
  cr_assert_str_eq(fields, "at:date atz:date b:boolean c:text d:double day:date i:integer id:long ip:keyword "
                           "iv:keyword j:object jb:object m:text nu:double numbers:integer p: r:text raw:keyword "
                           "small:short t:text tags:text tm:keyword u:keyword v:text x:long");
  for (size_t i = 0; i < sizeof QUERIES / sizeof QUERIES[0]; i++)
    finds_the_first(&f, QUERIES[i]);
  fixture_end(&f);
}

Test(search, a_row_that_the_mapping_refuses_is_refused_alone) {
  struct fixture f;
  engine_begin();
  engine_ask("PUT", "/search_refused", "{\"mappings\":{\"properties\":{\"name\":{\"type\":\"integer\"}}}}");
  begin(&f, "search_refused", "retries=1");
  sql(f.at_source,
      "insert into item select n, n, n from generate_series(1, 200) as n; update item set name = 'no number' "
      "where id in (7, 99); insert into item values (300, 'one more', 1); update item set name = '1' where id = 99");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(key, ' ' order by change_id) from rowrelay.errors"), "7 300");
  cr_assert(strstr(ask(f.at_source, "select message from rowrelay.errors where key = '7'"),
                   "failed to parse field [name] of type [integer]") != NULL);
  cr_assert(strstr(ask(f.at_source, "select detail from rowrelay.errors where key = '7'"), "no number") != NULL);
  /* The row that was refused is as it was before. */
  engine_has(
      &f, "search_refused",
      "select id::text, to_jsonb(t) || case when id = 7 then '{\"name\": \"7\"}' else '{}'::jsonb end from item as t "
      "where id <> 300");
  engine_ask("DELETE", "/search_refused", NULL);
  rowrelay_ok(&f, "retry", "--all", NULL);
  deliver(&f);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  fixture_end(&f);
}

/* Else a request that was given up, and arrives late, would bring a deleted row back. */
Test(search, index_remembers_deletes_longer_than_a_request_may_take) {
  struct fixture f;
  begin(&f, "search_memory", "push_timeout=100");
  sql(f.at_source, "insert into item values (1)");
  deliver(&f);
  const char *settings = engine_ask("GET", "/search_memory/_settings/index.gc_deletes?flat_settings=true", NULL);
  cr_expect_not_null(strstr(settings, "\"3700s\""), "%s", settings);
  cr_expect_null(strstr(rowrelay_ok(&f, "target", "test", "w", NULL), "forgets"));
  static const char *const SHORTER[] = {"{\"index.gc_deletes\":\"20m\"}", "{\"index.gc_deletes\":null}"};
  static const char *const SAID[] = {"forgets after 20m that a row was deleted", "forgets after 60s"};
  for (size_t i = 0; i < 2; i++) {
    engine_ask("PUT", "/search_memory/_settings", SHORTER[i]);
    const char *said = rowrelay_ok(&f, "target", "test", "w", NULL);
    cr_expect_not_null(strstr(said, SAID[i]), "%s", said);
    cr_expect_not_null(strstr(said, "PUT /search_memory/_settings {\"index.gc_deletes\":\"3700s\"}\n"), "%s", said);
    rowrelay(&f, &said, NULL, "doctor", NULL);
    cr_expect_not_null(strstr(said, SAID[i]), "%s", said);
  }
  engine_ask("PUT", "/search_memory/_settings", "{\"index.gc_deletes\":\"2h\"}");
  cr_expect_null(strstr(rowrelay_ok(&f, "target", "test", "w", NULL), "forgets"));
  fixture_end(&f);
}

Test(search, what_is_wrong_with_the_index_is_held_against_no_row) {
  struct fixture f;
  begin(&f, "search_blocked", "retries=0");
  sql(f.at_source, "insert into item values (1)");
  deliver(&f);
  /* as when the disk is full */
  engine_ask("PUT", "/search_blocked/_settings", "{\"index.blocks.write\":true}");
  sql(f.at_source, "insert into item values (2); delete from item where id = 1");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "failing", 20, "select state from rowrelay.status");
  cr_assert(strstr(ask(f.at_source, "select note from rowrelay.status"), "blocked") != NULL);
  engine_ask("PUT", "/search_blocked/_settings", "{\"index.blocks.write\":null}");
  wait_until_empty(&f, 30);
  engine_has(&f, "search_blocked", ITEMS);
  engine_ask("POST", "/search_blocked/_close", NULL);
  sql(f.at_source, "insert into item values (3)");
  wait_until(f.at_source, "failing", 20, "select state from rowrelay.status");
  engine_ask("POST", "/search_blocked/_open", NULL);
  wait_until_empty(&f, 30);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  engine_has(&f, "search_blocked", ITEMS);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  fixture_end(&f);
}

Test(search, what_is_older_never_overwrites_what_is_newer) {
  struct fixture f;
  begin(&f, "search_older", NULL);
  sql(f.at_source, "insert into item values (1, 'first', 1), (2, 'first', 1), (3, 'first', 1)");
  deliver(&f);
  engine_load(&f, "search_older");
  int64_t first = ask_number(f.at_source, "select version from found where id = '1'");
  sql(f.at_source, "update item set name = 'second' where id <> 2; delete from item where id = 2");
  deliver(&f);
  /* A process that had hung sends what it had claimed then. */
  char body[512];
  size_t length = 0;
  for (int id = 1; id <= 3; id++)
    length += (size_t)snprintf(body + length, sizeof body - length,
                               "{\"index\":{\"_id\":\"%d\",\"version\":%lld,\"version_type\":\"external\"}}\n"
                               "{\"id\":%d,\"name\":\"first\"}\n",
                               id, (long long)first + id - 1, id);
  const char *outcome = engine_ask("POST", "/search_older/_bulk", body);
  cr_assert(strstr(outcome, "version_conflict") != NULL, "%s", outcome);
  engine_has(&f, "search_older", ITEMS);
  /* The other way around: what is there already is newer. That counts as delivered. */
  engine_ask("PUT", "/search_older/_doc/1?version=1000000&version_type=external", "{\"id\":1,\"name\":\"newer\"}");
  sql(f.at_source, "update item set n = 5");
  deliver(&f);
  engine_has(
      &f, "search_older",
      "select id::text, case when id = 1 then '{\"id\":1,\"name\":\"newer\"}' else to_jsonb(t) end from item as t");
  fixture_end(&f);
}

Test(search, truncate_empties_the_index_and_later_rows_arrive) {
  struct fixture f;
  begin(&f, "search_truncate", NULL);
  sql(f.at_source, "insert into item select n from generate_series(1, 3000) as n");
  deliver(&f);
  sql(f.at_source,
      "update item set n = 1; truncate item; insert into item select n from generate_series(100, 105) as n");
  deliver(&f);
  engine_has(&f, "search_truncate", ITEMS);
  sql(f.at_source, "truncate item");
  deliver(&f);
  engine_has(&f, "search_truncate", ITEMS);
  /* An index that is not there is empty. */
  engine_ask("DELETE", "/search_truncate", NULL);
  sql(f.at_source, "truncate item");
  deliver(&f);
  fixture_end(&f);
}

Test(search, requests_can_be_compressed_and_are_bounded) {
  struct fixture f;
  begin(&f, "search_gzip", "gzip=true");
  rowrelay_ok(&f, "target", "set", "w", "--option", "bulk_bytes=2000", NULL);
  sql(f.at_source, "insert into item select n, repeat(n::text, n %% 1000), n from generate_series(1, 1000) as n");
  deliver(&f);
  engine_has(&f, "search_gzip", ITEMS);
  fixture_end(&f);
}

Test(search, a_document_of_several_tables_arrives) {
  struct fixture f;
  engine_begin();
  fixture_begin(&f, "search_document");
  sql(f.at_source, "create table orders (id bigint primary key, status text); create table line (id int primary key, "
                   "order_id bigint, item text); create index on line (order_id)");
  rowrelay_ok(&f, "target", "add", "w", engine_url("opensearch+http", "/search_document"), NULL);
  sql(f.at_source,
      "select rowrelay.add_document('doc', 'w', 'id', "
      "'select o.id, o.status, (select json_agg(l.item order by l.id) from line l where l.order_id = o.id) as items "
      "from orders o where o.id = any ($1)', array['orders:id', 'line:order_id'], create_table => true)");
  sql(f.at_source,
      "insert into orders select n, 'new' from generate_series(1, 50) as n; insert into line select n, n %% 50, "
      "'item' || n from generate_series(1, 200) as n");
#define DOCUMENTS                                                                                                      \
  "select o.id::text, jsonb_build_object('id', o.id, 'status', o.status, 'items', (select jsonb_agg(l.item order by "  \
  "l.id) from line l where l.order_id = o.id)) from orders o"
  deliver(&f);
  engine_has(&f, "search_document", DOCUMENTS);
  for (int i = 0; i < 3; i++) {
    sql(f.at_source,
        "update orders set status = 'round %d' where id %% 3 = 0; update line set item = item || '%d' where id "
        "%% 7 = 0; delete from orders where id = %d; insert into orders values (%d, 'new')",
        i, i, 10 + i, 9 + i + (i == 0 ? 100 : 0));
    deliver(&f);
    engine_has(&f, "search_document", DOCUMENTS);
  }
  fixture_end(&f);
}

Test(search, what_would_mix_two_tables_in_one_index_is_refused) {
  struct fixture f;
  fixture_begin(&f, "search_mixed");
  sql(f.at_source, "create table item (id int primary key); create table \"Item\" (id int primary key);"
                   "create table other (id int primary key); create table \"日本\" (id int primary key);"
                   "create table keyless (id int)");
  rowrelay_ok(&f, "target", "add", "one", "opensearch+http://localhost:1/index", NULL);
  rowrelay_ok(&f, "target", "add", "many", "elasticsearch+https://localhost:1/", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "one", NULL);
  rowrelay_ok(&f, "route", "item", "many", NULL);
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "other", "--to", "one", NULL), 2);
  cr_assert(strstr(errors, "index \"index\" cannot be both public.item and public.other") != NULL, "%s", errors);
  cr_assert(strstr(errors, "ends with a slash") != NULL, "%s", errors);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "\"Item\"", "--to", "many", NULL), 2);
  cr_assert(strstr(errors, "index \"public.item\" cannot be both") != NULL, "%s", errors);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "capture", "keyless", "--to", "many", NULL), 2);
  cr_assert(strstr(errors, "has no key") != NULL, "%s", errors);
  sql(f.at_source, "select rowrelay.capture_table('\"Item\"'); select rowrelay.capture_table('other'); "
                   "select rowrelay.capture_table('\"日本\"')");
  rowrelay_ok(&f, "route", "\"Item\"", "many", "--into", "item2", NULL);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "route", "\"日本\"", "many", "--into", "日本", NULL), 2);
  cr_assert(strstr(errors, "no letter") != NULL, "%s", errors);
  /* Nor by another way round. */
  cr_assert_eq(rowrelay(&f, NULL, &errors, "target", "set", "many", "--url", "opensearch+http://localhost:1/x", NULL),
               2);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "target", "add", "w", "opensearch+http://localhost:1/Index", NULL), 2);
  cr_assert(strstr(errors, "with a capital letter") != NULL, "%s", errors);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "target", "add", "w", "opensearch+http://localhost:1/i?pipeline=p", NULL),
               2);
  cr_assert_str_eq(sql_fails(f.at_source,
                             "select rowrelay.add_document('doc', 'one', 'id', 'select id from item where id = "
                             "any ($1)', array['item:id'])"),
                   "22023");
  /* A table that has left makes room, and may come back. */
  rowrelay_ok(&f, "release", "item", NULL);
  rowrelay_ok(&f, "route", "other", "one", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "many", NULL);
  fixture_end(&f);
}

/* Writers of their own, two processes that die now and then, and an engine that does, too. */
Test(search, whatever_dies_the_index_is_right_in_the_end) {
  struct fixture f;
  struct writers writers;
  engine_begin_own();
  fixture_begin(&f, "search_chaos");
  writers_make_tables(f.at_source);
  rowrelay_ok(&f, "target", "add", "w", engine_url("opensearch+http", "/chaos"), NULL);
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=50", NULL);
  writers_fill_tables(f.at_source, 200);
  rowrelay_ok(&f, "capture", "stock", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "backfill", "stock", "--to", "w", NULL);
  writers_start(&writers, f.source, 3, 3000, 10, 200);
  pid_t processes[2];
  for (int i = 0; i < 2; i++)
    processes[i] = fixture_run(&f, "--workers", "2", NULL);
  for (int round = 0; round < 3; round++) {
    sleep_seconds(1);
    stop_process(processes[round % 2], SIGKILL);
    processes[round % 2] = fixture_run(&f, "--workers", "2", NULL);
    if (round == 1) {
      engine_kill();
      engine_start();
    }
  }
  writers_finish(&writers, 60);
  wait_until_empty(&f, 60);
  for (int i = 0; i < 2; i++)
    cr_assert_eq(stop_process(processes[i], SIGTERM), 0);
  engine_has(&f, "chaos", "select id::text, to_jsonb(t) from stock as t");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  fixture_end(&f);
}
