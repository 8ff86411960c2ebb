/*
 * No pooler says in which mode it works. But a server tells each client the number of its process when it connects, and
 * poolers tell a number of their own, since who is behind it may change: so without a pooler it costs one question to
 * know. With one, a second connection takes sessions and gives them back, and the first, unless it has one of its own,
 * will get different ones.
 */
#include "postgres/session.h"

#include "common/clock.h"
#include "postgres/result.h"
#include "queries.h"

/* Others may be using the pool, and so a session may come back by chance. */
#define ROUNDS 3

static bool ask_pid(struct pgconn *connection, int *pid, struct error *error) {
  /* A session that is given away must not keep a prepared statement. */
  const struct query query = QUERY_ONCE(QUERY_pooler_pid);
  PGresult *reply = NULL;
  if (!pgconn_run(connection, &query, NO_VALUES, &reply, error))
    return false;
  *pid = result_int(reply, 0, 0);
  PQclear(reply);
  return true;
}

static bool refuse(struct pgconn *connection, struct error *error) {
  error_set(error, FAILURE_USAGE, "%s is a transaction pooler", pgconn_describe(connection));
  error_detail(error, "rowrelay needs one session for as long as it is connected: it listens, holds locks and changes "
                      "settings there.");
  return error_hint(error, "connect to the server directly, or to a pool with pool_mode = session");
}

/*
 * `holder` has a session for the time of a transaction. Without sessions of their own the other connection must have
 * another one meanwhile, and next it gets the one that was given back last, or, as poolers go round, some one else.
 */
static bool compare(struct pgconn *connection, int pid, struct pgconn *holder, struct error *error) {
  for (int round = 0; round < ROUNDS; round++) {
    int held = 0;
    int meanwhile = 0;
    int next = 0;
    int after_that = 0;
    if (!pgconn_script(holder, "begin", error) || !ask_pid(holder, &held, error) ||
        !ask_pid(connection, &meanwhile, error) || !pgconn_script(holder, "rollback", error) ||
        !ask_pid(connection, &next, error) || !ask_pid(connection, &after_that, error))
      return false;
    if (held == pid || meanwhile != pid || next != pid || after_that != pid)
      return refuse(connection, error);
  }
  return true;
}

static void bound(struct pgconn *connection, int64_t deadline) {
  int64_t left = deadline - clock_now();
  pgconn_set_deadline(connection, left > 0 ? left : 1);
}

static bool check(struct pgconn *connection, const char *conninfo, int64_t deadline, struct error *error) {
  int pid = 0;
  if (!ask_pid(connection, &pid, error))
    return false;
  if (pid == pgconn_told_pid(connection))
    return true;
  struct pgconn *holder;
  if (!pgconn_open(&holder, conninfo, deadline, error))
    return false;
  bound(holder, deadline);
  bool ok = compare(connection, pid, holder, error);
  if (!ok && error->kind == FAILURE_RETRY)
    error_hint(error,
               "this is a pooler: set pool_mode = session, and allow as many sessions as rowrelay opens connections");
  pgconn_close(holder);
  return ok;
}

bool pooler_set(struct pgconn *connection, enum session_purpose purpose, struct error *error) {
  static const char *const NAMES[] = {[SESSION_WORK] = "work",
                                      [SESSION_COMMAND] = "command",
                                      [SESSION_COPY] = "copy",
                                      [SESSION_VERIFY] = "verify",
                                      [SESSION_TARGET] = "target"};
  const struct query query = QUERY_ONCE(QUERY_session_settings);
  return pgconn_run(connection, &query, VALUES(NAMES[purpose]), NULL, error);
}

bool pooler_open(struct pgconn **connection, const char *conninfo, enum session_purpose purpose, int64_t timeout,
                 struct error *error) {
  struct pgconn *opened;
  int64_t deadline = clock_now() + timeout;
  if (!pgconn_open(&opened, conninfo, deadline, error))
    return false;
  bound(opened, deadline);
  if (!check(opened, conninfo, deadline, error) || !pooler_set(opened, purpose, error)) {
    pgconn_close(opened);
    return false;
  }
  pgconn_set_deadline(opened, 0);
  *connection = opened;
  return true;
}
