/* rowrelay capture: puts triggers on tables, and routes them to a target when one is named. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/array.h"
#include "cli/call.h"
#include "cli/command.h"
#include "cli/pattern.h"
#include "cmd/uncopied.h"
#include "common/buffer.h"
#include "common/text.h"
#include "postgres/result.h"
#include "queries.h"
#include "setup/request.h"

/* What the command line asks for. */
struct wanted {
  const struct options *given;
  /* lists as PostgreSQL arrays; data is NULL where nothing was given */
  struct buffer key, lane, columns, exclude, mask;
  int ahead; /* with --dry-run: how many tables that are not captured have been shown */
};

static void wanted_init(struct wanted *wanted, const struct options *given) {
  wanted->given = given;
  wanted->ahead = 0;
  buffer_init(&wanted->key, LIST_LIMIT);
  buffer_init(&wanted->lane, LIST_LIMIT);
  buffer_init(&wanted->columns, LIST_LIMIT);
  buffer_init(&wanted->exclude, LIST_LIMIT);
  buffer_init(&wanted->mask, LIST_LIMIT);
}

static void wanted_release(struct wanted *wanted) {
  buffer_release(&wanted->key);
  buffer_release(&wanted->lane);
  buffer_release(&wanted->columns);
  buffer_release(&wanted->exclude);
  buffer_release(&wanted->mask);
}

/* Joins the lists of all uses: if the last one replaced the others, columns excluded earlier would be captured. */
static bool read_names(const struct options *given, const char *option, struct buffer *array, struct error *error) {
  size_t count = option_count(given, option);
  if (count == 0)
    return true;
  struct buffer text;
  buffer_init(&text, LIST_LIMIT);
  for (size_t i = 0; i < count; i++) {
    buffer_add_string(&text, i > 0 ? "," : "");
    buffer_add_string(&text, option_at(given, option, i));
  }
  bool ok = buffer_ok(&text, "the list of columns", error) && array_add_names(array, text.data, error);
  buffer_release(&text);
  return ok;
}

static bool read_masks(const struct options *given, struct buffer *object, struct error *error) {
  size_t count = option_count(given, "mask");
  if (count == 0)
    return true;
  buffer_add_string(object, "{");
  for (size_t i = 0; i < count; i++)
    if (*option_at(given, "mask", i) != '\0' && !array_add_masks(object, option_at(given, "mask", i), error))
      return false;
  buffer_add_string(object, "}");
  return buffer_ok(object, "the list of masks", error);
}

static bool wanted_read(struct wanted *wanted, struct error *error) {
  const struct options *given = wanted->given;
  return read_names(given, "key", &wanted->key, error) && read_names(given, "lane", &wanted->lane, error) &&
         read_names(given, "columns", &wanted->columns, error) &&
         read_names(given, "exclude", &wanted->exclude, error) && read_masks(given, &wanted->mask, error);
}

/* Prints what capturing the table would run there; changes nothing. A table that is not captured yet counts as `ahead`
 * of those after it. */
static bool print_statements(struct source *source, const struct request *request, const char *name, int *ahead,
                             struct error *error) {
  PGresult *statements = NULL;
  struct values values = {.count = request->count, .texts = (const char *const *)request->values};
  if (!call_run(source, request->query, values, &statements, error))
    return false;
  printf("-- %s\n", name);
  for (int row = 0; row < PQntuples(statements); row++)
    printf("%s;\n", PQgetvalue(statements, row, CAPTURE_STATEMENTS_STATEMENT));
  *ahead += PQntuples(statements) > 0 && result_bool(statements, 0, CAPTURE_STATEMENTS_IS_NEW);
  PQclear(statements);
  return true;
}

