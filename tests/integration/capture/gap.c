/*
 * Triggers of a captured table are disabled for a while, as by "pg_restore --data-only --disable-triggers": what was
 * written meanwhile is told to be missing at each target until somebody has repaired that.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "mirrored.h"

static const char *lacking(struct fixture *f) {
  return ask(f->at_source, "select string_agg(concat(split_part(target, ' ', 1), ':', relation_name), ' ' "
                           "order by target, relation_name) from rowrelay.gaps");
}

/* As pg_restore does, which enables the triggers in a way that is not rowrelay's. */
static void write_unseen(struct fixture *f, const char *table, const char *statement) {
  sql(f->at_source, "alter table %s disable trigger all", table);
  sql(f->at_source, "%s", statement);
  sql(f->at_source, "alter table %s enable trigger all", table);
  mirrored_maintain(f);
}

Test(gap, changes_that_were_made_while_triggers_were_disabled_are_told_to_be_missing_until_they_are_repaired) {
  struct fixture f;
  const char *output;
  mirrored_begin(&f, "gap_told",
                 "create table item (id int primary key, v text); create table bare (v text);"
                 "create table other (id int primary key)");
  rowrelay_ok(&f, "capture", "item", "bare", "other", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "target", "add", "lines", "file:/dev/null", NULL);
  rowrelay_ok(&f, "route", "item", "lines", NULL);
  sql(f.at_source, "select rowrelay.add_document('doc', 'w', 'id', 'select id, v from item where id = any ($1)', "
                   "'{item:id}', create_table => true)");
  sql(f.at_source,
      "insert into item values (1, 'a'), (2, 'a'); insert into bare values ('a'); insert into other values (1)");
  mirrored_deliver(&f);
  mirrored_maintain(&f);
  cr_assert_str_eq(lacking(&f), "");
  write_unseen(&f, "item", "delete from item where id = 1; insert into item values (3, 'b')");
  write_unseen(&f, "bare", "insert into bare values ('b')");
  cr_assert_str_eq(lacking(&f), "doc:public.item lines:public.item w:public.bare w:public.item");
  cr_expect_not_null(
      strstr(rowrelay_ok(&f, "status", NULL),
             " -- run: empty its table at w, and then: rowrelay backfill public.bare --to w; and 1 more"));
  rowrelay(&f, &output, NULL, "doctor", NULL);
  cr_expect_not_null(strstr(output, "warn  lost changes: public.bare, public.item — w lacks changes"), "%s", output);
  cr_expect_not_null(strstr(output, "\n      rowrelay backfill public.item --to lines\n"), "%s", output);
  cr_expect_not_null(strstr(output, "\n      rowrelay verify w --document doc --repair\n"), "%s", output);

  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  cr_expect(rowrelay(&f, NULL, NULL, "verify", "w", "item", NULL) == 3);
  rowrelay_ok(&f, "verify", "w", "other", NULL);
  cr_assert_str_eq(lacking(&f), "doc:public.item lines:public.item w:public.bare w:public.item",
                   "nothing was repaired");
  cr_expect(rowrelay(&f, NULL, NULL, "verify", "w", "item", "--repair", NULL) == 3);
  cr_assert_str_eq(lacking(&f), "doc:public.item lines:public.item w:public.bare");
  rowrelay_ok(&f, "backfill", "item", "--to", "lines", "--where", "id > 2", NULL);
  cr_assert_str_eq(lacking(&f), "doc:public.item lines:public.item w:public.bare", "only a part was copied");
  rowrelay_ok(&f, "backfill", "item", "--to", "lines", NULL);
  cr_assert_str_eq(lacking(&f), "doc:public.item w:public.bare");
  rowrelay_ok(&f, "document", "rebuild", "doc", NULL);
  cr_assert_str_eq(lacking(&f), "doc:public.item w:public.bare", "it has a document too many");
  wait_until_empty(&f, 20);
  cr_expect(rowrelay(&f, NULL, NULL, "verify", "w", "--document", "doc", "--repair", NULL) == 3);
  cr_assert_str_eq(lacking(&f), "w:public.bare");
  /* Without a key only a copy of the whole repairs it. */
  cr_expect(rowrelay(&f, NULL, NULL, "verify", "w", "bare", "--repair", NULL) == 3);
  cr_assert_str_eq(lacking(&f), "w:public.bare");
  sql(f.at_target, "truncate bare");
  rowrelay_ok(&f, "backfill", "bare", "--to", "w", NULL);
  cr_assert_str_eq(lacking(&f), "");
  wait_until_empty(&f, 20);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  rowrelay_ok(&f, "verify", "w", NULL);
  fixture_end(&f);
}

Test(gap, a_gap_ends_with_its_route_and_one_that_comes_during_a_comparison_stays) {
  struct fixture f;
  mirrored_begin(&f, "gap_ends", "create table item (id int primary key); create table other (id int primary key)");
  mirrored_capture(&f, "item");
  mirrored_capture(&f, "other");
  mirrored_maintain(&f);
  write_unseen(&f, "item", "insert into item values (1)");
  write_unseen(&f, "other", "insert into other values (1)");
  cr_assert_str_eq(lacking(&f), "w:public.item w:public.other");
  sql(f.at_source, "select rowrelay.close_gap(target, capture, noted_at - interval '1 ms') from rowrelay.gap");
  cr_assert_str_eq(lacking(&f), "w:public.item w:public.other");
  rowrelay_ok(&f, "route", "item", "w", "--remove", NULL);
  cr_assert_str_eq(lacking(&f), "w:public.other");
  rowrelay_ok(&f, "release", "other", NULL);
  cr_assert_str_eq(lacking(&f), "");
  fixture_end(&f);
}
