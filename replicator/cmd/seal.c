/* rowrelay seal: seals the closed days of the log, and switches sealing on for later ones. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/call.h"
#include "cli/command.h"
#include "common/text.h"
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
  int64_t change_count = result_bigint(state, 0, SEALED_CHANGES);
  int64_t open = result_bigint(state, 0, SEALED_OPEN);
  printf("%s change%s of %s day%s sealed\n", progress_number(changes, change_count), text_plural(change_count),
         PQgetvalue(state, 0, SEALED_DAYS), text_plural(result_bigint(state, 0, SEALED_DAYS)));
  if (result_text(state, 0, SEALED_HEAD) != NULL)
    printf("head %s\n", PQgetvalue(state, 0, SEALED_HEAD));
  if (open > 0)
    printf("%" PRId64 " past day%s not sealed yet: a transaction may still write into %s\n", open, text_plural(open),
           open == 1 ? "it" : "them");
  PQclear(state);
  return true;
}

static bool run(const struct options *given, struct error *error) {
  struct source *source;
  bool off = option_given(given, "off");
  if (!call_open(&source, given, error))
    return false;
  bool ok = call_run(source, &QUERY_cmd_seal_days, VALUES(off ? "false" : "true"), NULL, error);
  if (ok && off)
    puts("days are not sealed any more; those that are can still be verified");
  if (ok && !off)
    ok = seal_all(source, error) && print_state(source, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "off", .help = "seal no more days; sealed days can still be verified"},
    OPTION_END,
};

const struct command COMMAND_seal = {
    .name = "seal",
    .summary = "seal each closed day of the log, so that verify-log can detect alterations",
    .arguments = "",
    .options = OPTIONS,
    .notes =
        "From then on running processes seal days. The printed digest, the head, depends on all that is sealed: keep\n"
        "it elsewhere. The command can be run again.\n",
    .examples = "rowrelay seal\n",
    .run = run,
};
