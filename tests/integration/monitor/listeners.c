/* listeners: changes of the log over HTTP, to whoever has a token, as they are committed. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ear.h"
#include "fixture.h"
#include "past.h"
#include "people.h"
#include "visitor.h"
#include "writers.h"

#define PACKAGES "build/npm"
#define READER "\"the reader\"" /* a role whose name has to be quoted */

static struct fixture f;
static pid_t process;
static int port;
static char tokens[64];

/* Adds a token to the file. */
static void allow(const char *token, const char *role) {
  char command[512];
  snprintf(command, sizeof command, "printf '%s %%s %s\\n' $(printf %%s '%s' | sha256sum | cut -d' ' -f1) >> %s", token,
           role, token, tokens);
  cr_assert_eq(system(command), 0);
}

static void make_tokens(void) {
  snprintf(tokens, sizeof tokens, "/tmp/rowrelay-%d.tokens", (int)getpid());
  unlink(tokens);
  setenv("ROWRELAY_CHANGES_TOKENS", tokens, 1);
}

static void listen_for(struct fixture *fixture) {
  process = fixture_run(fixture, "--listen", "127.0.0.1:0", NULL);
  port = visitor_port(process);
}

/* Token "open" is for a superuser. */
static void begin(const char *name) {
  fixture_begin(&f, name);
  sql(f.at_source, "create table item (id int primary key, n text); select rowrelay.capture_table('item')");
  make_tokens();
  allow("open", "postgres");
  listen_for(&f);
}

static void end(void) {
  if (process > 0)
    cr_expect_eq(stop_process(process, SIGTERM), 0);
  unlink(tokens);
  fixture_end(&f);
}

/* Waits until a stream has told where it stands. */
static void wait_until_it_listens(struct ear *ear) {
  const char *data;
  double until = give_up_at(15);
  cr_assert_eq(ear_status(ear, 15), 200, "%d: %s", ear->status, ear->text);
  while (ear->id[0] == '\0') {
    cr_assert(seconds_now() < until);
    (void)ear_hear(ear, 1, &data);
  }
}

static long hear_id(struct ear *ear) {
  return ear_number(ear_hear_data(ear, 15), "change_id");
}

Test(listeners, events_come_once_however_late_they_commit_and_an_id_goes_on_behind_its_event) {
  struct ear ear;
  begin("listeners_late");
  ear_open(&ear, port, "/changes", "open", NULL, "");
  wait_until_it_listens(&ear);
  PGconn *late = connect_to(f.source, NULL);
  sql(late, "begin; insert into item values (1)");
  sql(f.at_source, "insert into item values (2), (3)");
  cr_assert_eq(hear_id(&ear), 2);
  /* Cut in the middle of a piece, with a transaction between that has not committed. */
  char id[sizeof ear.id];
  snprintf(id, sizeof id, "%s", ear.id);
  ear_close(&ear);
  sql(late, "update item set n = 'late' where id = 1; commit");
  for (int i = 0; i < 2; i++) { /* the same again from the same id, as after an event that was lost on the way */
    ear_open(&ear, port, "/changes?since=", "open", NULL, id);
    cr_assert_eq(hear_id(&ear), 3);
    cr_assert_eq(hear_id(&ear), 1);
    cr_assert_eq(hear_id(&ear), 4);
    ear_close(&ear);
  }
  PQfinish(late);
  end();
}

/* Reads until there is nothing for a moment or the dice cut it off, which may be anywhere; then from the last id on. */
static bool hear_some(struct dice *dice, char id[8192]) {
  struct ear ear;
  const char *data;
  bool some = false;
  int bytes = roll(dice, 3) == 1 ? 1 << 30 : roll(dice, 6000);
  ear_open(&ear, port, "/changes?since=", "open", NULL, id);
  while (bytes > 0) {
    int most = roll(dice, 500);
    if (!ear_read(&ear, (size_t)(most < bytes ? most : bytes), 1.5))
      break;
    bytes -= most;
    while (ear_hear(&ear, 0, &data) || strstr(ear.text != NULL ? ear.text : "", "\n\n") != NULL)
      if (data != NULL) {
        some = true;
        sql(f.at_target, "insert into got (id) values (%ld)", ear_number(data, "change_id"));
      }
    if (ear.id[0] != '\0')
      snprintf(id, 8192, "%s", ear.id);
  }
  cr_assert_eq(ear.status == 200 || ear.status == 0, 1, "%s", ear.text);
  ear_close(&ear);
  return some || bytes <= 0;
}

