/* A target that leads back to the source must not write over what applications write. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "mirrored.h"

/* The source's database, as somebody might give it without a thought. */
static void source_url(const struct fixture *f, char *url, size_t size) {
  snprintf(url, size, "postgresql:///%s?host=%s&port=%s&user=%s", ask(f->at_source, "select current_database()"),
           PQhost(f->at_source), PQport(f->at_source), PQuser(f->at_source));
}

Test(itself, a_table_cannot_be_sent_into_itself) {
  struct fixture f;
  const char *errors;
  fixture_begin(&f, "itself_name");
  sql(f.at_source, "create schema shop; create table shop.counter (id int primary key, n int);"
                   "create table shop.root (id int primary key) partition by range (id);"
                   "create table shop.leaf partition of shop.root for values from (1) to (9);"
                   "create view shop.seen as select * from shop.counter; create table shop.copy as table shop.counter;"
                   "alter table shop.copy add primary key (id)");
  rowrelay_ok(&f, "target", "add", "here", "postgresql:", NULL);
  cr_assert(rowrelay(&f, NULL, &errors, "capture", "shop.counter", "--to", "here", NULL) == 2);
  cr_expect(strstr(errors, "table shop.counter cannot be its own target") != NULL, "%s", errors);
  cr_expect(strstr(errors, "rowrelay route --into NAME shop.counter here") != NULL, "%s", errors);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.captures"), "0", "nothing has changed");
  rowrelay_ok(&f, "capture", "shop.counter", "shop.root", NULL);
  static const char *const REFUSED[][2] = {{"shop.counter", "shop.counter"},
                                           {"shop.counter", "\"shop\".\"counter\""},
                                           {"shop.counter", "shop.seen"},
                                           {"shop.root", "shop.leaf"}};
  for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++)
    cr_expect_str_eq(
        sql_fails(f.at_source, "select rowrelay.route('%s', 'here', into_table => '%s')", REFUSED[i][0], REFUSED[i][1]),
        "22023", "%s", REFUSED[i][1]);
  rowrelay_ok(&f, "route", "--into", "shop.copy", "shop.counter", "here", NULL);
  /* nor does it by another way: the target's URL is changed to the source */
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "route", "shop.root", "w", NULL);
  cr_assert(rowrelay(&f, NULL, &errors, "target", "set", "w", "--url", "postgresql:", NULL) == 2);
  cr_expect(strstr(errors, "table shop.root cannot be its own target") != NULL, "%s", errors);
  sql(f.at_source, "insert into shop.counter values (1, 5); update shop.counter set n = 6");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_source, "select n from shop.copy"), "6");
  fixture_end(&f);
}

/* Whatever is queued is older than what the application writes now. */
static void comes_back(const char *name, const char *option) {
  struct fixture f;
  char url[512];
  fixture_begin(&f, name);
  sql(f.at_source, "create table counter (id int primary key, n int); create table other (id int primary key);"
                   "create table copy (id int primary key, n int)");
  source_url(&f, url, sizeof url);
  rowrelay_ok(&f, "target", "add", "back", url, "--option", option, NULL);
  rowrelay_ok(&f, "capture", "counter", "--to", "back", NULL);
  rowrelay_ok(&f, "capture", "other", NULL);
  rowrelay_ok(&f, "route", "--create", "--into", "other_copy", "other", "back", NULL);
  sql(f.at_source, "insert into counter values (1, 1); update counter set n = 2; insert into other values (1);"
                   "begin; set local rowrelay.skip = on; update counter set n = 3; commit");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_source, "select n from counter"), "3", "what the application wrote");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from other_copy"), "1", "and other tables are delivered");
  const char *note = ask(f.at_source, "select note from rowrelay.status");
  cr_expect_not_null(strstr(note, "target back is the source itself, and table public.counter there is the captured "
                                  "table public.counter"),
                     "%s", note);
  cr_expect(strstr(note, "rowrelay route --into NAME public.counter back") != NULL, "%s", note);
  rowrelay_ok(&f, "route", "--into", "copy", "counter", "back", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_source, "select n from copy"), "2");
  cr_expect_str_eq(ask(f.at_source, "select n from counter"), "3");
  fixture_end(&f);
}

