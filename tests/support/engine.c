#include "engine.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>

#include "served.h"

static struct served engine;

void engine_begin(void) {
  served_begin(&engine, "opensearch.sh", true);
}

void engine_begin_own(void) {
  served_begin(&engine, "opensearch.sh", false);
}

void engine_kill(void) {
  served_control(&engine, "kill");
}

void engine_start(void) {
  served_control(&engine, "start");
}

const char *engine_url(const char *scheme, const char *path) {
  return served_url(&engine, scheme, path);
}

const char *engine_ask(const char *method, const char *path, const char *body) {
  return served_ask(&engine, method, path, body);
}

void engine_load(struct fixture *fixture, const char *index) {
  char path[512];
  snprintf(path, sizeof path, "/%s/_refresh", index);
  engine_ask("POST", path, NULL);
  snprintf(path, sizeof path, "/%s/_search?size=10000&version=true", index);
  const char *parameters[] = {engine_ask("GET", path, NULL)};
  sql(fixture->at_source,
      "drop table if exists found; create temporary table found (id text, version bigint, row jsonb)");
  PGresult *result =
      PQexecParams(fixture->at_source,
                   "insert into found select h ->> '_id', (h ->> '_version')::bigint, h -> '_source' from "
                   "json_array_elements($1::json -> 'hits' -> 'hits') as h",
                   1, NULL, parameters, NULL, NULL, 0);
  cr_assert(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(fixture->at_source));
  PQclear(result);
}

void engine_has(struct fixture *fixture, const char *index, const char *format, ...) {
  char query[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(query, sizeof query, format, arguments);
  va_end(arguments);
  engine_load(fixture, index);
  const char *differences = ask(
      fixture->at_source,
      "with wanted(id, row) as (%s) select string_agg(concat_ws(' ', id, d.name, 'is', left(d.has::text, 100), "
      "'instead of', left(d.wants::text, 100)), e'\\n') from wanted w full join found f using (id) cross join lateral "
      "(select name, w.row -> name as wants, f.row -> name as has from (select jsonb_object_keys(coalesce(w.row, "
      "f.row)) as name) as n where w.row -> name is distinct from f.row -> name) as d",
      query);
  cr_assert(differences[0] == '\0', "index %s: %s", index, differences);
}
