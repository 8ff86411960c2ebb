/* Kafka: what Debezium's JDBC sink connector, run by Kafka Connect, makes of Debezium's envelope. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker.h"
#include "fixture.h"
#include "mirrored.h"
#include "receiver.h"
#include "samples.h"

/* The target's server answers on TCP, which is all that JDBC knows. */
static int own_target(void) {
  struct receiver *receiver = receiver_begin(); /* knows a free port */
  int port = receiver_port(receiver);
  char setting[32];
  receiver_end(receiver);
  snprintf(setting, sizeof setting, "port=%d", port);
  own_server("target", setting);
  return port;
}

/* Each topic's messages go to the table in schema sunk that has its table's name. */
static void start_sink(struct served *connect, const struct fixture *f, int port) {
  static char settings[2048];
  snprintf(settings, sizeof settings,
           "name=sink\\nconnector.class=io.debezium.connector.jdbc.JdbcSinkConnector\\ntasks.max=1\\n"
           "topics.regex=kafka_sink[.].*\\nconnection.url=jdbc:postgresql://127.0.0.1:%d/%s?stringtype=unspecified\\n"
           "connection.username=postgres\\nconnection.password=none\\ninsert.mode=upsert\\ndelete.enabled=true\\n"
           "primary.key.mode=record_key\\nschema.evolution=none\\ncollection.name.format=sunk.${source.table}\\n"
           "quote.identifiers=true\\nconnection.pool.max_size=2\\nconnection.pool.min_size=1\\n"
           "connection.pool.acquire_increment=1",
           port, ask(f->at_target, "select current_database()"));
  setenv("SETTINGS", settings, 1);
  setenv("BROKER", broker_server()->address, 1);
  served_begin(connect, "connect.sh", false);
}

/* Rows and arrays of them are JSON there, which only a column of json takes. */
static bool has_rows(struct fixture *f, int i) {
  return ask_number(f->at_source,
                    "select (typtype = 'c')::int from pg_type where oid = rowrelay.base_type(to_regtype($t$%s$t$))",
                    SAMPLES[i].type) == 1;
}

/* What a JSON number cannot be, or is without its sign where Kafka Connect has read it. */
static bool is_lost(int i, const char *value) {
  return strncmp(SAMPLES[i].type, "float", 5) == 0 && (strpbrk(value, "NI") != NULL || strcmp(value, "-0") == 0);
}

/* Table every has a column for each type, c0, and one for arrays of it, a0; and a row for each sample. */
static void fill_every(struct fixture *f, bool *has_array) {
  for (int i = 0; i < SAMPLE_COUNT; i++) {
    has_array[i] = false;
    if (!samples_known(f, i) || has_rows(f, i))
      continue;
    has_array[i] =
        ask_number(f->at_source, "select (typcategory <> 'A')::int from pg_type where oid = to_regtype($t$%s$t$)",
                   SAMPLES[i].type) == 1;
    sql(f->at_source, "alter table every add c%d %s, add a%d %s[]", i, SAMPLES[i].type, i, SAMPLES[i].type);
    for (int n = 0; SAMPLES[i].values[n] != NULL; n++)
      if (!is_lost(i, SAMPLES[i].values[n]))
        sql(f->at_source, "update every set c%d = $v$%s$v$ where id = %d", i, SAMPLES[i].values[n], n);
    if (has_array[i])
      sql(f->at_source,
          "update every set a%d = array[[c%d, null], [c%d, c%d]] where id < 6; "
          "update every set a%d = array[c%d] where id >= 6",
          i, i, i, i, i, i);
  }
}

Test(kafka_sink, debeziums_jdbc_sink_makes_the_same_rows_of_every_type, .timeout = 600) {
  struct fixture f;
  struct served connect;
  bool has_array[256];
  cr_assert(SAMPLE_COUNT < 256);
  if (getenv("DEBEZIUM") == NULL)
    cr_skip_test("Kafka Connect takes minutes on a busy machine: DEBEZIUM=1 SUITE=kafka_sink make check");
  broker_begin();
  int port = own_target();
  mirrored_begin(&f, "kafka_sink", SAMPLES_TYPES);
  sql(f.at_source, "create table every (id int primary key); insert into every select n from generate_series(0, 13) n");
  fill_every(&f, has_array);
  mirrored_capture(&f, "every");
  rowrelay_ok(&f, "target", "add", "k", broker_url("/kafka_sink.{table}"), "-o", "format=debezium", "-o", "schema=true",
              NULL);
  rowrelay_ok(&f, "capture", "every", "--to", "k", NULL);
  rowrelay_ok(&f, "backfill", "every", "--to", "w", NULL);
  rowrelay_ok(&f, "backfill", "every", "--to", "k", NULL);
  mirrored_deliver(&f);
  sql(f.at_source,
      "update every set id = id where id < 8; insert into every values (20); delete from every where id in "
      "(12, 20)");
  mirrored_deliver(&f);
  sql(f.at_target, "create schema sunk; create table sunk.every (like every including all)");
  start_sink(&connect, &f, port);
  wait_until(f.at_target, "13 0", 30,
             "select concat(count(*), ' ', count(*) filter (where id in (12, 20))) from "
             "sunk.every");
  for (int i = 0; i < SAMPLE_COUNT; i++) {
    if (!samples_known(&f, i) || has_rows(&f, i))
      continue;
    const char *differences =
        ask(f.at_target,
            "select string_agg(format('%%s %%s instead of %%s %%s', s.c%d, s.a%d, m.c%d, m.a%d), e'\\n') from "
            "sunk.every as s full join every as m using (id) where (s.c%d::text, s.a%d::text) is distinct from "
            "(m.c%d::text, m.a%d::text)",
            i, i, i, i, i, i, i, i);
    cr_expect(differences[0] == '\0', "%s: %s", SAMPLES[i].type, differences);
  }
  served_control(&connect, "kill");
  fixture_end(&f);
}
