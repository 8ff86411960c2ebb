#include "targets/likeness.h"

#include <string.h>

#include "common/log.h"
#include "common/shell.h"
#include "postgres/result.h"
#include "queries.h"
#include "targets/ddl.h"

#define NOT_NULL_VIOLATION "23502"
#define CHECK_VIOLATION "23514"
#define UNDEFINED_OBJECT "42704"
#define INVALID_TEXT "22P02" /* such as a label that an enum lacks */

/* What the target did not accept, and what was added, is told once, by the process that has created it. */
static bool tell_left_out(struct pgconn *connection, const struct route *route, struct error *error) {
  PGresult *reply = NULL;
  if (!pgconn_run(connection, &QUERY_mirror_left_out, NO_VALUES, &reply, error))
    return false;
  for (int row = 0; row < PQntuples(reply); row++)
    log_message(result_bool(reply, row, LEFT_OUT_IS_USUAL) ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, "mirror %s %s: %s",
                route->into_table, PQgetvalue(reply, row, LEFT_OUT_WHAT), PQgetvalue(reply, row, LEFT_OUT_REASON));
  PQclear(reply);
  return true;
}

/*
 * Committed before anything uses them, as PostgreSQL wants it; where the source's own transaction pushes, its enums are
 * these. *added: whether any was.
 */
static bool add_labels(struct pgconn *connection, bool in_transaction, const struct route *route, bool *added,
                       struct error *error) {
  PGresult *reply = NULL;
  *added = false;
  if (route->types == NULL || in_transaction)
    return true;
  if (!pgconn_run(connection, &QUERY_mirror_labels, VALUES(route->types), &reply, error))
    return false;
  *added = PQgetvalue(reply, 0, 0)[0] != '\0';
  PQclear(reply);
  if (!*added)
    return true;
  if (!ddl_run(connection, false, &QUERY_mirror_labels, VALUES(route->types), error)) {
    *added = false;
    return false;
  }
  log_message(LOG_LEVEL_INFO, "mirror %s: added the labels that its enums lacked", route->into_table);
  return true;
}

bool likeness_create(struct pgconn *connection, bool in_transaction, const struct route *route, struct error *error) {
  bool added;
  struct error why;
  /* where it may not alter the type, rows that need the label are refused, and nothing else */
  if (!add_labels(connection, in_transaction, route, &added, &why) && why.kind == FAILURE_RETRY) {
    *error = why;
    return false;
  }
  struct values values = VALUES(route->into_table, route->columns, route->key_columns, route->types,
                                route->document ? NULL : route->parts);
  if (ddl_run(connection, in_transaction, &QUERY_mirror_create, values, error))
    return tell_left_out(connection, route, error);
  if (strcmp(error->sqlstate, UNDEFINED_OBJECT) == 0 && error->hint[0] == '\0')
    error_hint(error, "create in the target what table %s needs, such as the extension that has the type",
               route->into_table);
  return false;
}

static bool lacks_label(const struct error *error) {
  return strcmp(error->sqlstate, INVALID_TEXT) == 0;
}

bool likeness_may_be_why(const struct push *push, const struct error *error) {
  bool label = lacks_label(error);
  if (!label && strcmp(error->sqlstate, NOT_NULL_VIOLATION) != 0 && strcmp(error->sqlstate, CHECK_VIOLATION) != 0)
    return false;
  for (size_t i = 0; i < push->count; i++)
    if ((label ? push->changes[i]->route->types : push->changes[i]->route->parts) != NULL)
      return true;
  return false;
}

static const char *text_or_null(const char *text) {
  return text[0] != '\0' ? text : NULL;
}

/* Of no column and no constraint: no partition takes the row. */
static bool lacks_partition(const struct pgconn_violation *violation, const struct error *error) {
  return strcmp(error->sqlstate, CHECK_VIOLATION) == 0 && violation->column[0] == '\0' &&
         violation->constraint[0] == '\0';
}

bool likeness_may_be_outdated(struct pgconn *connection, const struct push *push, const struct error *error) {
  return !push->routes_are_new && (lacks_label(error) || lacks_partition(pgconn_last_violation(connection), error));
}

/* Where it may not alter the type, the row is refused for what it is, with this as a hint. */
static bool give_labels(struct pgconn *connection, bool in_transaction, const struct route *route, bool *gave_way,
                        struct error *error) {
  struct error why;
  if (add_labels(connection, in_transaction, route, gave_way, &why))
    return true;
  if (why.kind == FAILURE_RETRY)
    *error = why;
  else if (error->hint[0] == '\0')
    error_hint(error, "no label can be added there: %s", why.message);
  return why.kind != FAILURE_RETRY;
}

/* Only if the violated constraint is of this route's mirror. */
static bool relax(struct pgconn *connection, bool in_transaction, const struct route *route, bool *gave_way,
                  struct error *error) {
  const struct pgconn_violation *violation = pgconn_last_violation(connection);
  PGresult *reply = NULL;
  if (!pgconn_run(connection, &QUERY_mirror_relax,
                  VALUES(route->into_table, violation->schema, violation->table, text_or_null(violation->column),
                         text_or_null(violation->constraint), route->parts, route->relation),
                  &reply, error))
    return false;
  bool ok = true;
  if (PQntuples(reply) > 0) {
    ok = (in_transaction || pgconn_script(connection, "begin", error)) &&
         pgconn_script(connection, PQgetvalue(reply, 0, RELAX_STATEMENT), error) &&
         (in_transaction || pgconn_script(connection, "commit", error)) && tell_left_out(connection, route, error);
    if (ok)
      log_message(LOG_LEVEL_WARNING, "mirror %s: %s", route->into_table, PQgetvalue(reply, 0, RELAX_WHAT));
    *gave_way = ok;
  }
  PQclear(reply);
  return ok;
}

bool likeness_give_way(struct pgconn *connection, bool in_transaction, const struct push *push, bool *gave_way,
                       struct error *error) {
  const struct route *last = NULL;
  bool label = lacks_label(error);
  *gave_way = false;
  for (size_t i = 0; i < push->count && !*gave_way; i++) {
    const struct route *route = push->changes[i]->route;
    if (route == last || (!label && route->parts == NULL))
      continue;
    last = route;
    if (label ? !give_labels(connection, in_transaction, route, gave_way, error)
              : !relax(connection, in_transaction, route, gave_way, error))
      return false;
  }
  return true;
}
