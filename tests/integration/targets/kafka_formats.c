/* Kafka: what a message holds, and what Java's clients make of it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker.h"
#include "fixture.h"
#include "streams.h"

static void begin(struct fixture *f, const char *name, const char *option) {
  broker_begin();
  broker_topics_begin(f, name, option);
}

/* Pipes what a query says through a command, into table said (n, line) at the source. */
static void ask_program(struct fixture *f, const char *program, const char *query) {
  char path[64];
  char command[512];
  snprintf(path, sizeof path, "/tmp/rowrelay-java-%d", (int)getpid());
  FILE *lines = fopen(path, "w");
  cr_assert(lines != NULL);
  PGresult *rows = PQexec(f->at_source, query);
  cr_assert(PQresultStatus(rows) == PGRES_TUPLES_OK, "%s", PQerrorMessage(f->at_source));
  for (int row = 0; row < PQntuples(rows); row++)
    fprintf(lines, "%s\n", PQgetvalue(rows, row, 0));
  PQclear(rows);
  fclose(lines);
  snprintf(command, sizeof command, "%s < %s", program, path);
  FILE *said = popen(command, "r");
  cr_assert(said != NULL);
  sql(f->at_source,
      "drop table if exists said; create temp table said (n int generated always as identity, line text)");
  for (char line[4096]; fgets(line, sizeof line, said) != NULL;) {
    line[strcspn(line, "\n")] = '\0';
    const char *values[] = {line};
    PQclear(PQexecParams(f->at_source, "insert into said (line) values ($1)", 1, NULL, values, NULL, NULL, 0));
  }
  cr_assert_eq(pclose(said), 0);
  unlink(path);
}

static void ask_java(struct fixture *f, const char *program, const char *query) {
  char command[256];
  if (!has_programs("javac"))
    cr_skip("there is no Java development kit here");
  snprintf(command, sizeof command, "java -cp 'build/kafka/lib/*' tests/support/kafka/%s", program);
  ask_program(f, command, query);
}

Test(kafka, a_key_goes_to_the_partition_where_javas_default_partitioner_sends_it, .timeout = 400) {
  struct fixture f;
  begin(&f, "kafka_partition", NULL);
  sql(f.at_source,
      "create table pair (a text, b int, primary key (a, b)); insert into item select n from "
      "generate_series(1, 200) as n; insert into pair select 'ü\"' || n, n from generate_series(1, 200) as n");
  rowrelay_ok(&f, "capture", "pair", "--to", "w", NULL);
  rowrelay_ok(&f, "backfill", "pair", "--to", "w", NULL);
  sql(f.at_source, "update item set name = 'x'");
  streams_deliver(&f);
  for (int table = 0; table < 2; table++) {
    broker_load_table(&f, table == 0 ? "item" : "pair");
    sql(f.at_source,
        "create temp table sent as select row_number() over (order by partition, n) as place, * from message");
    ask_java(&f, "Partitions.java 4", "select key from sent order by place");
    cr_assert(ask_number(f.at_source, "select count(*) from sent") >= 200);
    cr_assert_str_eq(ask(f.at_source,
                         "select string_agg(concat_ws(' ', key, partition, line), ', ') from sent full join "
                         "said on said.n = place where line is distinct from partition::text"),
                     "");
    cr_assert_str_eq(ask(f.at_source, "select count(distinct line) from said"), "4");
    sql(f.at_source, "drop table sent");
  }
  cr_assert_str_eq(ask(f.at_source, "select count(*) from message where key = '{\"a\":\"ü\\\"7\",\"b\":7}'"), "1");
  fixture_end(&f);
}

Test(kafka, a_tombstone_follows_a_delete_unless_that_is_not_wanted, .timeout = 400) {
  struct fixture f;
  begin(&f, "kafka_tombstone", NULL);
  sql(f.at_source, "insert into item values (1, 'a', 1.0); insert into plain values ('a')");
  sql(f.at_source, "update item set n = 1.00; delete from item; delete from plain");
  streams_deliver(&f);
  broker_load_table(&f, "item");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', key, coalesce(value::json -> 'data' ->> 'op', "
                                    "'null')), ', ' order by n) from message"),
                   "{\"id\":1} insert, {\"id\":1} update, {\"id\":1} delete, {\"id\":1} null");
  broker_load_table(&f, "plain");
  cr_assert_str_eq(ask(f.at_source, "select concat(count(*), ' ', count(value), ' ', count(key)) from message"),
                   "2 2 0");
  rowrelay_ok(&f, "target", "set", "w", "--option", "tombstones=false", NULL);
  sql(f.at_source, "insert into item values (2); delete from item");
  streams_deliver(&f);
  broker_load_table(&f, "item");
  cr_assert_str_eq(ask(f.at_source, "select concat(count(*), ' ', count(value)) from message where key = '{\"id\":2}'"),
                   "2 2");
  fixture_end(&f);
}

