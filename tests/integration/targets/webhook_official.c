/* Webhooks: the official packages take signatures and events, in a real receiver in Node. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define PACKAGES "build/npm"

static struct fixture f;
static char file[64];
static pid_t node;

/* The packages, installed once for all runs of tests in this checkout. */
static bool has_packages(void) {
  return has_programs("node npm") &&
         system("mkdir -p " PACKAGES " && flock " PACKAGES " sh -c '"
                "{ [ -e " PACKAGES "/node_modules/standardwebhooks ] && [ -e " PACKAGES
                "/node_modules/cloudevents ]; } || "
                "timeout 120 npm install --prefix " PACKAGES " --no-audit --no-fund --loglevel error "
                "standardwebhooks@1 cloudevents@10' > " PACKAGES ".log 2>&1") == 0;
}

static int start_node(const char *secret) {
  int ends[2];
  char port[16] = "";
  cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
  pid_t parent = getpid();
  node = fork();
  cr_assert(node >= 0);
  if (node == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(127);
    dup2(ends[1], STDOUT_FILENO);
    char packages[512];
    cr_assert_not_null(realpath(PACKAGES, packages));
    execlp("node", "node", "tests/support/official.js", packages, file, secret, (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  cr_assert(read(ends[0], port, sizeof port - 1) > 0, "node has not started");
  close(ends[0]);
  return atoi(port);
}

static void begin(const char *name, const char *option) {
  if (!has_packages())
    cr_skip_test("npm, or the packages standardwebhooks and cloudevents, cannot be had: see " PACKAGES ".log");
  fixture_begin(&f, name);
  snprintf(file, sizeof file, "/tmp/rowrelay-%d.events", (int)getpid());
  char url[64];
  snprintf(url, sizeof url, "http://127.0.0.1:%d/", start_node(SECRET));
  setenv("ROWRELAY_TEST_SECRET", SECRET, 1);
  sql(f.at_source,
      "create table item (id text primary key, name text, more json); create table \"\xc3\x9c \"\"b\" (a int)");
  rowrelay_ok(&f, "target", "add", "w", url, "--option", "secret=${ROWRELAY_TEST_SECRET}", "--option", option,
              "--option", "retries=0", NULL);
  rowrelay_ok(&f, "capture", "public.*", "--to", "w", "--before", NULL);
}

static void end(void) {
  kill(node, SIGKILL);
  waitpid(node, NULL, 0);
  unlink(file);
  fixture_end(&f);
}

/* Table event: what the packages made of the requests. */
static void load_events(void) {
  char *text = NULL;
  size_t size = 0;
  FILE *in = fopen(file, "re");
  cr_assert_not_null(in);
  cr_assert(getdelim(&text, &size, '\0', in) > 0);
  fclose(in);
  const char *values[] = {text};
  sql(f.at_source, "create temp table event (event json)");
  PGresult *result = PQexecParams(f.at_source,
                                  "insert into event select line::json from regexp_split_to_table($1, e'\\n') "
                                  "as line where line <> ''",
                                  1, NULL, values, NULL, NULL, 0);
  cr_assert(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(f.at_source));
  PQclear(result);
  free(text);
}

static void write_odd_rows(void) {
  sql(f.at_source, "insert into item values ('1', e'\"quoted\" \\\\ \\t\\n \\u2028 \\U0001F600 \xc3\xbc', "
                   "e'{\\r\\n\"a\":\\n[1.5]}'), "
                   "('', 'empty key', null), (e'a\\nb\\x01', 'odd key', null), ('\xf0\x9f\x98\x80 \xc3\xbc', "
                   "repeat('\xe2\x82\xac\"', 300000), null)");
  sql(f.at_source, "update item set name = null, more = 'null'; delete from item; truncate item");
  sql(f.at_source, "insert into \"\xc3\x9c \"\"b\" values (1), (2); delete from \"\xc3\x9c \"\"b\" where a = 1");
}

/* All was accepted, and says what was captured. */
static void assert_accepted(void) {
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(concat_ws(' ', relation, op, key, message, detail), e'\\n') from "
                       "rowrelay.errors"),
                   "");
  load_events();
  cr_assert_str_eq(
      ask(f.at_source,
          "select concat(count(*), ' ', count(*) filter (where event ->> 'type' = concat_ws('.', 'rowrelay', event -> "
          "'data' "
          "->> 'relation', h.op) and (event ->> 'time')::timestamptz = date_trunc('milliseconds', h.captured_at) and "
          "(event -> "
          "'data' -> 'after')::jsonb is not distinct from coalesce(h.new_row::jsonb, 'null') and (event -> 'data' -> "
          "'before')::jsonb is not distinct from coalesce(h.old_row::jsonb, 'null'))) from event join rowrelay.history "
          "h on "
          "h.change_id = (event ->> 'id')::bigint"),
      ask(f.at_source, "select concat(count(*), ' ', count(*)) from rowrelay.history"));
}

Test(webhook_official, packages_take_each_event) {
  begin("official_single", "events=1");
  write_odd_rows();
  assert_accepted();
  end();
}

Test(webhook_official, packages_take_batches) {
  begin("official_batches", "events=5");
  write_odd_rows();
  sql(f.at_source, "insert into item select n from generate_series(1, 100) as n");
  assert_accepted();
  end();
}

Test(webhook_official, packages_take_either_of_two_secrets_and_no_other) {
  begin("official_secrets", "concurrency=2");
  setenv("ROWRELAY_TEST_OTHER", "whsec_dGhpcyBpcyBhbm90aGVyIHNlY3JldCBrZXkhIQ==", 1);
  rowrelay_ok(&f, "target", "set", "w", "--option", "secret=${ROWRELAY_TEST_OTHER} ${ROWRELAY_TEST_SECRET}", NULL);
  sql(f.at_source, "insert into item values (1)");
  assert_accepted();
  rowrelay_ok(&f, "target", "set", "w", "--option", "secret=${ROWRELAY_TEST_OTHER}", NULL);
  sql(f.at_source, "insert into item values (2)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  const char *detail = ask(f.at_source, "select detail from rowrelay.errors");
  cr_assert_not_null(strstr(detail, "No matching signature found"), "%s", detail);
  end();
}
