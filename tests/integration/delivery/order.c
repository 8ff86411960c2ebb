/* Many processes, many writers, few keys: of each key the changes arrive one after another, in the order of their ids.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "arrival.h"
#include "fixture.h"
#include "past.h"
#include "writers.h"

#define PROCESSES 4

Test(order, changes_of_each_key_arrive_in_order_once_and_completely) {
  struct fixture f;
  struct writers writers;
  pid_t processes[PROCESSES];
  fixture_begin(&f, "order");
  writers_make_tables(f.at_source);
  rowrelay_ok(&f, "target", "add", "a", f.target_url, "--option", "mode=append", NULL);
  rowrelay_ok(&f, "capture", "stock", "ledger", "--to", "a", NULL);
  writers_fill_tables(f.at_source, 5000);
  for (int i = 0; i < PROCESSES; i++)
    processes[i] = fixture_run(&f, "--workers", "4", NULL);

  writers_start(&writers, f.source, 8, 10000, 50, 5000);
  writers_finish(&writers, 120);
  wait_until_empty(&f, 60);

  arrival_is_in_order(&f, "stock_changes");
  arrival_is_complete(&f, "stock", "stock_changes");
  arrival_is_complete(&f, "ledger", "ledger_changes");
  cr_expect(ask_number(f.at_target, "select count(*) from stock_changes") > 10000);
  cr_expect(ask_number(f.at_target, "select max(n) from (select count(*) as n from stock_changes group by key) as k") >
            100);
  cr_expect(ask_number(f.at_source, "select count(distinct instance) from rowrelay.receipt") == PROCESSES);
  for (int i = 0; i < PROCESSES; i++)
    cr_assert(stop_process(processes[i], SIGTERM) == 0);
  fixture_end(&f);
}

/* A claim reads the days that it knows in one go. */
Test(order, a_process_delivers_whichever_days_the_log_has) {
  static const int days_ago[][5] = {{1}, {2, 1}, {9, 7, 5, 3, 2}, {1}};
  struct fixture f;
  fixture_begin(&f, "order_days");
  sql(f.at_source, "create table item (id int primary key, v int); insert into item values (1, 0), (2, 0)");
  rowrelay_ok(&f, "target", "add", "a", f.target_url, "--option", "mode=append", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "a", NULL);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  for (size_t round = 0; round < sizeof days_ago / sizeof *days_ago; round++) {
    sql(f.at_source, "update item set v = v + 1");
    wait_until_empty(&f, 20);
    rowrelay_ok(&f, "target", "pause", "a", NULL);
    for (size_t i = 0; i < 5 && days_ago[round][i] > 0; i++) {
      sql(f.at_source, "update item set v = v + 1");
      past_move(f.at_source, days_ago[round][i]);
    }
    sql(f.at_source, "update item set v = v + 1");
    rowrelay_ok(&f, "target", "resume", "a", NULL);
    wait_until_empty(&f, 20);
  }
  cr_expect_str_eq(ask(f.at_target, "select string_agg(new_row ->> 'v', ' ' order by position) from item_changes "
                                    "where key = '1'"),
                   "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17");
  cr_expect_str_eq(ask(f.at_target, "select count(*) from item_changes"), "34");
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

Test(order, it_does_not_depend_on_the_databases_default_isolation_level) {
  struct fixture f;
  struct writers writers;
  pid_t processes[2];
  fixture_begin(&f, "order_isolation");
  writers_make_tables(f.at_source);
  rowrelay_ok(&f, "target", "add", "a", f.target_url, "--option", "mode=append", NULL);
  rowrelay_ok(&f, "capture", "stock", "ledger", "--to", "a", NULL);
  writers_fill_tables(f.at_source, 500);
  sql(f.at_source, "alter database %s set default_transaction_isolation to 'serializable'", f.name);
  sql(f.at_target, "alter database %s set default_transaction_isolation to 'serializable'", f.name);
  for (int i = 0; i < 2; i++)
    processes[i] = fixture_run(&f, "--workers", "4", NULL);

  writers_start(&writers, f.source, 4, 2000, 50, 500);
  writers_finish(&writers, 60);
  wait_until_empty(&f, 60);

  arrival_is_in_order(&f, "stock_changes");
  arrival_is_complete(&f, "stock", "stock_changes");
  arrival_is_complete(&f, "ledger", "ledger_changes");
  for (int i = 0; i < 2; i++) {
    cr_expect(strstr(process_log(processes[i]), "warning") == NULL, "%s", process_log(processes[i]));
    cr_assert(stop_process(processes[i], SIGTERM) == 0);
  }
  fixture_end(&f);
}