Test(kafka, a_cloudevent_in_binary_mode_has_its_attributes_as_headers, .timeout = 400) {
  struct fixture f;
  begin(&f, "kafka_binary", "format=cloudevents-binary");
  sql(f.at_source, "insert into item values (7, 'ü', 1.50)");
  streams_deliver(&f);
  broker_load_table(&f, "item");
  cr_assert_str_eq(ask(f.at_source,
                       "select concat_ws(' ', headers ->> 'content-type', headers ->> 'ce_specversion', "
                       "headers ->> 'ce_id' = (select change_id::text from rowrelay.history), headers ->> "
                       "'ce_source' = 'urn:uuid:' || (select id from rowrelay.source), headers ->> "
                       "'ce_type', headers ->> 'ce_subject', (headers ->> 'ce_time')::timestamptz = (select "
                       "captured_at from rowrelay.history)) from message"),
                   "application/json 1.0 t t rowrelay.public.item.insert 7 t");
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', value::json ->> 'op', value::json -> 'after' ->> 'name', "
                                    "value::json -> 'after' -> 'n') from message"),
                   "insert ü 1.50");
  fixture_end(&f);
}

#define IN_NODE "build/npm"
#define IN_PYTHON "build/python"

/* Makes a command that reads events with the official package; false: that cannot be had. */
static bool make_reader(char *command, size_t size, bool in_python) {
  char packages[512];
  if (in_python) {
    snprintf(command, size, "PYTHONPATH=" IN_PYTHON " python3 tests/support/events.py");
    return has_programs("python3") && system("mkdir -p " IN_PYTHON " && flock " IN_PYTHON " sh -c '[ -e " IN_PYTHON
                                             "/cloudevents ] || timeout 120 "
                                             "python3 -m pip install --quiet --target " IN_PYTHON
                                             " cloudevents==2.2.0' > " IN_PYTHON "-events.log 2>&1") == 0;
  }
  bool ok = has_programs("node npm") &&
            system("mkdir -p " IN_NODE " && flock " IN_NODE " sh -c '[ -e " IN_NODE "/node_modules/cloudevents ] || "
                   "timeout 120 npm install --prefix " IN_NODE " --no-audit --no-fund --loglevel error cloudevents@10' "
                   "> " IN_NODE "-events.log 2>&1") == 0;
  if (ok)
    snprintf(command, size, "node tests/support/events.js %s", realpath(IN_NODE, packages));
  return ok;
}

#define ALL_EVENTS(MODE)                                                                                               \
  MODE " rowrelay.public.item.delete 1, " MODE " rowrelay.public.item.insert 1, " MODE                                 \
       " rowrelay.public.item.update 1, " MODE " rowrelay.public.plain.insert, " MODE                                  \
       " rowrelay.public.plain.truncate"

