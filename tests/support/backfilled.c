#include "backfilled.h"

#include <criterion/criterion.h>
#include <string.h>

#include "mirrored.h"

void backfilled_begin(struct fixture *f, const char *name, int rows) {
  mirrored_begin(f, name, "create table item (id int primary key, name text)");
  sql(f->at_source, "insert into item select n, 'old' from generate_series(1, %d) as n", rows);
  mirrored_capture(f, "item");
}

int64_t backfilled_registered(struct fixture *f, const char *table, const char *filter) {
  int64_t id = ask_number(f->at_source, "select rowrelay.backfill('%s', 'w', %s)", table, filter);
  wait_until(f->at_source, "progress", PATIENCE, "select outcome from rowrelay.backfill_step(%lld, 1)", (long long)id);
  return id;
}

const char *backfilled_step(struct fixture *f, int64_t id, int rows) {
  return ask(f->at_source, "select outcome from rowrelay.backfill_step(%lld, %d)", (long long)id, rows);
}

void backfilled_to_the_end(struct fixture *f, int64_t id, int rows) {
  while (strcmp(backfilled_step(f, id, rows), "progress") == 0)
    continue;
  cr_assert_str_eq(backfilled_step(f, id, rows), "done");
}

void backfilled_read_each_key_once(struct fixture *f) {
  cr_assert_str_eq(ask(f->at_source, "select key from rowrelay.change where op = 's' group by capture, key "
                                     "having count(*) > 1 limit 1"),
                   "");
}
