#include "fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_PROCESSES 64
#define MOST_WORDS 64
#define OUTPUT_SIZE (1024 * 1024)

static struct {
  pid_t process;
  char log[64];
} running[MOST_PROCESSES];
static int running_count = 0;
static int logs_made = 0;

/* ---- time ------------------------------------------------------------------------------------------------------ */

double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double give_up_at(double seconds) {
  return seconds_now() + BUSY * seconds;
}

void sleep_seconds(double seconds) {
  struct timespec pause = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&pause, NULL);
}

/* ---- families --------------------------------------------------------------------------------------------------- */

static bool are_families_whole(void) {
  const char *is_thorough = getenv("THOROUGH");
  return is_thorough != NULL && *is_thorough != '\0';
}

bool is_tried_of(int n, int share) {
  const char *seed = getenv("ROWRELAY_SEED");
  return are_families_whole() || seed == NULL || (n + atoi(seed)) % share == 0;
}

bool is_tried(int n) {
  return is_tried_of(n, 3);
}

int least_tried(int of_all) {
  return are_families_whole() ? of_all : of_all / 4;
}

/* ---- databases ------------------------------------------------------------------------------------------------- */

static const char *environment(const char *name) {
  const char *value = getenv(name);
  cr_assert(value != NULL, "%s is not set: run this by make check", name);
  return value;
}

static char *write_text(const char *format, va_list arguments) {
  char *text = NULL;
  cr_assert(vasprintf(&text, format, arguments) >= 0);
  return text;
}

bool has_programs(const char *names) {
  char line[256];
  snprintf(line, sizeof line, "PATH=$PATH:/usr/sbin; for name in %s; do command -v $name >/dev/null || exit 1; done",
           names);
  return system(line) == 0;
}

void needs_pg_dump(PGconn *server) {
  char version[64] = "";
  FILE *pipe = popen("$(tests/support/pg.sh bin)/pg_dump --version | grep -o '[0-9]*' | head -n 1", "r");
  cr_assert(pipe != NULL && fgets(version, sizeof version, pipe) != NULL, "there is no pg_dump");
  pclose(pipe);
  if (atoi(version) < PQserverVersion(server) / 10000)
    cr_skip_test("pg_dump is older than the server");
}

PGconn *connect_to(const char *conninfo, const char *options) {
  char words[1024];
  snprintf(words, sizeof words, "%s %s", conninfo, options != NULL ? options : "");
  PGconn *connection = PQconnectdb(words);
  cr_assert(PQstatus(connection) == CONNECTION_OK, "%s: %s", words, PQerrorMessage(connection));
  PQsetNoticeProcessor(connection, (PQnoticeProcessor)NULL, NULL);
  PQclear(PQexec(connection, "set client_min_messages to error"));
  return connection;
}

static PGresult *execute(PGconn *connection, const char *text) {
  PGresult *result = PQexec(connection, text);
  ExecStatusType status = PQresultStatus(result);
  cr_assert(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY, "%s\n%s",
            PQerrorMessage(connection), text);
  return result;
}

void sql(PGconn *connection, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = write_text(format, arguments);
  va_end(arguments);
  PQclear(execute(connection, text));
  free(text);
}

const char *sql_fails(PGconn *connection, const char *format, ...) {
  static char sqlstate[6];
  va_list arguments;
  va_start(arguments, format);
  char *text = write_text(format, arguments);
  va_end(arguments);
  PGresult *result = PQexec(connection, text);
  const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  cr_assert(code != NULL, "this should have failed: %s", text);
  snprintf(sqlstate, sizeof sqlstate, "%s", code);
  PQclear(result);
  free(text);
  return sqlstate;
}

/* Keeps the last answers, so that several fit into one comparison. */
static const char *keep(const char *answer) {
  static char *kept[16];
  static int next = 0;
  next = (next + 1) % 16;
  free(kept[next]);
  kept[next] = strdup(answer);
  return kept[next];
}

