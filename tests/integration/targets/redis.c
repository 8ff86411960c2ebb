/* Redis Streams: what readers find in a real server. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/optional.h"
#include "fixture.h"
#include "messages.h"
#include "served.h"
#include "streams.h"

static struct served server;

static void begin_server(bool shared) {
  if (!HAVE_HIREDIS)
    cr_skip("rowrelay was built without libhiredis");
  if (!has_programs("redis-cli"))
    cr_skip("there is no redis-cli here (Debian's package redis-tools)");
  served_begin(&server, "redis.sh", shared);
}

static const char *at(const char *path) {
  return served_url(&server, "redis", path);
}

static const char *port_of(const struct served *served) {
  return strchr(served->address, ':') + 1;
}

/* What redis-cli prints for a command; valid until 4 more calls. */
static const char *cli(const char *words) {
  static char said[4][4096];
  static int next = 0;
  char command[1024];
  next = (next + 1) % 4;
  snprintf(command, sizeof command, "redis-cli -p %s %s", port_of(&server), words);
  FILE *pipe = popen(command, "r");
  cr_assert(pipe != NULL);
  size_t length = fread(said[next], 1, sizeof said[next] - 1, pipe);
  cr_assert(pclose(pipe) == 0, "%s", command);
  while (length > 0 && said[next][length - 1] == '\n')
    length--;
  said[next][length] = '\0';
  return said[next];
}

static void load(struct fixture *f, const char *stream) {
  char command[256];
  snprintf(command, sizeof command, "redis-cli -p %s --json XRANGE '%s' - +", port_of(&server), stream);
  messages_read(f, command);
  messages_make(f, "select row_number() over () as n, 0 as partition, fields ->> 'key' as key, fields ->> 'value' as "
                   "value, fields as headers from (select json_object(array(select json_array_elements_text("
                   "entry -> 1))) as fields from line, json_array_elements(line) with ordinality as e(entry, place) "
                   "order by place) as e");
}

static void is_complete(struct fixture *f, const char *stream, const char *relation) {
  load(f, stream);
  messages_are_complete(f, relation);
}

/* Tables item, which has a key, and plain, which has none, go to target w: a stream of the test's own for each. */
static void begin_at(struct fixture *f, const char *name, const char *option) {
  char path[128];
  snprintf(path, sizeof path, "/%s.{table}", name);
  fixture_begin(f, name);
  streams_capture(f, at(path), option);
}

static void begin(struct fixture *f, const char *name, const char *option) {
  begin_server(true);
  begin_at(f, name, option);
}

/* ---- order ----------------------------------------------------------------------------------------------------- */

Test(redis, several_processes_deliver_the_changes_of_busy_writers_in_order) {
  struct fixture f;
  begin_server(true);
  fixture_begin(&f, "redis_writers");
  streams_with_writers(&f, at("/redis_writers.{table}"));
  is_complete(&f, "redis_writers.public.stock", "stock");
  cr_assert(messages_repeated(&f) == 0);
  is_complete(&f, "redis_writers.public.ledger", "ledger");
  fixture_end(&f);
}

Test(redis, a_killed_process_loses_and_reorders_nothing) {
  struct fixture f;
  begin_server(false);
  begin_at(&f, "redis_killed", "batch_rows=200");
  streams_with_killed_processes(&f, &server, 4, 0.05);
  is_complete(&f, "redis_killed.public.item", "item");
  /* what one worker had in hand may be there twice: a batch for each kill */
  cr_assert(messages_repeated(&f) <= 4 * 2 * 200);
  fixture_end(&f);
}

Test(redis, a_killed_server_loses_and_reorders_nothing) {
  struct fixture f;
  begin_server(false);
  fixture_begin(&f, "redis_server_killed");
  streams_with_killed_server(&f, at(""), &server, 3);
  is_complete(&f, "public.stock", "stock");
  cr_assert(messages_repeated(&f) <= 3 * 2 * STREAMS_KILLED_ROWS);
  is_complete(&f, "public.ledger", "ledger");
  fixture_end(&f);
}

Test(redis, server_and_process_that_are_killed_together_lose_and_reorder_nothing) {
  struct fixture f;
  begin_server(false);
  fixture_begin(&f, "redis_all_killed");
  streams_with_all_killed(&f, at(""), &server, 4);
  is_complete(&f, "public.stock", "stock");
  streams_repeat_at_most(&f, "stock", 4 * STREAMS_IN_HAND);
  is_complete(&f, "public.ledger", "ledger");
  fixture_end(&f);
}