Test(kafka, official_packages_of_cloudevents_read_both_modes, .timeout = 400) {
  struct fixture f;
  char command[700];
  int read = 0;
  begin(&f, "kafka_official", NULL);
  sql(f.at_source, "insert into item values (1, 'ü \"q\" %%41', 1.50); update item set name = null; delete from item;"
                   "insert into plain values ('x'); truncate plain");
  streams_deliver(&f);
  rowrelay_ok(&f, "target", "set", "w", "-o", "format=cloudevents-binary", NULL);
  rowrelay_ok(&f, "replay", "w", "--since", "yesterday", NULL);
  streams_deliver(&f);
  sql(f.at_source, "create table modes (n int generated always as identity, mode text, line text)");
  for (int table = 0; table < 2; table++) {
    broker_load_table(&f, table == 0 ? "item" : "plain");
    sql(f.at_source,
        "insert into modes (mode, line) select case when headers ->> 'ce_id' is null then 'structured' else "
        "'binary' end, json_build_object('key', key, 'value', value, 'headers', headers) from message "
        "where value is not null");
  }
  for (int in_python = 0; in_python < 2; in_python++) {
    if (!make_reader(command, sizeof command, in_python == 1))
      continue;
    read++;
    ask_program(&f, command, "select regexp_replace(line, E'[\\n\\r]', '', 'g') from modes order by n");
    const char *said = ask(
        f.at_source,
        "select string_agg(distinct concat_ws(' ', m.mode, e ->> 'type', e ->> 'subject'), ', ') from (select n, "
        "line::json as e from said) as s join modes m using (n) join rowrelay.history h on h.change_id::text = e ->> "
        "'id' where e ->> 'source' = 'urn:uuid:' || (select id from rowrelay.source) and e ->> 'specversion' = '1.0' "
        "and abs(extract(epoch from (e ->> 'time')::timestamptz - h.captured_at)) < 0.001 and e -> 'data' ->> "
        "'change_id' = e ->> 'id' and e -> 'data' -> 'after' ->> 'name' is not distinct from h.new_row ->> 'name'");
    cr_expect(strcmp(said, ALL_EVENTS("binary") ", " ALL_EVENTS("structured")) == 0, "%s: %s\n%s", command, said,
              ask(f.at_source, "select string_agg(line, e'\\n') from said"));
  }
  if (read == 0)
    cr_skip("neither npm's nor pip's package cloudevents can be had: see " IN_NODE "-events.log");
  fixture_end(&f);
}

#define ENVELOPE                                                                                                       \
  "select string_agg(concat_ws('|', key, coalesce(value::json ->> 'op', '-'), value::json ->> 'before', value::json "  \
  "->> 'after'), e'\\n' order by n) from message where coalesce(key, '') = '%s' and partition = (select min(m."        \
  "partition) from message m where m.key is not distinct from message.key)"

Test(kafka, debeziums_envelope_has_its_members, .timeout = 400) {
  struct fixture f;
  begin(&f, "kafka_debezium", "format=debezium");
  broker_make_topic("kafka_debezium.public.item", 1, NULL); /* or it would not hold a truncate */
  sql(f.at_source, "begin; set local rowrelay.skip = on; insert into item values (1, 'old', 1.50); commit");
  rowrelay_ok(&f, "backfill", "item", "--to", "w", NULL);
  streams_deliver(&f);
  sql(f.at_source, "insert into item values (2, 'new', null); update item set name = 'newer' where id = 2");
  sql(f.at_source, "delete from item where id = 2; truncate item");
  streams_deliver(&f);
  broker_load_table(&f, "item");
  cr_assert_str_eq(ask(f.at_source, ENVELOPE, "{\"id\":1}"), "{\"id\":1}|r|{\"id\":1,\"name\":\"old\",\"n\":1.50}");
  cr_assert_str_eq(ask(f.at_source, ENVELOPE, "{\"id\":2}"),
                   "{\"id\":2}|c|{\"id\":2,\"name\":\"new\",\"n\":null}\n"
                   "{\"id\":2}|u|{\"id\":2,\"name\":\"new\",\"n\":null}|{\"id\":2,\"name\":\"newer\",\"n\":null}\n"
                   "{\"id\":2}|d|{\"id\":2,\"name\":\"newer\",\"n\":null}\n"
                   "{\"id\":2}|-");
  cr_assert_str_eq(ask(f.at_source, ENVELOPE, ""), "t");
  /* and where each comes from */
  cr_assert_str_eq(
      ask(f.at_source,
          "select count(*) from (select value::json as v, value::json -> 'source' as s from message where value is not "
          "null and key is not null) as m join rowrelay.history h on h.change_id = (s ->> 'lsn')::bigint and h.txid = "
          "(s ->> 'txId')::xid8 where s ->> 'connector' = 'postgresql' "
          "and s ->> 'db' = current_database() and s ->> 'name' = current_database() and s ->> 'schema' = 'public' "
          "and s ->> 'table' = 'item' and s ->> 'snapshot' = case h.op when 'snapshot' then 'incremental' else 'false' "
          "end and (s ->> 'ts_ms')::bigint = floor(extract(epoch from h.captured_at) * 1000) and abs((v ->> "
          "'ts_ms')::bigint - extract(epoch from now()) * 1000) < 600000 and v -> 'transaction' is not null"),
      "4");
  rowrelay_ok(&f, "target", "set", "w", "--option", "source_name=shop", NULL);
  sql(f.at_source, "insert into item values (3)");
  streams_deliver(&f);
  broker_load_table(&f, "item");
  cr_assert_str_eq(ask(f.at_source, "select value::json -> 'source' ->> 'name' from message where key = '{\"id\":3}'"),
                   "shop");
  fixture_end(&f);
}

