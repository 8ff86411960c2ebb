#include "targets/ddl.h"

#include "queries.h"

/*
 * Held by a process that creates something at a target, until its transaction ends, so that two do not fail because
 * both create it. 'rowr' in ASCII. Whoever may log in can hold it, too; so nobody waits for it longer than a second,
 * and who fails for want of it tries again.
 */
#define LOCK_CLASS "1919907698"
#define LOCK_NUMBER "-1"

static const struct query LOCK = {
    .text = "select true from pg_catalog.generate_series(1, 50)"
            " where pg_catalog.pg_try_advisory_xact_lock($1::integer, $2::integer) or pg_catalog.pg_sleep(0.02) is null"
            " limit 1"};

bool ddl_check(struct pgconn *connection, struct error *error) {
  return pgconn_script(connection, "set rowrelay.at_target = on", error) &&
         pgconn_script(connection, QUERY_check_published.text, error);
}

bool ddl_run(struct pgconn *connection, bool in_transaction, const struct query *query, struct values values,
             struct error *error) {
  PGresult *reply = NULL;
  const char *script = "";
  bool ok = (in_transaction || pgconn_script(connection, "begin", error)) &&
            pgconn_run(connection, &LOCK, VALUES(LOCK_CLASS, LOCK_NUMBER), NULL, error) &&
            pgconn_run(connection, query, values, &reply, error);
  if (ok)
    script = PQgetvalue(reply, 0, 0);
  ok = ok && (script[0] == '\0' || (ddl_check(connection, error) && pgconn_script(connection, script, error))) &&
       (in_transaction || pgconn_script(connection, "commit", error));
  PQclear(reply);
  if (!ok && !in_transaction)
    pgconn_rollback(connection);
  return ok;
}
