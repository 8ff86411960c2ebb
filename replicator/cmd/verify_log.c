/* rowrelay verify-log: finds alterations of the sealed days of the log. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/call.h"
#include "cli/command.h"
#include "common/text.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"
#include "terminal/escape.h"
#include "terminal/progress.h"

/* How many seals are compared in one statement: some 20,000 changes. */
#define SEALS_AT_ONCE 4

struct check {
  struct source *source;
  bool json;
  int64_t limit;
  int64_t found;
  struct progress progress;
};

static void print_json(const PGresult *problems, int row) {
  static const char *const names[PROBLEM_COLUMN_COUNT] = {"problem", "day", "change_id", "relation", "key", "detail"};
  for (int column = 0; column < PROBLEM_COLUMN_COUNT; column++) {
    const char *value = result_text(problems, row, column);
    printf("%s\"%s\": ", column == 0 ? "{" : ", ", names[column]);
    if (column == PROBLEM_CHANGE_ID)
      fputs(value != NULL ? value : "null", stdout);
    else
      escape_print_json(value);
  }
  putchar('}');
}

static void print_problem(const PGresult *problems, int row) {
  static const struct {
    int column;
    const char *before;
  } parts[] = {{PROBLEM_CHANGE_ID, " change "},
               {PROBLEM_RELATION, " of "},
               {PROBLEM_KEY, ", key "},
               {PROBLEM_DAY, ", day "},
               {PROBLEM_DETAIL, ", "}};
  const char *kind = PQgetvalue(problems, row, PROBLEM_KIND);
  printf("%s:", kind);
  bool first = true;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    const char *value = result_text(problems, row, parts[i].column);
    if (value == NULL)
      continue;
    fputs(first && parts[i].before[0] == ',' ? parts[i].before + 1 : parts[i].before, stdout);
    escape_print(value);
    first = false;
  }
  putchar('\n');
}

/* Runs a query that returns problems, and prints them. */
static bool run_check(struct check *check, const struct query *query, struct values values, struct error *error) {
  PGresult *problems = NULL;
  if (!call_run(check->source, query, values, &problems, error))
    return false;
  if (PQntuples(problems) > 0)
    progress_end(&check->progress);
  for (int row = 0; row < PQntuples(problems); row++, check->found++) {
    if (check->found >= check->limit)
      continue;
    if (check->json)
      fputs(check->found > 0 ? ", " : "", stdout);
    if (check->json)
      print_json(problems, row);
    else
      print_problem(problems, row);
  }
  PQclear(problems);
  return true;
}

static bool run_checks(struct check *check, const char *head, int64_t seals, struct error *error) {
  bool ok = run_check(check, &QUERY_cmd_verify_chain, VALUES(head), error);
  for (int64_t at = 1; ok && at <= seals; at += SEALS_AT_ONCE) {
    ok = run_check(check, &QUERY_cmd_verify_seals, VALUES(number(at).text, number(at + SEALS_AT_ONCE - 1).text), error);
    if (ok && !check->json)
      progress_show(&check->progress, at, seals, "");
  }
  return ok && run_check(check, &QUERY_cmd_verify_unsealed, NO_VALUES, error);
}

static void print_state(const struct check *check, const PGresult *state) {
  char changes[PROGRESS_NUMBER_SIZE];
  char problems[PROGRESS_NUMBER_SIZE];
  const char *head = result_text(state, 0, SEALED_HEAD);
  if (check->json) {
    printf(
        "], \"found\": %" PRId64
        ", \"changes\": %s, \"days\": %s, \"redactions\": %s, \"dropped_days\": %s, \"unsealed_days\": %s, \"head\": ",
        check->found, PQgetvalue(state, 0, SEALED_CHANGES), PQgetvalue(state, 0, SEALED_DAYS),
        PQgetvalue(state, 0, SEALED_REDACTIONS), PQgetvalue(state, 0, SEALED_DROPPED),
        PQgetvalue(state, 0, SEALED_OPEN));
    escape_print_json(head);
    puts("}");
    return;
  }
  if (check->found > check->limit)
    printf("… and %s more\n", progress_number(problems, check->found - check->limit));
  int64_t change_count = result_bigint(state, 0, SEALED_CHANGES);
  printf("%s change%s of %s day%s sealed; %s redaction%s; %s problem%s\n", progress_number(changes, change_count),
         text_plural(change_count), PQgetvalue(state, 0, SEALED_DAYS),
         text_plural(result_bigint(state, 0, SEALED_DAYS)), PQgetvalue(state, 0, SEALED_REDACTIONS),
         text_plural(result_bigint(state, 0, SEALED_REDACTIONS)), progress_number(problems, check->found),
         text_plural(check->found));
  if (head != NULL)
    printf("head %s\n", head);
  if (result_bigint(state, 0, SEALED_DROPPED) > 0)
    printf("%s of these days dropped by retention\n", PQgetvalue(state, 0, SEALED_DROPPED));
  if (result_bool(state, 0, SEALED_WANTED) && result_bigint(state, 0, SEALED_OPEN) > 0)
    printf("%s past day%s not sealed yet\n", PQgetvalue(state, 0, SEALED_OPEN),
           text_plural(result_bigint(state, 0, SEALED_OPEN)));
}

static bool verify(struct check *check, const char *head, const PGresult *state, struct error *error) {
  if (result_bigint(state, 0, SEALED_SEALS) == 0 && head == NULL) {
    bool is_on = result_bool(state, 0, SEALED_WANTED);
    error_set(error, FAILURE_USAGE, is_on ? "no day of the log is sealed yet" : "the log is not sealed");
    if (is_on)
      return error_hint(error, "\"rowrelay run\" seals each day after its end");
    return error_hint(error, "run: rowrelay seal");
  }
  if (check->json)
    fputs("{\"problems\": [", stdout);
  progress_begin(&check->progress, "verify-log", 0);
  bool ok = run_checks(check, head, result_bigint(state, 0, SEALED_SEALS), error);
  progress_end(&check->progress);
  if (!ok)
    return false;
  print_state(check, state);
  if (check->found > 0)
    return error_set(error, FAILURE_DIFFERENT, "the log is not as it was sealed: %" PRId64 " problem%s", check->found,
                     text_plural(check->found));
  return true;
}

static bool run(const struct options *given, struct error *error) {
  struct check check = {.json = option_given(given, "json")};
  if (!option_integer(given, "limit", (struct bounds){0, INT32_MAX}, &check.limit, error) ||
      !call_open(&check.source, given, error))
    return false;
  PGresult *state = NULL;
  bool ok = call_run(check.source, &QUERY_cmd_seal_state, NO_VALUES, &state, error) &&
            verify(&check, option_text(given, "head"), state, error);
  PQclear(state);
  source_close(check.source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "head", .value = "DIGEST", .help = "a head printed earlier, which must still be in the chain"},
    {.name = "limit", .letter = 'n', .value = "N", .initial = "1000", .help = "show at most N problems"},
    {.name = "json", .help = "print JSON for programs"},
    OPTION_END,
};

const struct command COMMAND_verify_log = {
    .name = "verify-log",
    .summary = "find changes of the log that were altered, removed or inserted",
    .arguments = "",
    .options = OPTIONS,
    .notes =
        "Only sealed days can be verified; run: rowrelay seal. What \"rowrelay redact\" and retention have removed is\n"
        "not a problem. Keep the head where those who can write here cannot, and pass it the next time: without it, a\n"
        "log that was altered and then sealed again looks correct. Exit status 3: there are problems.\n",
    .examples = "rowrelay verify-log --json\n",
    .run = run,
};