/* Who has lost its lanes adds nothing, not even once more: their new holder has been at the server. */
Test(redis, processes_that_are_stopped_for_longer_than_their_lease_lose_and_reorder_nothing) {
  struct fixture f;
  begin_server(true);
  fixture_begin(&f, "redis_stopped");
  streams_with_stopped_processes(&f, at("/redis_stopped.{table}"), 3);
  is_complete(&f, "redis_stopped.public.stock", "stock");
  streams_repeat_at_most(&f, "stock", 3 * STREAMS_IN_HAND);
  is_complete(&f, "redis_stopped.public.ledger", "ledger");
  fixture_end(&f);
}

static void let_an_empty_server_take_over(struct fixture *f) {
  (void)f;
  served_exchange(&server);
}

/* The old one has some of each table. */
static void let_an_empty_server_take_over_in_the_middle(struct fixture *f) {
  double until = give_up_at(30);
  while (strcmp(cli("XLEN public.stock"), "0") == 0 || strcmp(cli("XLEN public.ledger"), "0") == 0) {
    cr_assert(seconds_now() < until, "the server has not got a change of each table");
    sleep_seconds(0.05);
  }
  let_an_empty_server_take_over(f);
}

/* The claims of the lanes are gone too. Nothing is in neither, and on both together each key's changes are in order. */
Test(redis, a_failover_to_an_empty_server_loses_and_reorders_nothing_that_the_old_one_did_not_have) {
  static const char *const RELATIONS[] = {"stock", "ledger"};
  struct fixture f;
  begin_server(false);
  fixture_begin(&f, "redis_empty");
  streams_with_a_fault(&f, at(""), let_an_empty_server_take_over_in_the_middle);
  for (int i = 0; i < 2; i++) {
    char stream[32];
    snprintf(stream, sizeof stream, "public.%s", RELATIONS[i]);
    load(&f, stream);
    cr_assert(ask_number(f.at_source, "select count(*) from message") > 0);
    messages_put_aside(&f);
    served_exchange(&server);
    load(&f, stream);
    cr_assert(ask_number(f.at_source, "select count(*) from message") > 0);
    messages_append(&f);
    messages_are_complete(&f, RELATIONS[i]);
    /* what was in hand may be in both */
    cr_assert(messages_repeated(&f) <= 2 * 2 * STREAMS_KILLED_ROWS);
    served_exchange(&server);
  }
  fixture_end(&f);
}

Test(redis, a_server_that_was_emptied_is_told_of) {
  struct fixture f;
  begin_server(false);
  begin_at(&f, "redis_lost", NULL);
  streams_tell_of_loss(&f, let_an_empty_server_take_over);
  cr_assert_str_eq(cli("XLEN redis_lost.public.item"), "500");
  fixture_end(&f);
}

/* A later claim has been at the server: as if another process had taken over. */
Test(redis, who_was_left_behind_writes_nothing) {
  struct fixture f;
  begin_server(false);
  begin_at(&f, "redis_fence", NULL);
  sql(f.at_source, "insert into item select n from generate_series(1, 100) as n");
  streams_deliver(&f);
  cr_assert_str_eq(cli("XLEN redis_fence.public.item"), "100");
  const char *keys = cli("EVAL \"local k = redis.call('keys', 'rowrelay:*') for _, n in ipairs(k) do "
                         "redis.call('set', n, '1000000000000') end return #k\" 0");
  cr_assert(strtol(keys, NULL, 10) > 10, "%s", keys);
  sql(f.at_source, "update item set name = 'x'");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "halted", 20, "select state from rowrelay.target where name = 'w'");
  cr_assert(strstr(process_log(process), "another process has claimed the same lanes") != NULL);
  cr_assert_str_eq(cli("XLEN redis_fence.public.item"), "100");
  rowrelay_ok(&f, "target", "resume", "w", NULL); /* whose claims are newer than any then */
  wait_until_empty(&f, 30);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  cr_assert_str_eq(cli("XLEN redis_fence.public.item"), "200");
  fixture_end(&f);
}

/* ---- what is refused ------------------------------------------------------------------------------------------- */

