#include "verify/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/clock.h"
#include "common/text.h"
#include "postgres/number.h"
#include "terminal/escape.h"
#include "terminal/progress.h"

static const char *const KINDS[DIFFERENCE_KIND_COUNT] = {"missing", "extra", "different"};

#define LONGEST_LINE ((size_t)4096)
#define SAY_EVERY 500 /* milliseconds */

void report_begin(struct report *report, const char *target) {
  if (!report->json)
    return;
  fputs("{\"target\": ", stdout);
  escape_print_json(target);
  fputs(", \"tables\": [", stdout);
}

void report_end(struct report *report, int64_t rows_received, int64_t bytes_received) {
  if (report->json)
    printf("], \"differences\": %" PRId64 ", \"undecided\": %" PRId64 ", \"queued\": %" PRId64
           ", \"rows_received\": %" PRId64 ", \"bytes_received\": %" PRId64 "}\n",
           report->all_found, report->all_undecided, report->all_queued, rows_received, bytes_received);
}

static void say_progress(struct report *report) {
  report->said_at = clock_now();
  if (report->json) {
    struct buffer line;
    buffer_init(&line, LONGEST_LINE);
    buffer_add_string(&line, "{\"table\":");
    buffer_add_json_string(&line, report->table);
    buffer_add_format(&line, ",\"rows\":%" PRId64 ",\"estimate\":%" PRId64 "}\n", report->rows, report->estimate);
    if (!line.overflow)
      fputs(line.data, stderr);
    buffer_release(&line);
    return;
  }
  char rows[PROGRESS_NUMBER_SIZE];
  char estimate[PROGRESS_NUMBER_SIZE];
  progress_number(rows, report->rows);
  progress_number(estimate, report->estimate);
  fprintf(stderr, "%s: %s%s%s rows compared\n", report->table, rows, report->estimate > 0 ? " of about " : "",
          report->estimate > 0 ? estimate : "");
}

static void print_caveats_json(const struct caveats *caveats) {
  const struct {
    const char *name, *value;
  } all[] = {{"not_compared", caveats->missing}, {"coarse", caveats->coarse}, {"shared_with", caveats->shared_with}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i].value == NULL)
      continue;
    printf(", \"%s\": ", all[i].name);
    escape_print_json(all[i].value);
  }
}

static void print_caveats(const char *table, const struct caveats *caveats) {
  if (caveats->missing != NULL)
    printf("%s: not compared, since the target lacks it: %s\n", table, caveats->missing);
  if (caveats->coarse != NULL)
    printf("%s: values count as equal that the target cannot tell apart: %s\n", table, caveats->coarse);
  if (caveats->shared_with != NULL)
    printf("%s: extra rows were not looked for, since the rows of %s are in the same place\n", table,
           caveats->shared_with);
}

void report_table_begin(struct report *report, const char *table, const struct caveats *caveats) {
  report->table = table;
  report->is_shared = caveats->shared_with != NULL;
  report->began = (double)clock_now() / 1000;
  report->shown = report->rows = report->undecided = report->queued = 0;
  for (int kind = 0; kind < DIFFERENCE_KIND_COUNT; kind++)
    report->found[kind] = 0;
  if (report->json) {
    fputs(report->tables > 0 ? ", {\"table\": " : "{\"table\": ", stdout);
    escape_print_json(table);
    print_caveats_json(caveats);
    fputs(", \"found\": [", stdout);
  } else {
    print_caveats(table, caveats);
  }
  report->tables++;
  if (report->progress)
    say_progress(report);
}

void report_rows(struct report *report, int64_t rows) {
  report->rows += rows;
  if (report->progress && clock_now() - report->said_at >= SAY_EVERY)
    say_progress(report);
}

void report_not_compared(struct report *report, const char *table, const char *reason) {
  if (report->json) {
    fputs(report->tables > 0 ? ", {\"table\": " : "{\"table\": ", stdout);
    escape_print_json(table);
    fputs(", \"error\": ", stdout);
    escape_print_json(reason);
    putchar('}');
  } else {
    printf("%s: not compared: ", table);
    escape_print(reason);
    putchar('\n');
  }
  report->tables++;
}

static void print_difference(const struct report *report, const struct difference *difference) {
  printf("%s: %s ", report->table, KINDS[difference->kind]);
  escape_print(difference->key);
  if (difference->copies > 1)
    printf(" (%" PRId64 " times)", difference->copies);
  for (size_t i = 0; i < difference->column_count; i++) {
    fputs(i == 0 ? " in " : ", ", stdout);
    escape_print(difference->columns[i]);
  }
  if (difference->has_null)
    fputs("; no target gets a row with null in its key", stdout);
  if (difference->reason != NULL) {
    fputs("; a change of it was refused: ", stdout);
    escape_print(difference->reason);
  }
  putchar('\n');
}

