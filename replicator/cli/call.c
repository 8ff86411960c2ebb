#include "cli/call.h"

#include <stdio.h>
#include <string.h>

#include "common/interrupt.h"
#include "queries.h"
#include "terminal/table.h"

/* Classes of SQLSTATE that mean that the request was wrong. */
static bool blames_the_caller(const char *sqlstate) {
  if (strcmp(sqlstate, "42501") == 0)
    return false; /* no privilege: it is right, and another may do it, or the same once the right is given */
  return strncmp(sqlstate, "22", 2) == 0    /* data exception: a value that cannot be read */
         || strncmp(sqlstate, "23", 2) == 0 /* violates a constraint, such as an empty name */
         || strncmp(sqlstate, "42", 2) == 0 /* unknown object */
         || strncmp(sqlstate, "3F", 2) == 0 /* no such schema */
         || strcmp(sqlstate, "55000") == 0  /* not possible in the present state of something */
         || strcmp(sqlstate, "P0001") == 0; /* raised by a function of rowrelay */
}

static void tell_warning(bool is_warning, const char *message, const char *hint) {
  fprintf(stderr, "%s: %s\n", is_warning ? "warning" : "notice", message);
  if (hint != NULL)
    fprintf(stderr, "hint: %s\n", hint);
}

void call_tell_warnings(struct source *source) {
  static struct notice_reader reader = {.tell = tell_warning, .waits_for_success = true};
  pgconn_read_notices(source_connection(source), &reader);
}

bool call_open(struct source **source, const struct options *given, struct error *error) {
  interrupt_on_signals();
  if (!source_open(source, option_text(given, "dbname"), error))
    return false;
  call_tell_warnings(*source);
  if (source_check_schema(*source, error))
    return true;
  source_close(*source);
  *source = NULL;
  return false;
}

bool call_run(struct source *source, const struct query *query, struct values values, PGresult **result,
              struct error *error) {
  /* A command runs each statement once or a few times: preparing is not worth it, and a pooler may not support it. */
  const struct query unprepared = QUERY_ONCE(*query);
  if (source_run(source, &unprepared, values, result, error))
    return true;
  if (blames_the_caller(error->sqlstate))
    error->kind = FAILURE_USAGE;
  return false;
}

bool call_moment(struct source *source, const struct options *given, const char *option, struct moment *moment,
                 struct error *error) {
  const char *words = option_text(given, option);
  if (!option_given(given, option))
    return true;
  if (call_run(source, &QUERY_cmd_moment, VALUES(words), &moment->reply, error)) {
    moment->text = PQgetvalue(moment->reply, 0, 0);
    return true;
  }
  if (strncmp(error->sqlstate, "22", 2) == 0) {
    error_set(error, FAILURE_USAGE, "option --%s must be a time, not \"%s\"", option, words);
    error_hint(error, "use a time such as yesterday, '2 hours ago', 2026-03-01 or '2026-03-01 12:00'");
  }
  return false;
}

bool call_tell_hidden(struct source *source, const char *tables, bool *hidden, struct error *error) {
  PGresult *result = NULL;
  if (!call_run(source, &QUERY_hidden_tables, VALUES(tables), &result, error))
    return false;
  bool any = PQntuples(result) > 0;
  if (any)
    fprintf(stderr, "warning: %s\nhint: %s\n", PQgetvalue(result, 0, HIDDEN_MESSAGE),
            PQgetvalue(result, 0, HIDDEN_HINT));
  if (hidden != NULL)
    *hidden = any;
  PQclear(result);
  return true;
}

bool call_execute(const struct options *given, const struct query *query, struct values values, struct error *error) {
  struct source *source;
  if (!call_open(&source, given, error))
    return false;
  bool ok = call_run(source, query, values, NULL, error);
  source_close(source);
  return ok;
}

bool call_print_table(struct source *source, const struct query *query, struct values values, struct error *error) {
  PGresult *result = NULL;
  if (!call_run(source, query, values, &result, error))
    return false;
  bool ok = table_print(stdout, result, error);
  PQclear(result);
  return ok;
}

bool call_print_value(struct source *source, const struct query *query, struct values values, struct error *error) {
  PGresult *result = NULL;
  if (!call_run(source, query, values, &result, error))
    return false;
  puts(PQgetvalue(result, 0, 0));
  PQclear(result);
  return true;
}

bool call_print(const struct options *given, const struct query *table, const struct query *json, struct values values,
                struct error *error) {
  struct source *source;
  if (!call_open(&source, given, error))
    return false;
  bool ok = option_given(given, "json") ? call_print_value(source, json, values, error)
                                        : call_print_table(source, table, values, error);
  source_close(source);
  return ok;
}