Test(redis, an_entry_that_is_too_large_is_refused_alone) {
  struct fixture f;
  setenv("SETTINGS", "proto-max-bulk-len 1mb", 1);
  begin_server(false);
  begin_at(&f, "redis_large", "on_error=block");
  sql(f.at_source, "insert into item select n, 'small' from generate_series(1, 500) as n");
  sql(f.at_source, "update item set name = repeat('x', 2000000) where id = 77; update item set name = 'y' where id = "
                   "77; update item set name = 'y' where id = 78");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws('|', key, message ~ 'bytes is longer than the server "
                                    "takes', detail), ' ') from rowrelay.errors where state = 'error'"),
                   "77|t|Stream redis_large.public.item.");
  load(&f, "redis_large.public.item");
  cr_assert_str_eq(ask(f.at_source, "select concat(count(*), ' ', count(*) filter (where key = '{\"id\":77}')) from "
                                    "message"),
                   "501 1");
  rowrelay_ok(&f, "skip", "--all", "--target", "w", NULL);
  fixture_end(&f);
}

Test(redis, a_row_of_5_MB_arrives) {
  struct fixture f;
  begin(&f, "redis_5mb", NULL);
  streams_send_large_rows(&f, 3);
  load(&f, "redis_5mb.public.item");
  streams_has_large_rows(&f, 3);
  fixture_end(&f);
}

Test(redis, a_key_that_is_no_stream_holds_its_table_and_no_other) {
  struct fixture f;
  begin(&f, "redis_held", NULL);
  cli("SET redis_held.public.item x");
  pid_t process = streams_hold(&f, "WRONGTYPE");
  is_complete(&f, "redis_held.public.plain", "plain");
  cli("DEL redis_held.public.item");
  streams_release(&f, process);
  is_complete(&f, "redis_held.public.item", "item");
  fixture_end(&f);
}

Test(redis, a_stream_that_may_not_be_written_holds_its_table_and_no_other) {
  struct fixture f;
  begin_server(false);
  begin_at(&f, "redis_acl", NULL);
  cli("ACL SETUSER default -@all +@connection +@transaction +xadd +mget +mset +xlen +acl resetkeys '~rowrelay:*' "
      "'~redis_acl.public.plain'");
  pid_t process = streams_hold(&f, "NOPERM");
  cr_assert_str_eq(cli("XLEN redis_acl.public.plain"), "1");
  cli("ACL SETUSER default '~*'");
  streams_release(&f, process);
  cr_assert_str_eq(cli("XLEN redis_acl.public.item"), "100");
  fixture_end(&f);
}

/* ---- outages --------------------------------------------------------------------------------------------------- */

Test(redis, a_server_that_is_away_or_hangs_is_an_outage_and_no_attempt_is_counted) {
  struct fixture f;
  begin_server(false);
  begin_at(&f, "redis_away", "push_timeout=2");
  streams_with_outages(&f, &server, "no answer within 2 s");
  is_complete(&f, "redis_away.public.item", "item");
  fixture_end(&f);
}

Test(redis, what_was_not_sent_is_sent_later_where_that_is_at_most_once) {
  struct fixture f;
  begin_server(false);
  begin_at(&f, "redis_once", "guarantee=at-most-once");
  streams_send_later(&f, &server, "push_timeout=3");
  cr_assert_str_eq(cli("XLEN redis_once.public.item"), "300");
  fixture_end(&f);
}

Test(redis, a_server_without_memory_is_an_outage) {
  struct fixture f;
  begin_server(false);
  begin_at(&f, "redis_memory", NULL);
  cli("CONFIG SET maxmemory 1");
  sql(f.at_source, "insert into item select n from generate_series(1, 300) as n");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_says(process, "OOM command not allowed", 20);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  cli("CONFIG SET maxmemory 0");
  wait_until_empty(&f, 40);
  stop_process(process, SIGTERM);
  cr_assert_str_eq(cli("XLEN redis_memory.public.item"), "300");
  fixture_end(&f);
}

