#include "source/route.h"

#include <stdlib.h>

#include "postgres/result.h"
#include "queries.h"

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
        .capture = result_int(reply, row, ROUTE_CAPTURE),
        .relation = PQgetvalue(reply, row, ROUTE_RELATION),
        .number = PQgetvalue(reply, row, ROUTE_NUMBER),
        .into_table = PQgetvalue(reply, row, ROUTE_INTO_TABLE),
        .create_table = result_bool(reply, row, ROUTE_CREATE_TABLE),
        .key_columns = PQgetvalue(reply, row, ROUTE_KEY_COLUMNS),
        .keyless = result_bool(reply, row, ROUTE_KEYLESS),
        .key_is_exact = result_bool(reply, row, ROUTE_KEY_IS_EXACT),
        .key_is_lost = result_bool(reply, row, ROUTE_KEY_IS_LOST),
        .is_replaced = result_bool(reply, row, ROUTE_IS_REPLACED),
        .columns = result_text(reply, row, ROUTE_COLUMNS),
        .document = result_bool(reply, row, ROUTE_DOCUMENT),
        .source_columns = result_text(reply, row, ROUTE_SOURCE_COLUMNS),
        .hidden_columns = result_text(reply, row, ROUTE_HIDDEN_COLUMNS),
        .read_from = PQgetvalue(reply, row, ROUTE_READ_FROM),
        .types = result_text(reply, row, ROUTE_TYPES),
        .parts = result_text(reply, row, ROUTE_PARTS),
        .identity = result_text(reply, row, ROUTE_IDENTITY),
        .column_types = result_text(reply, row, ROUTE_COLUMN_TYPES),
    };
  routes->count = count;
  qsort(routes->routes, count, sizeof *routes->routes, by_capture);
  return true;
}

const struct route *routes_find(const struct routes *routes, int capture) {
  const struct route wanted = {.capture = capture};
  if (routes->count == 0)
    return NULL;
  if (routes->document)
    return &routes->routes[0];
  return bsearch(&wanted, routes->routes, routes->count, sizeof wanted, by_capture);
}