Test(listeners, what_was_cut_off_anywhere_goes_on_without_a_gap_or_a_repeat, .timeout = 200) {
  struct dice dice = {.state = 21};
  struct writers writers = {0};
  static char id[8192];
  begin("listeners_cuts");
  writers_make_tables(f.at_source);
  sql(f.at_source, "select rowrelay.capture_table('stock'), rowrelay.capture_table('ledger')");
  writers_fill_tables(f.at_source, 40);
  sql(f.at_target, "create table got (place bigserial, id bigint primary key)");
  writers_start(&writers, f.source, 6, 900, 5, 40);
  while (!writers_are_done(&writers))
    (void)hear_some(&dice, id);
  writers_finish(&writers, 60);
  while (hear_some(&dice, id))
    ;
  static char got[1 << 20];
  snprintf(got, sizeof got, "%s", ask(f.at_target, "select string_agg(id::text, ' ' order by id) from got"));
  cr_assert_str_eq(got, ask(f.at_source, "select string_agg(change_id::text, ' ' order by change_id) "
                                         "from rowrelay.history"));
  sql(f.at_target, "create table key_of (id bigint primary key, key text)");
  PGresult *rows = PQexec(f.at_source, "select change_id, coalesce(key, '') from rowrelay.history");
  for (int i = 0; i < PQntuples(rows); i++)
    sql(f.at_target, "insert into key_of values (%s, nullif('%s', ''))", PQgetvalue(rows, i, 0),
        PQgetvalue(rows, i, 1));
  PQclear(rows);
  cr_assert_eq(ask_number(f.at_target, "select count(*) from (select id, lag(id) over (partition by key order by place)"
                                       " as before from got join key_of using (id) where key is not null) as g "
                                       "where before > id"),
               0);
  end();
}

Test(listeners, lines_come_by_pieces_and_whoever_waits_is_woken) {
  const char *line;
  char path[9000];
  struct ear ear;
  begin("listeners_lines");
  sql(f.at_source, "insert into item select i, E'a\\nb' from generate_series(1, 5) i");
  ear_open(&ear, port, "/changes?table=public.item&since=&max=3", "open", "*/*", "");
  for (int i = 1; i <= 3; i++) {
    line = ear_hear_data(&ear, 10);
    cr_assert_eq(ear_number(line, "change_id"), i, "%s", line);
    cr_assert(strncmp(line, "{\"next_cursor\":\"", 16) == 0, "%s", line);
  }
  cr_assert_not_null(strstr(ear.headers, "application/x-ndjson"));
  snprintf(path, sizeof path, "/changes?since=%.*s", (int)strcspn(line + 16, "\""), line + 16);
  cr_assert(!ear_hear(&ear, 5, &line) && ear.ended);
  ear_close(&ear);
  ear_open(&ear, port, path, "open", "application/x-ndjson", "");
  cr_assert_eq(ear_number(ear_hear_data(&ear, 10), "change_id"), 4);
  cr_assert_eq(ear_number(ear_hear_data(&ear, 10), "change_id"), 5);
  line = ear_hear_data(&ear, 10); /* there are no more: a cursor alone */
  cr_assert(strncmp(line, "{\"next_cursor\":\"", 16) == 0 && ear_number(line, "change_id") == -1, "%s", line);
  snprintf(path, sizeof path, "/changes?wait=60&since=%.*s", (int)strcspn(line + 16, "\""), line + 16);
  ear_close(&ear);
  /* It waits, and is woken. */
  ear_open(&ear, port, path, "open", "application/x-ndjson", "");
  cr_assert(!ear_hear(&ear, 1.5, &line) && ear.status == 0);
  double since = seconds_now();
  sql(f.at_source, "insert into item values (6)");
  cr_assert_eq(hear_id(&ear), 6);
  cr_assert(seconds_now() - since < 30, "it took %.1f s", seconds_now() - since);
  ear_close(&ear);
  /* Or is told that there was nothing. */
  since = seconds_now();
  struct visit nothing = visit(port, "GET", "/changes?wait=1", "Authorization: Bearer open", NULL);
  cr_assert_eq(nothing.status, 200);
  cr_assert(seconds_now() - since >= 1);
  cr_assert(strncmp(nothing.body, "{\"next_cursor\":\"", 16) == 0, "%s", nothing.body);
  end();
}

