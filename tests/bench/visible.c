/*
 * visible: how long after its commit a change is visible in another database.
 *
 *   visible SOURCE TARGET WRITE ASK COUNT MILLISECONDS
 *
 * Runs the statement WRITE on SOURCE for one row after another, each in a transaction of its own, at random times that
 * are MILLISECONDS apart on average, and after each commit runs the query ASK on TARGET until it gives what WRITE gave.
 * Both are about row $1::bigint, of 1 to 1000, and give one number; in ASK, $2::bigint is what WRITE gave. Prints the
 * median, the 95th and the 99th percentile of COUNT delays, in ms, on one line. The first tenth is a warm-up and left
 * out.
 *
 * The clock starts when the answer to COMMIT is here, and the questions are ASK_EVERY apart, so that asking leaves the
 * processors to those who are measured.
 */
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ASK_EVERY 100000 /* ns */
#define PATIENCE 30.0    /* s */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void pause_for(double seconds) {
  struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&t, NULL);
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

/* A connection with statement "s" prepared; NULL after an error. */
static PGconn *open_with(const char *conninfo, const char *statement) {
  PGconn *connection = PQconnectdb(conninfo);
  bool ok = PQstatus(connection) == CONNECTION_OK;
  if (ok) {
    PGresult *reply = PQprepare(connection, "s", statement, 0, NULL);
    ok = PQresultStatus(reply) == PGRES_COMMAND_OK;
    PQclear(reply);
  }
  if (ok)
    return connection;
  fprintf(stderr, "visible: %s", PQerrorMessage(connection));
  PQfinish(connection);
  return NULL;
}

/* Runs statement "s" with these values; *number is what it gives, or -1 where that is nothing. */
static bool run(PGconn *connection, int count, const char *const *values, long *number) {
  PGresult *reply = PQexecPrepared(connection, "s", count, values, NULL, NULL, 0);
  bool ok = PQresultStatus(reply) == PGRES_TUPLES_OK;
  if (!ok)
    fprintf(stderr, "visible: %s", PQerrorMessage(connection));
  else
    *number = PQntuples(reply) == 1 ? atol(PQgetvalue(reply, 0, 0)) : -1;
  PQclear(reply);
  return ok;
}

/* Changes row i and waits for it; the delay in ms, or a negative number after an error. */
static double delay_of(PGconn *source, PGconn *target, int i) {
  char id[16];
  char text[24];
  const char *values[] = {id, text};
  long written;
  snprintf(id, sizeof id, "%d", i % 1000 + 1);
  if (!run(source, 1, values, &written))
    return -1;
  snprintf(text, sizeof text, "%ld", written);
  double committed = now();
  for (;;) {
    long seen;
    if (!run(target, 2, values, &seen))
      return -1;
    double delay = now() - committed;
    if (seen == written)
      return delay * 1000;
    if (delay > PATIENCE) {
      fprintf(stderr, "visible: a change is not there after %.0f s\n", delay);
      return -1;
    }
    pause_for(ASK_EVERY / 1e9);
  }
}

int main(int argc, char **argv) {
  if (argc != 7) {
    fprintf(stderr, "usage: visible SOURCE TARGET WRITE ASK COUNT MILLISECONDS\n");
    return 2;
  }
  int warm_up = atoi(argv[5]) / 10;
  int count = atoi(argv[5]);
  double interval = atof(argv[6]) / 1000;
  int status = 1;
  PGconn *target = NULL;
  PGconn *source = open_with(argv[1], argv[3]);
  double *delays = calloc((size_t)count + 1, sizeof *delays);
  if (source == NULL || delays == NULL)
    goto done;
  target = open_with(argv[2], argv[4]);
  if (target == NULL)
    goto done;

  srandom(1);
  for (int i = 0; i < warm_up + count; i++) {
    double due = now() + interval * 2 * (double)random() / RAND_MAX;
    double delay = delay_of(source, target, i);
    if (delay < 0)
      goto done;
    if (i >= warm_up)
      delays[i - warm_up] = delay;
    if (due > now())
      pause_for(due - now());
  }
  qsort(delays, (size_t)count, sizeof *delays, compare);
  printf("%.3f %.3f %.3f\n", delays[count / 2], delays[count * 95 / 100], delays[count * 99 / 100]);
  status = 0;

done:
  free(delays);
  PQfinish(target);
  PQfinish(source);
  return status;
}
