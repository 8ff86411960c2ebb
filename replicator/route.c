#include "route.h"

#include <stdlib.h>

/* Columns of target_routes.sql */
enum {
  COLUMN_CAPTURE,
  COLUMN_RELATION,
  COLUMN_INTO_TABLE,
  COLUMN_CREATE_TABLE,
  COLUMN_KEY_COLUMNS,
  COLUMN_KEYLESS,
  COLUMN_KEY_IS_EXACT,
  COLUMN_KEY_IS_LOST,
  COLUMN_COLUMNS,
  COLUMN_TYPES
};

void routes_init(struct routes *routes) {
  *routes = (struct routes){.count = 0};
}

void routes_release(struct routes *routes) {
  PQclear(routes->reply);
  free(routes->routes);
  routes_init(routes);
}

static int by_capture(const void *a, const void *b) {
  int left = ((const struct route *)a)->capture;
  int right = ((const struct route *)b)->capture;
  return (left > right) - (left < right);
}

static const char *text_or_null(const PGresult *reply, int row, int column) {
  return PQgetisnull(reply, row, column) ? NULL : PQgetvalue(reply, row, column);
}

static bool is_true(const PGresult *reply, int row, int column) {
  return PQgetvalue(reply, row, column)[0] == 't';
}

bool routes_read(struct routes *routes, PGresult *reply, struct error *error) {
  routes_release(routes);
  routes->reply = reply;
  size_t count = (size_t)PQntuples(reply);
  if (count == 0)
    return true;
  routes->routes = calloc(count, sizeof *routes->routes);
  if (routes->routes == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  for (int row = 0; row < (int)count; row++)
    routes->routes[row] = (struct route){
        .capture = atoi(PQgetvalue(reply, row, COLUMN_CAPTURE)),
        .relation = PQgetvalue(reply, row, COLUMN_RELATION),
        .into_table = PQgetvalue(reply, row, COLUMN_INTO_TABLE),
        .create_table = is_true(reply, row, COLUMN_CREATE_TABLE),
        .key_columns = PQgetvalue(reply, row, COLUMN_KEY_COLUMNS),
        .keyless = is_true(reply, row, COLUMN_KEYLESS),
        .key_is_exact = is_true(reply, row, COLUMN_KEY_IS_EXACT),
        .key_is_lost = is_true(reply, row, COLUMN_KEY_IS_LOST),
        .columns = text_or_null(reply, row, COLUMN_COLUMNS),
        .types = text_or_null(reply, row, COLUMN_TYPES),
    };
  routes->count = count;
  qsort(routes->routes, count, sizeof *routes->routes, by_capture);
  return true;
}

const struct route *routes_find(const struct routes *routes, int capture) {
  const struct route wanted = {.capture = capture};
  if (routes->count == 0)
    return NULL;
  return bsearch(&wanted, routes->routes, routes->count, sizeof wanted, by_capture);
}
