/* Rows of many megabytes, which are sent in another way than small ones. */
#include <criterion/criterion.h>
#include <signal.h>

#include "fixture.h"
#include "proxy.h"

/* Longer than what sockets and the proxy take while nobody reads. */
#define LARGE_ROW "select 2, repeat('abcdefghij', 6000000)"

static void begin(struct fixture *f, const char *name, const char *option) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text)");
  proxy_add_target(f, option);
  rowrelay_ok(f, "capture", "item", "--to", "w", "--create", NULL);
}

static void check_equal(struct fixture *f) {
  cr_assert_eq(ask_number(f->at_target, "select count(*) from item"), 3);
  same_rows(f, "(select id, md5(name) as name from item)", "(select id, md5(name) as name from item)", "id");
}

static void insert_rows(struct fixture *f) {
  sql(f->at_source, "begin; insert into item values (1, 'small'); insert into item " LARGE_ROW
                    "; insert into item values (3, 'small'); commit");
}

/* Begins to push a large row, which does not pass. */
static pid_t run_and_hold(struct fixture *f, struct proxy *proxy) {
  sql(f->at_source, "insert into item values (0, 'through')");
  pid_t process = proxy_run(proxy, f);
  wait_until_empty(f, 10);
  sql(f->at_source, "delete from item where id = 0");
  wait_until_empty(f, 10);
  proxy_hold(proxy);
  insert_rows(f);
  proxy_wait_until_stuck(proxy, 20);
  return process;
}

Test(large, a_large_row_arrives_among_small_ones) {
  struct fixture f;
  begin(&f, "large_arrives", NULL);
  insert_rows(&f);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  check_equal(&f);
  sql(f.at_source, "update item set name = name || 'x'");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  check_equal(&f);
  fixture_end(&f);
}

Test(large, a_push_that_nobody_reads_ends_after_push_timeout) {
  struct fixture f;
  struct proxy proxy;
  begin(&f, "large_timeout", "push_timeout=3");
  rowrelay_ok(&f, "target", "set", "w", "--option", "retries=20", NULL);
  proxy_begin(&proxy, f.at_target);
  pid_t process = run_and_hold(&f, &proxy);
  wait_until_says(process, "no answer in time", 20);
  rowrelay_ok(&f, "target", "set", "w", "--option", "push_timeout=60", NULL);
  proxy_let_go(&proxy);
  wait_until_empty(&f, 60);
  check_equal(&f);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  proxy_end(&proxy);
  fixture_end(&f);
}

Test(large, a_push_that_nobody_reads_ends_with_the_second_sigterm) {
  struct fixture f;
  struct proxy proxy;
  begin(&f, "large_signal", NULL);
  proxy_begin(&proxy, f.at_target);
  pid_t process = run_and_hold(&f, &proxy);
  kill(process, SIGTERM);
  cr_assert(still_runs(process, 0.7), "it has left its batch");
  kill(process, SIGTERM);
  cr_assert_eq(wait_process(process, 5), 0);
  proxy_end(&proxy);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  check_equal(&f);
  fixture_end(&f);
}
