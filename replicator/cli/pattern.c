#include "cli/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "cli/array.h"
#include "cli/call.h"
#include "common/buffer.h"
#include "common/shell.h"
#include "common/spelling.h"
#include "postgres/result.h"
#include "queries.h"

const struct pattern_kind PATTERN_OF_TABLES = {.query = &QUERY_cmd_matching_tables, .what = "table"};
const struct pattern_kind PATTERN_OF_CAPTURED = {.query = &QUERY_cmd_matching_captures, .what = "captured table"};
const struct pattern_kind PATTERN_OF_LOGGED = {.query = &QUERY_cmd_log_tables, .what = "table that is or was captured"};

/* A slip of the keyboard. */
static bool suggest_nearest(struct source *source, const char *pattern, struct error *error) {
  struct error ignored;
  struct shell_word word;
  PGresult *tables = NULL;
  const char *nearest = NULL;
  if (call_run(source, &QUERY_setup_tables, NO_VALUES, &tables, &ignored)) {
    size_t count = (size_t)PQntuples(tables);
    const char **names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names != NULL && i < count; i++)
      names[i] = PQgetvalue(tables, (int)i, 0);
    nearest = names != NULL && strpbrk(pattern, "*?") == NULL ? spelling_nearest(pattern, count, names) : NULL;
    if (nearest != NULL)
      error_hint(error, "did you mean %s?", shell_quote(&word, nearest));
    free(names);
  }
  PQclear(tables);
  return nearest != NULL;
}

/* What the pattern names in other letters, or what it is. */
static void explain_near(const PGresult *near, const char *what, struct error *error) {
  struct shell_word word;
  const char *name = PQgetvalue(near, 0, NEAR_NAME);
  const char *wanted = PQgetvalue(near, 0, NEAR_WANTED);
  char kind = *PQgetvalue(near, 0, NEAR_KIND);
  if (strchr("rp", kind) == NULL)
    error_hint(error, "%s is a %s, which cannot be captured; name the tables that it reads", name,
               kind == 'f' ? "foreign table" : "view");
  else if (result_bool(near, 0, NEAR_IS_EXACT) && strcmp(what, PATTERN_OF_TABLES.what) != 0)
    error_hint(error, "table %s is not captured; to capture it: rowrelay capture %s", name, shell_quote(&word, wanted));
  else
    error_hint(error, "did you mean %s?%s", shell_quote(&word, wanted),
               strchr(wanted, '"') == NULL ? ""
                                           : " A name with capitals, blanks or other signs is in double quotes, and "
                                             "single quotes keep these from the shell");
}

bool pattern_fail(struct source *source, const char *what, const char *pattern, struct error *error) {
  struct error ignored;
  PGresult *near = NULL;
  error_set(error, FAILURE_USAGE, "no %s matches \"%s\"", what, pattern);
  /* It may be that this user may not see it. */
  if (call_run(source, &QUERY_pattern_near, VALUES(pattern), &near, &ignored) && PQntuples(near) > 0)
    explain_near(near, what, error);
  else if (!suggest_nearest(source, pattern, error))
    error_hint(error, "views and foreign tables do not match; name a table outside the search_path as SCHEMA.TABLE");
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

void pattern_add_oids(struct buffer *oids, const PGresult *tables) {
  buffer_add_string(oids, "{");
  for (int row = 0; row < PQntuples(tables); row++)
    buffer_add_format(oids, "%s%s", row > 0 ? "," : "", PQgetvalue(tables, row, PATTERN_OID));
  buffer_add_string(oids, "}");
}
