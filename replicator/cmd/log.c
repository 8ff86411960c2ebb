/* rowrelay log: what happened to a table or to one of its rows. */
#include "../command.h"
#include "call.h"
#include "queries.h"

static bool run(const struct options *given, struct error *error) {
  int64_t limit;
  const char *key = given->argument_count > 1 ? given->arguments[1] : NULL;
  return option_integer(given, "limit", 1, INT32_MAX, &limit, error) &&
         call_print(given, &QUERY_cmd_log, &QUERY_cmd_log_json,
                    VALUES(given->arguments[0], key, option_text(given, "since"), option_text(given, "limit")), error);
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
