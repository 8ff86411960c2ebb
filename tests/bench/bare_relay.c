/*
 * bare_relay: the floor of a relay that claims from a queue with locks, pushes, and commits.
 *
 *   bare_relay SOURCE TARGET TABLE
 *
 * Waits for NOTIFY bare_relay on SOURCE; then takes all rows of bench.queue with what bench.log says of them, in one
 * round trip, writes them into TABLE on TARGET in another, and commits. Nothing is ever wrong for it: no lanes, no
 * order among several processes, no fence, no receipt, no hold, no refusal. It runs until it is killed.
 */
#include <libpq-fe.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>

static const char TAKE[] =
    "begin;"
    "with taken as (delete from bench.queue q where q.ctid = any (array("
    "    select o.ctid from bench.queue o order by o.lane, o.change_id limit 10000 for update skip locked))"
    "  returning q.change_id, q.day)"
    "select coalesce(json_agg(l.new_row order by l.id), '[]') from taken t"
    "  join bench.log l on l.id = t.change_id and l.day = t.day";

/* The last result of these statements, or NULL after an error. */
static PGresult *run(PGconn *connection, const char *statements) {
  PGresult *reply = PQexec(connection, statements);
  ExecStatusType status = PQresultStatus(reply);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
    return reply;
  fprintf(stderr, "bare_relay: %s", PQerrorMessage(connection));
  PQclear(reply);
  return NULL;
}

/* Whether it worked; *count is how many bytes of JSON were pushed. */
static bool relay(PGconn *source, PGconn *target, int *count) {
  bool ok = false;
  PGresult *done = NULL;
  PGresult *rows = run(source, TAKE);
  if (rows == NULL)
    return false;
  const char *values[] = {PQgetvalue(rows, 0, 0)};
  *count = PQgetlength(rows, 0, 0);
  if (*count > 2) {
    PGresult *pushed = PQexecPrepared(target, "push", 1, values, NULL, NULL, 0);
    ok = PQresultStatus(pushed) == PGRES_COMMAND_OK;
    if (!ok)
      fprintf(stderr, "bare_relay: %s", PQerrorMessage(target));
    PQclear(pushed);
  }
  done = run(source, "commit");
  ok = (ok || *count <= 2) && done != NULL;
  PQclear(done);
  PQclear(rows);
  return ok;
}

static bool wait_for_notify(PGconn *source) {
  PGnotify *notify = NULL;
  struct pollfd socket = {.fd = PQsocket(source), .events = POLLIN};
  while (PQconsumeInput(source) && (notify = PQnotifies(source)) == NULL)
    poll(&socket, 1, -1);
  bool ok = notify != NULL;
  while (notify != NULL) {
    PQfreemem(notify);
    notify = PQnotifies(source);
  }
  return ok;
}

static bool prepare_push(PGconn *target, const char *table) {
  char statement[1024];
  snprintf(statement, sizeof statement,
           "insert into %s select * from json_populate_recordset(null::%s, $1) on conflict (id) do update set"
           " quantity = excluded.quantity, price = excluded.price, changed_at = excluded.changed_at",
           table, table);
  PGresult *reply = PQprepare(target, "push", statement, 0, NULL);
  bool ok = PQresultStatus(reply) == PGRES_COMMAND_OK;
  if (!ok)
    fprintf(stderr, "bare_relay: %s", PQerrorMessage(target));
  PQclear(reply);
  return ok;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: bare_relay SOURCE TARGET TABLE\n");
    return 2;
  }
  PGconn *source = PQconnectdb(argv[1]);
  PGconn *target = PQconnectdb(argv[2]);
  PGresult *listening = run(source, "listen bare_relay");
  PGresult *set = run(target, "set synchronous_commit = off");
  bool ok = listening != NULL && set != NULL && prepare_push(target, argv[3]);
  PQclear(listening);
  PQclear(set);
  while (ok) {
    int count = 0;
    do
      ok = relay(source, target, &count);
    while (ok && count > 2);
    ok = ok && wait_for_notify(source);
  }
  PQfinish(target);
  PQfinish(source);
  return 1;
}
