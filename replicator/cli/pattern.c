#include "cli/pattern.h"

#include "cli/array.h"
#include "cli/call.h"
#include "common/buffer.h"

bool pattern_match(struct source *source, const struct query *query, const char *what, size_t count,
                   const char *const *patterns, PGresult **tables, struct error *error) {
  struct buffer array;
  buffer_init(&array, LIST_LIMIT);
  list_add_texts(&array, count, patterns);
  bool ok =
      buffer_ok(&array, "the list of tables", error) && call_run(source, query, VALUES(array.data), tables, error);
  buffer_release(&array);
  if (!ok)
    return false;
  for (int row = 0; row < PQntuples(*tables); row++) {
    if (PQgetisnull(*tables, row, PATTERN_OID)) {
      error_set(error, FAILURE_USAGE, "no %s matches \"%s\"", what, PQgetvalue(*tables, row, PATTERN_TABLE + 1));
      error_hint(error, "views and foreign tables do not count, and a table outside of the search_path is written "
                        "SCHEMA.TABLE");
      PQclear(*tables);
      *tables = NULL;
      return false;
    }
  }
  return true;
}