/* The answer to a request with a token: its status, and that its text says `words`. */
static void is_told(const char *token, const char *path, long status, const char *words) {
  char header[128];
  snprintf(header, sizeof header, "Authorization: Bearer %s", token);
  struct visit answer = visit(port, "GET", path, header, NULL);
  cr_assert_eq(answer.status, status, "%s: %ld: %s", path, answer.status, answer.body);
  cr_assert(strncmp(answer.body, "{\"error\":\"", 10) == 0 || status == 200, "%s", answer.body);
  cr_assert_not_null(strstr(answer.body, words), "%s: %s", path, answer.body);
}

Test(listeners, who_names_a_role_before_those_of_rowrelay_are_there_is_told_how_to_make_them) {
  own_server("source", NULL);
  begin("listeners_no_roles");
  allow("c", "consumer");
  is_told("c", "/changes", 403, "run at the source: rowrelay init --roles");
  rowrelay_ok(&f, "init", "--roles", NULL);
  is_told("c", "/changes", 403, "run at the source: create role consumer in role rowrelay_reader");
  sql(f.at_source, "create role consumer in role rowrelay_reader; grant select on item to consumer;"
                   "insert into item values (1, 'x')");
  is_told("c", "/changes?since=&wait=1", 200, "");
  end();
}

Test(listeners, a_token_sees_what_its_role_may_select) {
  struct shop shop;
  struct ear anna, boss;
  people_begin(&shop, "listeners_roles");
  f = shop.fixture;
  sql(f.at_source,
      "create role " READER "; grant rowrelay_reader to " READER "; create role lost; create table plain ()");
  make_tokens();
  allow("a", "anna");
  allow("b", "boss");
  allow("r", "the reader");
  allow("g", "ghost");
  allow("l", "lost");
  listen_for(&shop.hand);
  /* A process takes on no role that it was not granted, and says which command grants it. */
  is_told("a", "/changes", 403, "grant anna to hand");
  is_told("r", "/changes", 403, "grant \\\"the reader\\\" to hand");
  is_told("g", "/changes", 403, "create role ghost in role rowrelay_reader");
  sql(f.at_source, "grant anna, boss, lost, " READER " to hand");
  is_told("l", "/changes", 403, "rowrelay_reader");
  is_told("a", "/changes?table=shop.secret", 403, "role anna may not read the log of table shop.secret");
  is_told("r", "/changes?table=shop.item", 403, "may not read the log of table shop.item");
  is_told("a", "/changes?table=shop.nothing", 404, "there is no table shop.nothing");
  is_told("b", "/changes?table=shop.item,public.plain", 404, "table public.plain is not captured");
  /* since 16, to_regclass() takes a name that cannot be one for a table that is not there */
  is_told("a", "/changes?table=%22", PQserverVersion(f.at_source) < 160000 ? 400 : 404, "");
  is_told("a", "/changes?since=1.5", 400, "this is not a cursor: 1.5");
  is_told("a", "/changes?since=0123abcd.1/3:3:", 410, "Begin again with 'now'");
  is_told("a", "/changes?max=none", 400, "max is a number");
  is_told("c", "/changes", 401, "Authorization: Bearer TOKEN");
  cr_assert_eq(visit(port, "GET", "/changes", NULL, NULL).status, 401);
  cr_assert_eq(visit(port, "HEAD", "/changes", NULL, NULL).status, 405);

  ear_open(&anna, port, "/changes", "a", NULL, "");
  ear_open(&boss, port, "/changes?table=shop.secret&table=shop.item", "b", NULL, "");
  wait_until_it_listens(&anna);
  wait_until_it_listens(&boss);
  sql(shop.as_app, "insert into shop.secret values (1, 'word')");
  sql(shop.as_app, "insert into shop.item values (2)");
  cr_assert_not_null(strstr(ear_hear_data(&boss, 15), "\"relation\" : \"shop.secret\""));
  cr_assert_not_null(strstr(ear_hear_data(&boss, 15), "\"relation\" : \"shop.item\""));
  cr_assert_not_null(strstr(ear_hear_data(&anna, 15), "\"relation\" : \"shop.item\""));
  ear_close(&anna);
  /* A right that is taken away, and a token. */
  ear_open(&anna, port, "/changes?table=shop.item", "a", NULL, "");
  wait_until_it_listens(&anna);
  sql(f.at_source, "revoke select on shop.item from anna");
  sql(shop.as_app, "insert into shop.item values (3)");
  cr_assert_not_null(strstr(ear_hear_data(&anna, 15), "permission denied to read the log of table shop.item"));
  cr_assert_eq(hear_id(&boss), 3);
  unlink(tokens);
  allow("a", "anna");
  cr_assert_not_null(strstr(ear_hear_data(&boss, 15), "this token has been withdrawn"));
  cr_assert(strstr(ear_hear_data(&boss, 5), "") != NULL && boss.ended);
  is_told("b", "/changes", 401, "Bearer TOKEN");
  cr_assert_null(strstr(process_log(process), "Bearer"));
  ear_close(&anna);
  ear_close(&boss);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  unlink(tokens);
  people_end(&shop);
}

