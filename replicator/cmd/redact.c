/* rowrelay redact: removes values of a row from the log. */
#include <stdio.h>

#include "cli/array.h"
#include "cli/call.h"
#include "cli/command.h"
#include "common/buffer.h"
#include "common/text.h"
#include "postgres/result.h"
#include "queries.h"

/* Until it is vacuumed, the overwritten data stays on disk. */
static bool vacuum(struct source *source, struct error *error) {
  PGresult *statements = NULL;
  if (!call_run(source, &QUERY_cmd_redact_vacuum, NO_VALUES, &statements, error))
    return false;
  bool ok = true;
  for (int row = 0; ok && row < PQntuples(statements); row++)
    ok = source_script(source, PQgetvalue(statements, row, 0), error);
  PQclear(statements);
  return ok;
}

static bool redact(struct source *source, const struct options *given, struct error *error) {
  bool ok = false;
  PGresult *table = NULL;
  PGresult *result = NULL;
  struct buffer columns;
  buffer_init(&columns, LIST_LIMIT);
  array_add_texts(&columns, given->argument_count - 2, given->arguments + 2);
  if (!buffer_ok(&columns, "the list of columns", error) ||
      !call_run(source, &QUERY_cmd_redact_table, VALUES(given->arguments[0]), &table, error))
    goto done;
  if (PQntuples(table) == 0) {
    error_set(error, FAILURE_USAGE, "table %s was never captured", given->arguments[0]);
    goto done;
  }
  if (!call_run(source, &QUERY_cmd_redact,
                VALUES(PQgetvalue(table, 0, 0), given->arguments[1], columns.data,
                       option_given(given, "old-keys") ? "true" : "false", option_text(given, "reason")),
                &result, error))
    goto done;
  printf("%s change%s redacted\n", PQgetvalue(result, 0, 0), text_plural(result_bigint(result, 0, 0)));
  ok = result_bigint(result, 0, 0) == 0 || vacuum(source, error);
done:
  PQclear(table);
  PQclear(result);
  buffer_release(&columns);
  return ok;
}

static bool run(const struct options *given, struct error *error) {
  struct source *source;
  if (!call_open(&source, given, error))
    return false;
  bool ok = redact(source, given, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "old-keys", .help = "also redact under keys that the row had before its key was updated"},
    {.name = "reason", .value = "TEXT", .help = "the reason, for the record in rowrelay.redaction"},
    OPTION_END,
};

const struct command COMMAND_redact = {
    .name = "redact",
    .summary = "remove values of a row from the log",
    .arguments = "TABLE KEY COLUMN...",
    .least = 3,
    .most = ANY_NUMBER,
    .options = OPTIONS,
    .notes = "KEY is the row's key as \"rowrelay log\" shows it. The values become null in every image of the row, and "
             "a record\n"
             "notes who did it and which changes were redacted. Clean the row itself first, or its next change brings "
             "them\n"
             "back. Targets, archives and backups are not cleaned.\n",
    .examples = "rowrelay redact shop.customers 42 email phone --reason 'request 17'\n",
    .run = run,
};
