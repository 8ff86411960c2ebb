/* rowrelay status: shows the state of every target, once or repeatedly. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/call.h"
#include "cli/command.h"
#include "cmd/status_page.h"
#include "common/interrupt.h"
#include "common/text.h"
#include "queries.h"
#include "terminal/screen.h"
#include "terminal/table.h"

#define SECONDS_OF_A_DAY 86400
#define LARGEST_PAGE ((size_t)1024 * 1024)

static bool print(struct source *source, const struct options *given, struct error *error) {
  bool tables = option_given(given, "tables");
  bool json = option_given(given, "json");
  if (option_given(given, "log"))
    return call_print_value(source, json ? &QUERY_cmd_log_size_json : &QUERY_cmd_log_size, NO_VALUES, error);
  if (json)
    return call_print_value(source, tables ? &QUERY_cmd_captures_json : &QUERY_cmd_status_json, NO_VALUES, error);
  if (tables)
    return call_print_table(source, &QUERY_cmd_captures, NO_VALUES, error);
  if (!call_print_table(source, &QUERY_cmd_status, NO_VALUES, error))
    return false;
  putchar('\n');
  return call_print_value(source, &QUERY_cmd_log_size, NO_VALUES, error);
}

/* ---- repeatedly, into a pipe ------------------------------------------------------------------------------------- */

/* Until it fails or is interrupted. */
static bool repeat(struct source *source, const struct options *given, int64_t seconds, struct error *error) {
  const struct timespec pause = {.tv_sec = (time_t)seconds};
  for (;;) {
    if (!print(source, given, error))
      return false;
    if (!option_given(given, "json"))
      putchar('\n');
    if (fflush(stdout) != 0)
      return error_set(error, FAILURE_FATAL, "could not write the output");
    nanosleep(&pause, NULL);
  }
}

/* ---- on a terminal --------------------------------------------------------------------------------------------- */

/* What is shown there. */
struct watch {
  const struct options *given;
  int64_t seconds;
  struct source *source; /* NULL: connection lost */
  char name[256];        /* of the source */
  PGresult *rows;        /* the latest; NULL: none yet */
  struct error problem;  /* why the rows are not current; kind FAILURE_NONE: they are */
};

/* "shop at db1:5432": the database first, because the end may be cut. */
static void name_source(struct watch *watch) {
  const char *description = pgconn_describe(source_connection(watch->source));
  const char *database = strrchr(description, '/');
  if (database == NULL)
    text_print(watch->name, sizeof watch->name, "%s", description);
  else
    text_print(watch->name, sizeof watch->name, "%s at %.*s", database + 1, (int)(database - description), description);
}

/* Queries the source, and reconnects if the connection was lost. Fails only if trying again would not help. */
static bool ask(struct watch *watch, struct error *error) {
  bool tables = option_given(watch->given, "tables");
  PGresult *rows;
  error_clear(&watch->problem);
  if ((watch->source != NULL || source_open(&watch->source, option_text(watch->given, "dbname"), &watch->problem)) &&
      call_run(watch->source, tables ? &QUERY_cmd_captures : &QUERY_cmd_watch, NO_VALUES, &rows, &watch->problem)) {
    PQclear(watch->rows);
    watch->rows = rows;
    name_source(watch);
    return true;
  }
  if (watch->problem.kind != FAILURE_RETRY && watch->problem.kind != FAILURE_STOP) {
    *error = watch->problem;
    return false;
  }
  source_close(watch->source);
  watch->source = NULL;
  return true;
}

static bool add_table(struct buffer *page, const struct status_page_view *view, const PGresult *rows,
                      struct error *error) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  if (stream == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  bool ok = table_print(stream, rows, error);
  fclose(stream);
  if (ok)
    status_page_add_table(page, view, text);
  free(text);
  return ok;
}