Test(listeners, who_comes_back_after_what_it_missed_was_dropped_is_told, .timeout = 200) {
  char path[256];
  struct ear ear;
  begin("listeners_dropped");
  sql(f.at_source, "insert into item values (1)");
  snprintf(path, sizeof path, "/changes?since=%s",
           ask(f.at_source, "select next_cursor from rowrelay.changes_since('') where change_id is null"));
  sql(f.at_source, "insert into item values (2)");
  past_move(f.at_source, 40);
  past_close(f.at_source);
  cr_assert_str_eq(ask(f.at_source, "select outcome from rowrelay.prune('30 days')"), "dropped");
  sql(f.at_source, "insert into item values (3)");
  is_told("open", path, 410, "changes behind this cursor are no longer in the log");
  ear_open(&ear, port, "/changes?since=", "open", NULL, "");
  cr_assert_eq(hear_id(&ear), 3);
  ear_close(&ear);
  end();
}

Test(listeners, without_a_file_of_tokens_nobody_listens_and_a_wrong_one_is_named) {
  const char *errors;
  begin("listeners_off");
  stop_process(process, SIGTERM);
  unsetenv("ROWRELAY_CHANGES_TOKENS");
  listen_for(&f);
  is_told("open", "/changes", 404, "set ROWRELAY_CHANGES_TOKENS in the environment of rowrelay run");
  stop_process(process, SIGTERM);
  process = 0;
  setenv("ROWRELAY_CHANGES_TOKENS", tokens, 1);
  cr_assert_eq(system("echo 'name token role' > /tmp/rowrelay-$PPID.tokens"), 0);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "run", "--listen", "127.0.0.1:0", NULL), 2);
  cr_assert_not_null(strstr(errors, "line 1: this is not \"NAME SHA-256 ROLE\""), "%s", errors);
  end();
}