static const char *ask_text(PGconn *connection, const char *text) {
  PGresult *result = execute(connection, text);
  const char *answer = keep(PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
  PQclear(result);
  return answer;
}

const char *ask(PGconn *connection, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = write_text(format, arguments);
  va_end(arguments);
  const char *answer = ask_text(connection, text);
  free(text);
  return answer;
}

int64_t ask_number(PGconn *connection, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = write_text(format, arguments);
  va_end(arguments);
  int64_t answer = strtoll(ask_text(connection, text), NULL, 10);
  free(text);
  return answer;
}

void start(PGconn *connection, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = write_text(format, arguments);
  va_end(arguments);
  cr_assert(PQsendQuery(connection, text) == 1, "%s", PQerrorMessage(connection));
  free(text);
}

void finish(PGconn *connection) {
  for (PGresult *result; (result = PQgetResult(connection)) != NULL; PQclear(result)) {
    ExecStatusType status = PQresultStatus(result);
    cr_assert(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, "%s", PQerrorMessage(connection));
  }
}

bool is_running(PGconn *connection) {
  cr_assert(PQconsumeInput(connection) == 1, "%s", PQerrorMessage(connection));
  return PQisBusy(connection) == 1;
}

/* Asks seldom what has not come soon, and what takes long to answer: the processors are for what is waited for. */
static double pause_after(double waited, double asked) {
  double pause = waited / 10 > 2 * asked ? waited / 10 : 2 * asked;
  return pause < 0.01 ? 0.01 : pause > 0.1 ? 0.1 : pause;
}

void wait_until(PGconn *connection, const char *expected, double seconds, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = write_text(format, arguments);
  va_end(arguments);
  double began = seconds_now();
  double until = give_up_at(seconds);
  const char *answer;
  for (;;) {
    double asked = seconds_now();
    answer = ask_text(connection, text);
    if (strcmp(answer, expected) == 0)
      break;
    cr_assert(seconds_now() < until, "after %.1f s still \"%s\" instead of \"%s\": %s", seconds, answer, expected,
              text);
    sleep_seconds(pause_after(asked - began, seconds_now() - asked));
  }
  free(text);
}

void wait_until_blocked(PGconn *watcher, PGconn *blocked, double seconds) {
  wait_until(watcher, "t", seconds, "select exists (select from pg_locks where pid = %d and not granted)",
             PQbackendPID(blocked));
}

/* By a child that outlives this process for as long as that takes: a test may end in many ways. */
void guard_directory(const char *dir, const char *script) {
  static int alive[2] = {-1, -1};
  cr_assert(alive[0] >= 0 || pipe2(alive, O_CLOEXEC) == 0);
  pid_t guard = fork();
  cr_assert(guard >= 0);
  if (guard > 0)
    return;
  setsid(); /* the runner kills its process group */
  int nowhere = open("/dev/null", O_RDWR);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    dup2(nowhere, fd);
  dup2(alive[0], STDERR_FILENO + 1);
  close_range(STDERR_FILENO + 2, ~0U, 0); /* the runner's pipes too */
  char end;
  while (read(STDERR_FILENO + 1, &end, 1) < 0 && errno == EINTR)
    ;
  execl(script, script, "remove", dir, (char *)NULL);
  _exit(127);
}

static void control_server(const char *command, const char *dir, const char *more, char *answer, size_t size) {
  char line[512];
  snprintf(line, sizeof line, "tests/support/pg.sh %s %s %s", command, dir, more != NULL ? more : "");
  FILE *pipe = popen(line, "r");
  cr_assert(pipe != NULL);
  size_t length = fread(answer, 1, size - 1, pipe);
  answer[length] = '\0';
  answer[strcspn(answer, "\n")] = '\0';
  cr_assert(pclose(pipe) == 0, "%s", line);
}

void own_server(const char *which, const char *settings) {
  bool is_source = strcmp(which, "source") == 0;
  char dir[128];
  char conninfo[512];
  /* beside the shared ones, where the server's user can enter */
  const char *shared = environment(is_source ? "ROWRELAY_TEST_SOURCE_DIR" : "ROWRELAY_TEST_TARGET_DIR");
  snprintf(dir, sizeof dir, "%.*s/%s-%d", (int)(strrchr(shared, '/') - shared), shared, which, (int)getpid());
  guard_directory(dir, "tests/support/pg.sh");
  char bin[160]; /* of the same version as the shared one */
  snprintf(bin, sizeof bin, "%s/bin", shared);
  char *version = realpath(bin, NULL);
  cr_assert(version != NULL, "%s", bin);
  setenv("PG_BIN", version, 1);
  free(version);
  control_server("start", dir, settings, conninfo, sizeof conninfo);
  unsetenv("PG_BIN");
  setenv(is_source ? "ROWRELAY_TEST_SOURCE" : "ROWRELAY_TEST_TARGET", conninfo, 1);
  setenv(is_source ? "ROWRELAY_TEST_SOURCE_DIR" : "ROWRELAY_TEST_TARGET_DIR", dir, 1);
}

enum { STANDBYS = 2 };
static struct {
  char dir[128];
  char conninfo[512];
} standbys[STANDBYS];
static int standby_count;
static int promoted_count;

const char *own_standby(void) {
  cr_assert(standby_count < STANDBYS);
  const char *primary = environment("ROWRELAY_TEST_SOURCE_DIR");
  char *dir = standbys[standby_count].dir;
  char *conninfo = standbys[standby_count].conninfo;
  snprintf(dir, sizeof standbys->dir, "%.120s-%c", primary, 'b' + standby_count);
  guard_directory(dir, "tests/support/pg.sh");
  control_server("standby", dir, primary, conninfo, sizeof standbys->conninfo);
  standby_count++;
  return conninfo;
}

void fail_over(void) {
  char unused[512];
  cr_assert(promoted_count < standby_count);
  control_server("kill", environment("ROWRELAY_TEST_SOURCE_DIR"), NULL, unused, sizeof unused);
  control_server("promote", standbys[promoted_count].dir, NULL, unused, sizeof unused);
  setenv("ROWRELAY_TEST_SOURCE", standbys[promoted_count].conninfo, 1);
  setenv("ROWRELAY_TEST_SOURCE_DIR", standbys[promoted_count].dir, 1);
  promoted_count++;
}

/* The database that check.sh has made, in which all is installed but what marks a database as born where it is. */
#define TEMPLATE "rowrelay_fresh"

static bool has_template(PGconn *server) {
  return ask_number(server, "select count(*) from pg_database where datname = '" TEMPLATE "'") == 1;
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = NULL;
  size_t size = 0;
  cr_assert(file != NULL && getdelim(&text, &size, '\0', file) > 0, "cannot read %s", path);
  fclose(file);
  return text;
}

/* What a new installation has of its own and a copy must not share with others, then the product's own last step. */
static void make_it_born_here(struct fixture *fixture) {
  char *birth = read_file("schema/server.sql");
  sql(fixture->at_source, "update rowrelay.source set id = default, log_mark = default, open_since = now()");
  sql(fixture->at_source, "%s", birth);
  free(birth);
}

/* By the program. Most of its time would go into the check of function bodies, which suite install has done. */
static void install_unchecked(struct fixture *fixture) {
  setenv("PGOPTIONS", "-c check_function_bodies=off", 1);
  rowrelay_ok(fixture, "init", NULL);
  unsetenv("PGOPTIONS");
}

void fixture_begin(struct fixture *fixture, const char *name) {
  bool is_copy = false;
  *fixture = (struct fixture){.at_source = NULL};
  snprintf(fixture->name, sizeof fixture->name, "test_%s", name);
  const char *servers[] = {environment("ROWRELAY_TEST_SOURCE"), environment("ROWRELAY_TEST_TARGET")};
  for (int i = 0; i < 2; i++) {
    PGconn *server = connect_to(servers[i], NULL);
    sql(server, "drop database if exists %s with (force)", fixture->name);
    is_copy = is_copy || (i == 0 && has_template(server));
    sql(server, "create database %s%s", fixture->name, i == 0 && is_copy ? " template " TEMPLATE : "");
    char *conninfo = i == 0 ? fixture->source : fixture->target;
    snprintf(conninfo, sizeof fixture->source, "host=%s port=%s user=%s dbname=%s", PQhost(server), PQport(server),
             PQuser(server), fixture->name);
    if (i == 1)
      snprintf(fixture->target_url, sizeof fixture->target_url, "postgresql:///%s?host=%s&port=%s&user=%s",
               fixture->name, PQhost(server), PQport(server), PQuser(server));
    PQfinish(server);
  }
  fixture->at_source = connect_to(fixture->source, NULL);
  fixture->at_target = connect_to(fixture->target, NULL);
  if (is_copy)
    make_it_born_here(fixture);
  else
    install_unchecked(fixture);
}

void fixture_end(struct fixture *fixture) {
  while (running_count > 0)
    stop_process(running[running_count - 1].process, SIGKILL);
  PQfinish(fixture->at_source);
  PQfinish(fixture->at_target);
  const char *servers[] = {environment("ROWRELAY_TEST_SOURCE"), environment("ROWRELAY_TEST_TARGET")};
  for (int i = 0; i < 2; i++) {
    PGconn *server = connect_to(servers[i], NULL);
    sql(server, "drop database if exists %s with (force)", fixture->name);
    PQfinish(server);
  }
}

/* ---- processes ------------------------------------------------------------------------------------------------- */

static int collect_words(const char **words, const struct fixture *fixture, const char *word, va_list more) {
  int count = 0;
  words[count++] = environment("ROWRELAY_BIN");
  words[count++] = "-d";
  words[count++] = fixture->source;
  for (; word != NULL && count < MOST_WORDS - 1; word = va_arg(more, const char *))
    words[count++] = word;
  words[count] = NULL;
  return count;
}

static pid_t spawn(const char *const *words, int out, int err) {
  pid_t parent = getpid();
  pid_t process = fork();
  cr_assert(process >= 0);
  if (process > 0)
    return process;
  /* A test that crashes or runs out of time must not leave anything behind. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(127);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execv(words[0], (char *const *)(uintptr_t)words);
  _exit(127);
}

static int status_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_and_read(const char *const *words, char *output, char *errors) {
  int out[2];
  int err[2];
  cr_assert(pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0);
  pid_t process = spawn(words, out[1], err[1]);
  close(out[1]);
  close(err[1]);
  struct pollfd polled[2] = {{.fd = out[0], .events = POLLIN}, {.fd = err[0], .events = POLLIN}};
  char *texts[2] = {output, errors};
  size_t lengths[2] = {0, 0};
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    poll(polled, 2, -1);
    for (int i = 0; i < 2; i++) {
      if (polled[i].fd < 0 || polled[i].revents == 0)
        continue;
      ssize_t got = read(polled[i].fd, texts[i] + lengths[i], OUTPUT_SIZE - 1 - lengths[i]);
      if (got > 0)
        lengths[i] += (size_t)got;
      else
        polled[i].fd = -1;
    }
  }
  output[lengths[0]] = '\0';
  errors[lengths[1]] = '\0';
  close(out[0]);
  close(err[0]);
  int status;
  waitpid(process, &status, 0);
  return status_of(status);
}

static char said[OUTPUT_SIZE];
static char complained[OUTPUT_SIZE];

int rowrelay(const struct fixture *fixture, const char **output, const char **errors, const char *word, ...) {
  const char *words[MOST_WORDS];
  va_list more;
  va_start(more, word);
  collect_words(words, fixture, word, more);
  va_end(more);
  int status = run_and_read(words, said, complained);
  if (output != NULL)
    *output = said;
  if (errors != NULL)
    *errors = complained;
  return status;
}

const char *rowrelay_ok(const struct fixture *fixture, const char *word, ...) {
  const char *words[MOST_WORDS];
  va_list more;
  va_start(more, word);
  collect_words(words, fixture, word, more);
  va_end(more);
  int status = run_and_read(words, said, complained);
  cr_assert(status == 0, "rowrelay %s: exit status %d\n%s%s", word, status, said, complained);
  return said;
}

static void show_log(const char *path) {
  FILE *log = fopen(path, "r");
  if (log == NULL)
    return;
  fprintf(stderr, "---- what rowrelay said:\n");
  for (int c; (c = fgetc(log)) != EOF;)
    fputc(c, stderr);
  fclose(log);
}

/* A test that fails ends here without having stopped what it runs. */
static void show_logs_left(void) {
  for (int i = 0; i < running_count; i++) {
    show_log(running[i].log);
    unlink(running[i].log);
  }
}

/* `words` end with NULL. */
static pid_t start_process(const char *const *words) {
  cr_assert(running_count < MOST_PROCESSES);
  if (logs_made == 0)
    atexit(show_logs_left);
  snprintf(running[running_count].log, sizeof running[running_count].log, "/tmp/rowrelay-test-%d-%d.log", (int)getpid(),
           logs_made++);
  int log = open(running[running_count].log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  cr_assert(log >= 0);
  pid_t process = spawn(words, log, log);
  close(log);
  running[running_count++].process = process;
  return process;
}

pid_t fixture_run(struct fixture *fixture, const char *word, ...) {
  const char *words[MOST_WORDS];
  va_list more;
  va_start(more, word);
  /* "run" stands before the words */
  const char *given[MOST_WORDS];
  int count = collect_words(given, fixture, word, more);
  va_end(more);
  for (int i = 0; i < 3; i++)
    words[i] = given[i];
  words[3] = "run";
  for (int i = 3; i <= count; i++)
    words[i + 1] = given[i];
  return start_process(words);
}

pid_t fixture_start(struct fixture *fixture, const char *word, ...) {
  const char *words[MOST_WORDS];
  va_list more;
  va_start(more, word);
  collect_words(words, fixture, word, more);
  va_end(more);
  return start_process(words);
}

static void forget(pid_t process) {
  for (int i = 0; i < running_count; i++)
    if (running[i].process == process) {
      if (getenv("LOG") != NULL)
        show_log(running[i].log);
      unlink(running[i].log);
      running[i] = running[--running_count];
      return;
    }
}

int stop_process(pid_t process, int signal_to_send) {
  int status = 0;
  kill(process, signal_to_send);
  cr_assert(waitpid(process, &status, 0) == process);
  forget(process);
  return status_of(status);
}

/* -1 when it is still running then. */
static int wait_until_moment(pid_t process, double until) {
  int status = 0;
  while (waitpid(process, &status, WNOHANG) == 0) {
    if (seconds_now() > until)
      return -1;
    sleep_seconds(0.01);
  }
  forget(process);
  return status_of(status);
}

int wait_process(pid_t process, double seconds) {
  return wait_until_moment(process, give_up_at(seconds));
}

bool still_runs(pid_t process, double seconds) {
  return wait_until_moment(process, seconds_now() + seconds) == -1;
}

const char *process_log(pid_t process) {
  const char *path = NULL;
  for (int i = 0; i < running_count; i++)
    if (running[i].process == process)
      path = running[i].log;
  cr_assert(path != NULL, "process %d is not known", (int)process);
  int log = open(path, O_RDONLY | O_CLOEXEC);
  cr_assert(log >= 0);
  ssize_t length = read(log, said, OUTPUT_SIZE - 1);
  close(log);
  said[length > 0 ? length : 0] = '\0';
  return said;
}

void wait_until_says(pid_t process, const char *words, double seconds) {
  double until = give_up_at(seconds);
  while (strstr(process_log(process), words) == NULL) {
    cr_assert(seconds_now() < until, "after %.1f s it has not said \"%s\" but:\n%s", seconds, words, said);
    sleep_seconds(0.01);
  }
}

/* ---- what tests ask most --------------------------------------------------------------------------------------- */

PGconn *lock_queued_lanes(struct fixture *fixture) {
  PGconn *holder = connect_to(fixture->source, NULL);
  sql(holder, "begin; select from rowrelay.lane where lane in (select lane from rowrelay.queue) for update");
  return holder;
}

void wait_until_empty(struct fixture *fixture, double seconds) {
  wait_until(fixture->at_source, "0", seconds, "select count(*) from rowrelay.queue");
}

void wait_until_nothing_waits(struct fixture *fixture, double seconds) {
  wait_until(fixture->at_source, "0", seconds,
             "select (select count(*) from rowrelay.queue) + (select count(*) from rowrelay.hold)");
}

void same_rows(struct fixture *fixture, const char *source_table, const char *target_table, const char *key) {
  static const char DIGEST[] =
      "select concat(count(*), ' rows ', md5(string_agg(t::text, E'\\n' order by %s, t::text))) from %s as t";
  PGconn *sides[] = {fixture->at_source, fixture->at_target};
  const char *tables[] = {source_table, target_table};
  const char *digests[2];
  for (int i = 0; i < 2; i++) {
    sql(sides[i], "set timezone to 'UTC'; set extra_float_digits to 1");
    digests[i] = ask(sides[i], DIGEST, key, tables[i]);
  }
  cr_assert(strcmp(digests[0], digests[1]) == 0, "%s has %s, %s has %s", source_table, digests[0], target_table,
            digests[1]);
}

void cut_off_from_source(struct fixture *fixture) {
  sql(fixture->at_source, "select pg_terminate_backend(pid) from pg_stat_activity "
                          "where datname = current_database() and application_name = 'rowrelay'");
  wait_until(fixture->at_source, "0", 5, LOCKED_LANES);
}

static void control(const char *which, const char *command, const char *mode) {
  char unused[512];
  const char *dir = environment(strcmp(which, "source") == 0 ? "ROWRELAY_TEST_SOURCE_DIR" : "ROWRELAY_TEST_TARGET_DIR");
  control_server(command, dir, mode, unused, sizeof unused);
}

void restart_server(const char *which, const char *mode) {
  control(which, "restart", mode);
}

void stop_server(const char *which, const char *mode) {
  control(which, "stop", mode);
}

void start_server(const char *which) {
  control(which, "start", NULL);
}

void in_source_directory(const char *command) {
  char line[512];
  snprintf(line, sizeof line, "cd '%s' && %s", environment("ROWRELAY_TEST_SOURCE_DIR"), command);
  cr_assert(system(line) == 0, "%s", line);
}
