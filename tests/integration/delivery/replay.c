/* replay: changes of the log, delivered once more. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"

static struct fixture f;
static char file[64];

static void begin(const char *name) {
  char url[96];
  fixture_begin(&f, name);
  snprintf(file, sizeof file, "/tmp/rowrelay-%d.replay", (int)getpid());
  snprintf(url, sizeof url, "file:%s", file);
  unlink(file);
  sql(f.at_source, "create table item (id int primary key, name text); create table other (id int primary key)");
  rowrelay_ok(&f, "target", "add", "lines", url, NULL);
  rowrelay_ok(&f, "target", "add", "rest", "file:/dev/null", NULL);
  rowrelay_ok(&f, "capture", "item", "other", "--to", "lines", NULL);
  rowrelay_ok(&f, "route", "item", "rest", NULL);
}

static void end(void) {
  unlink(file);
  fixture_end(&f);
}

/* What has arrived for a row of item, as operations in their order. */
static const char *arrived(int id) {
  cr_assert_eq(chmod(file, 0644), 0); /* the server reads it */
  sql(f.at_source,
      "drop table if exists line; create temp table line (n serial, j json); "
      "copy line (j) from '%s' with (format csv, quote e'\\x01', delimiter e'\\x02')",
      file);
  return ask(f.at_source,
             "select string_agg((j ->> 'change_id') || (j ->> 'op'), ' ' order by n) from line "
             "where j ->> 'key' = '%d' and j ->> 'relation' like '%%item'",
             id);
}

Test(replay, changes_come_again_in_their_order_and_what_is_younger_after_them) {
  begin("replay_order");
  sql(f.at_source, "insert into item values (1, 'a'), (2, 'b')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  const char *since = ask(f.at_source, "select clock_timestamp()");
  sql(f.at_source,
      "update item set name = 'c' where id = 1; delete from item where id = 1; insert into other values (1)");
  const char *until = ask(f.at_source, "select clock_timestamp()");
  sql(f.at_source, "insert into item values (1, 'd')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(arrived(1), "1insert 3update 4delete 6insert");
  cr_assert_str_eq(rowrelay_ok(&f, "replay", "lines", "item", "--since", since, "--until", until, NULL),
                   "2 queued again\n");
  sql(f.at_source, "update item set name = 'e' where id = 1");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(arrived(1), "1insert 3update 4delete 6insert 3update 4delete 7update");
  cr_assert_str_eq(rowrelay_ok(&f, "replay", "lines", "--since", "yesterday", NULL), "7 queued again\n");
  /* What is queued is not queued twice. */
  cr_assert_str_eq(rowrelay_ok(&f, "replay", "lines", "--since", "yesterday", NULL), "0 queued again\n");
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.queue"), 7);
  end();
}

Test(replay, changes_come_again_of_a_table_that_was_captured_anew_since) {
  begin("replay_anew");
  sql(f.at_source, "insert into item values (1, 'a'); update item set name = 'b'");
  rowrelay_ok(&f, "release", "item", NULL);
  rowrelay_ok(&f, "capture", "item", "--key", "id", "--to", "lines", NULL);
  sql(f.at_source, "update item set name = 'c'; delete from item");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  char before[64];
  snprintf(before, sizeof before, "%s", arrived(1));
  unlink(file);
  rowrelay_ok(&f, "replay", "lines", "item", "--since", "1 hour ago", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(arrived(1), before);
  cr_assert_not_null(strstr(before, "insert"));
  end();
}

Test(replay, changes_come_again_of_a_table_that_was_dropped_and_made_anew_and_of_one_that_goes_there_no_longer) {
  begin("replay_former");
  sql(f.at_source, "insert into item values (1, 'a'); update item set name = 'b'; insert into other values (7)");
  rowrelay_ok(&f, "route", "other", "lines", "--remove", NULL);
  sql(f.at_source, "insert into other values (8); drop table item; create table item (id text primary key)");
  rowrelay_ok(&f, "capture", "item", "--to", "lines", NULL);
  sql(f.at_source, "insert into item values ('1')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  for (int i = 0; i < 2; i++) {
    char before[128];
    snprintf(before, sizeof before, "%s", arrived(1));
    cr_assert_str_eq(ask(f.at_source, "select count(*) from line where j ->> 'op' <> 'barrier'"), "4",
                     "item 1 a and b, other 7, item 1 again");
    unlink(file);
    rowrelay_ok(&f, "replay", "lines", i == 0 ? "--since" : "item", i == 0 ? "1 hour ago" : "--since",
                i == 0 ? NULL : "1 hour ago", NULL);
    rowrelay_ok(&f, "run", "--until-empty", NULL);
    cr_assert_str_eq(arrived(1), before);
  }
  cr_assert_str_eq(ask(f.at_source, "select count(*) from line where j ->> 'op' <> 'barrier'"), "3", "of table item");
  end();
}

Test(replay, it_waits_for_batches_in_hand_and_names_what_cannot_be) {
  const char *errors;
  begin("replay_wait");
  sql(f.at_source, "insert into item values (1, 'a')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  /* Stands in for a process that is delivering a batch of one of the lanes. */
  PGconn *holder = connect_to(f.source, NULL);
  PGconn *replayer = connect_to(f.source, NULL);
  sql(holder, "begin; select from rowrelay.lane where lane = (select rowrelay.lane_number(id, 7) from rowrelay.target "
              "where name = 'lines') for update");
  start(replayer, "select rowrelay.replay('lines', now() - interval '1 hour')");
  wait_until_blocked(f.at_source, replayer, 10);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.queue"), 0);
  sql(holder, "commit");
  finish(replayer);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.queue"), 1);
  PQfinish(holder);
  PQfinish(replayer);
  rowrelay_ok(&f, "target", "add", "mirror", f.target_url, NULL);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "replay", "mirror", "--since", "yesterday", NULL), 2);
  cr_assert(strstr(errors, "keeps the last state") != NULL && strstr(errors, "rowrelay verify mirror --repair") != NULL,
            "%s", errors);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "replay", "rest", "other", "--since", "yesterday", NULL), 2);
  cr_assert(strstr(errors, "table public.other is not routed to target \"rest\"") != NULL, "%s", errors);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "replay", "nowhere", "--since", "yesterday", NULL), 2);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "replay", "lines", NULL), 2);
  cr_assert(strstr(errors, "--since") != NULL, "%s", errors);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "replay", "lines", "--since", "yesterdayish", NULL), 2);
  cr_assert(strstr(errors, "option --since must be a time, not \"yesterdayish\"") != NULL &&
                strstr(errors, "'2 hours ago'") != NULL,
            "%s", errors);
  rowrelay_ok(&f, "replay", "lines", "--since", "1 hour ago", "--until", "30 minutes ago", NULL);
  end();
}

