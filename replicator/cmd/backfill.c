/*
 * rowrelay backfill: copies rows that existed before capture. It requests all backfills first, so that running
 * processes continue where this command stops, and then runs one after the other, or watches the process that runs it.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backfill/backfill.h"
#include "cli/call.h"
#include "cli/command.h"
#include "cli/pattern.h"
#include "common/clock.h"
#include "common/interrupt.h"
#include "common/shell.h"
#include "common/text.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"
#include "terminal/progress.h"

#define MOST_TABLES 10000
/* How often to check for open transactions before the first backfill begins, and the pause between. Milliseconds. */
#define WRITER_POLLS 10
#define POLL_PAUSE 200

/* ---- signals --------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t told_to_stop = 0; /* how often */

static void stop(int number_of_signal) {
  (void)number_of_signal;
  told_to_stop = told_to_stop < 2 ? told_to_stop + 1 : 2;
}

static bool told_to_stop_at_once(void) {
  return told_to_stop > 1;
}

/* The first signal stops it after the current step; a second one at once, and the step rolls back. */
static void handle_signals(void) {
  struct sigaction action = {.sa_handler = stop};
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  interrupt_set(told_to_stop_at_once);
}

static void sleep_for(int64_t milliseconds) {
  const struct timespec pause = {.tv_sec = (time_t)(milliseconds / 1000),
                                 .tv_nsec = (long)(milliseconds % 1000) * 1000000};
  if (milliseconds > 0 && !told_to_stop)
    nanosleep(&pause, NULL); /* a signal ends it */
}

/* ---- one backfill ---------------------------------------------------------------------------------------------- */

struct job {
  const char *table;
  const char *target;
  struct backfill backfill;
  struct progress progress;
  int64_t queued; /* rows, or documents, when it is done */
};

static bool fail_stopped(const struct job *job, const struct backfill_progress *state, struct error *error) {
  char rows[PROGRESS_NUMBER_SIZE];
  struct shell_word table_word;
  struct shell_word target_word;
  const char *table = shell_quote(&table_word, job->table);
  const char *target = shell_quote(&target_word, job->target);
  error_set(error, FAILURE_STOP, "backfill of %s to %s was interrupted after %s row%s were %s", job->table, job->target,
            progress_number(rows, state->queued), text_plural(state->queued), state->copied ? "copied" : "queued");
  return error_hint(error,
                    "continue: rowrelay backfill %s --to %s (a running \"rowrelay run\" continues by itself); or "
                    "cancel: rowrelay backfill %s --to %s --cancel",
                    table, target, table, target);
}

static bool finish(struct job *job, const struct backfill_progress *state, struct error *error) {
  char rows[PROGRESS_NUMBER_SIZE];
  progress_end(&job->progress);
  job->queued = state->queued;
  if (state->outcome == BACKFILL_CANCELLED)
    return error_set(error, FAILURE_FATAL, "backfill of %s to %s was cancelled: %s", job->table, job->target,
                     state->note);
  printf("%s: %s row%s %s %s in %.1f s\n", job->table, progress_number(rows, state->queued), text_plural(state->queued),
         state->copied ? "copied to" : "queued for", job->target, progress_seconds(&job->progress));
  fflush(stdout);
  return true;
}

/* Takes the next step, or reads how far the process is that runs the backfill. */
static bool go_on(struct job *job, bool *taken, struct backfill_progress *state, struct error *error) {
  if (!*taken && !backfill_take(&job->backfill, taken, error))
    return false;
  if (*taken)
    return backfill_step(&job->backfill, state, error);
  return backfill_watch(&job->backfill, state, error);
}

/* Called during a long step. */
static bool show(void *context, const struct backfill_progress *state) {
  struct job *job = context;
  progress_show(&job->progress, state->read, state->estimated, state->note);
  return !told_to_stop;
}