Test(itself, a_url_that_leads_back_to_the_source_overwrites_nothing) {
  comes_back("itself_url", "batch_rows=100");
}

Test(itself, nor_does_it_when_claims_are_leases) {
  comes_back("itself_lease", "claim=lease");
}

Test(itself, a_copy_of_the_source_is_another_database) {
  struct fixture f;
  mirrored_begin(&f, "itself_copy", "create table item (id int primary key, n int)");
  sql(f.at_target, "create table item (id int primary key, n int)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1, 1)");
  mirrored_same(&f, "item");
  fixture_end(&f);
}

Test(itself, two_tables_share_one_only_when_that_is_said) {
  struct fixture f;
  const char *errors;
  mirrored_begin(
      &f, "itself_shared",
      "create schema a; create schema b; create table a.item (id int primary key, n int); create table b.item "
      "(id int primary key, n int)");
  sql(f.at_target, "create table item (id int primary key, n int)");
  rowrelay_ok(&f, "target", "add", "twin", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "a.item", "b.item", NULL);
  rowrelay_ok(&f, "route", "--into", "item", "a.item", "w", NULL);
  static const char *const SAME[] = {"item", "public.item", "\"item\""};
  for (size_t i = 0; i < sizeof SAME / sizeof SAME[0]; i++) {
    cr_expect(rowrelay(&f, NULL, &errors, "route", "--into", SAME[i], "b.item", "w", NULL) == 2);
    cr_expect(strstr(errors, "the changes of table a.item already go into table") != NULL, "%s", errors);
    cr_expect(strstr(errors, "rowrelay route --shared --into ") != NULL, "%s", errors);
    cr_expect(rowrelay(&f, NULL, &errors, "route", "--into", SAME[i], "b.item", "twin", NULL) == 2);
  }
  rowrelay_ok(&f, "route", "--into", "other.item", "b.item", "w", NULL);
  rowrelay_ok(&f, "route", "--shared", "--into", "public.item", "b.item", "w", NULL);
  /* what was decided is not asked again */
  rowrelay_ok(&f, "route", "b.item", "w", NULL);
  rowrelay_ok(&f, "route", "a.item", "w", NULL);
  sql(f.at_source, "insert into a.item values (1, 1); insert into b.item values (2, 2)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_target, "select count(*) from item"), "2");
  fixture_end(&f);
}

/* A document goes beside the tables that it is built from, and never over them. */
Test(itself, a_document_does_not_go_over_what_it_is_built_from) {
  struct fixture f;
  char url[512];
  fixture_begin(&f, "itself_document");
  sql(f.at_source,
      "create table orders (id int primary key, n int); create table line (id int primary key, order_id int)");
  source_url(&f, url, sizeof url);
  rowrelay_ok(&f, "target", "add", "here", "postgresql:", NULL);
  rowrelay_ok(&f, "target", "add", "back", url, NULL);
  static const char ADD[] = "select rowrelay.add_document('%s', '%s', 'id', 'select o.id, 0 as n from orders o where "
                            "o.id = any ($1)', array['orders:id', 'line:order_id'], into_table => '%s', create_table "
                            "=> true)";
  cr_expect_str_eq(sql_fails(f.at_source, ADD, "d", "here", "orders"), "22023");
  cr_expect_str_eq(sql_fails(f.at_source, ADD, "d", "here", "public.line"), "22023");
  sql(f.at_source, ADD, "good", "here", "order_document");
  sql(f.at_source, ADD, "bad", "back", "orders");
  sql(f.at_source, "insert into orders values (1, 1)");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "failing", 20, "select state from rowrelay.status where target = 'bad'");
  wait_until(f.at_source, "t", 20, "select to_regclass('order_document') is not null");
  wait_until(f.at_source, "0", 20, "select n from order_document");
  cr_expect_str_eq(ask(f.at_source, "select n from orders"), "1", "what the application wrote");
  const char *note = ask(f.at_source, "select note from rowrelay.status where target = 'bad'");
  cr_expect(strstr(note, "document bad would overwrite table orders, from which it is built") != NULL, "%s", note);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}
