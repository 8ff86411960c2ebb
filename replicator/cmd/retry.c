/* rowrelay retry and rowrelay skip: what becomes of refused changes. */
#include <stdio.h>

#include "../command.h"
#include "buffer.h"
#include "call.h"
#include "list.h"
#include "queries.h"

/* Calls `query` for the changes that are named, and says how many there were. */
static bool settle(const struct options *given, const struct query *query, const char *what, struct error *error) {
  bool all = option_given(given, "all");
  if (all == (given->argument_count > 0)) {
    error_set(error, FAILURE_USAGE, all ? "option --all and change ids exclude each other" : "no changes are named");
    return error_hint(error, "name change ids as \"rowrelay errors\" shows them, or --all");
  }
  bool ok = false;
  struct source *source = NULL;
  PGresult *result = NULL;
  struct buffer ids;
  buffer_init(&ids, LIST_LIMIT);
  if (!all)
    list_add_texts(&ids, given->argument_count, given->arguments);
  if (!buffer_ok(&ids, "the list of change ids", error) || !call_open(&source, given, error) ||
      !call_run(source, query, VALUES(option_text(given, "target"), ids.data), &result, error))
    goto done;
  printf("%s %s\n", PQgetvalue(result, 0, 0), what);
  ok = true;
done:
  PQclear(result);
  source_close(source);
  buffer_release(&ids);
  return ok;
}

static bool retry(const struct options *given, struct error *error) {
  return settle(given, &QUERY_cmd_retry, "queued again", error);
}

static bool skip(const struct options *given, struct error *error) {
  return settle(given, &QUERY_cmd_skip, "given up", error);
}

static const struct option OPTIONS[] = {
    {.name = "target", .letter = 't', .value = "TARGET", .help = "only what this target refused"},
    {.name = "all", .help = "all changes that were refused"},
    OPTION_END,
};

const struct command COMMAND_retry = {
    .name = "retry",
    .summary = "queue refused changes again",
    .arguments = "[CHANGE_ID...]",
    .most = ANY_NUMBER,
    .options = OPTIONS,
    .notes = "They are delivered at their old place; what waits behind them comes along.\n",
    .run = retry,
};

const struct command COMMAND_skip = {
    .name = "skip",
    .summary = "give refused changes up",
    .arguments = "[CHANGE_ID...]",
    .most = ANY_NUMBER,
    .options = OPTIONS,
    .notes = "They are never delivered to that target; the log keeps them. What waits behind them goes on.\n",
    .run = skip,
};
