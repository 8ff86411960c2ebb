/* rowrelay errors: lists changes that a target refused. */
#include "cli/call.h"
#include "cli/command.h"
#include "queries.h"

static bool run(const struct options *given, struct error *error) {
  int64_t limit;
  const char *target = option_text(given, "target");
  return option_integer(given, "limit", (struct bounds){1, INT32_MAX}, &limit, error) &&
         (target == NULL || call_once(given, &QUERY_target_id, VALUES(target), error)) &&
         call_print(given, &QUERY_cmd_errors, &QUERY_cmd_errors_json, VALUES(target, option_text(given, "limit")),
                    error);
}

static const struct option OPTIONS[] = {
    {.name = "target", .letter = 't', .value = "TARGET", .help = "only what this target refused"},
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
    .examples = "rowrelay errors --target dw\n",
    .run = run,
};
