/* rowrelay errors: lists changes that a target refused. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/call.h"
#include "cli/command.h"
#include "postgres/result.h"
#include "queries.h"

/* Says that there are more than have been listed. */
static bool tell_more(struct source *source, struct values filter, int64_t limit, struct error *error) {
  PGresult *result = NULL;
  if (!call_run(source, &QUERY_cmd_errors_count, filter, &result, error))
    return false;
  int64_t more = result_bigint(result, 0, 0) - limit;
  PQclear(result);
  fflush(stdout);
  if (more > 0)
    fprintf(stderr, "rowrelay: %" PRId64 " more %s, which --limit can show\n", more,
            more == 1 ? "change is refused or waits" : "changes are refused or wait");
  return true;
}

static bool print(struct source *source, const struct options *given, int64_t limit, struct error *error) {
  const char *target = option_text(given, "target");
  const char *table = option_text(given, "table");
  PGresult *named = NULL;
  if ((target != NULL && !call_run(source, &QUERY_target_id, VALUES(target), NULL, error)) ||
      (table != NULL && !call_run(source, &QUERY_cmd_tables_named, VALUES(table), &named, error)))
    return false;
  const char *tables = named != NULL ? PQgetvalue(named, 0, 0) : NULL;
  const struct values values = VALUES(target, option_text(given, "limit"), tables);
  bool ok = (option_given(given, "json") ? call_print_value(source, &QUERY_cmd_errors_json, values, error)
                                         : call_print_table(source, &QUERY_cmd_errors, values, error)) &&
            tell_more(source, VALUES(target, tables), limit, error) && call_tell_hidden(source, tables, NULL, error);
  PQclear(named);
  return ok;
}

static bool run(const struct options *given, struct error *error) {
  int64_t limit;
  struct source *source;
  if (!option_integer(given, "limit", (struct bounds){1, INT32_MAX}, &limit, error) ||
      !call_open(&source, given, error))
    return false;
  bool ok = print(source, given, limit, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "target", .letter = 't', .value = "TARGET", .help = "only what this target refused"},
    {.name = "table",
     .value = "TABLE",
     .help = "only changes of this table, which may be dropped, and named by its number"},
    {.name = "limit", .letter = 'n', .value = "N", .initial = "100", .help = "show at most the N oldest"},
    {.name = "json", .help = "print JSON for programs, with the rows"},
    OPTION_END,
};

const struct command COMMAND_errors = {
    .name = "errors",
    .summary = "list changes that a target refused",
    .arguments = "",
    .options = OPTIONS,
    .notes = "\"rowrelay retry\" queues them again; \"rowrelay skip\" discards them.\n",
    .examples = "rowrelay errors --target dw --table shop.orders\n",
    .run = run,
};
