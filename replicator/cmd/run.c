/* rowrelay run: delivers what is queued, until told to stop. */
#include "cli/command.h"
#include "common/log.h"
#include "common/memory.h"
#include "process/supervisor.h"

#include <stdlib.h>

static bool run(const struct options *given, struct error *error) {
  int64_t workers;
  int64_t wait = 0;
  enum log_level level;
  enum log_format format;
  if (!option_integer(given, "workers", (struct bounds){1, 64}, &workers, error) ||
      (option_given(given, "wait") && !option_integer(given, "wait", (struct bounds){1, 86400}, &wait, error)) ||
      !log_level_parse(option_text(given, "log-level"), &level, error) ||
      !log_format_parse(option_text(given, "log-format"), &format, error))
    return false;
  log_set_level(level);
  log_set_format(format);
  size_t count = option_count(given, "target");
  const char **targets = calloc(count + 1, sizeof *targets);
  if (targets == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  for (size_t i = 0; i < count; i++)
    targets[i] = option_at(given, "target", i);
  struct supervisor_options options = {.conninfo = option_text(given, "dbname"),
                                       .workers = (int)workers,
                                       .targets = targets,
                                       .target_count = count,
                                       .wait = 1000 * wait,
                                       .here = option_given(given, "here"),
                                       .until_empty = option_given(given, "until-empty"),
                                       .listen = option_text(given, "listen")};
  memory_keep_little();
  bool ok = supervisor_run(&options, error);
  free(targets);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "workers", .letter = 'w', .value = "N", .initial = "1", .help = "push N batches at a time to each target"},
    {.name = "target", .letter = 't', .value = "TARGET", .repeatable = true, .help = "deliver only to this target"},
    {.name = "until-empty",
     .help = "stop when nothing is pending; refused changes, and those that wait for their table, do not count"},
    {.name = "here",
     .help = "deliver also where the database was restored, copied, upgraded or recovered: it is the source now"},
    {.name = "wait",
     .value = "SECONDS",
     .help = "exit with status 1 when the source, or with --until-empty a target, has failed for this long"},
    {.name = "listen",
     .value = "ADDR:PORT",
     .help = "serve the console, /changes, /metrics, /healthz and /readyz over HTTP at this address"},
    {.name = "log-format",
     .value = "FORMAT",
     .choices = "text|json|journal|auto",
     .initial = "auto",
     .help = "text, json, journal (systemd) or auto: journal if stderr goes there, else text"},
    {.name = "log-level",
     .value = "LEVEL",
     .choices = "error|warning|info|debug",
     .initial = "info",
     .help = "error, warning, info or debug"},
    OPTION_END,
};

const struct command COMMAND_run = {
    .name = "run",
    .summary = "deliver what is queued, until told to stop",
    .arguments = "",
    .options = OPTIONS,
    .notes =
        "Any number of processes may run, on any number of machines. After the first SIGTERM or Ctrl-C the current\n"
        "batches finish; a second one stops at once. A source that is away is waited for. A right that is missing at\n"
        "the start ends it with status 1.\n"
        "\n"
        "The console shows anyone who can reach it what this process can read. Its actions need the token set in\n"
        "ROWRELAY_CONSOLE_TOKEN, or one of the file that ROWRELAY_CONSOLE_TOKENS names, with a line for each: NAME\n"
        "SHA-256 RIGHTS. ROWRELAY_CONSOLE_USER_HEADER names a header in which a proxy gives the name of who acts.\n"
        "ROWRELAY_CONSOLE_HOST lists further host names of the console, separated by commas.\n"
        "\n"
        "OTEL_EXPORTER_OTLP_ENDPOINT names a collector that gets metrics and traces, by OTLP over HTTP in JSON.\n"
        "\n"
        "/changes hands out changes as they are committed, as Server-Sent Events or JSON lines, to those who have a\n"
        "token. ROWRELAY_CHANGES_TOKENS names a file with a line for each: NAME SHA-256 ROLE. Changes are read as "
        "that\n"
        "role, which has to be granted to the user of this process.\n",
    .examples = "rowrelay run --workers 2 --listen 127.0.0.1:9187\n"
                "rowrelay run --target dw --until-empty\n",
    .run = run,
};
