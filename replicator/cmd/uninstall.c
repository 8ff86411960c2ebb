/* rowrelay uninstall: restores the database to what it was before rowrelay init. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/call.h"
#include "cli/command.h"
#include "cli/pattern.h"
#include "common/interrupt.h"
#include "queries.h"
#include "schema_files.h"

/* The data is lost for good, so a person must confirm, and a script must pass --force. */
static bool confirm(struct source *source, struct error *error) {
  char answer[16] = "";
  if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) {
    error_set(error, FAILURE_USAGE, "uninstall deletes all captured changes, and no terminal is there to confirm it");
    return error_hint(error, "run: rowrelay uninstall --force");
  }
  fprintf(stderr,
          "This removes all triggers and schema rowrelay from database %s,\n"
          "with all captured changes, delivered or not. Continue? (yes/no) ",
          pgconn_describe(source_connection(source)));
  if (fgets(answer, sizeof answer, stdin) != NULL && strcmp(answer, "yes\n") == 0)
    return true;
  return error_set(error, FAILURE_USAGE, "nothing was changed");
}

/* Each table in a transaction of its own, so that its lock is held only briefly. */
static bool release_tables(struct source *source, const char *lock_wait, struct error *error) {
  PGresult *tables = NULL;
  if (!call_run(source, &QUERY_cmd_captured_tables, NO_VALUES, &tables, error))
    return false;
  bool ok = true;
  for (int row = 0; ok && row < PQntuples(tables); row++) {
    ok = call_run(source, &QUERY_cmd_release, VALUES(PQgetvalue(tables, row, PATTERN_OID), lock_wait), NULL, error);
    if (ok)
      printf("%s: released\n", PQgetvalue(tables, row, PATTERN_NAME));
  }
  PQclear(tables);
  return ok;
}

static bool uninstall(struct source *source, const struct options *given, struct error *error) {
  int version;
  if (!source_schema_version(source, &version, error))
    return false;
  if (version == 0) {
    puts("schema rowrelay: not installed");
    return true;
  }
  /* An older schema can be removed; what a newer one contains is not known here. */
  if (version > SCHEMA_NEWEST)
    return source_check_schema(source, error);
  if (!source_script(source, QUERY_check_owner.text, error) ||
      !source_script(source, QUERY_check_dependents.text, error))
    return false;
  if (!option_given(given, "force") && !confirm(source, error))
    return false;
  if (!release_tables(source, option_text(given, "lock-wait"), error))
    return false;
  call_tell_warnings(source);
  if (!source_script(source, "begin; set local client_min_messages = warning", error) ||
      !source_script(source, QUERY_install_lock.text, error) ||
      !source_script(source, QUERY_cmd_drop_schema.text, error)) {
    if (error->hint[0] == '\0')
      error_hint(error, "stop every \"rowrelay run\" and try again; the triggers are already removed");
    return false;
  }
  puts("schema rowrelay: removed");
  return source_script(source, QUERY_drop_roles.text, error);
}

static bool run(const struct options *given, struct error *error) {
  int64_t lock_wait;
  struct source *source;
  interrupt_on_signals();
  if (!option_integer(given, "lock-wait", (struct bounds){0, INT32_MAX}, &lock_wait, error) ||
      !source_open(&source, option_text(given, "dbname"), error))
    return false;
  bool ok = uninstall(source, given, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "force", .help = "do not ask"},
    {.name = "lock-wait", .value = "SECONDS", .initial = "60", .help = "try for this long to get a table's lock"},
    OPTION_END,
};

const struct command COMMAND_uninstall = {
    .name = "uninstall",
    .summary = "remove all triggers and schema rowrelay, with all captured changes",
    .arguments = "",
    .options = OPTIONS,
    .examples = "rowrelay uninstall\n",
    .run = run,
};
