/* rowrelay help: the same as --help, and what else is made of the same tables. */
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/manual.h"

static bool run(const struct options *given, struct error *error) {
  const struct command *command;
  size_t used;
  if (option_given(given, "manual"))
    return manual_write(option_text(given, "manual"), error);
  if (option_given(given, "completion"))
    return completion_print(stdout, option_text(given, "completion"), error);
  if (given->argument_count == 0) {
    command_print_summary(stdout);
    return true;
  }
  if (given->argument_count == 1 && command_print_group(stdout, given->arguments[0]))
    return true;
  if (!command_find(given->argument_count, given->arguments, &command, &used, error))
    return false;
  command_print_help(stdout, command);
  return true;
}

static const struct option OPTIONS[] = {
    {.name = "manual", .value = "DIR", .help = "write the manual pages into this directory"},
    {.name = "completion", .value = "SHELL", .help = "print what completes commands and options in bash, zsh or fish"},
    OPTION_END,
};

const struct command COMMAND_help = {
    .name = "help",
    .summary = "say more about a command",
    .arguments = "[COMMAND]",
    .most = 2,
    .options = OPTIONS,
    .notes =
        "In bash, for this shell: eval \"$(rowrelay help --completion bash)\". \"make install\" and the package put\n"
        "manual pages and completions where they belong.\n",
    .run = run,
};