static void begin_whole(struct fixture *f, const char *name, const char *option) {
  char path[64];
  broker_begin();
  fixture_begin(f, name);
  snprintf(path, sizeof path, "/%s.{table}", name);
  sql(f->at_source, "create table item (id int primary key, name text); create table plain (what text)");
  rowrelay_ok(f, "target", "add", "w", broker_url(path), "-o", "lanes=1", "-o", "format=debezium", "-o",
              "whole_transactions=true", "-o", option, NULL);
  rowrelay_ok(f, "capture", "item", "plain", "--to", "w", NULL);
}

/* Adds the transactions' places that a topic's messages tell to table told. */
static void load_places(struct fixture *f, const char *topic) {
  broker_load(f, topic);
  sql(f->at_source,
      "create table if not exists told (id text, place int, of_table int, topic text, change_id bigint);"
      "insert into told select t ->> 'id', (t ->> 'total_order')::int, (t ->> 'data_collection_order')::int, '%s', (v "
      "-> 'source' ->> 'lsn')::bigint from (select value::json as v, value::json -> 'transaction' as t from message "
      "where value is not null) as m",
      topic);
}

Test(kafka, with_one_lane_messages_tell_of_their_transactions, .timeout = 400) {
  struct fixture f;
  begin_whole(&f, "kafka_whole", "schema=false");
  PGconn *other = connect_to(f.source, NULL);
  sql(f.at_source, "begin; insert into item values (1); insert into plain values ('a')");
  sql(other, "begin; insert into item values (10), (11); commit");
  sql(f.at_source, "insert into item values (2); update item set name = 'x' where id = 1; commit");
  sql(f.at_source, "delete from item where id = 11");
  streams_deliver(&f);
  PQfinish(other);
  broker_load(&f, "kafka_whole.transaction");
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(v ->> 'data_collections', '; ' order by (v ->> 'event_count')::int) from "
                       "(select value::jsonb as v from message) as m where v ->> 'status' = 'END'"),
                   "[{\"event_count\": 1, \"data_collection\": \"public.item\"}]; "
                   "[{\"event_count\": 2, \"data_collection\": \"public.item\"}]; "
                   "[{\"event_count\": 3, \"data_collection\": \"public.item\"}, "
                   "{\"event_count\": 1, \"data_collection\": \"public.plain\"}]");
  /* of each the beginning comes before the end, and both by its id */
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(said, ' ') from (select string_agg(value::json ->> 'status', ',' order by n) "
                       "as said from message where key::json ->> 'id' = value::json ->> 'id' group by key) as s"),
                   "BEGIN,END BEGIN,END BEGIN,END");
  sql(f.at_source, "create table ends as select value::json ->> 'id' as id from message");
  load_places(&f, "kafka_whole.public.item");
  load_places(&f, "kafka_whole.public.plain");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(places, '; ' order by first) from (select min(change_id) as "
                                    "first, string_agg(concat(place, '/', of_table), ' ' order by change_id) as places "
                                    "from told where id in (select e.id from ends e) group by id) as t"),
                   "1/1 2/1 3/2 4/3; 1/1 2/2; 1/1");
  fixture_end(&f);
}

