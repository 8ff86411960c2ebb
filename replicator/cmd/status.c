/* rowrelay status: how every target is doing, once or again and again. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "../command.h"
#include "call.h"
#include "queries.h"

#define SECONDS_OF_A_DAY 86400
#define CLEAR_SCREEN "\033[H\033[2J"

static bool print(struct source *source, const struct options *given, struct error *error) {
  bool tables = option_given(given, "tables");
  if (option_given(given, "json"))
    return call_print_value(source, tables ? &QUERY_cmd_captures_json : &QUERY_cmd_status_json, NO_VALUES, error);
  return call_print_table(source, tables ? &QUERY_cmd_captures : &QUERY_cmd_status, NO_VALUES, error);
}

/* Until it fails or is interrupted. */
static bool watch(struct source *source, const struct options *given, int64_t seconds, struct error *error) {
  const struct timespec pause = {.tv_sec = (time_t)seconds};
  bool terminal = isatty(STDOUT_FILENO) == 1 && !option_given(given, "json");
  for (;;) {
    if (terminal)
      fputs(CLEAR_SCREEN, stdout);
    if (!print(source, given, error))
      return false;
    if (fflush(stdout) != 0)
      return error_set(error, FAILURE_FATAL, "could not write the output");
    nanosleep(&pause, NULL);
  }
}

static bool run(const struct options *given, struct error *error) {
  int64_t seconds = 0;
  struct source *source;
  bool again = option_given(given, "watch");
  if ((again && !option_integer(given, "watch", 1, SECONDS_OF_A_DAY, &seconds, error)) ||
      !call_open(&source, given, error))
    return false;
  bool ok = again ? watch(source, given, seconds, error) : print(source, given, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "tables", .help = "show the captured tables instead of the targets"},
    {.name = "watch", .value = "SECONDS", .implied = "2", .help = "show it again every 2 or SECONDS seconds"},
    {.name = "json", .help = "print JSON for programs"},
    OPTION_END,
};

const struct command COMMAND_status = {
    .name = "status",
    .summary = "show how every target is doing",
    .arguments = "",
    .options = OPTIONS,
    .run = run,
};
