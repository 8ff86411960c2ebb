/* Writers at work while processes are killed and servers restarted: in the end everything has arrived, once, in order.
 */
#include <criterion/criterion.h>
#include <signal.h>

#include "arrival.h"
#include "fixture.h"
#include "writers.h"

#define PROCESSES 4

/* The writers' tables, captured for an append target and for a mirror. */
static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  writers_make_tables(f->at_source);
  rowrelay_ok(f, "target", "add", "a", f->target_url, "--option", "mode=append", NULL);
  rowrelay_ok(f, "target", "add", "m", f->target_url, NULL);
  rowrelay_ok(f, "capture", "stock", "ledger", "--to", "a", NULL);
  rowrelay_ok(f, "route", "stock", "m", "--create", NULL);
  rowrelay_ok(f, "route", "ledger", "m", "--create", NULL);
  writers_fill_tables(f->at_source, 5000);
}

static void check_arrival(struct fixture *f) {
  arrival_is_in_order(f, "stock_changes");
  arrival_is_complete(f, "stock", "stock_changes");
  arrival_is_complete(f, "ledger", "ledger_changes");
  same_rows(f, "stock", "stock", "id");
  same_rows(f, "ledger", "ledger", "what, n");
  cr_expect(ask_number(f->at_source, "select count(*) from rowrelay.errors") == 0);
}

Test(chaos, nothing_is_lost_doubled_or_out_of_order_while_a_process_is_killed_every_second) {
  struct fixture f;
  struct writers writers;
  pid_t processes[PROCESSES];
  begin(&f, "chaos_kill");
  for (int i = 0; i < PROCESSES; i++)
    processes[i] = fixture_run(&f, "--workers", "4", NULL);
  writers_start(&writers, f.source, 8, 10000, 50, 5000);

  int killed = 0;
  do {
    sleep_seconds(1);
    int victim = killed++ % PROCESSES;
    cr_assert(stop_process(processes[victim], SIGKILL) == 128 + SIGKILL);
    processes[victim] = fixture_run(&f, "--workers", "4", NULL);
  } while (!writers_are_done(&writers));
  cr_expect(killed >= 4);

  wait_until_empty(&f, 60);
  check_arrival(&f);
  for (int i = 0; i < PROCESSES; i++)
    cr_assert(stop_process(processes[i], SIGTERM) == 0);
  fixture_end(&f);
}

Test(chaos, nothing_is_lost_doubled_or_out_of_order_while_the_servers_are_restarted) {
  static const struct {
    const char *server;
    const char *mode;
  } RESTARTS[] = {{"target", "fast"}, {"source", "immediate"}, {"target", "immediate"}, {"source", "fast"}};
  struct fixture f;
  struct writers writers;
  pid_t processes[PROCESSES];
  own_server("source", "max_connections=200");
  own_server("target", "max_connections=200");
  begin(&f, "chaos_restart");
  for (int i = 0; i < PROCESSES; i++)
    processes[i] = fixture_run(&f, "--workers", "4", NULL);
  writers_start(&writers, f.source, 8, 10000, 50, 5000);

  PQfinish(f.at_source);
  PQfinish(f.at_target);
  for (int i = 0; i < 4; i++) {
    sleep_seconds(0.7);
    cr_expect(!writers_are_done(&writers), "nobody writes any more");
    restart_server(RESTARTS[i].server, RESTARTS[i].mode);
  }
  writers_finish(&writers, 120);
  f.at_source = connect_to(f.source, NULL);
  f.at_target = connect_to(f.target, NULL);

  wait_until_empty(&f, 60);
  check_arrival(&f);
  for (int i = 0; i < PROCESSES; i++)
    cr_assert(stop_process(processes[i], SIGTERM) == 0);
  fixture_end(&f);
}
