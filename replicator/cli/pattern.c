#include "cli/pattern.h"

#include <string.h>

#include "cli/array.h"
#include "cli/call.h"
#include "common/buffer.h"
#include "common/shell.h"
#include "postgres/result.h"
#include "queries.h"

const struct pattern_kind PATTERN_OF_TABLES = {.query = &QUERY_cmd_matching_tables, .what = "table"};
const struct pattern_kind PATTERN_OF_CAPTURED = {.query = &QUERY_cmd_matching_captures, .what = "captured table"};
const struct pattern_kind PATTERN_OF_LOGGED = {.query = &QUERY_cmd_log_tables, .what = "table that is or was captured"};

bool pattern_fail(struct source *source, const char *what, const char *pattern, struct error *error) {
  struct error ignored;
  struct shell_word word;
  PGresult *near = NULL;
  /* It may be that this user may not see it. */
  bool is_known = call_run(source, &QUERY_pattern_near, VALUES(pattern), &near, &ignored) && PQntuples(near) > 0;
  error_set(error, FAILURE_USAGE, "no %s matches \"%s\"", what, pattern);
  if (!is_known)
    error_hint(error, "views and foreign tables do not match; name a table outside the search_path as SCHEMA.TABLE");
  else if (strchr("rp", *PQgetvalue(near, 0, NEAR_KIND)) == NULL)
    error_hint(error, "%s is a %s, which cannot be captured; name the tables that it reads",
               PQgetvalue(near, 0, NEAR_NAME), *PQgetvalue(near, 0, NEAR_KIND) == 'f' ? "foreign table" : "view");
  else if (result_bool(near, 0, NEAR_IS_EXACT) && strcmp(what, PATTERN_OF_TABLES.what) != 0)
    error_hint(error, "table %s is not captured; to capture it: rowrelay capture %s", PQgetvalue(near, 0, NEAR_NAME),
               shell_quote(&word, PQgetvalue(near, 0, NEAR_WANTED)));
  else
    error_hint(error, "did you mean %s?%s", shell_quote(&word, PQgetvalue(near, 0, NEAR_WANTED)),
               strchr(PQgetvalue(near, 0, NEAR_WANTED), '"') == NULL
                   ? ""
                   : " A name with capitals, blanks or other signs is in double quotes, and single quotes keep these "
                     "from the shell");
  PQclear(near);
  return false;
}

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
      pattern_fail(source, kind->what, PQgetvalue(*tables, row, PATTERN_PATTERN), error);
      PQclear(*tables);
      *tables = NULL;
      return false;
    }
  }
  return true;
}
