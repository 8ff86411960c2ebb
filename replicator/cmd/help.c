/* rowrelay help: prints help, and what else is generated from the same tables. */
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/manual.h"
#include "cli/names.h"
#include "targets/catalogue.h"

#include <string.h>

#define CATALOGUE_LIMIT ((size_t)256 * 1024)

static bool print_catalogue(const char *form, struct error *error) {
  static const struct {
    const char *form;
    void (*add)(struct buffer *text, const struct target_kind *const *kinds);
  } FORMS[] = {{"sql-kinds", catalogue_add_sql_kinds},
               {"sql-options", catalogue_add_sql_options},
               {"markdown", catalogue_add_markdown}};
  for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++)
    if (strcmp(FORMS[i].form, form) == 0) {
      struct buffer text;
      buffer_init(&text, CATALOGUE_LIMIT);
      FORMS[i].add(&text, TARGET_KINDS);
      bool ok = buffer_ok(&text, "the list of targets", error);
      if (ok)
        fputs(text.data, stdout);
      buffer_release(&text);
      return ok;
    }
  return error_set(error, FAILURE_USAGE, "--targets must be sql-kinds, sql-options or markdown, not \"%s\"", form);
}

static bool run(const struct options *given, struct error *error) {
  const struct command *command;
  size_t used;
  if (option_given(given, "manual"))
    return manual_write(option_text(given, "manual"), error);
  if (option_given(given, "completion"))
    return completion_print(stdout, option_text(given, "completion"), error);
  if (option_given(given, "targets"))
    return print_catalogue(option_text(given, "targets"), error);
  if (option_given(given, "names")) {
    names_print(stdout, given->argument_count, given->arguments, option_text(given, "names"));
    return true;
  }
  if (given->argument_count > 2)
    return error_set(error, FAILURE_USAGE, "help: unexpected argument \"%s\"", given->arguments[2]);
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
    {.name = "completion",
     .value = "SHELL",
     .choices = "bash|zsh|fish",
     .help = "print the completion script for bash, zsh or fish"},
    {.name = "names",
     .value = "BEGIN",
     .help = "print the tables, targets or documents that begin so and fit behind the given words"},
    {.name = "targets",
     .value = "FORM",
     .help = "print target kinds and options: markdown, or for the schema sql-kinds or sql-options"},
    OPTION_END,
};

const struct command COMMAND_help = {
    .name = "help",
    .summary = "show help for a command",
    .arguments = "[COMMAND]",
    .most = ANY_NUMBER,
    .options = OPTIONS,
    .notes =
        "To complete commands in this bash session: eval \"$(rowrelay help --completion bash)\". \"make install\" and\n"
        "the package install manual pages and completions.\n",
    .examples = "rowrelay help target add\n"
                "rowrelay help --completion bash\n",
    .run = run,
};