static void print_difference_json(const struct report *report, const struct difference *difference) {
  printf("%s{\"kind\": \"%s\", \"key\": ", report->shown > 0 ? ", " : "", KINDS[difference->kind]);
  escape_print_json(difference->key);
  if (difference->copies > 0)
    printf(", \"copies\": %" PRId64, difference->copies);
  if (difference->column_count > 0) {
    for (size_t i = 0; i < difference->column_count; i++) {
      fputs(i == 0 ? ", \"columns\": [" : ", ", stdout);
      escape_print_json(difference->columns[i]);
    }
    putchar(']');
  }
  if (difference->reason != NULL) {
    fputs(", \"refused\": ", stdout);
    escape_print_json(difference->reason);
  }
  putchar('}');
}

bool report_has_room(const struct report *report) {
  return report->shown < report->limit;
}

void report_difference(struct report *report, const struct difference *difference) {
  int64_t rows = difference->copies > 0 ? difference->copies : 1;
  report->found[difference->kind] += rows;
  report->all_found += rows;
  if (!report_has_room(report))
    return;
  if (report->json)
    print_difference_json(report, difference);
  else
    print_difference(report, difference);
  report->shown++;
}

void report_undecided(struct report *report, const char *key) {
  report->undecided++;
  if (report->json || key == NULL || !report_has_room(report))
    return;
  /* One of a single column is shown as the log has it. */
  size_t length = strlen(key);
  size_t inner = length > 4 ? strcspn(key + 2, "\"\\") : 0;
  bool is_single = inner + 4 == length;
  char *shown = strndup(is_single ? key + 2 : key, is_single ? inner : length);
  printf("%s: undecided ", report->table);
  escape_print(shown != NULL ? shown : key);
  putchar('\n');
  free(shown);
  report->shown++;
}

void report_keyless(struct report *report, int64_t rows) {
  report->all_keyless += rows;
  if (report->keyless_table[0] != '\0')
    return;
  text_print(report->keyless_table, sizeof report->keyless_table, "%s", report->table);
  report->keyless_is_shared = report->is_shared;
}

/* "1,234 missing", behind what parts it from what was printed before. */
static void print_count(const char *before, int64_t count, const char *what) {
  char text[PROGRESS_NUMBER_SIZE];
  printf("%s%s %s", before, progress_number(text, count), what);
}

static void print_summary(const struct report *report, int64_t found, double seconds) {
  char number[PROGRESS_NUMBER_SIZE];
  printf("%s: %s row%s in %.1f s: ", report->table, progress_number(number, report->rows), text_plural(report->rows),
         seconds);
  if (found == 0) {
    fputs(report->undecided > 0 ? "no difference found"
          : report->is_shared   ? "none missing or different"
                                : "equal",
          stdout);
  } else {
    print_count("", report->found[DIFFERENCE_MISSING], "missing");
    if (!report->is_shared || report->found[DIFFERENCE_EXTRA] > 0)
      print_count(", ", report->found[DIFFERENCE_EXTRA], "extra");
    print_count(", ", report->found[DIFFERENCE_DIFFERENT], "different");
  }
  if (found + report->undecided > report->shown && report->shown == report->limit)
    printf(" (first %s shown)", progress_number(number, report->shown));
  if (report->undecided > 0)
    print_count("; ", report->undecided, "undecided");
  if (report->queued > 0)
    print_count("; ", report->queued, "queued again");
  putchar('\n');
}

static void name_undecided(struct report *report) {
  size_t used = strlen(report->undecided_tables);
  size_t left = sizeof report->undecided_tables - used;
  if (strlen(report->table) + 8 < left)
    text_print(report->undecided_tables + used, left, "%s%s", used > 0 ? ", " : "", report->table);
  else if (used > 0 && report->undecided_tables[used - 1] != '.')
    text_print(report->undecided_tables + used, left, ", ...");
}

void report_table_end(struct report *report, bool complete) {
  double seconds = (double)clock_now() / 1000 - report->began;
  int64_t found = 0;
  for (int kind = 0; kind < DIFFERENCE_KIND_COUNT; kind++)
    found += report->found[kind];
  report->all_undecided += report->undecided;
  if (report->undecided > 0)
    name_undecided(report);
  report->all_queued += report->queued;
  int64_t extra = report->found[DIFFERENCE_EXTRA];
  if (report->json)
    printf("], \"rows\": %" PRId64 ", \"missing\": %" PRId64 ", \"extra\": %s, \"different\": %" PRId64
           ", \"undecided\": %" PRId64 ", \"queued\": %" PRId64 ", \"seconds\": %.3f, \"complete\": %s}",
           report->rows, report->found[DIFFERENCE_MISSING],
           report->is_shared && extra == 0 ? "null" : number(extra).text, report->found[DIFFERENCE_DIFFERENT],
           report->undecided, report->queued, seconds, complete ? "true" : "false");
  else if (complete)
    print_summary(report, found, seconds);
  fflush(stdout);
}
