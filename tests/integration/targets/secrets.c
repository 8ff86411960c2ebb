/* What a target's URL leaves out is filled in from the environment, and shown nowhere. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

/* Everything that people can read about a target. */
static void assert_hidden(struct fixture *f, const char *secret, pid_t process) {
  const char *out;
  const char *err;
  static const char *const words[][4] = {{"target", "show", "w", NULL},  {"target", "show", "w", "--json"},
                                         {"target", "list", NULL, NULL}, {"target", "list", "--json", NULL},
                                         {"status", NULL, NULL, NULL},   {"status", "--json", NULL, NULL}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    cr_assert_eq(rowrelay(f, &out, &err, words[i][0], words[i][1], words[i][2], words[i][3], NULL), 0);
    cr_assert_null(strstr(out, secret), "%s", out);
    cr_assert_null(strstr(err, secret), "%s", err);
  }
  cr_assert_null(strstr(process_log(process), secret), "%s", process_log(process));
  cr_assert_str_eq(ask(f->at_source,
                       "select count(*) from (select t::text from rowrelay.target t union all "
                       "select o::text from rowrelay.trouble o) as x(line) where line like '%%%s%%'",
                       secret),
                   "0");
}

Test(secrets, a_password_comes_from_the_environment_and_is_never_shown) {
  struct fixture f;
  own_server("target", NULL);
  fixture_begin(&f, "target_secret");
  sql(f.at_target,
      "create role loader login password 'p@ss/w:rd%%1'; grant create on database %s to loader; grant all on schema "
      "public to loader",
      f.name);
  char hba[600];
  snprintf(hba, sizeof hba, "echo 'local all loader scram-sha-256\nlocal all all trust' > %s/data/pg_hba.conf",
           getenv("ROWRELAY_TEST_TARGET_DIR"));
  cr_assert_eq(system(hba), 0);
  sql(f.at_target, "select pg_reload_conf()");
  sleep_seconds(0.2);
  char url[600];
  snprintf(url, sizeof url, "postgres://loader:${ROWRELAY_TEST_PASSWORD}@/%s?host=%s", f.name,
           getenv("ROWRELAY_TEST_TARGET_DIR"));
  sql(f.at_source, "create table item (id int primary key)");
  rowrelay_ok(&f, "target", "add", "w", url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item values (1)");

  unsetenv("ROWRELAY_TEST_PASSWORD");
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "run", NULL), 2);
  cr_assert_not_null(
      strstr(errors,
             "rowrelay: target w: environment variable ROWRELAY_TEST_PASSWORD, which the "
             "target's URL uses, is not set\nhint: set it in the environment of rowrelay run, and of this command\n"),
      "%s", errors);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.instance"), "0");
  /* A process that runs already is not ended by it. */
  rowrelay_ok(&f, "target", "pause", "w", NULL);
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_says(process, "target w: 1 worker", 10);
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  wait_until_says(process, "environment variable ROWRELAY_TEST_PASSWORD, which the target's URL uses, is not set", 10);
  wait_until(f.at_source, "failing", 5, "select state from rowrelay.status");
  stop_process(process, SIGTERM);

  setenv("ROWRELAY_TEST_PASSWORD", "wr@ng/one", 1);
  process = fixture_run(&f, NULL, NULL);
  wait_until_says(process, "password authentication failed for user \"loader\"", 10);
  assert_hidden(&f, "ng/one", process);
  stop_process(process, SIGTERM);

  setenv("ROWRELAY_TEST_PASSWORD", "p@ss/w:rd%1", 1);
  process = fixture_run(&f, NULL, NULL);
  wait_until_empty(&f, 10);
  assert_hidden(&f, "ss/w", process);
  cr_assert_not_null(
      strstr(rowrelay_ok(&f, "target", "show", "w", NULL), "postgres://loader:${ROWRELAY_TEST_PASSWORD}@/"));
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(secrets, a_url_that_cannot_be_read_is_not_shown_with_its_secrets) {
  struct fixture f;
  fixture_begin(&f, "target_bad_url");
  sql(f.at_source, "create table item (id int primary key)");
  setenv("ROWRELAY_TEST_PASSWORD", "top-secret", 1);
  static const char *const urls[] = {"postgresql://u:${ROWRELAY_TEST_PASSWORD}@[::1/db",
                                     "postgresql://u@host/db?sslmode=${ROWRELAY_TEST_PASSWORD}",
                                     "postgresql://u:${ROWRELAY_TEST_PASSWORD}@host:1x/db"};
  rowrelay_ok(&f, "target", "add", "w", urls[0], NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1)");
  pid_t process = fixture_run(&f, NULL, NULL);
  for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
    sql(f.at_source, "select rowrelay.set_target('w', '%s')", urls[i]);
    sql(f.at_source, "delete from rowrelay.trouble");
    wait_until(f.at_source, "failing", 20, "select state from rowrelay.status");
    assert_hidden(&f, "top-secret", process);
  }
  stop_process(process, SIGTERM);
  fixture_end(&f);
}