Test(redis, a_batch_waits_for_replicas_and_is_not_sent_where_they_are_missing) {
  struct fixture f;
  begin_server(false);
  struct served master = server;
  begin_at(&f, "redis_replicas", "replicas=1");
  sql(f.at_source, "insert into item select n from generate_series(1, 100) as n");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_says(process, "0 of 1 replicas answer", 20);
  cr_assert_str_eq(cli("EXISTS redis_replicas.public.item"), "0");
  char setting[64];
  struct served replica;
  snprintf(setting, sizeof setting, "replicaof 127.0.0.1 %s\\nrepl-diskless-sync-delay 0", port_of(&server));
  setenv("SETTINGS", setting, 1);
  snprintf(replica.script, sizeof replica.script, "redis.sh");
  snprintf(replica.directory, sizeof replica.directory, "%.100s-replica", server.directory);
  guard_directory(replica.directory, "tests/support/redis.sh");
  served_control(&replica, "start");
  wait_until_empty(&f, 60);
  stop_process(process, SIGTERM);
  server = replica;
  cr_assert_str_eq(cli("XLEN redis_replicas.public.item"), "100");
  /* A replica refuses what is written to it, which is an outage. */
  rowrelay_ok(&f, "target", "set", "w", "--url", served_url(&replica, "redis", ""), "-o", "replicas=0", NULL);
  sql(f.at_source, "insert into plain values ('a')");
  process = fixture_run(&f, NULL, NULL);
  wait_until_says(process, "READONLY", 20);
  rowrelay_ok(&f, "target", "set", "w", "--url", served_url(&master, "redis", ""), NULL);
  wait_until_empty(&f, 60);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* ---- what an entry holds --------------------------------------------------------------------------------------- */

Test(redis, an_entry_has_the_change_in_the_format_that_was_chosen) {
  struct fixture f;
  begin(&f, "redis_format", "format=row");
  sql(f.at_source, "insert into item values (1, 'ü\n', 1.50); insert into plain values ('p')");
  sql(f.at_source, "delete from item; truncate plain");
  streams_deliver(&f);
  load(&f, "redis_format.public.item");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', key, coalesce(value, 'null'), headers ->> "
                                    "'rowrelay_op', headers ->> 'rowrelay_relation', headers ->> 'id' = headers ->> "
                                    "'rowrelay_change_id'), e'\\n' order by n) from message"),
                   "{\"id\":1} {\"id\":1,\"name\":\"ü\\n\",\"n\":1.50} insert public.item t\n"
                   "{\"id\":1} null delete public.item t");
  load(&f, "redis_format.public.plain");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', coalesce(key, '-'), coalesce(value, 'null'), "
                                    "headers ->> 'rowrelay_op'), e'\\n' order by n) from message"),
                   "- {\"what\":\"p\"} insert\n- null truncate");
  rowrelay_ok(&f, "target", "set", "w", "--option", "format=cloudevents-binary", NULL);
  sql(f.at_source, "insert into item values (7)");
  streams_deliver(&f);
  load(&f, "redis_format.public.item");
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', headers ->> 'ce_id' = headers ->> 'id', headers ->> "
                                    "'ce_type', headers ->> 'ce_subject', value::json ->> 'op') from message where "
                                    "key = '{\"id\":7}'"),
                   "t rowrelay.public.item.insert 7 insert");
  rowrelay_ok(&f, "target", "set", "w", "--option", "format=debezium", NULL);
  sql(f.at_source, "insert into item values (8)");
  streams_deliver(&f);
  load(&f, "redis_format.public.item");
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', value::json ->> 'op', value::json -> 'source' ->> 'db' = "
                                    "current_database()) from message where key = '{\"id\":8}'"),
                   "c t");
  fixture_end(&f);
}

Test(redis, odd_names_of_tables_and_keys_find_their_stream) {
  struct fixture f;
  begin_server(false);
  fixture_begin(&f, "redis_odd");
  sql(f.at_source, "create schema \"Ä x\"; create table \"Ä x\".\"a.b*'c\" (\"k \"\"1\" text, b int, primary key (\"k "
                   "\"\"1\", b)); create table item (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", at("/3/all:{table}"), NULL);
  rowrelay_ok(&f, "capture", "\"Ä x\".\"a.b*'c\"", "item", "--to", "w", NULL);
  rowrelay_ok(&f, "target", "add", "one", at("/everything"), "-o", "maxlen=100", NULL);
  rowrelay_ok(&f, "capture", "\"Ä x\".\"a.b*'c\"", "item", "--to", "one", NULL);
  sql(f.at_source, "insert into \"Ä x\".\"a.b*'c\" values (E'\\r\\n$5 \"\\\\', 1), ('', 2); insert into item select n "
                   "from generate_series(1, 5000) as n");
  streams_deliver(&f);
  cr_assert_str_eq(cli("-n 3 XLEN all:_x.a.b__c"), "0");
  cr_assert_str_eq(cli("-n 3 XLEN all:__x.a.b__c"), "2");
  cr_assert_str_eq(cli("-n 3 XLEN all:public.item"), "5000");
  cr_assert(strtol(cli("XLEN everything"), NULL, 10) < 1000, "%s", cli("XLEN everything"));
  cr_assert(strstr(cli("-n 3 --json XRANGE all:__x.a.b__c - + COUNT 1"),
                   "{\\\"k \\\\\\\"1\\\":\\\"\\\\r\\\\n$5 \\\\\\\"\\\\\\\\\\\",\\\"b\\\":1}") != NULL,
            "%s", cli("-n 3 --json XRANGE all:__x.a.b__c - + COUNT 1"));
  fixture_end(&f);
}

