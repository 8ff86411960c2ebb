/* rowrelay undo: prints the statements that undo a change, or a transaction, or runs them. */
#include <stdio.h>

#include "cli/call.h"
#include "cli/command.h"
#include "queries.h"

static bool check_use(const struct options *given, struct error *error) {
  bool whole = option_given(given, "txid");
  if (given->argument_count != (whole ? 0 : 3))
    error_set(error, FAILURE_USAGE,
              whole ? "option --txid and a change cannot be combined" : "what to undo is not named in full");
  else if (whole && !option_is_id(option_text(given, "txid")))
    error_set(error, FAILURE_USAGE, "--txid must be a transaction id, not \"%s\"", option_text(given, "txid"));
  else if (!whole && !option_is_id(given->arguments[2]))
    error_set(error, FAILURE_USAGE, "\"%s\" is not a change id", given->arguments[2]);
  else
    return true;
  return error_hint(error, "give TABLE, KEY and CHANGE as \"rowrelay log\" shows them, or --txid TXID");
}

static void print_statements(const PGresult *result, bool applied) {
  int count = PQntuples(result);
  if (count == 0)
    fputs("nothing to undo: the changes left all captured columns as they were\n", stderr);
  /* So that they also run in one transaction when a person runs them. */
  bool as_one = count > 1 && !applied;
  if (as_one)
    puts("begin;");
  for (int i = 0; i < count; i++)
    printf("%s;\n", PQgetvalue(result, i, 0));
  if (as_one)
    puts("commit;");
}

static bool run(const struct options *given, struct error *error) {
  if (!check_use(given, error))
    return false;
  struct source *source;
  PGresult *result = NULL;
  const char *const *words = given->arguments;
  const char *apply = option_given(given, "apply") ? "true" : "false";
  if (!call_open(&source, given, error))
    return false;
  bool ok =
      option_given(given, "txid")
          ? call_run(source, &QUERY_cmd_undo_transaction, VALUES(option_text(given, "txid"), apply), &result, error)
          : call_run(source, &QUERY_cmd_undo, VALUES(words[0], words[1], words[2], apply), &result, error);
  if (ok)
    print_statements(result, option_given(given, "apply"));
  PQclear(result);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "txid", .value = "TXID", .help = "undo all changes of this transaction"},
    {.name = "apply", .help = "run the statements in one transaction, unless a row has changed since"},
    OPTION_END,
};

const struct command COMMAND_undo = {
    .name = "undo",
    .summary = "print statements that undo a change of a row, or a whole transaction",
    .arguments = "[TABLE KEY CHANGE]",
    .most = 3,
    .options = OPTIONS,
    .notes =
        "KEY and CHANGE are the row's key and the change's id as \"rowrelay log\" shows them; for a table without a\n"
        "key, KEY is ''. Without --apply nothing is changed: read the statements, and run them in one transaction.\n"
        "A statement changes nothing if its row has changed since.\n",
    .examples = "rowrelay undo shop.orders 42 1234\n"
                "rowrelay undo --txid 5678 --apply\n",
    .run = run,
};