static bool drive(struct job *job, struct error *error) {
  bool taken = false;
  struct backfill_progress state = {.outcome = BACKFILL_PROGRESS};
  if (!backfill_watch(&job->backfill, &state, error))
    return false;
  char what[256];
  text_print(what, sizeof what, "%s to %s", job->table, job->target);
  progress_begin(&job->progress, what, state.read);
  if (state.note[0] != '\0')
    progress_show(&job->progress, state.read, state.estimated, state.note);
  bool ok = true;
  while (ok && !told_to_stop && state.outcome != BACKFILL_DONE && state.outcome != BACKFILL_CANCELLED) {
    ok = go_on(job, &taken, &state, error);
    if (!ok)
      break;
    progress_show(&job->progress, state.read, state.estimated, state.note);
    sleep_for(state.pause);
  }
  progress_end(&job->progress);
  if (ok && state.outcome != BACKFILL_DONE && state.outcome != BACKFILL_CANCELLED)
    ok = fail_stopped(job, &state, error);
  else if (ok)
    ok = finish(job, &state, error);
  struct error ignored;
  if (taken && pgconn_alive(source_connection(job->backfill.source)) &&
      !backfill_unlock(&job->backfill, ok ? error : &ignored))
    ok = false;
  return ok;
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

/* A document is a target of its own. */
static const char *target_of(const struct options *given) {
  return option_given(given, "document") ? option_text(given, "document") : option_text(given, "to");
}

/* Requests a backfill of each table, or of none. */
static bool ask_for(struct source *source, const struct options *given, const PGresult *tables, int *ids,
                    struct error *error) {
  bool ok = source_script(source, "begin", error);
  for (int row = 0; ok && row < PQntuples(tables); row++) {
    PGresult *reply = NULL;
    ok = call_run(source, &QUERY_cmd_backfill,
                  VALUES(PQgetvalue(tables, row, PATTERN_OID), target_of(given), option_text(given, "where"),
                         option_text(given, "rate"), option_given(given, "no-copy") ? "false" : "true"),
                  &reply, error);
    if (ok)
      ids[row] = result_int(reply, 0, 0);
    PQclear(reply);
  }
  if (ok)
    return source_script(source, "commit", error);
  pgconn_rollback(source_connection(source));
  return false;
}

/* A backfill that still waits for old transactions after this goes on waiting when its turn comes. */
static bool prepare(struct source *source, const struct options *given, const int *ids, int count,
                    struct error *error) {
  bool any_waits = true;
  for (int poll = 0; any_waits && !told_to_stop && poll < WRITER_POLLS; poll++) {
    any_waits = false;
    for (int i = 0; i < count; i++) {
      struct backfill backfill;
      bool waits;
      backfill_init(&backfill, source, option_text(given, "dbname"), ids[i]);
      if (!backfill_prepare(&backfill, &waits, error) &&
          (error->kind == FAILURE_STOP || !pgconn_alive(source_connection(source))))
        return false;
      any_waits = any_waits || waits;
    }
    sleep_for(any_waits ? POLL_PAUSE : 0);
  }
  return true;
}

/* *queued: rows, or documents, in all. What fails keeps no other from its turn; the first is told of. */
static bool backfill_tables(struct source *source, const struct options *given, const PGresult *tables, int64_t *queued,
                            struct error *error) {
  static int ids[MOST_TABLES];
  if (PQntuples(tables) > MOST_TABLES)
    return error_set(error, FAILURE_USAGE, "%d tables match; at most %d can be backfilled at once", PQntuples(tables),
                     MOST_TABLES);
  if (!ask_for(source, given, tables, ids, error))
    return false;
  handle_signals();
  if (!prepare(source, given, ids, PQntuples(tables), error))
    return false;
  bool ok = true;
  struct error why;
  for (int row = 0; row < PQntuples(tables); row++) {
    struct job job = {.table = PQgetvalue(tables, row, PATTERN_NAME), .target = target_of(given)};
    backfill_init(&job.backfill, source, option_text(given, "dbname"), ids[row]);
    job.backfill.tell = show;
    job.backfill.context = &job;
    bool came = drive(&job, &why);
    *queued += job.queued;
    if (came)
      continue;
    if (ok || why.kind == FAILURE_STOP)
      *error = why;
    ok = false;
    if (why.kind == FAILURE_STOP || !pgconn_alive(source_connection(source)))
      return false;
    if (PQntuples(tables) > 1)
      printf("%s: not backfilled to %s: %s\n", job.table, job.target, why.message);
  }
  return ok;
}

/* ---- building documents ---------------------------------------------------------------------------------------- */

/* Milliseconds. */
#define BUILD_PAUSE 250  /* between looks, at least */
#define LOOKS_PART 10    /* of which looks take a tenth at most */
#define STANDSTILL 60000 /* after which nobody waits any longer */

static bool read_waiting(struct source *source, const char *document, const char *up_to, PGresult **reply,
                         struct error *error) {
  PQclear(*reply);
  *reply = NULL;
  return call_run(source, &QUERY_cmd_documents_waiting, VALUES(document, up_to), reply, error);
}

/* What is queued stays so: whoever runs a process later has the rest built. */
static void tell_rest(const char *document, const PGresult *reply) {
  char rest[PROGRESS_NUMBER_SIZE];
  int64_t count = result_bigint(reply, 0, UNBUILT_DOCUMENTS);
  const char *state = PQgetvalue(reply, 0, UNBUILT_STATE);
  const char *note = PQgetvalue(reply, 0, UNBUILT_NOTE);
  bool idle = strcmp(state, "not running") == 0;
  printf("%s: %s document%s to be built; ", document, progress_number(rest, count), text_plural(count));
  if (strcmp(state, "paused") == 0 || strcmp(state, "halted") == 0) {
    struct shell_word word;
    printf("it is %s%s%s; to build them: rowrelay target resume %s\n", state, note[0] != '\0' ? ": " : "", note,
           shell_quote(&word, document));
  } else if (idle) {
    puts("to build them: rowrelay run");
  } else {
    printf("it is %s%s%s; to see how far it is: rowrelay status\n", state, note[0] != '\0' ? ": " : "", note);
  }
}

/* Shows how far running processes are with building, until all is built or it stands still. */
static bool watch_building(struct source *source, const char *document, int64_t queued, struct error *error) {
  PGresult *reply = NULL;
  struct progress progress;
  if (!read_waiting(source, document, NULL, &reply, error))
    return false;
  char up_to[32];
  char rows[PROGRESS_NUMBER_SIZE];
  text_print(up_to, sizeof up_to, "%s", PQgetvalue(reply, 0, UNBUILT_UP_TO));
  int64_t left = result_bigint(reply, 0, UNBUILT_DOCUMENTS);
  int64_t total = left > queued ? left : queued;
  int64_t moved_at = clock_now();
  bool ok = true;
  progress_begin(&progress, document, 0);
  progress.unit = "documents";
  while (ok && left > 0 && !told_to_stop && strcmp(PQgetvalue(reply, 0, UNBUILT_STATE), "running") == 0 &&
         clock_now() - moved_at < STANDSTILL) {
    progress_show(&progress, total - left, total, "");
    int64_t began = clock_now();
    ok = read_waiting(source, document, up_to, &reply, error);
    int64_t now = ok ? result_bigint(reply, 0, UNBUILT_DOCUMENTS) : left;
    if (now < left)
      moved_at = clock_now();
    left = now;
    int64_t pause = (clock_now() - began) * LOOKS_PART;
    if (left > 0)
      sleep_for(pause > BUILD_PAUSE ? pause : BUILD_PAUSE);
  }
  progress_end(&progress);
  if (ok && left > 0)
    tell_rest(document, reply);
  else if (ok && total > 0)
    printf("%s: %s document%s built in %.1f s\n", document, progress_number(rows, total), text_plural(total),
           progress_seconds(&progress));
  if (ok && result_bigint(reply, 0, UNBUILT_ERRORS) > 0) {
    struct shell_word word;
    printf("%s: %s refused; to list them: rowrelay errors --target %s\n", document,
           PQgetvalue(reply, 0, UNBUILT_ERRORS), shell_quote(&word, document));
  }
  PQclear(reply);
  return ok;
}

static bool cancel_tables(struct source *source, const struct options *given, const PGresult *tables,
                          struct error *error) {
  const char *target = target_of(given);
  for (int row = 0; row < PQntuples(tables); row++) {
    const char *table = PQgetvalue(tables, row, PATTERN_NAME);
    if (!call_run(source, &QUERY_cmd_backfill_cancel, VALUES(PQgetvalue(tables, row, PATTERN_OID), target), NULL,
                  error))
      return false;
    printf("%s: backfill to %s cancelled\n", table, target);
  }
  return true;
}

/* The tables to backfill: for a document, the one that holds all its keys. */
static bool find_tables(struct source *source, const struct options *given, PGresult **tables, struct error *error) {
  if (option_given(given, "document"))
    return call_run(source, &QUERY_cmd_document_root, VALUES(option_text(given, "document")), tables, error);
  return call_run(source, &QUERY_target_id, VALUES(option_text(given, "to")), NULL, error) &&
         pattern_match(source, &PATTERN_OF_CAPTURED, (struct patterns){given->argument_count, given->arguments}, tables,
                       error);
}

static bool check_options(const struct options *given, struct error *error) {
  int64_t rate;
  if (option_given(given, "document") == (given->argument_count > 0)) {
    error_set(error, FAILURE_USAGE, "nothing to backfill was named");
    return error_hint(error, "run: rowrelay backfill TABLE... --to TARGET, or: rowrelay backfill --document NAME");
  }
  if (option_given(given, "document") && option_given(given, "to"))
    return error_set(error, FAILURE_USAGE, "option --document sets the target; omit --to");
  if (target_of(given) == NULL)
    return error_set(error, FAILURE_USAGE, "option --to is missing: name a target");
  if (option_given(given, "cancel") && (option_given(given, "rate") || option_given(given, "where")))
    return error_set(error, FAILURE_USAGE, "option --cancel cannot be combined with --rate or --where");
  return !option_given(given, "rate") || option_integer(given, "rate", (struct bounds){0, INT32_MAX}, &rate, error);
}

static bool run(const struct options *given, struct error *error) {
  struct source *source;
  PGresult *tables = NULL;
  if (!check_options(given, error) || !call_open(&source, given, error))
    return false;
  int64_t queued = 0;
  bool ok = find_tables(source, given, &tables, error);
  if (ok && option_given(given, "cancel"))
    ok = cancel_tables(source, given, tables, error);
  else if (ok)
    ok = backfill_tables(source, given, tables, &queued, error) &&
         (!option_given(given, "document") || watch_building(source, option_text(given, "document"), queued, error));
  PQclear(tables);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "to", .letter = 't', .value = "TARGET", .help = "target to copy to; the tables must be routed there"},
    {.name = "document", .value = "NAME", .help = "build all documents of that name instead of copying tables"},
    {.name = "rate", .value = "ROWS", .help = "read at most ROWS rows per second; 0 for no limit"},
    {.name = "where", .value = "SQL", .help = "copy only rows that meet this condition"},
    {.name = "no-copy", .help = "copy in pieces even if the mirror is empty"},
    {.name = "cancel", .help = "cancel unfinished backfills; what is queued is still delivered"},
    OPTION_END,
};

const struct command COMMAND_backfill = {
    .name = "backfill",
    .summary = "copy the rows that captured tables already have",
    .arguments = "[TABLE...]",
    .least = 0,
    .most = ANY_NUMBER,
    .options = OPTIONS,
    .notes = "TABLE is a name or a pattern as in psql, and must be captured and routed to TARGET. Rows are read in "
             "pieces, each\n"
             "in a short transaction, and queued in order with concurrent changes; \"rowrelay run\" delivers them. A "
             "writer waits\n"
             "for one piece at most. Ctrl-C stops after the current piece; the same command, or a running \"rowrelay "
             "run\",\n"
             "continues from there. With --document it goes on to show how far running processes are with building; "
             "Ctrl-C\n"
             "ends only that.\n",
    .examples = "rowrelay backfill 'shop.*' --to dw\n"
                "rowrelay backfill --document order_search\n",
    .run = run,
};
