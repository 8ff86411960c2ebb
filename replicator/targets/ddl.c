#include "targets/ddl.h"

/*
 * Held by a process that creates something at a target, until its transaction ends, so that two do not fail because
 * both create it. 'rowr' in ASCII. Whoever may log in can hold it, too; so nobody waits for it longer than a second,
 * and who fails for want of it tries again.
 */
#define LOCK_CLASS "1919907698"
#define LOCK_NUMBER "-1"

static const struct query BEGIN = {.text = "begin"};
static const struct query COMMIT = {.text = "commit"};
static const struct query LOCK = {
    .text = "select true from pg_catalog.generate_series(1, 50)"
            " where pg_catalog.pg_try_advisory_xact_lock($1::integer, $2::integer) or pg_catalog.pg_sleep(0.02) is null"
            " limit 1"};

bool ddl_run(struct pgconn *connection, bool in_transaction, const struct query *query, struct values values,
             struct error *error) {
  PGresult *script = NULL;
  bool ok = (in_transaction || pgconn_script(connection, "begin", error)) &&
            pgconn_run(connection, &LOCK, VALUES(LOCK_CLASS, LOCK_NUMBER), NULL, error) &&
            pgconn_run(connection, query, values, &script, error) &&
            pgconn_script(connection, PQgetvalue(script, 0, 0), error) &&
            (in_transaction || pgconn_script(connection, "commit", error));
  PQclear(script);
  if (!ok && !in_transaction)
    pgconn_rollback(connection);
  return ok;
}

bool ddl_create(struct pgconn *connection, const struct query *script, struct error *error) {
  const struct query once = {.text = script->text};
  pgconn_pipeline_begin(connection);
  pgconn_pipeline_add(connection, &BEGIN, NO_VALUES);
  pgconn_pipeline_add(connection, &LOCK, VALUES(LOCK_CLASS, LOCK_NUMBER));
  pgconn_pipeline_add(connection, &once, NO_VALUES);
  pgconn_pipeline_add(connection, &COMMIT, NO_VALUES);
  if (pgconn_pipeline_run(connection, NULL, 4, error))
    return true;
  pgconn_rollback(connection);
  return false;
}