/* The log compresses what is stored; a batch is bounded by what is read. */
Test(replay, what_is_compressed_in_the_log_is_queued_with_its_size) {
  begin("replay_size");
  sql(f.at_source, "create table big (id int primary key, body text)");
  rowrelay_ok(&f, "capture", "big", "--to", "lines", NULL);
  sql(f.at_source, "insert into big select n, repeat('x', 1000000) from generate_series(1, 12) as n");
  const char *bytes = ask(f.at_source, "select sum(bytes) from rowrelay.queue");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(rowrelay_ok(&f, "replay", "lines", "big", "--since", "1 hour ago", NULL), "12 queued again\n");
  cr_assert(llabs(ask_number(f.at_source, "select sum(bytes) from rowrelay.queue") - atoll(bytes)) < 1000);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select max(n) <= 8 from (select cardinality(change_ids) as n from "
                                    "rowrelay.receipt where outcome = 'delivered') as r"),
                   "t");
  end();
}

/* What chooses the lane: the key, other columns, nothing; and what is a barrier. */
Test(replay, puts_each_change_into_the_lane_it_had) {
  begin("replay_lanes");
  sql(f.at_source, "create table moved (id int primary key, shop text); create table heap (v int);"
                   "create collation any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
                   "create table pair (a int, b text collate any_case, primary key (a, b))");
  rowrelay_ok(&f, "target", "add", "spread", "file:/dev/null", "--option", "lanes=16", NULL);
  rowrelay_ok(&f, "capture", "moved", "--lane", "shop", "--before", "--to", "spread", NULL);
  rowrelay_ok(&f, "capture", "heap", "pair", "item", "--to", "spread", NULL);
  sql(f.at_source, "insert into moved select n, 'shop ' || n %% 7 from generate_series(1, 40) n;"
                   "update moved set shop = 'x' where id %% 3 = 0; update moved set id = -id where id %% 5 = 0;"
                   "delete from moved where id %% 4 = 0;"
                   "insert into pair select n, 'B' || n from generate_series(1, 40) n; delete from pair where a > 30;"
                   "update pair set b = lower(b) where a < 5; update pair set a = 100 + a where a < 3;"
                   "insert into heap values (1), (1), (2); update heap set v = 3 where v = 1; truncate heap;"
                   "insert into item select n, 'n' from generate_series(1, 40) n; update item set name = 'm';"
                   "create table queued as select q.* from rowrelay.queue q"
                   "  where rowrelay.lane_target(q.lane) = (select id from rowrelay.target where name = 'spread')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  long long queued = ask_number(f.at_source, "select count(*) from queued");
  cr_assert(ask_number(f.at_source, "select rowrelay.replay('spread', '-infinity', 'infinity')") == queued);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from (select change_id, lane, day from queued"
                                    " except select change_id, lane, day from rowrelay.queue) as x"),
                   "0");
  cr_assert(ask_number(f.at_source, "select rowrelay.replay('spread', '-infinity', 'infinity')") == 0);
  end();
}
