/* rowrelay seal: has the days of the log sealed from now on, and seals those that are closed. */
#include <stdio.h>

#include "cli/call.h"
#include "cli/command.h"
#include "postgres/result.h"
#include "queries.h"
#include "terminal/progress.h"

static bool seal_all(struct source *source, struct error *error) {
  struct progress progress;
  int64_t blocks = 0;
  int made = 1;
  bool ok = true;
  progress_begin(&progress, "seal", 0);
  while (ok && made > 0) {
    PGresult *reply = NULL;
    ok = call_run(source, &QUERY_seal_next, NO_VALUES, &reply, error);
    made = ok ? result_int(reply, 0, 0) : 0;
    PQclear(reply);
    blocks += made;
    progress_show(&progress, blocks, blocks, "");
  }
  progress_end(&progress);
  return ok;
}

static bool print_state(struct source *source, struct error *error) {
  PGresult *state = NULL;
  if (!call_run(source, &QUERY_cmd_seal_state, NO_VALUES, &state, error))
    return false;
  char changes[PROGRESS_NUMBER_SIZE];
  printf("%s changes of %s days are sealed\n", progress_number(changes, result_bigint(state, 0, SEALED_CHANGES)),
         PQgetvalue(state, 0, SEALED_DAYS));
  if (result_text(state, 0, SEALED_HEAD) != NULL)
    printf("head %s\n", PQgetvalue(state, 0, SEALED_HEAD));
  if (result_bigint(state, 0, SEALED_OPEN) > 0)
    printf("%s days that are over are not sealed yet: a transaction may still write into them\n",
           PQgetvalue(state, 0, SEALED_OPEN));
  PQclear(state);
  return true;
}

static bool run(const struct options *given, struct error *error) {
  struct source *source;
  bool off = option_given(given, "off");
  if (!call_open(&source, given, error))
    return false;
  bool ok = call_run(source, &QUERY_cmd_seal_days, VALUES(off ? "false" : "true"), NULL, error);
  if (ok && !off)
    ok = seal_all(source, error) && print_state(source, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "off", .help = "no more days are sealed; those that are can still be verified"},
    OPTION_END,
};

const struct command COMMAND_seal = {
    .name = "seal",
    .summary = "seal each day of the log that is closed, so that verify-log can tell what was done to it",
    .arguments = "",
    .options = OPTIONS,
    .notes =
        "Running processes do so from then on. The digest that is printed, the head, depends on all that is sealed:\n"
        "keep it elsewhere. To be repeated at will.\n",
    .run = run,
};
