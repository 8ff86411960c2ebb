/* How many changes are delivered at once. */
#include <criterion/criterion.h>
#include <signal.h>

#include "fixture.h"

static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, body text)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", "--create", NULL);
  sql(f->at_source, "insert into item values (0, 'creates the mirror')");
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

static int64_t most_at_once(struct fixture *f) {
  return ask_number(f->at_source, "select max(cardinality(change_ids)) from rowrelay.receipt");
}

/* The longest time a push may take is so long that no machine is too slow for its part. */
Test(batches, a_mirror_takes_more_at_once_where_much_waits) {
  struct fixture f;
  begin(&f, "batches");
  sql(f.at_source, "select rowrelay.set_target('w', options => '{\"push_timeout\": 3600}');"
                   "insert into item select n, n from generate_series(1, 5000) as n");
  for (int n = 0; n < 8; n++)
    sql(f.at_source, "update item set body = body || '.' where id > 0");
  rowrelay_ok(&f, "run", "--workers", "1", "--until-empty", NULL);
  int64_t most = most_at_once(&f);
  cr_assert(most > 4000 && most <= 10000, "%lld", (long long)most);
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

Test(batches, never_more_than_option_batch_rows_says) {
  struct fixture f;
  begin(&f, "batches_option");
  sql(f.at_source, "select rowrelay.set_target('w', options => '{\"push_timeout\": 3600, \"batch_rows\": 100}');"
                   "insert into item select n, n from generate_series(1, 2000) as n");
  rowrelay_ok(&f, "run", "--workers", "1", "--until-empty", NULL);
  int64_t most = most_at_once(&f);
  cr_assert(most <= 100, "%lld", (long long)most);
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

/* A batch may take two seconds before the next one has no more. */
Test(batches, a_slow_target_is_asked_for_no_more_at_once) {
  struct fixture f;
  begin(&f, "batches_slow");
  sql(f.at_target, "create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(2.5); return "
                   "null; end $$;"
                   "create trigger slow after insert on item for each statement execute function slow()");
  sql(f.at_source, "select rowrelay.set_target('w', options => '{\"push_timeout\": 20}');"
                   "insert into item select n, n from generate_series(1, 5000) as n");
  rowrelay_ok(&f, "run", "--workers", "1", "--until-empty", NULL);
  int64_t most = most_at_once(&f);
  cr_assert(most <= 2000, "%lld", (long long)most);
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

Test(batches, a_transaction_of_more_than_a_first_batch_is_not_divided) {
  struct fixture f;
  fixture_begin(&f, "batches_whole");
  sql(f.at_source, "create table item (id int primary key, body text)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", "lanes=1", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item select n, n from generate_series(1, 6000) as n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_eq(most_at_once(&f), 6000);
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}
