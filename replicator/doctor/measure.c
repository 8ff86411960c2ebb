#include "doctor/measure.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/text.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"
#include "terminal/escape.h"

#define ROUNDS 5 /* of which the fastest counts: whatever else the machine does only makes the others slower */
#define ROWS 1000

/* Of a row, in microseconds; negative: not measured. */
struct cost {
  double without;
  double captured;
};

struct measured {
  struct cost insert;
  struct cost update;
  char reason[1024]; /* why it was not captured; "": it was */
};

static bool time_statement(struct source *source, const char *text, struct values values, double *least,
                           struct error *error) {
  const struct query query = {.text = text};
  int64_t began = clock_microseconds();
  if (!source_run(source, &query, values, NULL, error))
    return false;
  double took = (double)(clock_microseconds() - began) / ROWS;
  if (*least < 0 || took < *least)
    *least = took;
  return true;
}

/* By turns, so that a busy moment does not fall on one of them alone. */
static bool run_round(struct source *source, const PGresult *scratch, int round, struct measured *measured,
                      struct error *error) {
  bool captured = measured->reason[0] == '\0';
  const struct number first = number((int64_t)round * ROWS + 1);
  const struct number last = number((int64_t)(round + 1) * ROWS);
  struct values rows = VALUES(first.text, last.text);
  return time_statement(source, result_text(scratch, 0, DOCTOR_SCRATCH_INSERT_BARE), rows, &measured->insert.without,
                        error) &&
         (!captured || time_statement(source, result_text(scratch, 0, DOCTOR_SCRATCH_INSERT_CAPTURED), rows,
                                      &measured->insert.captured, error));
}

/* An update of all rows there are. */
static bool run_update(struct source *source, const PGresult *scratch, struct measured *measured, struct error *error) {
  double without = -1;
  double captured = -1;
  if (!time_statement(source, result_text(scratch, 0, DOCTOR_SCRATCH_UPDATE_BARE), NO_VALUES, &without, error) ||
      (measured->reason[0] == '\0' &&
       !time_statement(source, result_text(scratch, 0, DOCTOR_SCRATCH_UPDATE_CAPTURED), NO_VALUES, &captured, error)))
    return false;
  measured->update = (struct cost){without / ROUNDS, captured / ROUNDS};
  return true;
}

static bool run_all(struct source *source, const struct measure_order *order, const PGresult *scratch,
                    struct measured *measured, struct error *error) {
  if (!source_script(source, QUERY_doctor_begin.text, error) ||
      !source_script(source, result_text(scratch, 0, DOCTOR_SCRATCH_CREATE_TABLES), error))
    return false;
  if (!order->installed) {
    text_print(measured->reason, sizeof measured->reason, "schema rowrelay is not installed");
  } else if (!source_script(source, QUERY_doctor_capture.text, error)) {
    text_print(measured->reason, sizeof measured->reason, "%s", error->message);
    if (!source_script(source, "rollback to before_capture", error))
      return false;
  }
  for (int round = 0; round < ROUNDS; round++)
    if (!run_round(source, scratch, round, measured, error))
      return false;
  return run_update(source, scratch, measured, error);
}

static void print_cost(const char *what, const struct cost *cost) {
  printf("  %-6s  %9.1f", what, cost->without);
  if (cost->captured >= 0)
    printf("  %9.1f  %9.1f", cost->captured, cost->captured - cost->without);
  putchar('\n');
}

static void print_table(const PGresult *scratch, const struct measured *measured) {
  fputs("a copy of ", stdout);
  escape_print(result_text(scratch, 0, DOCTOR_SCRATCH_TABLE_NAME));
  printf(
      ", without its indexes other than the key, its triggers and checks: %d column%s, %d bytes made up for each row\n"
      "µs per row  without%s\n",
      result_int(scratch, 0, DOCTOR_SCRATCH_COLUMNS), result_int(scratch, 0, DOCTOR_SCRATCH_COLUMNS) == 1 ? "" : "s",
      result_int(scratch, 0, DOCTOR_SCRATCH_WIDTH), measured->reason[0] == '\0' ? "   captured      added" : "");
  print_cost("insert", &measured->insert);
  print_cost("update", &measured->update);
  if (measured->reason[0] != '\0') {
    fputs("not measured with capture: ", stdout);
    escape_print(measured->reason);
    putchar('\n');
  }
  puts("all of it was rolled back");
}

static void print_json_cost(const char *what, const struct cost *cost) {
  printf(", \"%s\": {\"without\": %.2f", what, cost->without);
  if (cost->captured >= 0)
    printf(", \"captured\": %.2f, \"added\": %.2f", cost->captured, cost->captured - cost->without);
  putchar('}');
}

static void print_json(const PGresult *scratch, const struct measured *measured) {
  fputs("{\"table\": ", stdout);
  escape_print_json(result_text(scratch, 0, DOCTOR_SCRATCH_TABLE_NAME));
  printf(", \"unit\": \"microseconds per row\"");
  print_json_cost("insert", &measured->insert);
  print_json_cost("update", &measured->update);
  fputs(", \"reason\": ", stdout);
  escape_print_json(measured->reason[0] != '\0' ? measured->reason : NULL);
  puts("}");
}

bool measure(struct source *source, const struct measure_order *order, struct error *error) {
  const struct query query = QUERY_ONCE(QUERY_doctor_scratch);
  PGresult *scratch = NULL;
  struct measured measured = {.insert = {-1, -1}, .update = {-1, -1}};
  if (!source_run(source, &query, VALUES(order->relation), &scratch, error))
    return false;
  bool ok = run_all(source, order, scratch, &measured, error);
  pgconn_rollback(source_connection(source));
  if (ok && order->json)
    print_json(scratch, &measured);
  else if (ok)
    print_table(scratch, &measured);
  PQclear(scratch);
  return ok;
}
