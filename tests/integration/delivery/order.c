/* Many processes, many writers, few keys: of each key the changes arrive one after another, in the order of their ids.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "arrival.h"
#include "fixture.h"
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
