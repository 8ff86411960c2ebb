#include "targets/coarse.h"

#include "postgres/result.h"
#include "queries.h"

bool coarse_check(struct pgconn *connection, const struct route *route, struct error *error) {
  PGresult *reply = NULL;
  if (!route->create_table || route->columns == NULL || route->document)
    return true;
  if (!pgconn_run(connection, &QUERY_coarse_columns, VALUES(route->into_table, route->columns, route->key_columns),
                  &reply, error))
    return false;
  bool ok = PQntuples(reply) == 0;
  if (!ok) {
    const char *remedy = result_text(reply, 0, COARSE_REMEDY);
    error_set(error, FAILURE_TABLE, "%s", PQgetvalue(reply, 0, COARSE_PROBLEM));
    if (remedy != NULL)
      error_hint(error, "run there: %s", remedy);
    else
      error_hint(error, "alter the type there as it was altered at the source");
  }
  PQclear(reply);
  return ok;
}
