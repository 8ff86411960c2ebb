/* rowrelay log: what happened to a table or to one of its rows. */
#include "../command.h"
#include "call.h"
#include "queries.h"
#include "reply.h"

/* A table of which nothing can be known is not one to which nothing has happened. */
static bool check_table(struct source *source, const char *table, struct error *error) {
  PGresult *result = NULL;
  if (!call_run(source, &QUERY_cmd_log_table, VALUES(table), &result, error))
    return false;
  bool known = reply_bool(result, 0, 0);
  PQclear(result);
  if (known)
    return true;
  error_set(error, FAILURE_USAGE, "table %s is not captured", table);
  return error_hint(error, "run: rowrelay capture %s", table);
}

static bool run(const struct options *given, struct error *error) {
  int64_t limit;
  struct source *source;
  const char *table = given->arguments[0];
  const char *key = given->argument_count > 1 ? given->arguments[1] : NULL;
  struct values values = VALUES(table, key, option_text(given, "since"), option_text(given, "limit"));
  if (!option_integer(given, "limit", 1, INT32_MAX, &limit, error) || !call_open(&source, given, error))
    return false;
  bool ok = check_table(source, table, error);
  if (ok && option_given(given, "json"))
    ok = call_print_value(source, &QUERY_cmd_log_json, values, error);
  else if (ok)
    ok = call_print_table(source, &QUERY_cmd_log, values, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "since", .value = "TIME", .help = "only changes since then, in any form that PostgreSQL reads"},
    {.name = "limit", .letter = 'n', .value = "N", .initial = "100", .help = "show at most the N newest"},
    {.name = "json", .help = "print JSON for programs, with both rows"},
    OPTION_END,
};

const struct command COMMAND_log = {
    .name = "log",
    .summary = "show what happened to a table, or to one of its rows",
    .arguments = "TABLE [KEY]",
    .least = 1,
    .most = 2,
    .options = OPTIONS,
    .notes = "KEY is the row's key as this command shows it, such as 42 or '[1, \"x\"]'.\n",
    .run = run,
};
