/* rowrelay replay: delivers changes of the log again. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/call.h"
#include "cli/command.h"
#include "cli/pattern.h"
#include "postgres/result.h"
#include "queries.h"
#include "terminal/progress.h"

/* *table: the one that is named; NULL: none is. */
static bool find_table(struct source *source, const struct options *given, PGresult **table, struct error *error) {
  if (given->argument_count < 2)
    return true;
  if (!pattern_match(source, &PATTERN_OF_CAPTURED, (struct patterns){1, given->arguments + 1}, table, error))
    return false;
  return PQntuples(*table) == 1 || error_set(error, FAILURE_USAGE, "replay takes one table, but \"%s\" matches %d",
                                             given->arguments[1], PQntuples(*table));
}

static bool run(const struct options *given, struct error *error) {
  struct source *source = NULL;
  char count[PROGRESS_NUMBER_SIZE];
  PGresult *result = NULL;
  struct moment since = {.text = NULL};
  struct moment until = {.text = NULL};
  PGresult *table = NULL;
  bool ok = call_open(&source, given, error) &&
            call_run(source, &QUERY_target_id, VALUES(given->arguments[0]), NULL, error) &&
            call_moment(source, given, "since", &since, error) && call_moment(source, given, "until", &until, error) &&
            find_table(source, given, &table, error) &&
            call_run(source, &QUERY_cmd_replay,
                     VALUES(given->arguments[0], since.text, until.text,
                            table != NULL ? PQgetvalue(table, 0, PATTERN_OID) : NULL),
                     &result, error);
  if (ok)
    printf("%s queued again\n", progress_number(count, result_bigint(result, 0, 0)));
  PQclear(result);
  PQclear(table);
  PQclear(since.reply);
  PQclear(until.reply);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "since",
     .value = "TIME",
     .required = true,
     .help = "replay changes captured at or after TIME, such as yesterday or '2 hours ago'"},
    {.name = "until", .value = "TIME", .help = "replay changes captured before TIME"},
    OPTION_END,
};

const struct command COMMAND_replay = {
    .name = "replay",
    .summary = "deliver changes of the log again",
    .arguments = "TARGET [TABLE]",
    .least = 1,
    .most = 2,
    .options = OPTIONS,
    .notes =
        "For targets that take events rather than rows: webhook, file, append. Changes arrive in order, with their\n"
        "original ids; newer changes wait behind them. Delivery to the target pauses until all are queued.\n",
    .examples = "rowrelay replay hook shop.orders --since '2 hours ago'\n",
    .run = run,
};