/* ---- connections ----------------------------------------------------------------------------------------------- */

Test(redis, a_server_that_asks_for_tls_and_a_password_gets_them_and_nobody_else_sees_it) {
  struct fixture f;
  char url[300];
  setenv("SECURE", "1", 1);
  begin_server(false);
  fixture_begin(&f, "redis_secure");
  snprintf(url, sizeof url, "rediss://rowrelay:${REDIS_PASSWORD}@%s/in", server.address);
  streams_capture_secure(&f, &server, url, "REDIS_PASSWORD", "the server does not let us in: WRONGPASS");
  cr_assert(strstr(rowrelay_ok(&f, "target", "test", "w", NULL), "the server answered; nothing was sent") != NULL);
  pid_t process = fixture_run(&f, "--log-level", "debug", NULL);
  wait_until_empty(&f, 30);
  streams_never_said(process, getenv("REDIS_PASSWORD"));
  streams_needs_variable(&f, "REDIS_PASSWORD", "URL");
  fixture_end(&f);
}

Test(redis, a_server_that_asks_for_a_certificate_gets_it) {
  struct fixture f;
  char url[300];
  setenv("SECURE", "mutual", 1);
  begin_server(false);
  fixture_begin(&f, "redis_mutual");
  setenv("REDIS_PASSWORD", served_says(&server, "password"), 1);
  snprintf(url, sizeof url, "rediss://rowrelay:${REDIS_PASSWORD}@%s/in", server.address);
  streams_capture(&f, url, NULL);
  streams_shows_certificate(&f, &server, "");
  fixture_end(&f);
}

Test(redis, what_cannot_work_is_said_where_it_is_set) {
  struct fixture f;
  if (!HAVE_HIREDIS)
    cr_skip("rowrelay was built without libhiredis");
  fixture_begin(&f, "redis_wrong");
  REFUSES(&f, "names no host", "redis://");
  REFUSES(&f, "names no host", "redis://a,b/c");
  REFUSES(&f, "names no host", "redis://:${B}@/c");
  REFUSES(&f, "names a stream that cannot be", "redis://a/b c");
  REFUSES(&f, "names a stream that cannot be", "redis://a/1/2/3");
  REFUSES(&f, "names a stream that cannot be", "redis://a/{tables}");
  REFUSES(&f, "target URL contains a password", "redis://a:b@c/d");
  REFUSES(&f, "target URL contains a password", "redis://:b@c/d");
  REFUSES(&f, "maxlen must be a number of entries from 0 to 999999999", "redis://a", "-o", "maxlen=-1");
  REFUSES(&f, "option schema=true needs option format=debezium", "redis://a", "-o", "schema=true");
  REFUSES(&f, "option \"tombstones\" does not exist for this kind of target", "redis://a", "-o", "tombstones=true");
  REFUSES(&f, "Only targets of kind kafka have it. Options are batch_bytes, ", "redis://a", "-o",
          "whole_transactions=true");
  streams_cannot_reach(&f, "redis://127.0.0.1:1", "no connection: ");
  fixture_end(&f);
}

Test(redis, a_server_of_a_cluster_is_told_before_anything_is_sent) {
  struct fixture f;
  setenv("SETTINGS", "cluster-enabled yes", 1);
  begin_server(false);
  begin_at(&f, "redis_cluster", NULL);
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "target", "test", "w", NULL), 1);
  cr_assert(strstr(errors, "the server is one of a cluster") != NULL, "%s", errors);
  fixture_end(&f);
}