/* What is larger than a batch is told as several, and counts what has arrived. */
Test(kafka, a_transaction_that_is_divided_or_refused_in_part_is_counted_as_it_arrives, .timeout = 400) {
  struct fixture f;
  begin_whole(&f, "kafka_divided", "schema=true");
  broker_make_topic("kafka_divided.public.plain", 1, "max.message.bytes=20000");
  rowrelay_ok(&f, "target", "set", "w", "-o", "batch_rows=40", "-o", "retries=0", NULL);
  sql(f.at_source, "insert into item select n from generate_series(1, 100) as n");
  sql(f.at_source, "insert into plain select case n when 2 then (select string_agg(md5(i::text), '') from "
                   "generate_series(1, 1000) as i) else 'small' end from generate_series(1, 3) as n");
  streams_run(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', relation, change_id, message), ', ') from "
                                    "rowrelay.errors"),
                   "plain 102 Broker: Message size too large");

  broker_load(&f, "kafka_divided.transaction");
  sql(f.at_source, "create table total as select v ->> 'id' as id, max((v ->> 'event_count')::int) as n, max(v #>> "
                   "'{data_collections,0,data_collection}') as of from (select value::json -> 'payload' as v from "
                   "message) as m where v ->> 'status' = 'END' group by 1");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(n::text, ' ' order by n) from total where of = 'public.item'"),
                   "20 40 40");
  ask_java(&f, "Connect.java",
           "select value from message where value::json -> 'payload' ->> 'status' = 'BEGIN' limit 1");
  cr_assert_str_eq(ask(f.at_source, "select left(line, 65) from said"),
                   "io.debezium.connector.common.TransactionMetadataValue Struct{stat");
  broker_load(&f, "kafka_divided.public.plain");
  cr_assert_str_eq(ask(f.at_source, "select sum(n) = (select count(distinct value::json -> 'payload' -> 'source' ->> "
                                    "'lsn') from message) from total where of = 'public.plain'"),
                   "t");
  rowrelay_ok(&f, "skip", "--all", "--target", "w", NULL);
  fixture_end(&f);
}

/* The topic takes the beginning, and not the end, which is longer. */
Test(kafka, a_transaction_is_sent_again_until_its_end_has_arrived, .timeout = 400) {
  struct fixture f;
  begin_whole(&f, "kafka_end", "schema=false");
  broker_make_topic("kafka_end.transaction", 1, "max.message.bytes=230");
  sql(f.at_source, "begin; insert into item values (1); insert into plain values ('a'); commit");
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "run", "--until-empty", "--wait", "1", NULL), 1);
  cr_assert_not_null(strstr(errors, "topic of transactions: Broker: Message size too large"), "%s", errors);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "2");
  broker_delete_topic("kafka_end.transaction");
  broker_make_topic("kafka_end.transaction", 1, NULL);
  streams_deliver(&f);
  broker_load(&f, "kafka_end.transaction");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(value::json ->> 'status', ',' order by n) from message"),
                   "BEGIN,END");
  fixture_end(&f);
}

Test(kafka, a_transaction_whose_beginning_cannot_be_told_is_not_sent, .timeout = 400) {
  struct fixture f;
  begin_whole(&f, "kafka_beginning", "schema=false");
  broker_make_topic("kafka_beginning.transaction", 1, "max.message.bytes=100");
  broker_make_topic("kafka_beginning.public.item", 1, NULL);
  sql(f.at_source, "insert into item values (1)");
  cr_assert_eq(rowrelay(&f, NULL, NULL, "run", "--until-empty", "--wait", "1", NULL), 1);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "1");
  broker_load(&f, "kafka_beginning.public.item");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from message"), "0");
  fixture_end(&f);
}

#define EVERY "shop.public.every.Envelope "
#define FIRST(E)                                                                                                       \
  "Struct{b=2,C \"c=ü\",d=1.50,e=" E ",f=true,g={\"x\": [1, \"y\"]},h={1,2},i=2026-01-02T03:04:05+00:00,j=0.5,k=*}"

