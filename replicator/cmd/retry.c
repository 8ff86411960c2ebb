/* rowrelay retry and rowrelay skip: queue refused changes again, or discard them. */
#include <stdio.h>
#include <string.h>

#include "cli/array.h"
#include "cli/call.h"
#include "cli/command.h"
#include "common/buffer.h"
#include "common/shell.h"
#include "postgres/result.h"
#include "queries.h"
#include "terminal/progress.h"

static bool is_target(const struct options *given, const char *word) {
  struct error unknown;
  struct source *source = NULL;
  PGresult *reply = NULL;
  bool found = call_open(&source, given, &unknown) &&
               call_run(source, &QUERY_cmd_is_target, VALUES(word), &reply, &unknown) && result_bool(reply, 0, 0);
  PQclear(reply);
  source_close(source);
  return found;
}

/* The name of a target is meant to select all that it refused: the hint says how. */
static bool check_ids(const struct options *given, const char *command, struct error *error) {
  struct shell_word word;
  for (int i = 0; i < (int)given->argument_count; i++) {
    const char *id = given->arguments[i];
    if (option_is_id(id))
      continue;
    error_set(error, FAILURE_USAGE, "\"%s\" is not a change id", id);
    if (!is_target(given, id))
      return error_hint(error, "to see the ids, run: rowrelay errors");
    return error_hint(error, "for all that target \"%s\" has refused, run: rowrelay %s --all --target %s", id, command,
                      shell_quote(&word, id));
  }
  bool all = option_given(given, "all");
  if (!all && option_given(given, "table"))
    return error_set(error, FAILURE_USAGE, "option --table needs --all");
  if (all != (given->argument_count > 0))
    return true;
  error_set(error, FAILURE_USAGE, all ? "option --all and change ids cannot be combined" : "name at least one change");
  const char *target = option_text(given, "target");
  if (!all && target != NULL && is_target(given, target))
    return error_hint(error, "for all that target \"%s\" has refused, run: rowrelay %s --all --target %s", target,
                      command, shell_quote(&word, target));
  return error_hint(error, "give change ids as \"rowrelay errors\" shows them, or --all");
}

/* Somebody who names changes is told when there was nothing to do. */
static bool none_was_refused(const struct options *given, struct error *error) {
  const char *target = option_text(given, "target");
  const char *by = target != NULL ? " by target " : "";
  if (given->argument_count == 1)
    error_set(error, FAILURE_FATAL, "change %s is not refused%s%s", given->arguments[0], by,
              target != NULL ? target : "");
  else
    error_set(error, FAILURE_FATAL, "none of these changes is refused%s%s", by, target != NULL ? target : "");
  return error_hint(error,
                    "It may have been retried, skipped or replaced since. To list what is refused: rowrelay errors");
}

/* Runs `query` for the named changes, and prints how many there were. */
static bool settle(const struct options *given, const struct query *query, const char *what, struct error *error) {
  bool all = option_given(given, "all");
  bool ok = false;
  char count[PROGRESS_NUMBER_SIZE];
  const char *target = option_text(given, "target");
  const char *table = option_text(given, "table");
  struct source *source = NULL;
  PGresult *result = NULL;
  struct buffer ids;
  buffer_init(&ids, LIST_LIMIT);
  if (!all)
    array_add_texts(&ids, given->argument_count, given->arguments);
  if (!buffer_ok(&ids, "the list of change ids", error) || !call_open(&source, given, error) ||
      !call_run(source, query, VALUES(target, ids.data, table), &result, error))
    goto done;
  ok = all || strcmp(PQgetvalue(result, 0, 0), "0") != 0 || none_was_refused(given, error);
  if (ok)
    printf("%s %s\n", progress_number(count, result_bigint(result, 0, 0)), what);
done:
  PQclear(result);
  source_close(source);
  buffer_release(&ids);
  return ok;
}

static bool retry(const struct options *given, struct error *error) {
  return check_ids(given, "retry", error) && settle(given, &QUERY_cmd_retry, "queued again", error);
}

static bool skip(const struct options *given, struct error *error) {
  return check_ids(given, "skip", error) && settle(given, &QUERY_cmd_skip, "discarded", error);
}

static const struct option RETRY_OPTIONS[] = {
    {.name = "target", .letter = 't', .value = "TARGET", .help = "only what this target refused"},
    {.name = "all", .help = "all changes that were refused"},
    {.name = "table",
     .value = "TABLE",
     .help = "with --all: only changes of this table; it may be dropped, and named by its number"},
    OPTION_END,
};

const struct command COMMAND_retry = {
    .name = "retry",
    .summary = "queue refused changes again",
    .arguments = "[CHANGE_ID...]",
    .most = ANY_NUMBER,
    .options = RETRY_OPTIONS,
    .notes = "They are delivered in their original order, with the changes that wait behind them. Changes that wait\n"
             "because the target cannot take their table are tried at once.\n"
             "What may have been delivered, as \"rowrelay errors\" says after a failover or a restore, would come\n"
             "twice: look at the target first.\n",
    .examples = "rowrelay retry 1234\n"
                "rowrelay retry --all --table shop.orders --target dw\n",
    .run = retry,
};

static const struct option SKIP_OPTIONS[] = {
    {.name = "target", .letter = 't', .value = "TARGET", .help = "only what this target refused"},
    {.name = "all", .help = "all changes that were refused; not those that wait for their table"},
    {.name = "table",
     .value = "TABLE",
     .help = "with --all: only changes of this table, also those that wait for it; it may be dropped, and named by its "
             "number"},
    OPTION_END,
};

const struct command COMMAND_skip = {
    .name = "skip",
    .summary = "discard refused changes",
    .arguments = "[CHANGE_ID...]",
    .most = ANY_NUMBER,
    .options = SKIP_OPTIONS,
    .notes = "They are never delivered to that target; the log keeps them. The changes that wait behind them go on.\n",
    .examples = "rowrelay skip 1234\n"
                "rowrelay skip --all --table shop.orders --target dw\n",
    .run = skip,
};
