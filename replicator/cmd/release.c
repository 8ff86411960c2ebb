/* rowrelay release: removes the triggers from tables. */
#include <stdio.h>

#include "cli/call.h"
#include "cli/command.h"
#include "cli/pattern.h"
#include "queries.h"

static bool release_tables(struct source *source, const struct options *given, struct error *error) {
  PGresult *tables = NULL;
  if (!pattern_match(source, &PATTERN_OF_CAPTURED, (struct patterns){given->argument_count, given->arguments}, &tables,
                     error))
    return false;
  bool ok = true;
  for (int row = 0; ok && row < PQntuples(tables); row++) {
    ok = call_run(source, &QUERY_cmd_release,
                  VALUES(PQgetvalue(tables, row, PATTERN_OID), option_text(given, "lock-wait")), NULL, error);
    if (ok)
      printf("%s: released\n", PQgetvalue(tables, row, PATTERN_NAME));
  }
  PQclear(tables);
  return ok;
}

static bool run(const struct options *given, struct error *error) {
  int64_t lock_wait;
  struct source *source;
  if (!option_integer(given, "lock-wait", (struct bounds){0, INT32_MAX}, &lock_wait, error) ||
      !call_open(&source, given, error))
    return false;
  bool ok = release_tables(source, given, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "lock-wait", .value = "SECONDS", .initial = "60", .help = "try for this long to get a table's lock"},
    OPTION_END,
};

const struct command COMMAND_release = {
    .name = "release",
    .summary = "stop capturing tables: remove their triggers",
    .arguments = "TABLE...",
    .least = 1,
    .most = ANY_NUMBER,
    .options = OPTIONS,
    .notes =
        "TABLE is a name or a pattern as in psql; only captured tables are changed, each in its own transaction. The\n"
        "log keeps what was captured, and what is queued is still delivered.\n",
    .examples = "rowrelay release shop.orders\n"
                "rowrelay release 'shop.*'\n",
    .run = run,
};
