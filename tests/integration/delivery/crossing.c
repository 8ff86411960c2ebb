/* Rows that are delivered side by side and need one another: none of them is refused for that. */
#include <criterion/criterion.h>
#include <signal.h>

#include "fixture.h"
#include "refused.h"

Test(refusal, rows_that_exchange_unique_values_arrive_whatever_their_lanes) {
  struct fixture f;
  refused_begin(&f, "refusal_swap", NULL, NULL);
  sql(f.at_source, "insert into item (id, tag) select n, 't' || n from generate_series(1, 200) as n");
  pid_t processes[] = {fixture_run(&f, "--workers", "4", NULL), fixture_run(&f, "--workers", "4", NULL)};
  for (int round = 0; round < 40; round++)
    sql(f.at_source,
        "begin;"
        "update item set tag = 'free' || id where id %% 10 = %d %% 10;"
        "update item set tag = 't' || (id - 1) where (id - 1) %% 10 = %d %% 10;"
        "update item set tag = 't' || (id + 1) where id %% 10 = %d %% 10;"
        "commit;"
        "begin;"
        "update item set tag = null where tag is distinct from 't' || id;"
        "update item set tag = 't' || id where tag is null;"
        "commit",
        round, round, round);
  wait_until_empty(&f, 30);
  for (int i = 0; i < 2; i++)
    cr_assert_eq(stop_process(processes[i], SIGTERM), 0);
  cr_assert_str_eq(refused_changes(&f), "");
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

Test(refusal, rows_that_refer_to_others_arrive_whatever_their_lanes) {
  struct fixture f;
  fixture_begin(&f, "refusal_reference");
  for (int i = 0; i < 2; i++)
    sql(i == 0 ? f.at_source : f.at_target,
        "create table parent (id int primary key, name text);"
        "create table child (id int primary key, parent int not null references parent on delete cascade)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "parent", "child", "--to", "w", NULL);
  pid_t processes[] = {fixture_run(&f, "--workers", "3", NULL), fixture_run(&f, "--workers", "3", NULL)};
  for (int round = 0; round < 20; round++) {
    sql(f.at_source,
        "insert into parent select n, 'p' from generate_series(%d, %d) as n;"
        "insert into child select 10 * n + i, n from generate_series(%d, %d) as n, generate_series(0, 2) as i",
        round * 50, round * 50 + 49, round * 50, round * 50 + 49);
    sql(f.at_source, "delete from parent where id %% 50 = %d", round);
  }
  wait_until_empty(&f, 30);
  for (int i = 0; i < 2; i++)
    cr_assert_eq(stop_process(processes[i], SIGTERM), 0);
  cr_assert_str_eq(refused_changes(&f), "");
  same_rows(&f, "parent", "parent", "id");
  same_rows(&f, "child", "child", "id");
  fixture_end(&f);
}

Test(refusal, a_row_that_waits_for_another_does_not_come_after_its_own_deletion) {
  struct fixture f;
  refused_begin(&f, "refusal_ghost", "retries=1", NULL);
  sql(f.at_target, "create table parent (id int primary key); alter table item alter price type int, add foreign key "
                   "(price) references parent");
  sql(f.at_source, "create table parent (id int primary key)");
  rowrelay_ok(&f, "capture", "parent", "--to", "w", NULL);
  sql(f.at_source, "insert into parent values (1)");
  /* As if another process were delivering the parent. */
  PGconn *holder = lock_queued_lanes(&f);
  /* The second one, which is refused for good, parts the first from the third when the batch is split. */
  sql(f.at_source,
      "insert into item (id, price) values (1, 1); insert into item (id, price, code) values (2, null, null);"
      "delete from item where id = 1; insert into item (id, price) values (3, null)");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "w 2 insert error", 10,
             "select string_agg(concat_ws(' ', target, key, op, state), ', ') from rowrelay.errors");
  PQfinish(holder);
  wait_until_empty(&f, 10);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id::text, ' ') from item"), "3");
  cr_assert_str_eq(refused_changes(&f), "w 2 insert error");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(refusal, a_unique_value_that_another_lane_will_free_is_waited_for) {
  struct fixture f;
  refused_begin(&f, "refusal_taken", "retries=0", NULL);
  sql(f.at_source, "insert into item (id, tag) select n, 't' || n from generate_series(1, 20) as n");
  refused_deliver(&f);
  sql(f.at_source, "update item set tag = 'free' where id = 1");
  PGconn *holder = lock_queued_lanes(&f);
  sql(f.at_source,
      "update item set tag = 't1' where id between 2 and 20 and not exists (select from item i where i.tag = 't1')"
      " and id = (select min(id) from item i where i.id > 1 and mod(hashint4(i.id) & 2147483647, 64) <>"
      " mod(hashint4(1) & 2147483647, 64))");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  sleep_seconds(1);
  cr_assert_str_eq(refused_changes(&f), "");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "2");
  PQfinish(holder);
  wait_until_empty(&f, 10);
  cr_assert_str_eq(refused_changes(&f), "");
  same_rows(&f, "item", "item", "id");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* What is checked at the end of a transaction only: at the target, and where that is the source, of the claim. */
#define DEFERRED                                                                                                       \
  "create table there.parent (id int primary key);"                                                                    \
  "create table there.child (id int primary key, parent int references there.parent deferrable initially deferred, "   \
  "one int unique deferrable initially deferred);"                                                                     \
  "create table there.plain (id int primary key); create table there.broken (id int primary key);"                     \
  "create function there.broken() returns trigger language plpgsql as $$ begin perform from there.gone; end $$;"       \
  "create constraint trigger broken after insert on there.broken deferrable initially deferred "                       \
  "for each row execute function there.broken()"

Test(refusal, deferred_constraints_stop_only_the_rows_that_violate_them) {
  struct fixture f;
  fixture_begin(&f, "crossing_deferred");
  sql(f.at_source, "create schema there; create table parent (id int primary key); create table plain (id int primary "
                   "key); create table child (id int primary key, parent int, one int); create table broken (id int "
                   "primary key)");
  sql(f.at_source, DEFERRED);
  sql(f.at_target, "create schema there");
  sql(f.at_target, DEFERRED);
  rowrelay_ok(&f, "target", "add", "here", "postgresql:", NULL);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  for (const char *const *table = (const char *const[]){"parent", "child", "plain", "broken", NULL}; *table; table++) {
    char there[32];
    snprintf(there, sizeof there, "there.%s", *table);
    rowrelay_ok(&f, "capture", *table, NULL);
    rowrelay_ok(&f, "route", *table, "here", "--into", there, NULL);
    rowrelay_ok(&f, "route", *table, "w", "--into", there, NULL);
  }
  /* Child 1 has no parent, 2 and 3 are each other's rivals, 4's parent comes in another lane. */
  sql(f.at_source, "insert into child values (1, 9, 1), (2, null, 2), (3, null, 2), (4, 4, 4);"
                   "insert into plain select generate_series(1, 100); insert into broken values (1)");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "insert into parent values (4)");
  wait_until(f.at_source, "0", 60, "select count(*) from rowrelay.queue");
  wait_until(f.at_source, "2", 60, "select count(*) from rowrelay.errors where state = 'waiting'");
  stop_process(process, SIGTERM);
  for (PGconn *at = f.at_source; at != NULL; at = at == f.at_source ? f.at_target : NULL) {
    cr_assert_str_eq(ask(at, "select count(*) from there.plain"), "100");
    cr_assert_str_eq(ask(at, "select concat(bool_or(id = 4), count(*)) from there.child"), "t2");
  }
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(concat_ws(' ', target, relation, sqlstate, state), ', ' order by "
                       "target, sqlstate) from rowrelay.errors"),
                   "here child 23503 error, here child 23505 error, here broken 42P01 waiting, "
                   "w child 23503 error, w child 23505 error, w broken 42P01 waiting");
  fixture_end(&f);
}
