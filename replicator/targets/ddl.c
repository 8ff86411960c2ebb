#include "targets/ddl.h"

bool ddl_run(struct pgconn *connection, bool in_transaction, const struct query *query, struct values values,
             struct error *error) {
  static const struct query LOCK = {.name = NULL, .text = "select pg_advisory_xact_lock(1919907698, -1)"};
  PGresult *script = NULL;
  bool ok = (in_transaction || pgconn_script(connection, "begin", error)) &&
            pgconn_run(connection, &LOCK, NO_VALUES, NULL, error) &&
            pgconn_run(connection, query, values, &script, error) &&
            pgconn_script(connection, PQgetvalue(script, 0, 0), error) &&
            (in_transaction || pgconn_script(connection, "commit", error));
  PQclear(script);
  if (!ok && !in_transaction)
    pgconn_rollback(connection);
  return ok;
}
