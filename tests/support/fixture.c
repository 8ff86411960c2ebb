#include "fixture.h"

#include <criterion/criterion.h>
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

/* ---- time ------------------------------------------------------------------------------------------------------ */

double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void sleep_seconds(double seconds) {
  struct timespec pause = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&pause, NULL);
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

void wait_until(PGconn *connection, const char *expected, double seconds, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = write_text(format, arguments);
  va_end(arguments);
  double until = seconds_now() + seconds;
  const char *answer;
  for (;;) {
    answer = ask_text(connection, text);
    if (strcmp(answer, expected) == 0)
      break;
    cr_assert(seconds_now() < until, "after %.1f s still \"%s\" instead of \"%s\": %s", seconds, answer, expected, text);
    sleep_seconds(0.01);
  }
  free(text);
}

void wait_until_blocked(PGconn *watcher, PGconn *blocked, double seconds) {
  wait_until(watcher, "t", seconds, "select exists (select from pg_locks where pid = %d and not granted)",
             PQbackendPID(blocked));
}

void fixture_begin(struct fixture *fixture, const char *name) {
  *fixture = (struct fixture){.at_source = NULL};
  snprintf(fixture->name, sizeof fixture->name, "test_%s", name);
  const char *servers[] = {environment("ROWRELAY_TEST_SOURCE"), environment("ROWRELAY_TEST_TARGET")};
  for (int i = 0; i < 2; i++) {
    PGconn *server = connect_to(servers[i], NULL);
    sql(server, "drop database if exists %s with (force)", fixture->name);
    sql(server, "create database %s", fixture->name);
    char *conninfo = i == 0 ? fixture->source : fixture->target;
    snprintf(conninfo, sizeof fixture->source, "host=%s port=%s user=%s dbname=%s", PQhost(server), PQport(server),
             PQuser(server), fixture->name);
    if (i == 1)
      snprintf(fixture->target_url, sizeof fixture->target_url, "postgresql:///%s?host=%s&port=%s&user=%s", fixture->name,
               PQhost(server), PQport(server), PQuser(server));
    PQfinish(server);
  }
  fixture->at_source = connect_to(fixture->source, NULL);
  fixture->at_target = connect_to(fixture->target, NULL);
  rowrelay_ok(fixture, "init", NULL);
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
  cr_assert(running_count < MOST_PROCESSES);
  snprintf(running[running_count].log, sizeof running[running_count].log, "/tmp/rowrelay-test-%d-%d.log", (int)getpid(),
           running_count);
  int log = open(running[running_count].log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  cr_assert(log >= 0);
  pid_t process = spawn(words, log, log);
  close(log);
  running[running_count++].process = process;
  return process;
}

static void forget(pid_t process) {
  for (int i = 0; i < running_count; i++)
    if (running[i].process == process) {
      if (getenv("LOG") != NULL) {
        char command[128];
        snprintf(command, sizeof command, "cat %s >&2", running[i].log);
        if (system(command) != 0)
          fprintf(stderr, "no log\n");
      }
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

int wait_process(pid_t process, double seconds) {
  double until = seconds_now() + seconds;
  int status = 0;
  while (waitpid(process, &status, WNOHANG) == 0) {
    if (seconds_now() > until)
      return -1;
    sleep_seconds(0.01);
  }
  forget(process);
  return status_of(status);
}

/* ---- what tests ask most --------------------------------------------------------------------------------------- */

void wait_until_empty(struct fixture *fixture, double seconds) {
  wait_until(fixture->at_source, "0", seconds, "select count(*) from rowrelay.queue");
}

void same_rows(struct fixture *fixture, const char *source_table, const char *target_table, const char *key) {
  static const char DIGEST[] = "select concat(count(*), ' rows ', md5(string_agg(t::text, E'\\n' order by %s, t::text))) from %s as t";
  PGconn *sides[] = {fixture->at_source, fixture->at_target};
  const char *tables[] = {source_table, target_table};
  const char *digests[2];
  for (int i = 0; i < 2; i++) {
    sql(sides[i], "set timezone to 'UTC'; set extra_float_digits to 1");
    digests[i] = ask(sides[i], DIGEST, key, tables[i]);
  }
  cr_assert(strcmp(digests[0], digests[1]) == 0, "%s has %s, %s has %s", source_table, digests[0], target_table, digests[1]);
}

void restart_server(const char *which, const char *mode) {
  char variable[64];
  snprintf(variable, sizeof variable, "ROWRELAY_TEST_%s_DIR", strcmp(which, "source") == 0 ? "SOURCE" : "TARGET");
  char command[512];
  snprintf(command, sizeof command, "tests/support/pg.sh restart %s %s >/dev/null", environment(variable), mode);
  cr_assert(system(command) == 0, "%s", command);
}
