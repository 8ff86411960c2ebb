#include "targets/pg_session.h"

#include "postgres/number.h"
#include "postgres/session.h"
#include "queries.h"
#include "targets/fence.h"

/* Milliseconds beyond push_timeout: the push ends by itself before the connection is dropped. */
#define STALL_MARGIN 5000

bool session_set_origin(struct pgconn *connection, const char *origin, bool in_transaction, struct error *error) {
  return pgconn_run(connection, &QUERY_target_origin, VALUES(origin, in_transaction ? "true" : "false"), NULL, error);
}

bool session_open(struct pgconn **connection, const struct settings *settings, const char *url, struct error *error) {
  struct pgconn *opened;
  if (!pooler_open(&opened, url, SESSION_TARGET, POOLER_OPEN_TIMEOUT, error))
    return false;
  /* A server that is busy with one row does not read the next one; that is no failure for as long as a push may take.
   */
  pgconn_allow_stall(opened, settings->push_timeout + STALL_MARGIN);
  pgconn_set_deadline(opened, settings->push_timeout);
  if (pgconn_run(opened, &QUERY_target_session, VALUES(number(settings->push_timeout).text), NULL, error) &&
      fence_create(opened, error) && session_set_origin(opened, settings->source_id, false, error)) {
    *connection = opened;
    return true;
  }
  pgconn_close(opened);
  return false;
}
