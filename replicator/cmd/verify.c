/* rowrelay verify: compares a mirror with its source. */
#include <stdlib.h>

#include "cli/call.h"
#include "cli/command.h"
#include "common/interrupt.h"
#include "verify/verify.h"

#define SECONDS_OF_A_DAY 86400

static bool run(const struct options *given, struct error *error) {
  int64_t wait;
  struct verify_options options = {.conninfo = option_text(given, "dbname"),
                                   .target = given->arguments[0],
                                   .pattern_count = given->argument_count - 1,
                                   .patterns = given->arguments + 1,
                                   .json = option_given(given, "json"),
                                   .progress = option_given(given, "progress"),
                                   .repair = option_given(given, "repair")};
  struct source *source;
  if (!option_integer(given, "limit", (struct bounds){0, INT32_MAX}, &options.limit, error) ||
      !option_integer(given, "wait", (struct bounds){0, SECONDS_OF_A_DAY}, &wait, error) ||
      !call_open(&source, given, error))
    return false;
  options.patience = 1000 * wait;
  options.asked_to = option_given(given, "wait");
  options.document_count = option_count(given, "document");
  const char **documents = calloc(options.document_count + 1, sizeof *documents);
  for (size_t i = 0; documents != NULL && i < options.document_count; i++)
    documents[i] = option_at(given, "document", i);
  options.documents = documents;
  /* An interrupt must also cancel the statements that run on the servers. */
  interrupt_on_signals();
  bool ok = documents != NULL ? verify_run(&options, source, error) : error_set(error, FAILURE_RETRY, "out of memory");
  free(documents);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "document", .value = "NAME", .repeatable = true, .help = "compare this document"},
    {.name = "repair", .help = "queue again the rows that differ, and only them"},
    {.name = "limit",
     .letter = 'n',
     .value = "N",
     .initial = "100",
     .help = "show at most N differences of each table"},
    {.name = "wait",
     .value = "SECONDS",
     .initial = "60",
     .help = "wait at most so long, for all tables together, for queued changes and rows that keep changing"},
    {.name = "json", .help = "print JSON for programs"},
    {.name = "progress", .help = "say on stderr how far it is, twice a second at most; with --json as JSON"},
    OPTION_END,
};

const struct command COMMAND_verify = {
    .name = "verify",
    .summary = "compare source and target while both are in use",
    .arguments = "TARGET [TABLE]...",
    .least = 1,
    .most = ANY_NUMBER,
    .options = OPTIONS,
    .notes =
        "TABLE is a name or a pattern as in psql; without it, all tables routed to TARGET are compared. TARGET must "
        "be\n"
        "a mirror in PostgreSQL. Ranges of keys are hashed on both sides, and only rows that differ are fetched. A "
        "row\n"
        "counts as different if it still differs after all its earlier changes have been delivered. Exit status 3:\n"
        "there are differences. Sequences are neither compared nor set: before a mirror is written to by others, set\n"
        "those of its columns there.\n",
    .examples = "rowrelay verify dw\n"
                "rowrelay verify dw shop.orders --repair\n",
    .run = run,
};
