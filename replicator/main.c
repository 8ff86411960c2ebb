/*
 * rowrelay: finds the command, runs it, and is the one place that prints why it failed.
 * Exit status: 0 done, 1 failed, 2 wrong use, 3 a comparison found differences.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cli/command.h"
#include "cli/option.h"
#include "common/error.h"
#include "common/log.h"
#include "common/version.h"

enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_WRONG_USE = 2, STATUS_DIFFERENT = 3 };

static void print(const struct error *error) {
  fprintf(stderr, "rowrelay: %s\n", error->message);
  if (error->detail[0] != '\0')
    fprintf(stderr, "detail: %s\n", error->detail);
  if (error->hint[0] != '\0')
    fprintf(stderr, "hint: %s\n", error->hint);
  /* Who lacks one right often lacks others. */
  if (strcmp(error->sqlstate, "42501") == 0 && strstr(error->hint, "rowrelay doctor") == NULL)
    fputs("hint: to see all that is in the way, run: rowrelay doctor\n", stderr);
}

static int report(const struct error *error) {
  fflush(stdout);
  /* A structured log gets the failure as one record, with its level. */
  if (log_is_text())
    print(error);
  else
    log_failure(LOG_LEVEL_ERROR, error, "failed");
  switch (error->kind) {
  case FAILURE_USAGE:
    return STATUS_WRONG_USE;
  case FAILURE_DIFFERENT:
    return STATUS_DIFFERENT;
  default:
    return STATUS_FAILED;
  }
}

/* Adds a hint to an error about the command line. */
static bool point_to_help(const struct command *command, struct error *error) {
  if (error->kind == FAILURE_USAGE && error->hint[0] == '\0')
    error_hint(error, "try: rowrelay %s%s--help", command != NULL ? command->name : "", command != NULL ? " " : "");
  return false;
}

/* Does what the options before or instead of a command ask for, such as --help. */
static bool answered(const struct options *given, const struct command *command) {
  if (option_given(given, "help")) {
    if (command != NULL)
      command_print_help(stdout, command);
    else
      command_print_summary(stdout);
    return true;
  }
  if (option_given(given, "version")) {
    puts("rowrelay " ROWRELAY_VERSION);
    return true;
  }
  return false;
}

static bool run(struct options *given, size_t count, const char *const *words, struct error *error) {
  const struct command *command = NULL;
  size_t used;
  if (!option_parse_leading(given, count, words, &used, error))
    return point_to_help(NULL, error);
  words += used;
  count -= used;
  if (answered(given, NULL))
    return true;
  if (count == 0) {
    error_set(error, FAILURE_USAGE, "no command given");
    return point_to_help(NULL, error);
  }
  if (count > 1 && (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0) &&
      command_print_group(stdout, words[0]))
    return true;
  if (!command_find(count, words, &command, &used, error))
    return false;
  if (!option_parse(given, command->options, count - used, words + used, error))
    return point_to_help(command, error);
  if (answered(given, command))
    return true;
  if (!command_check_arguments(command, given, error))
    return point_to_help(command, error);
  return command->run(given, error);
}

/* Pauses are of random length, so that processes that lost the same server do not all reconnect at once. */
static void seed_pauses(void) {
  unsigned int seed = 0;
  if (getentropy(&seed, sizeof seed) == 0)
    srandom(seed);
}

int main(int argc, char **argv) {
  struct error error;
  struct options given;
  enum log_format format;
  error_clear(&error);
  seed_pauses();
  if (log_format_parse("auto", &format, &error))
    log_set_format(format);
  size_t count = argc > 0 ? (size_t)argc - 1 : 0;
  if (count == 0) {
    command_print_summary(stderr);
    return STATUS_WRONG_USE;
  }
  if (!option_init(&given, SHARED_OPTIONS, count, &error))
    return report(&error);
  bool ok = run(&given, count, (const char *const *)argv + 1, &error);
  option_release(&given);
  if (ok && (fflush(stdout) != 0 || ferror(stdout)))
    ok = error_set(&error, FAILURE_FATAL, "could not write the output: %s", strerror(errno));
  return ok ? STATUS_DONE : report(&error);
}
