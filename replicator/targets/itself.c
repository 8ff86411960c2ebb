#include "targets/itself.h"

#include <stdlib.h>

#include "common/shell.h"
#include "common/text.h"
#include "postgres/result.h"
#include "queries.h"

void itself_init(struct itself *itself) {
  *itself = (struct itself){.checked = NULL};
}

void itself_forget(struct itself *itself) {
  free(itself->checked);
  itself->checked = NULL;
  itself->count = 0;
}

void itself_release(struct itself *itself) {
  itself_forget(itself);
}

bool itself_read(struct itself *itself, struct source *source, struct error *error) {
  PGresult *reply = NULL;
  if (!pgconn_run(source_connection(source), &QUERY_source_identity, NO_VALUES, &reply, error))
    return false;
  text_print(itself->source, sizeof itself->source, "%s", PQgetvalue(reply, 0, 0));
  PQclear(reply);
  return true;
}

static bool is_checked(const struct itself *itself, int capture) {
  for (size_t i = 0; i < itself->count; i++)
    if (itself->checked[i] == capture)
      return true;
  return false;
}

static bool complain(const struct push *push, const struct route *route, struct error *error) {
  struct shell_word table;
  struct shell_word target;
  if (route->document) {
    error_set(error, FAILURE_TABLE,
              "target %s is the source itself, and document %s would overwrite table %s, from which it is "
              "built",
              push->target, route->relation, route->into_table);
    error_hint(error, "drop it, and add it again with another table in option --into: rowrelay document drop %s",
               shell_quote(&table, route->relation));
    return push_hold(push, route->capture, error);
  }
  error_set(error, FAILURE_TABLE, "target %s is the source itself, and table %s there is the captured table %s",
            push->target, route->into_table, route->relation);
  error_hint(error, "route it into another table: rowrelay route --into NAME %s %s",
             shell_quote(&table, route->relation), shell_quote(&target, push->target));
  return push_hold(push, route->capture, error);
}

static bool check_route(struct itself *itself, struct pgconn *connection, const struct push *push,
                        const struct route *route, struct error *error) {
  PGresult *reply = NULL;
  struct values values = VALUES(itself->source, route->read_from, route->into_table);
  if (!pgconn_run(connection, &QUERY_itself, values, &reply, error))
    return false;
  bool is_itself = result_bool(reply, 0, 0);
  PQclear(reply);
  if (is_itself)
    return complain(push, route, error);
  int *grown = realloc(itself->checked, (itself->count + 1) * sizeof *grown);
  if (grown == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  itself->checked = grown;
  itself->checked[itself->count++] = route->capture;
  return true;
}

bool itself_check(struct itself *itself, struct pgconn *connection, const struct push *push, struct error *error) {
  for (size_t i = 0; i < push->count; i++) {
    const struct change *change = push->changes[i];
    if (i > 0 && change->capture == push->changes[i - 1]->capture)
      continue;
    if (!is_checked(itself, change->capture) && !check_route(itself, connection, push, change->route, error))
      return false;
  }
  return true;
}
