/* From a write to a row in the target. */
#include <criterion/criterion.h>

#include "fixture.h"

Test(delivery, changes_of_a_table_arrive_in_its_mirror) {
  struct fixture f;
  fixture_begin(&f, "arrive");
  sql(f.at_source, "create schema shop; create table shop.item (id int primary key, name text)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "shop.item", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into shop.item select n, 'item ' || n from generate_series(1, 1000) as n");
  sql(f.at_source, "update shop.item set name = 'changed' where id %% 3 = 0");
  sql(f.at_source, "delete from shop.item where id %% 7 = 0");
  sql(f.at_source, "update shop.item set id = id + 10000 where id < 50");

  rowrelay_ok(&f, "run", "--until-empty", NULL);

  same_rows(&f, "shop.item", "shop.item", "id");
  cr_assert(ask_number(f.at_target, "select count(*) from shop.item") > 800);
  fixture_end(&f);
}

/* PostgreSQL refuses to prepare a transaction that has notified, so writers must not ring on such a server. */
Test(delivery, a_sleeping_process_does_not_keep_an_application_from_preparing_transactions) {
  struct fixture f;
  own_server("source", "max_prepared_transactions=10");
  fixture_begin(&f, "two_phases");
  sql(f.at_source, "create table item (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", NULL);
  fixture_run(&f, "--workers", "1", NULL);
  for (int i = 1; i <= 20; i++) {
    sleep_seconds(0.05);
    sql(f.at_source, "begin; insert into item values (%d); prepare transaction 'phase'", i);
    sql(f.at_source, "commit prepared 'phase'");
  }
  wait_until(f.at_target, "20", 5, "select count(*) from item");
  fixture_end(&f);
}
