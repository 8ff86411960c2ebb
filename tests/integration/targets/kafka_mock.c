/* Kafka, as librdkafka's own mock of brokers plays it: what needs nothing but Debian's packages. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "broker.h"
#include "fixture.h"

/* Of librdkafka; Kafka's own numbers. */
#define NOT_LEADER 6
#define REQUEST_TIMED_OUT 7
#define TOO_LARGE 10
#define NOT_ENOUGH_REPLICAS 19

/* Table item at the source goes to target w, topic "in" of three mock brokers; `option`: see target set, or NULL. */
static void begin(struct fixture *f, const char *name, const char *option) {
  broker_mock(3);
  broker_make_topic("in", 4, NULL);
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text)");
  rowrelay_ok(f, "target", "add", "w", broker_url("/in"), NULL);
  if (option != NULL)
    rowrelay_ok(f, "target", "set", "w", "--option", option, NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", NULL);
}

static void write_rows(struct fixture *f) {
  sql(f->at_source, "insert into item select n, 'x' from generate_series(1, 300) as n");
  sql(f->at_source, "update item set name = 'y' where id <= 200; update item set name = 'z' where id <= 100; "
                    "delete from item where id <= 50");
}

static void end_complete(struct fixture *f) {
  broker_load(f, "in");
  messages_are_complete(f, "item");
  cr_assert_str_eq(ask(f->at_source, "select count(*) from rowrelay.errors"), "0");
  fixture_end(f);
}

Test(kafka, every_change_arrives_once_in_a_topic_and_in_its_rows_order) {
  struct fixture f;
  begin(&f, "kafka_mock_rows", NULL);
  write_rows(&f);
  rowrelay_ok(&f, "run", "--until-empty", "--workers", "2", NULL);
  broker_load(&f, "in");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from message where value is not null"), "650");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from message where value is null and key is not null"), "50");
  end_complete(&f);
}

Test(kafka, what_brokers_answer_for_a_moment_loses_and_reorders_nothing) {
  struct fixture f;
  begin(&f, "kafka_mock_errors", NULL);
  write_rows(&f);
  broker_mock_refuses(NOT_LEADER, REQUEST_TIMED_OUT, NOT_LEADER, NOT_ENOUGH_REPLICAS, REQUEST_TIMED_OUT, 0);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  end_complete(&f);
}

Test(kafka, after_a_refused_request_its_messages_arrive_one_by_one_in_order) {
  struct fixture f;
  begin(&f, "kafka_mock_refused", NULL);
  write_rows(&f);
  broker_mock_refuses(TOO_LARGE, 0);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  end_complete(&f);
}

Test(kafka, brokers_that_are_away_are_an_outage_and_no_attempt_is_counted) {
  struct fixture f;
  begin(&f, "kafka_mock_away", NULL);
  for (int number = 1; number <= 3; number++)
    broker_mock_down(number, true);
  write_rows(&f);
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "failing", 20, "select state from rowrelay.status");
  wait_until_says(process, "no broker answers", 10);
  for (int number = 1; number <= 3; number++)
    broker_mock_down(number, false);
  wait_until_empty(&f, 40);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  end_complete(&f);
}

Test(kafka, a_broker_that_does_not_answer_is_waited_for_as_long_as_a_push_may_take) {
  struct fixture f;
  begin(&f, "kafka_mock_slow", "push_timeout=2");
  broker_mock_delay(4000);
  write_rows(&f);
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_says(process, "no answer within 2 s", 20);
  broker_mock_delay(0);
  wait_until_empty(&f, 40);
  /* And a second SIGTERM waits for nobody. */
  broker_mock_delay(9000);
  rowrelay_ok(&f, "target", "set", "w", "--option", "push_timeout=60", NULL);
  sql(f.at_source, "update item set name = 'again'");
  sleep_seconds(1);
  kill(process, SIGTERM);
  sleep_seconds(0.5);
  double began = seconds_now();
  stop_process(process, SIGTERM);
  cr_assert(seconds_now() - began < 5, "it took %.1f s", seconds_now() - began);
  broker_mock_delay(0);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  end_complete(&f);
}

/* Who applies Debezium's messages would empty its table once for each partition. */
Test(kafka, a_truncate_in_debeziums_format_is_told_to_one_partition_alone) {
  struct fixture f;
  begin(&f, "kafka_mock_truncate", "format=debezium");
  broker_make_topic("one", 1, NULL);
  rowrelay_ok(&f, "target", "add", "one", broker_url("/one"), NULL);
  rowrelay_ok(&f, "target", "set", "one", "--option", "format=debezium", NULL);
  rowrelay_ok(&f, "route", "item", "one", NULL);
  sql(f.at_source, "insert into item values (1, 'before'), (2, 'before')");
  sql(f.at_source, "truncate item");
  sql(f.at_source, "insert into item values (2, 'after'), (3, 'after')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(
      ask(f.at_source, "select string_agg(concat_ws(' ', target, op, message), ', ') from rowrelay.errors"),
      "w truncate in Debezium's format a truncate can only be told to a topic of one partition: a consumer "
      "empties its table at each");
  broker_load(&f, "in");
  cr_expect_str_eq(ask(f.at_source, "select count(*) || ' ' || count(*) filter (where value::json ->> 'op' = 't') "
                                    "from message"),
                   "4 0");
  broker_load(&f, "one");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(value::json ->> 'op', ' ' order by n) from message"),
                   "c c t c c");
  fixture_end(&f);
}
