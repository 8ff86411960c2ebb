#include "stage.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STATEMENT 4096

double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void pause_for(double seconds) {
  struct timespec time = {.tv_sec = (time_t)seconds};
  time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
  while (nanosleep(&time, &time) != 0)
    continue;
}

static void speak(const char *format, va_list values) {
  char line[1024];
  struct timespec time;
  struct tm parts;
  clock_gettime(CLOCK_REALTIME, &time);
  gmtime_r(&time.tv_sec, &parts);
  int length = snprintf(line, sizeof line, "%02d:%02d:%02d.%03ld ", parts.tm_hour, parts.tm_min, parts.tm_sec,
                        time.tv_nsec / 1000000);
  vsnprintf(line + length, sizeof line - (size_t)length - 1, format, values);
  strcat(line, "\n");
  /* in one piece: many processes speak */
  if (write(STDOUT_FILENO, line, strlen(line)) < 0)
    _exit(2);
}

void say(const char *format, ...) {
  va_list values;
  va_start(values, format);
  speak(format, values);
  va_end(values);
}

void give_up(const char *format, ...) {
  va_list values;
  va_start(values, format);
  speak(format, values);
  va_end(values);
  _exit(2);
}

pid_t split(void) {
  pid_t parent = getpid();
  pid_t child = fork();
  if (child < 0)
    give_up("cannot fork");
  if (child > 0)
    return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(0);
  return 0;
}

int run_program(const struct stage *stage, const char *log, const char *const words[]) {
  char path[512];
  int status = 0;
  snprintf(path, sizeof path, "%s/%s.log", stage->dir, log);
  pid_t child = split();
  if (child == 0) {
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    execv(words[0], (char *const *)words);
    _exit(127);
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void ignore_notice(void *unused, const char *message) {
  (void)unused;
  (void)message;
}

PGconn *stage_try(const struct stage *stage, const char *server, const char *database) {
  char conninfo[512];
  snprintf(conninfo, sizeof conninfo,
           "host=%s/%s port=5432 user=postgres dbname=%s connect_timeout=5 application_name=chaos", stage->dir, server,
           database);
  PGconn *connection = PQconnectdb(conninfo);
  if (PQstatus(connection) == CONNECTION_OK) {
    PQsetNoticeProcessor(connection, ignore_notice, NULL);
    return connection;
  }
  PQfinish(connection);
  return NULL;
}

PGconn *stage_connect(const struct stage *stage, const char *server, const char *database) {
  for (double until = now() + 120; now() < until; pause_for(0.05)) {
    PGconn *connection = stage_try(stage, server, database);
    if (connection != NULL)
      return connection;
  }
  give_up("cannot connect to database %s of the %s", database, server);
}

static PGresult *execute(PGconn *connection, const char *format, va_list values) {
  char statement[STATEMENT];
  int length = vsnprintf(statement, sizeof statement, format, values);
  if (length < 0 || length >= STATEMENT)
    give_up("a statement is too long: %s", format);
  return PQexec(connection, statement);
}

static bool is_good(const PGresult *result) {
  ExecStatusType status = PQresultStatus(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

bool try_sql(PGconn *connection, const char *format, ...) {
  va_list values;
  va_start(values, format);
  PGresult *result = execute(connection, format, values);
  va_end(values);
  bool ok = is_good(result);
  PQclear(result);
  return ok;
}

void sql(PGconn *connection, const char *format, ...) {
  va_list values;
  va_start(values, format);
  PGresult *result = execute(connection, format, values);
  va_end(values);
  if (!is_good(result))
    give_up("%s: %s", PQerrorMessage(connection), format);
  PQclear(result);
}

int64_t ask(PGconn *connection, const char *format, ...) {
  va_list values;
  va_start(values, format);
  PGresult *result = execute(connection, format, values);
  va_end(values);
  int64_t answer = -1;
  if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0)
    answer = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
  PQclear(result);
  return answer;
}

FILE *stage_file(const struct stage *stage, const char *name, const char *mode) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", stage->dir, name);
  FILE *file = fopen(path, mode);
  if (file == NULL)
    give_up("cannot open %s", path);
  return file;
}
