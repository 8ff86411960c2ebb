#include "cmd/uncopied.h"

#include <stdio.h>

#include "cli/array.h"
#include "cli/call.h"
#include "common/buffer.h"
#include "common/shell.h"
#include "postgres/result.h"
#include "queries.h"

bool uncopied_find(struct uncopied *uncopied, struct source *source, const PGresult *tables, struct place place,
                   struct error *error) {
  struct buffer oids;
  buffer_init(&oids, LIST_LIMIT);
  pattern_add_oids(&oids, tables);
  bool ok = buffer_ok(&oids, "the list of tables", error) &&
            call_run(source, &QUERY_cmd_uncopied, VALUES(oids.data, place.target, "false", place.into),
                     &uncopied->found, error);
  buffer_release(&oids);
  return ok;
}

bool uncopied_find_routed(struct uncopied *uncopied, struct source *source, const char *tables, const char *target,
                          struct error *error) {
  return call_run(source, &QUERY_cmd_uncopied, VALUES(tables, target, "true", NULL), &uncopied->found, error);
}

/* More are named by the patterns that were given. */
#define MOST_NAMES 20

void uncopied_tell(const struct uncopied *uncopied, struct patterns patterns, const char *target) {
  struct shell_word word;
  if (uncopied->found == NULL || result_int(uncopied->found, 0, UNCOPIED_TABLES) == 0)
    return;
  int count = result_int(uncopied->found, 0, UNCOPIED_TABLES);
  fflush(stdout); /* which says what has been done */
  fprintf(stderr, "rowrelay: the rows that %s already are not copied to %s\n",
          count == 1 ? "the table has" : "these tables have", target);
  fputs("hint: To copy them: rowrelay backfill", stderr);
  if (count <= MOST_NAMES || patterns.count == 0)
    fprintf(stderr, " %s", PQgetvalue(uncopied->found, 0, UNCOPIED_WORDS));
  for (size_t i = 0; count > MOST_NAMES && i < patterns.count; i++)
    fprintf(stderr, " %s", shell_quote(&word, patterns.texts[i]));
  fprintf(stderr, " --to %s\n", shell_quote(&word, target));
}

void uncopied_release(struct uncopied *uncopied) {
  PQclear(uncopied->found);
  uncopied->found = NULL;
}