Test(kafka, kafka_connect_reads_debeziums_envelope_with_its_schema, .timeout = 400) {
  struct fixture f;
  begin(&f, "kafka_schema", "format=debezium");
  broker_make_topic("kafka_schema.public.plain", 1, NULL); /* it will be truncated */
  rowrelay_ok(&f, "target", "set", "w", "--option", "schema=true", "--option", "source_name=shop", NULL);
  sql(f.at_source,
      "create domain short as text; create table every (a smallint, b bigint, \"C \"\"c\" text, d numeric, e double "
      "precision, f boolean, g jsonb, h int[], i timestamptz, j real, k short, l text, primary key (b, \"C \"\"c\"))");
  rowrelay_ok(&f, "capture", "every", "--to", "w", "--before", "--exclude", "l", "--mask", "a=x,k=*", NULL);
  sql(f.at_source,
      "insert into every values (1, 2, 'ü\"', 1.50, 1e3, true, '{\"x\": [1, \"y\"]}', '{1,2}', "
      "'2026-01-02 03:04:05+00', 0.5, 'k', 'l'), (null, 3, '', null, 'NaN', null, null, null, null, null, null, null)");
  sql(f.at_source, "update every set e = -1 where b = 2; delete from every where b = 2");
  streams_deliver(&f);
  broker_load_table(&f, "every");
  ask_java(&f, "Connect.java",
           "select value from message where value is not null order by value::json -> 'payload' -> "
           "'source' ->> 'lsn'");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(line, e'\\n' order by n) from said"),
                   EVERY "c null " FIRST("1000.0") "\n" EVERY "c null Struct{b=3,C \"c=,k=*}\n" EVERY
                                                   "u " FIRST("1000.0") " " FIRST("-1.0") "\n" EVERY
                                                                                          "d " FIRST("-1.0") " null");
  ask_java(&f, "Connect.java", "select distinct key from message order by key");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(line, e'\\n' order by n) from said"),
                   "shop.public.every.Key Struct{b=2,C \"c=ü\"}\nshop.public.every.Key Struct{b=3,C \"c=}");
  /* a truncate, and a table without a key */
  sql(f.at_source, "insert into plain values ('p'); truncate plain");
  streams_deliver(&f);
  broker_load_table(&f, "plain");
  ask_java(&f, "Connect.java",
           "select distinct on (value::json -> 'payload' ->> 'op') value from message where value is "
           "not null order by value::json -> 'payload' ->> 'op'");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(line, e'\\n' order by n) from said"),
                   "shop.public.plain.Envelope c null Struct{what=p}\nshop.public.plain.Envelope t null null");
  fixture_end(&f);
}

Test(kafka, the_row_alone_is_null_when_it_is_deleted, .timeout = 400) {
  struct fixture f;
  begin(&f, "kafka_row", "format=row");
  sql(f.at_source, "insert into item values (1, 'a', 1.50); insert into plain values ('p')");
  sql(f.at_source, "update item set name = 'b'; delete from item; delete from plain");
  streams_deliver(&f);
  broker_load_table(&f, "item");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', key, coalesce(value, 'null'), headers ->> "
                                    "'rowrelay_op', headers ->> 'rowrelay_relation'), e'\\n' order by n) from message"),
                   "{\"id\":1} {\"id\":1,\"name\":\"a\",\"n\":1.50} insert public.item\n"
                   "{\"id\":1} {\"id\":1,\"name\":\"b\",\"n\":1.50} update public.item\n"
                   "{\"id\":1} null delete public.item");
  broker_load_table(&f, "plain");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', value, headers ->> 'rowrelay_op'), ', ' order by "
                                    "n) from message"),
                   "{\"what\":\"p\"} insert, {\"what\":\"p\"} delete");
  fixture_end(&f);
}

Test(kafka, documents_arrive_by_their_keys, .timeout = 400) {
  struct fixture f;
  begin(&f, "kafka_document", "format=row");
  char path[] = "/tmp/rowrelay-query-XXXXXX";
  int file = mkstemp(path);
  static const char QUERY[] = "select id, name || '!' as loud from item where id = any ($1)";
  cr_assert(file >= 0 && write(file, QUERY, strlen(QUERY)) == (ssize_t)strlen(QUERY));
  close(file);
  rowrelay_ok(&f, "document", "add", "loud", "--target", "w", "--key", "id", "--query", path, "--from", "item:id",
              NULL);
  unlink(path);
  sql(f.at_source, "insert into item values (1, 'a'), (2, 'b')");
  streams_deliver(&f);
  sql(f.at_source, "delete from item where id = 1");
  streams_deliver(&f);
  broker_load(&f, "kafka_document.loud");
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(concat_ws(' ', key, coalesce(value, 'null')), ', ' order by key, "
                       "n) from message"),
                   "{\"id\":\"1\"} {\"id\":1,\"loud\":\"a!\"}, {\"id\":\"1\"} null, "
                   "{\"id\":\"2\"} {\"id\":2,\"loud\":\"b!\"}");
  fixture_end(&f);
}
