/* rowrelay keep: sets how long changes stay in the log. */
#include <stdio.h>

#include "cli/array.h"
#include "cli/call.h"
#include "cli/command.h"
#include "cli/pattern.h"
#include "common/buffer.h"
#include "queries.h"

static bool show(struct source *source, struct error *error) {
  if (!call_print_table(source, &QUERY_cmd_keep_list, NO_VALUES, error))
    return false;
  putchar('\n');
  return call_print_value(source, &QUERY_cmd_log_size, NO_VALUES, error);
}

static bool keep_all(struct source *source, const char *how_long, struct error *error) {
  if (!call_run(source, &QUERY_cmd_keep, VALUES(how_long, NULL), NULL, error))
    return false;
  printf("all tables: kept %s\n", how_long);
  return true;
}

static bool keep_tables(struct source *source, const char *how_long, size_t count, const char *const *patterns,
                        struct error *error) {
  PGresult *tables = NULL;
  if (!pattern_match(source, &PATTERN_OF_CAPTURED, (struct patterns){count, patterns}, &tables, error))
    return false;
  struct buffer oids;
  buffer_init(&oids, LIST_LIMIT);
  pattern_add_oids(&oids, tables);
  bool ok = buffer_ok(&oids, "the list of tables", error) &&
            call_run(source, &QUERY_cmd_keep, VALUES(how_long, oids.data), NULL, error);
  for (int row = 0; ok && row < PQntuples(tables); row++)
    printf("%s: kept %s\n", PQgetvalue(tables, row, PATTERN_NAME), how_long);
  buffer_release(&oids);
  PQclear(tables);
  return ok;
}

static bool run(const struct options *given, struct error *error) {
  struct source *source;
  if (!call_open(&source, given, error))
    return false;
  bool ok;
  if (given->argument_count == 0)
    ok = show(source, error);
  else if (given->argument_count == 1)
    ok = keep_all(source, given->arguments[0], error);
  else
    ok = keep_tables(source, given->arguments[0], given->argument_count - 1, given->arguments + 1, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {OPTION_END};

const struct command COMMAND_keep = {
    .name = "keep",
    .summary = "set or show how long changes stay in the log",
    .arguments = "[INTERVAL|forever|default [TABLE...]]",
    .most = ANY_NUMBER,
    .options = OPTIONS,
    .notes =
        "INTERVAL is a PostgreSQL interval of at least one day, such as '90 days'. Without TABLE it applies to all\n"
        "tables that have no setting of their own; \"default\" removes a table's setting. Without arguments the\n"
        "settings are shown, and how large the log is. Running processes drop older changes, but never any that are "
        "not delivered yet.\n",
    .examples = "rowrelay keep '90 days'\n"
                "rowrelay keep forever shop.orders\n",
    .run = run,
};
