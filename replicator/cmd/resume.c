/* rowrelay resume --here: this database is the source now, wherever it comes from. */
#include "cli/call.h"
#include "cli/command.h"

static bool run(const struct options *given, struct error *error) {
  struct source *source;
  if (!option_given(given, "here")) {
    error_set(error, FAILURE_USAGE, "option --here is missing");
    return error_hint(error, "run: rowrelay resume --here, or, for one target: rowrelay target resume TARGET");
  }
  if (!call_open(&source, given, error))
    return false;
  bool ok = source_begin(source, true, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "here", .help = "deliver from this database, also where it was restored, copied, upgraded or recovered"},
    OPTION_END,
};

const struct command COMMAND_resume = {
    .name = "resume",
    .summary = "say that this database is the source now",
    .arguments = "",
    .options = OPTIONS,
    .notes = "A database that was restored from a dump, copied, upgraded or recovered to a point in time has the "
             "targets of\n"
             "the former one, which may still deliver to them. So nothing is delivered from it until this command was "
             "run\n"
             "there. A copy for tests does not need it: rowrelay uninstall.\n",
    .examples = "rowrelay resume --here\n",
    .run = run,
};