/* Of the process, in MB. */
static double memory(void) {
  char name[64];
  char line[256] = "";
  long pages = 0;
  snprintf(name, sizeof name, "/proc/%d/statm", (int)process);
  FILE *file = fopen(name, "r");
  cr_assert(file != NULL && fgets(line, sizeof line, file) != NULL && sscanf(line, "%*d %ld", &pages) == 1);
  fclose(file);
  return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static long threads(void) {
  char command[128];
  char line[64] = "";
  snprintf(command, sizeof command, "ls /proc/%d/task | wc -l", (int)process);
  FILE *count = popen(command, "r");
  cr_assert(count != NULL && fgets(line, sizeof line, count) != NULL);
  pclose(count);
  return strtol(line, NULL, 10);
}

/* The address sanitizer needs much memory of its own. */
static bool is_sanitized(void) {
  return strstr(getenv("ROWRELAY_BIN"), "sanitize") != NULL;
}

Test(listeners, a_slow_one_delays_nobody_and_takes_no_memory, .timeout = 200) {
  enum { ROWS = 6000 };
  struct ear slow;
  struct ear quick;
  begin("listeners_slow");
  ear_open(&slow, port, "/changes", "open", NULL, "");
  ear_open(&quick, port, "/changes", "open", NULL, "");
  wait_until_it_listens(&slow);
  wait_until_it_listens(&quick);
  sql(f.at_source, "insert into item select i, repeat('x', 10000) from generate_series(1, %d) i", ROWS);
  for (int i = 1; i <= ROWS; i++)
    cr_assert_eq(hear_id(&quick), i);
  if (!is_sanitized())
    cr_assert(memory() < 100, "%.0f MB", memory());
  sql(f.at_source, "insert into item values (0)");
  cr_assert_eq(hear_id(&quick), ROWS + 1);
  for (int i = 1; i <= ROWS + 1; i++)
    cr_assert_eq(hear_id(&slow), i);
  ear_close(&slow);
  ear_close(&quick);
  end();
}

Test(listeners, a_thousand_cost_one_connection_few_threads_and_little_memory, .timeout = 250) {
  enum { COUNT = 1000 };
  static struct ear ears[COUNT];
  const char *data;
  begin("listeners_many");
  for (int i = 0; i < COUNT; i++)
    ear_open(&ears[i], port, i % 2 ? "/changes" : "/changes?table=public.item", "open", NULL, "");
  for (int i = 0; i < COUNT; i++)
    wait_until_it_listens(&ears[i]);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from pg_stat_activity where datname = current_database() "
                                       "and application_name = 'rowrelay changes'"),
               1);
  cr_assert(ask_number(f.at_source, "select count(*) from pg_stat_activity where datname = current_database()") < 20);
  cr_assert(threads() < 20, "%ld threads", threads());
  if (!is_sanitized())
    cr_assert(memory() < 150, "%.0f MB", memory());
  visit_until(port, "/readyz", 200, 10);
  cr_assert_eq(visit(port, "GET", "/metrics", NULL, NULL).status, 200);
  cr_assert_eq(visit(port, "GET", "/api/overview", NULL, NULL).status, 200);
  sql(f.at_source, "insert into item values (1)");
  for (int i = 0; i < COUNT; i++)
    cr_assert_eq(hear_id(&ears[i]), 1);
  /* Silent ones are told that all is well, and go on where the log is by now. */
  char id[sizeof ears[0].id];
  cr_assert(ear_hear(&ears[0], 5, &data)); /* the cursor behind all */
  snprintf(id, sizeof id, "%s", ears[0].id);
  sql(f.at_source, "create table other ()");
  cr_assert(ear_hear(&ears[0], 60, &data) && data == NULL);
  cr_assert_str_neq(ears[0].id, id);
  /* Those that leave are forgotten, and with the last of them the connection. */
  for (int i = 0; i < COUNT; i++)
    ear_close(&ears[i]);
  wait_until(f.at_source, "0", 60,
             "select count(*) from pg_stat_activity where datname = current_database() "
             "and application_name = 'rowrelay changes'");
  end();
}

Test(listeners, all_end_with_the_process) {
  struct ear ears[20];
  const char *data;
  begin("listeners_end");
  for (int i = 0; i < 20; i++)
    ear_open(&ears[i], port, "/changes", "open", i < 10 ? NULL : "*/*", "");
  for (int i = 0; i < 10; i++)
    wait_until_it_listens(&ears[i]);
  sleep_seconds(1);
  double since = seconds_now();
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  cr_assert(seconds_now() - since < 15, "it took %.1f s", seconds_now() - since);
  process = 0;
  for (int i = 0; i < 20; i++) {
    while (ear_hear(&ears[i], 5, &data))
      ;
    cr_assert(ears[i].ended);
    cr_assert_eq(ears[i].status, i < 10 ? 200 : 503, "%d: %d", i, ears[i].status);
    ear_close(&ears[i]);
  }
  end();
}

