/* Each table of a target has one owner, in whatever way it is named: nothing writes over the rows of another. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"

static char path[128];

/* Table item is mirrored to "w"; a query for documents of it is in a file of that name. */
static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, n int); create table other (id int primary key, n int)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  rowrelay_ok(f, "capture", "item", "other", "--to", "w", "--create", NULL);
  snprintf(path, sizeof path, "/tmp/rowrelay_owner_%d", (int)getpid());
  cr_assert_eq(mkdir(path, 0755), 0);
  snprintf(path + strlen(path), sizeof path - strlen(path), "/item.sql");
  FILE *file = fopen(path, "w");
  cr_assert_not_null(file);
  fputs("select id, n + 1 as more from item where id = any ($1)", file);
  fclose(file);
}

static void refuses(struct fixture *f, const char *words, const char *errors, int status) {
  cr_expect_eq(status, 2, "%s", errors);
  cr_expect_not_null(strstr(errors, words), "%s", errors);
  cr_expect_str_eq(ask(f->at_source, "select count(*) from rowrelay.document"), "0");
}

Test(owner, a_document_does_not_go_into_the_table_of_a_mirror) {
  struct fixture f;
  const char *errors;
  begin(&f, "owner_document");
  sql(f.at_source, "insert into item values (1, 1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  int status = rowrelay(&f, NULL, &errors, "document", "add", "item", "--target", "w", "--key", "id", "--query", path,
                        "--create", "--from", "item:id", NULL);
  refuses(&f, "the changes of table public.item already go into table item of target \"w\"", errors, status);
  cr_expect_not_null(strstr(errors, "--into"), "%s", errors);
  status = rowrelay(&f, NULL, &errors, "document", "add", "doc", "--into", "public.\"item\"", "--target", "w", "--key",
                    "id", "--query", path, "--from", "item:id", NULL);
  refuses(&f, "already go into table", errors, status);
  rowrelay_ok(&f, "target", "add", "w2", f.target_url, NULL);
  status = rowrelay(&f, NULL, &errors, "document", "add", "item", "--target", "w2", "--key", "id", "--query", path,
                    "--create", "--from", "item:id", NULL);
  refuses(&f, "already go into table item of target \"w2\"", errors, status);
  rowrelay_ok(&f, "document", "add", "item", "--into", "item_more", "--target", "w", "--key", "id", "--query", path,
              "--create", "--from", "item:id", NULL);
  sql(f.at_source, "update item set n = 5");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_target, "select concat(n, ' ', more) from item join item_more using (id)"), "5 6");
  fixture_end(&f);
}

Test(owner, a_mirror_does_not_go_into_the_table_of_a_document) {
  struct fixture f;
  const char *errors;
  begin(&f, "owner_mirror");
  rowrelay_ok(&f, "document", "add", "doc", "--target", "w", "--key", "id", "--query", path, "--create", "--from",
              "item:id", NULL);
  cr_expect_eq(rowrelay(&f, NULL, &errors, "route", "other", "w", "--into", "doc", NULL), 2);
  cr_expect_not_null(strstr(errors, "document \"doc\" already goes into table doc of target \"w\""), "%s", errors);
  rowrelay_ok(&f, "target", "add", "w2", f.target_url, NULL);
  cr_expect_eq(rowrelay(&f, NULL, &errors, "route", "other", "w2", "--into", "doc", NULL), 2);
  rowrelay_ok(&f, "route", "other", "w2", "--into", "doc", "--shared", NULL);
  rowrelay_ok(&f, "route", "--remove", "other", "w2", NULL);
  rowrelay_ok(&f, "document", "drop", "doc", NULL);
  rowrelay_ok(&f, "route", "other", "w2", "--into", "doc", NULL);
  fixture_end(&f);
}

Test(owner, a_document_does_not_go_into_the_table_of_another) {
  struct fixture f;
  const char *errors;
  begin(&f, "owner_documents");
  rowrelay_ok(&f, "document", "add", "doc", "--target", "w", "--key", "id", "--query", path, "--create", "--from",
              "item:id", NULL);
  cr_expect_eq(rowrelay(&f, NULL, &errors, "document", "add", "second", "--into", "doc", "--target", "w", "--key", "id",
                        "--query", path, "--from", "item:id", NULL),
               2);
  cr_expect_not_null(strstr(errors, "document \"doc\" already goes into table doc"), "%s", errors);
  fixture_end(&f);
}

Test(owner, an_append_table_takes_the_changes_of_one_table) {
  struct fixture f;
  const char *errors;
  begin(&f, "owner_append");
  rowrelay_ok(&f, "target", "add", "log", f.target_url, "--option", "mode=append", NULL);
  rowrelay_ok(&f, "route", "item", "log", NULL);
  cr_expect_eq(rowrelay(&f, NULL, &errors, "route", "other", "log", "--into", "item_changes", NULL), 2);
  cr_expect_not_null(strstr(errors, "already go into table"), "%s", errors);
  cr_expect_eq(rowrelay(&f, NULL, &errors, "route", "other", "w", "--into", "item_changes", NULL), 2);
  cr_expect_eq(rowrelay(&f, NULL, &errors, "route", "other", "log", "--into", "item", NULL), 2);
  rowrelay_ok(&f, "route", "other", "log", "--into", "item_changes", "--shared", NULL);
  fixture_end(&f);
}

Test(owner, a_target_does_not_take_the_url_under_which_a_document_has_the_place) {
  struct fixture f;
  const char *errors;
  begin(&f, "owner_url");
  rowrelay_ok(&f, "target", "add", "w2", "postgresql://127.0.0.1/nowhere", NULL);
  rowrelay_ok(&f, "route", "other", "w2", "--into", "doc", NULL);
  rowrelay_ok(&f, "document", "add", "doc", "--target", "w", "--key", "id", "--query", path, "--create", "--from",
              "item:id", NULL);
  cr_expect_eq(rowrelay(&f, NULL, &errors, "target", "set", "w2", "--url", f.target_url, NULL), 2);
  cr_expect_not_null(strstr(errors, "document \"doc\" already goes"), "%s", errors);
  cr_expect_eq(rowrelay(&f, NULL, &errors, "target", "set", "w", "--url", "postgresql://127.0.0.1/nowhere", NULL), 2);
  fixture_end(&f);
}

Test(owner, a_proposed_document_has_a_name_that_is_free) {
  struct fixture f;
  const char *command;
  begin(&f, "owner_suggested");
  cr_assert_eq(rowrelay(&f, &command, NULL, "document", "suggest", path, NULL), 0);
  cr_expect_not_null(strstr(command, "rowrelay document add item_document --target w"), "%s", command);
  rowrelay_ok(&f, "document", "add", "item_document", "--target", "w", "--key", "id", "--query", path, "--create",
              "--from", "item:id", NULL);
  cr_assert_eq(rowrelay(&f, &command, NULL, "document", "suggest", path, NULL), 0);
  cr_expect_not_null(strstr(command, "rowrelay document add item_document_2 "), "%s", command);
  fixture_end(&f);
}