static bool draw(const struct watch *watch, struct error *error) {
  const char *no_colour = getenv("NO_COLOR");
  char problem[sizeof watch->problem.message + 64];
  char clock[16];
  time_t now = time(NULL);
  struct tm local;
  strftime(clock, sizeof clock, "%H:%M:%S", localtime_r(&now, &local));
  text_print(problem, sizeof problem, "the source does not answer, trying again: %s", watch->problem.message);
  for (char *c = problem; (c = strpbrk(c, "\n\t")) != NULL;)
    *c = ' ';
  struct status_page_view view = {.colours = no_colour == NULL || no_colour[0] == '\0',
                                  .source = watch->name,
                                  .clock = clock,
                                  .seconds = watch->seconds,
                                  .problem = watch->problem.kind != FAILURE_NONE ? problem : NULL};
  screen_size(&view.rows, &view.columns);
  struct buffer page;
  buffer_init(&page, LARGEST_PAGE);
  bool ok = true;
  if (option_given(watch->given, "tables"))
    ok = add_table(&page, &view, watch->rows, error);
  else
    status_page_add(&page, &view, watch->rows);
  ok = ok && buffer_ok(&page, "a page", error) && screen_draw(&page, error);
  buffer_release(&page);
  return ok;
}

/* Until it fails, or the user quits. */
static bool watch(struct watch *watch, struct error *error) {
  if (!ask(watch, error))
    return false;
  if (watch->rows == NULL) {
    *error = watch->problem;
    return false;
  }
  if (!screen_begin(error))
    return false;
  enum screen_event event = SCREEN_RESIZED;
  bool ok = true;
  while (ok && event != SCREEN_LEAVE) {
    ok = (event == SCREEN_RESIZED || ask(watch, error)) && (interrupted() || draw(watch, error));
    if (ok)
      event = screen_wait(watch->seconds * 1000);
  }
  screen_end();
  return ok;
}

/* Whether stdout is a terminal that can be drawn on. */
static bool has_screen(void) {
  const char *kind = getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (kind == NULL || strcmp(kind, "dumb") != 0);
}

static bool watch_or_repeat(struct source **source, const struct options *given, int64_t seconds, struct error *error) {
  if (!has_screen() || option_given(given, "json"))
    return repeat(*source, given, seconds, error);
  struct watch watched = {.given = given, .seconds = seconds, .source = *source};
  bool ok = watch(&watched, error);
  PQclear(watched.rows);
  *source = watched.source; /* it may have reconnected */
  return ok;
}

static bool run(const struct options *given, struct error *error) {
  int64_t seconds = 0;
  struct source *source;
  bool again = option_given(given, "watch");
  if (option_given(given, "log") && (again || option_given(given, "tables")))
    return error_set(error, FAILURE_USAGE, "options --log and --%s cannot be combined", again ? "watch" : "tables");
  if ((again && !option_integer(given, "watch", (struct bounds){1, SECONDS_OF_A_DAY}, &seconds, error)) ||
      !call_open(&source, given, error))
    return false;
  bool ok = again ? watch_or_repeat(&source, given, seconds, error) : print(source, given, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "tables", .help = "show the captured tables instead of the targets"},
    {.name = "log", .help = "show how large the log is, and how long it is kept, instead of the targets"},
    {.name = "watch", .value = "SECONDS", .implied = "2", .help = "repeat every 2 or SECONDS seconds"},
    {.name = "json", .help = "print JSON for programs"},
    OPTION_END,
};

const struct command COMMAND_status = {
    .name = "status",
    .summary = "show the state of every target",
    .arguments = "",
    .options = OPTIONS,
    .notes =
        "With --watch a terminal is redrawn in place, with failing targets first; q or Ctrl-C quits, the space bar\n"
        "refreshes at once. In a pipe the table is printed again and again.\n",
    .examples = "rowrelay status --tables\n"
                "rowrelay status --watch\n"
                "rowrelay status --log --json\n",
    .run = run,
};
