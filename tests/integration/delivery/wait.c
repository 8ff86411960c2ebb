/* How long `rowrelay run` waits for an unavailable source or target. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"

static void ends_within(double since, double seconds) {
  cr_assert(seconds_now() - since < seconds, "it took %.1f s", seconds_now() - since);
}

Test(wait, a_run_ends_with_a_status_when_its_source_does_not_come) {
  struct fixture f;
  const char *errors;
  fixture_begin(&f, "wait_source");
  char there[sizeof f.source];
  memcpy(there, f.source, sizeof there);
  static const char *const SOURCES[] = {"host=127.0.0.1 port=1 dbname=nowhere", "host=/nowhere dbname=nowhere"};
  for (size_t i = 0; i < sizeof SOURCES / sizeof *SOURCES; i++) {
    snprintf(f.source, sizeof f.source, "%s", SOURCES[i]);
    double since = seconds_now();
    cr_assert_eq(rowrelay(&f, NULL, &errors, "run", "--until-empty", "--wait", "2", NULL), 1);
    cr_assert(seconds_now() - since >= 2);
    ends_within(since, 30);
    cr_assert_not_null(strstr(errors, "source: unavailable for 2 s: "), "%s", errors);
    cr_assert_eq(rowrelay(&f, NULL, &errors, "run", "--wait", "1", NULL), 1);
  }
  memcpy(f.source, there, sizeof there);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "run", "--wait", "soon", NULL), 2);
  fixture_end(&f);
}

Test(wait, a_run_that_may_not_connect_ends_with_a_status) {
  struct fixture f;
  const char *errors;
  fixture_begin(&f, "wait_rights");
  sql(f.at_source, "create role wait_nobody login; revoke connect on database %s from public", f.name);
  char there[sizeof f.source];
  memcpy(there, f.source, sizeof there);
  snprintf(f.source, sizeof f.source, "%.480s user=wait_nobody", there);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "run", "--until-empty", "--wait", "1", NULL), 1);
  cr_assert_not_null(strstr(errors, "permission denied for database"), "%s", errors);
  sql(f.at_source, "grant connect on database %s to wait_nobody", f.name);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "run", NULL), 1);
  cr_assert_not_null(strstr(errors, "rowrelay_worker"), "%s", errors);
  sql(f.at_source, "revoke connect on database %s from wait_nobody", f.name);
  memcpy(f.source, there, sizeof there);
  sql(f.at_source, "drop role wait_nobody");
  fixture_end(&f);
}

Test(wait, a_run_until_empty_ends_with_a_status_when_a_target_does_not_come) {
  struct fixture f;
  const char *errors;
  fixture_begin(&f, "wait_target");
  sql(f.at_source, "create table item (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", "postgresql:///nowhere?host=/nowhere", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  rowrelay_ok(&f, "run", "--until-empty", "--wait", "2", NULL);
  sql(f.at_source, "insert into item values (1)");
  double since = seconds_now();
  cr_assert_eq(rowrelay(&f, NULL, &errors, "run", "--until-empty", "--wait", "2", NULL), 1);
  ends_within(since, 30);
  cr_assert_not_null(strstr(errors, "target w has failed for 2 s: "), "%s", errors);
  rowrelay_ok(&f, "target", "set", "w", "--url", f.target_url, NULL);
  sql(f.at_target, "create table item (id int primary key)");
  rowrelay_ok(&f, "run", "--until-empty", "--wait", "60", NULL);
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}
