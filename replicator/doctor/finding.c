#include "doctor/finding.h"

#include <stdio.h>
#include <string.h>

#include "common/buffer.h"
#include "common/json_tree.h"
#include "postgres/result.h"
#include "queries.h"
#include "terminal/escape.h"

/* How many tables a line for people names. */
#define MOST_TABLES 10

static void print_member(const char *name, const char *text) {
  printf(", \"%s\": ", name);
  escape_print_json(text);
}

static void print_json(const struct findings *findings, const struct finding *finding) {
  printf("%s{\"level\": \"%s\"", findings->printed == 0 ? "[" : ",\n ", finding->level);
  print_member("what", finding->what);
  if (finding->tables != NULL)
    printf(", \"tables\": %s", finding->tables);
  print_member("meaning", finding->meaning);
  print_member("command", finding->command);
  putchar('}');
}

static void print_tables(const char *names) {
  bool no_memory;
  json_t *tables = json_tree_parse(names, strlen(names), 0, &no_memory);
  if (no_memory) {
    putchar(' ');
    escape_print(names);
    return;
  }
  size_t count = json_array_size(tables);
  for (size_t i = 0; i < count && i < MOST_TABLES; i++) {
    fputs(i == 0 ? " " : ", ", stdout);
    escape_print(json_string_value(json_array_get(tables, i)));
  }
  if (count > MOST_TABLES)
    printf(" and %zu more", count - MOST_TABLES);
  json_decref(tables);
}

static void print_line(const struct finding *finding) {
  printf("%-4s  ", finding->level);
  escape_print(finding->what);
  if (finding->tables != NULL) {
    putchar(':');
    print_tables(finding->tables);
  }
  fputs(" — ", stdout);
  escape_print(finding->meaning);
  if (finding->command != NULL) {
    fputs("\n      ", stdout);
    escape_print(finding->command);
  }
  putchar('\n');
}

void finding_add(struct findings *findings, const struct finding *finding) {
  findings->failed += strcmp(finding->level, "fail") == 0;
  if (findings->json)
    print_json(findings, finding);
  else
    print_line(finding);
  findings->printed++;
  fflush(stdout);
}

void finding_add_error(struct findings *findings, const char *what, const struct error *error) {
  struct buffer meaning;
  buffer_init(&meaning, sizeof error->message + sizeof error->detail + 8);
  buffer_add_string(&meaning, error->message);
  if (error->detail[0] != '\0') {
    buffer_add_string(&meaning, ": ");
    buffer_add_string(&meaning, error->detail);
  }
  /* libpq tells of several hosts in several lines. */
  for (char *c = meaning.data; c != NULL && *c != '\0'; c++)
    if (*c == '\n' || *c == '\r' || *c == '\t')
      *c = ' ';
  const struct finding finding = {.level = "fail",
                                  .what = what,
                                  .meaning = meaning.data != NULL ? meaning.data : error->message,
                                  .command = error->hint[0] != '\0' ? error->hint : NULL};
  finding_add(findings, &finding);
  buffer_release(&meaning);
}

static void add_rows(struct findings *findings, const PGresult *rows) {
  for (int row = 0; row < PQntuples(rows); row++) {
    const struct finding finding = {.level = result_text(rows, row, FINDING_LEVEL),
                                    .what = result_text(rows, row, FINDING_WHAT),
                                    .tables = result_text(rows, row, FINDING_TABLES),
                                    .meaning = result_text(rows, row, FINDING_MEANING),
                                    .command = result_text(rows, row, FINDING_COMMAND)};
    finding_add(findings, &finding);
  }
}

void finding_ask(struct findings *findings, struct pgconn *connection, const struct query *query, struct values values,
                 const char *what) {
  const struct query unprepared = QUERY_ONCE(*query);
  struct error error;
  PGresult *rows = NULL;
  error_clear(&error);
  if (pgconn_run(connection, &unprepared, values, &rows, &error)) {
    add_rows(findings, rows);
  } else if (strcmp(error.sqlstate, "42501") == 0) {
    const struct finding finding = {.level = "warn",
                                    .what = what,
                                    .meaning = "this role may not look at it",
                                    .command = "ask as the owner of schema rowrelay, or as an admin"};
    finding_add(findings, &finding);
  } else {
    finding_add_error(findings, what, &error);
  }
  PQclear(rows);
}

void finding_end(const struct findings *findings) {
  if (findings->json)
    puts(findings->printed == 0 ? "[]" : "]");
}