static bool run_capture(struct source *source, const struct options *given, const struct capture_wanted *capture,
                        struct error *error) {
  size_t targets = option_count(given, "to");
  size_t count = targets > 1 ? targets : 1; /* the first is routed to while the table is captured */
  struct request *requests = calloc(count, sizeof *requests);
  if (requests == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  bool ok = request_capture(&requests[0], capture, error);
  for (size_t i = 1; ok && i < count; i++)
    ok = request_route(&requests[i],
                       &(struct route_wanted){.table = capture->table,
                                              .target = option_at(given, "to", i),
                                              .create = capture->create,
                                              .like = capture->like},
                       error);
  ok = ok && request_run(source, count, requests, error);
  for (size_t i = 0; i < count; i++)
    request_release(&requests[i]);
  free(requests);
  return ok;
}

static void tell_captured(const struct options *given, const char *name) {
  printf("%s: captured", name);
  for (size_t i = 0; i < option_count(given, "to"); i++)
    printf("%s%s", i == 0 ? ", routed to " : ", ", option_at(given, "to", i));
  printf("\n");
}

/* One transaction: the table is captured and routed, or left as it was. */
static bool capture_table(struct source *source, struct wanted *wanted, const char *oid, const char *name,
                          struct error *error) {
  const struct options *given = wanted->given;
  const struct capture_wanted capture = {.table = oid,
                                         .key = wanted->key.data,
                                         .lane = wanted->lane.data,
                                         .columns = wanted->columns.data,
                                         .exclude = wanted->exclude.data,
                                         .mask = wanted->mask.data,
                                         .where = option_text(given, "where"),
                                         .before = option_given(given, "before") ? "full" : NULL,
                                         .capture_origin = option_given(given, "capture-origin") ? "true" : NULL,
                                         .per = option_text(given, "per"),
                                         .lock_wait = option_text(given, "lock-wait"),
                                         .target = option_at(given, "to", 0),
                                         .create = option_given(given, "create") ? "true" : NULL,
                                         .like = option_text(given, "like"),
                                         .reset = option_given(given, "reset"),
                                         .ahead = wanted->ahead};
  if (!option_given(given, "dry-run")) {
    if (!run_capture(source, given, &capture, error))
      return false;
    tell_captured(given, name);
    return true;
  }
  struct request request;
  bool ok = request_capture_statements(&request, &capture, error) &&
            print_statements(source, &request, name, &wanted->ahead, error);
  request_release(&request);
  return ok;
}

/* A chain of mirrors delivers nothing further by default, which looks as if nothing changed. */
static bool tell_of_chain(struct source *source, const PGresult *tables, struct error *error) {
  PGresult *found = NULL;
  struct buffer oids;
  buffer_init(&oids, LIST_LIMIT);
  pattern_add_oids(&oids, tables);
  bool ok = buffer_ok(&oids, "the list of tables", error) &&
            call_run(source, &QUERY_cmd_chained, VALUES(oids.data), &found, error);
  if (ok && result_int(found, 0, CHAINED_TABLES) > 0) {
    fflush(stdout); /* which says what has been done */
    fputs("rowrelay: this database is a target, too; what is delivered here is not captured without "
          "--capture-origin\n",
          stderr);
  }
  PQclear(found);
  buffer_release(&oids);
  return ok;
}

/* One in the middle failed: says which were not tried after it. */
static void tell_rest(const PGresult *tables, int failed, struct error *error) {
  int rest = PQntuples(tables) - failed - 1;
  if (rest == 0)
    return;
  char detail[sizeof error->detail];
  text_print(detail, sizeof detail, "%s", error->detail);
  size_t length = strlen(detail);
  /* PostgreSQL's words end without a full stop. */
  const char *apart = length == 0 ? "" : detail[length - 1] == '.' ? " " : ". ";
  error_detail(error, "%s%s%d table%s after it, from %s on, %s.", detail, apart, rest, text_plural(rest),
               PQgetvalue(tables, failed + 1, PATTERN_NAME),
               rest == 1 ? "was left as it was" : "were left as they were");
}

/* Checks all targets before anything is changed, and finds which tables have rows that will not go there. */
static bool look_at_targets(struct source *source, const struct options *given, const PGresult *tables,
                            struct uncopied *uncopied, struct error *error) {
  bool ok = true;
  for (size_t i = 0; ok && i < option_count(given, "to"); i++) {
    const char *target = option_at(given, "to", i);
    ok = call_run(source, &QUERY_target_id, VALUES(target), NULL, error) &&
         (option_given(given, "dry-run") ||
          uncopied_find(&uncopied[i], source, tables, (struct place){target, NULL}, error));
  }
  return ok;
}

static bool capture_tables(struct source *source, struct wanted *wanted, struct error *error) {
  const struct options *given = wanted->given;
  struct patterns patterns = {given->argument_count, given->arguments};
  PGresult *tables = NULL;
  size_t targets = option_count(given, "to");
  struct uncopied *uncopied = calloc(targets + 1, sizeof *uncopied); /* not of nothing */
  if (uncopied == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  bool ok = pattern_match(source, &PATTERN_OF_TABLES, patterns, &tables, error) &&
            look_at_targets(source, given, tables, uncopied, error);
  for (int row = 0; ok && row < PQntuples(tables); row++) {
    ok = source_renew_at_times(source, (size_t)row, error) &&
         capture_table(source, wanted, PQgetvalue(tables, row, PATTERN_OID), PQgetvalue(tables, row, PATTERN_NAME),
                       error);
    if (!ok && !option_given(given, "dry-run"))
      tell_rest(tables, row, error);
  }
  ok = ok && (option_given(given, "dry-run") || tell_of_chain(source, tables, error));
  for (size_t i = 0; i < targets; i++) {
    if (ok)
      uncopied_tell(&uncopied[i], patterns, option_at(given, "to", i));
    uncopied_release(&uncopied[i]);
  }
  free(uncopied);
  PQclear(tables);
  return ok;
}

static bool run(const struct options *given, struct error *error) {
  bool ok = false;
  int64_t lock_wait;
  struct source *source = NULL;
  struct wanted wanted;
  wanted_init(&wanted, given);
  if (option_given(given, "create") && !option_given(given, "to")) {
    error_set(error, FAILURE_USAGE, "option --create needs a target");
    error_hint(error, "add: --to TARGET");
    goto done;
  }
  if (option_given(given, "dry-run") && option_count(given, "to") > 1) {
    error_set(error, FAILURE_USAGE, "option --dry-run takes one --to: the statements are the same for each target");
    goto done;
  }
  const char *per = option_text(given, "per");
  if (per != NULL && strcmp(per, "row") != 0 && strcmp(per, "statement") != 0) {
    error_set(error, FAILURE_USAGE, "option --per cannot be \"%s\"", per);
    error_hint(error, "one of: row, statement");
    goto done;
  }
  if (!request_check_like(option_text(given, "like"), option_given(given, "create"), error) ||
      !option_integer(given, "lock-wait", (struct bounds){0, INT32_MAX}, &lock_wait, error) ||
      !wanted_read(&wanted, error) || !call_open(&source, given, error))
    goto done;
  ok = capture_tables(source, &wanted, error);
done:
  source_close(source);
  wanted_release(&wanted);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "to", .value = "TARGET", .repeatable = true, .help = "send the changes to this target"},
    {.name = "create", .help = "create the table in the target if it does not exist"},
    {.name = "like",
     .value = "minimal|full",
     .help = "with --create: a mirror gets columns, types and key, or also NOT NULL, defaults, CHECKs, comments, "
             "partitions"},
    {.name = "key",
     .value = "COLS",
     .repeatable = true,
     .help = "columns that identify a row (default: the primary key, else a unique index)"},
    {.name = "lane",
     .value = "COLS",
     .repeatable = true,
     .help = "columns within whose values changes stay in order (default: the key; \"\": all)"},
    {.name = "columns", .value = "COLS", .repeatable = true, .help = "capture only these columns"},
    {.name = "exclude", .value = "COLS", .repeatable = true, .help = "do not capture these columns"},
    {.name = "mask",
     .value = "COL=VALUE,...",
     .repeatable = true,
     .help = "capture VALUE instead of the column's value; COL alone: null"},
    {.name = "where", .value = "SQL", .help = "capture only rows that meet this condition"},
    {.name = "before", .help = "also keep the row as it was before an update"},
    {.name = "capture-origin", .help = "also capture what rowrelay itself writes to the table"},
    {.name = "per",
     .value = "row|statement",
     .help = "capture each row (the default), or each statement as a whole: cheaper for many rows"},
    {.name = "reset", .help = "reset the options of a captured table that are not given now"},
    {.name = "dry-run", .help = "print what would be run on the table, as SQL, and change nothing"},
    {.name = "lock-wait", .value = "SECONDS", .initial = "60", .help = "try for this long to get the table's lock"},
    OPTION_END,
};

const struct command COMMAND_capture = {
    .name = "capture",
    .summary = "capture the changes of tables",
    .arguments = "TABLE...",
    .least = 1,
    .most = ANY_NUMBER,
    .options = OPTIONS,
    .notes =
        "TABLE is a name or a pattern as in psql, such as 'shop.*'. Each table is captured in its own\n"
        "transaction. A table that is captured already takes on the options given and keeps its others; with --reset\n"
        "the others are reset. COLS is a list such as id,line_no; double-quote names with capitals, as in SQL;\n"
        "\"\" clears --exclude, --mask or --where. --dry-run checks the same and takes no lock that a writer would "
        "wait\n"
        "for. It prints the trigger function and the triggers; the numbers in their names are the next free ones.\n",
    .examples = "rowrelay capture 'shop.*' --to dw --create\n"
                "rowrelay capture shop.customers --exclude photo --mask email,phone --before\n"
                "rowrelay capture shop.orders --dry-run\n",
    .run = run,
};
