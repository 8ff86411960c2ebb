/* rowrelay help: the same as --help. */
#include "../command.h"

static bool run(const struct options *given, struct error *error) {
  const struct command *command;
  size_t used;
  if (given->argument_count == 0) {
    command_print_summary(stdout);
    return true;
  }
  if (!command_find(given->argument_count, given->arguments, &command, &used, error))
    return false;
  command_print_help(stdout, command);
  return true;
}

static const struct option OPTIONS[] = {OPTION_END};

const struct command COMMAND_help = {
    .name = "help",
    .summary = "say more about a command",
    .arguments = "[COMMAND]",
    .most = 2,
    .options = OPTIONS,
    .run = run,
};