Test(listeners, a_source_that_is_away_is_waited_for, .timeout = 200) {
  struct ear old;
  struct ear new;
  own_server("source", NULL);
  begin("listeners_away");
  ear_open(&old, port, "/changes", "open", NULL, "");
  wait_until_it_listens(&old);
  sql(f.at_source, "insert into item values (1)");
  cr_assert_eq(hear_id(&old), 1);
  PQfinish(f.at_source);
  stop_server("source", "immediate");
  struct visit away = visit(port, "GET", "/changes?wait=1", "Authorization: Bearer open", NULL);
  cr_assert_eq(away.status, 503, "%s", away.body);
  cr_assert_not_null(strstr(away.headers, "Retry-After: "));
  /* Which socket does not answer is for the log, and not for whoever has a token. */
  cr_assert_str_eq(away.body, "{\"error\":\"the source cannot be read now\",\"hint\":\"try again later; the log of "
                              "rowrelay run says why\"}");
  wait_until_says(process, "changes over HTTP: ", 15);
  ear_open(&new, port, "/changes?since=", "open", NULL, "");
  cr_assert_eq(ear_status(&new, 15), 200);
  start_server("source");
  f.at_source = connect_to(f.source, NULL);
  sql(f.at_source, "insert into item values (2)");
  long second = hear_id(&old);
  cr_assert(second > 1);
  cr_assert_eq(hear_id(&new), 1);
  cr_assert_eq(hear_id(&new), second);
  ear_close(&old);
  ear_close(&new);
  end();
}

/* As in a log of many changes, of which none is of the table that is asked for. */
Test(listeners, a_search_that_takes_too_long_ends_alone, .timeout = 300) {
  struct ear live;
  struct ear behind;
  begin("listeners_long");
  ear_open(&live, port, "/changes", "open", NULL, "");
  wait_until_it_listens(&live);
  sql(f.at_source, "insert into item values (1)");
  cr_assert_eq(hear_id(&live), 1);
  PGconn *holder = connect_to(f.source, NULL);
  sql(holder, "begin; lock table rowrelay.change in access exclusive mode");
  ear_open(&behind, port, "/changes?since=", "open", NULL, "");
  cr_assert_eq(ear_status(&behind, 60), 504);
  ear_close(&behind);
  sql(holder, "commit; insert into item values (2)");
  cr_assert_eq(hear_id(&live), 2);
  ear_close(&live);
  PQfinish(holder);
  end();
}

/* ---- npm's EventSource ----------------------------------------------------------------------------------------- */

static bool has_eventsource(void) {
  return has_programs("node npm") &&
         system("mkdir -p " PACKAGES " && flock " PACKAGES " sh -c '[ -e " PACKAGES "/node_modules/eventsource ] || "
                "timeout 120 npm install --prefix " PACKAGES " --no-audit --no-fund --loglevel error eventsource@4' "
                "> " PACKAGES "-eventsource.log 2>&1") == 0;
}

/* Gives what it prints. */
static FILE *start_eventsource(pid_t *node) {
  int ends[2];
  char url[64];
  snprintf(url, sizeof url, "http://127.0.0.1:%d/changes?since=", port);
  cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
  pid_t parent = getpid();
  *node = fork();
  cr_assert(*node >= 0);
  if (*node == 0) {
    char packages[512];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(127);
    dup2(ends[1], STDOUT_FILENO);
    cr_assert_not_null(realpath(PACKAGES, packages));
    execlp("node", "node", "tests/support/eventsource.js", packages, url, "open", (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  return fdopen(ends[0], "r");
}

Test(listeners, an_eventsource_goes_on_with_another_process, .timeout = 200) {
  char address[32];
  char line[64];
  pid_t node;
  if (!has_eventsource())
    cr_skip_test("npm, or the package eventsource, cannot be had: see " PACKAGES "-eventsource.log");
  begin("listeners_npm");
  snprintf(address, sizeof address, "127.0.0.1:%d", port);
  sql(f.at_source, "insert into item values (1), (2)");
  FILE *heard = start_eventsource(&node);
  for (int round = 0; round < 3; round++) {
    cr_assert(fgets(line, sizeof line, heard) != NULL && strcmp(line, "open\n") == 0, "%s", line);
    for (int i = 1; i <= 2; i++) {
      cr_assert_not_null(fgets(line, sizeof line, heard));
      cr_assert_eq(strtol(line, NULL, 10), 2 * round + i, "%s", line);
    }
    stop_process(process, SIGKILL);
    sql(f.at_source, "insert into item values (%d), (%d)", 2 * round + 3, 2 * round + 4);
    process = fixture_run(&f, "--listen", address, NULL);
  }
  visit_until(port, "/readyz", 200, 15);
  kill(node, SIGKILL);
  waitpid(node, NULL, 0);
  fclose(heard);
  end();
}
