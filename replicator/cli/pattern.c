#include "cli/pattern.h"

#include "cli/array.h"
#include "cli/call.h"
#include "common/buffer.h"
#include "queries.h"

const struct pattern_kind PATTERN_OF_TABLES = {.query = &QUERY_cmd_matching_tables, .what = "table"};
const struct pattern_kind PATTERN_OF_CAPTURED = {.query = &QUERY_cmd_matching_captures, .what = "captured table"};
const struct pattern_kind PATTERN_OF_LOGGED = {.query = &QUERY_cmd_log_tables, .what = "table that is or was captured"};

bool pattern_match(struct source *source, const struct pattern_kind *kind, struct patterns patterns, PGresult **tables,
                   struct error *error) {
  struct buffer array;
  buffer_init(&array, LIST_LIMIT);
  array_add_texts(&array, patterns.count, patterns.texts);
  bool ok = buffer_ok(&array, "the list of tables", error) &&
            call_run(source, kind->query, VALUES(array.data), tables, error);
  buffer_release(&array);
  if (!ok)
    return false;
  for (int row = 0; row < PQntuples(*tables); row++) {
    /* This pattern matched nothing. */
    if (PQgetisnull(*tables, row, PATTERN_OID)) {
      error_set(error, FAILURE_USAGE, "no %s matches \"%s\"", kind->what, PQgetvalue(*tables, row, PATTERN_PATTERN));
      error_hint(error, "views and foreign tables do not match; name a table outside the search_path as SCHEMA.TABLE");
      PQclear(*tables);
      *tables = NULL;
      return false;
    }
  }
  return true;
}
