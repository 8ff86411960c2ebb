#include "monitor/console.h"

#include <jansson.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "monitor/console_answer.h"
#include "monitor/console_names.h"
#include "monitor/monitor.h"
#include "monitor/verifier.h"
#include "pages.h"
#include "queries.h"
#include "source/operation.h"

#define USUAL_LIMIT 50L
#define LARGEST_LIMIT 1000L

/* ---- the page -------------------------------------------------------------------------------------------------- */

#define SCRIPT "text/javascript; charset=utf-8"

static const struct {
  const char *path;
  const char *type;
  const char *text;
} FILES[] = {
    {"/", "text/html; charset=utf-8", PAGE_index_html},
    {"/console.css", "text/css; charset=utf-8", PAGE_console_css},
    {"/console.js", SCRIPT, PAGE_console_js},
    {"/basics.js", SCRIPT, PAGE_basics_js},
    {"/charts.js", SCRIPT, PAGE_charts_js},
    {"/compare.js", SCRIPT, PAGE_compare_js},
    {"/overview.js", SCRIPT, PAGE_overview_js},
    {"/target.js", SCRIPT, PAGE_target_js},
    {"/errors.js", SCRIPT, PAGE_errors_js},
    {"/lists.js", SCRIPT, PAGE_lists_js},
    {"/history.js", SCRIPT, PAGE_history_js},
};

void console_file(void *context, const struct server_request *request, struct server_answer *answer) {
  (void)context;
  for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
    if (strcmp(FILES[i].path, request->path) == 0) {
      answer->type = FILES[i].type;
      answer->may_be_kept = true;
      buffer_add_string(&answer->body, FILES[i].text);
      return;
    }
  answer->status = MHD_HTTP_NOT_FOUND;
}

/* ---- what it shows --------------------------------------------------------------------------------------------- */

/* How many rows are asked for, as text: never so many that the source would notice. */
static const char *limit_of(const struct server_request *request, char *text, size_t size) {
  const char *limit = console_given(request, "limit");
  long number = limit != NULL ? strtol(limit, NULL, 10) : USUAL_LIMIT;
  text_print(text, size, "%ld", number < 1 ? 1 : number > LARGEST_LIMIT ? LARGEST_LIMIT : number);
  return text;
}

void console_overview(void *context, const struct server_request *request, struct server_answer *answer) {
  char limit[16];
  if (console_may_read(request, answer))
    console_value(context, &QUERY_console_overview,
                  VALUES(console_given(request, "find"), limit_of(request, limit, sizeof limit)), answer);
}

void console_samples(void *context, const struct server_request *request, struct server_answer *answer) {
  if (!console_may_read(request, answer))
    return;
  const char *given = console_given(request, "names");
  const char *target = console_given(request, "target");
  json_t *names = given != NULL ? json_loads(given, 0, NULL) : NULL;
  if (target == NULL && !json_is_array(names)) {
    console_error(answer, MHD_HTTP_BAD_REQUEST, "samples of which targets?", "give names, a JSON array, or target");
  } else {
    answer->type = CONSOLE_JSON;
    const char *range = console_given(request, "range");
    bool day = range != NULL && strcmp(range, "day") == 0;
    size_t count = target != NULL ? 1 : json_array_size(names);
    struct samples_json writer;
    samples_begin(&writer, monitor_samples(context),
                  target == NULL ? SAMPLES_BACKLOG
                  : day          ? SAMPLES_DAY
                                 : SAMPLES_ALL,
                  &answer->body);
    for (size_t i = 0; i < count && i < (size_t)LARGEST_LIMIT; i++)
      samples_of(&writer, target != NULL ? target : json_string_value(json_array_get(names, i)));
    samples_end(&writer);
  }
  json_decref(names);
}

void console_target(void *context, const struct server_request *request, struct server_answer *answer) {
  const char *target = console_given(request, "target");
  const char *part = console_given(request, "part");
  if (!console_may_read(request, answer))
    return;
  if (target == NULL)
    console_error(answer, MHD_HTTP_BAD_REQUEST, "which target?", NULL);
  else if (!console_names_are_known(context, target, NULL, NULL, answer))
    return;
  else if (part == NULL)
    console_value(context, &QUERY_console_target, VALUES(target), answer);
  else if (strcmp(part, "settings") == 0)
    console_value(context, &QUERY_console_settings, VALUES(target), answer);
  else if (strcmp(part, "receipts") == 0)
    console_value(context, &QUERY_console_receipts, VALUES(target), answer);
  else if (strcmp(part, "document") == 0)
    console_value(context, &QUERY_console_document, VALUES(target), answer);
  else
    console_error(answer, MHD_HTTP_BAD_REQUEST, "a target has no such part", "part is settings, document or receipts");
}

void console_list(void *context, const struct server_request *request, struct server_answer *answer) {
  static const struct {
    const char *name;
    const struct query *query;
  } LISTS[] = {
      {"captures", &QUERY_console_captures},
      {"documents", &QUERY_console_documents},
      {"backfills", &QUERY_console_backfills},
      {"processes", &QUERY_console_processes},
  };
  const char *of = console_given(request, "of");
  char limit[16];
  if (!console_may_read(request, answer))
    return;
  for (size_t i = 0; of != NULL && i < sizeof LISTS / sizeof *LISTS; i++)
    if (strcmp(LISTS[i].name, of) == 0) {
      console_value(context, LISTS[i].query,
                    VALUES(console_given(request, "find"), limit_of(request, limit, sizeof limit)), answer);
      return;
    }
  console_error(answer, MHD_HTTP_BAD_REQUEST, "there is no such list",
                "of is captures, documents, backfills or processes");
}

void console_errors(void *context, const struct server_request *request, struct server_answer *answer) {
  const char *target = console_given(request, "target");
  const char *table = console_given(request, "table");
  const char *state = console_given(request, "state");
  const char *kind = server_parameter(request, "kind");
  const char *change = console_given(request, "change");
  if (!console_may_read(request, answer) || !console_names_are_known(context, target, table, NULL, answer))
    return;
  if (change != NULL)
    console_value(context, &QUERY_console_error, VALUES(target, change), answer);
  else if (kind != NULL)
    console_value(context, &QUERY_console_errors, VALUES(target, table, state, kind, console_given(request, "before")),
                  answer);
  else
    console_value(context, &QUERY_console_error_groups, VALUES(target, table, console_given(request, "find")), answer);
}

void console_history(void *context, const struct server_request *request, struct server_answer *answer) {
  const char *table = console_given(request, "table");
  const char *key = console_given(request, "key");
  const char *text = console_given(request, "text");
  const char *transaction = console_given(request, "transaction");
  const char *before = console_given(request, "before");
  const char *since = console_given(request, "since");
  const char *until = console_given(request, "until");
  const char *actor = console_given(request, "actor");
  const char *op = console_given(request, "op");
  bool narrowed =
      table != NULL || key != NULL || text != NULL || since != NULL || until != NULL || actor != NULL || op != NULL;
  struct relation_id relation;
  struct error error;
  if (!console_may_read(request, answer))
    return;
  if (transaction != NULL && narrowed)
    console_error(answer, MHD_HTTP_BAD_REQUEST, "a transaction is shown as a whole", "leave the other fields empty");
  else if (key != NULL && table == NULL)
    console_error(answer, MHD_HTTP_BAD_REQUEST, "a key is one of a table", "name the table, too");
  else if (op != NULL && !operation_check(op, &error))
    console_failed(answer, &error);
  else if (!console_names_are_known(context, NULL, table, &relation, answer))
    return;
  else if (transaction != NULL)
    console_found(context, &QUERY_console_transaction, VALUES(transaction, before), answer);
  else if (key != NULL)
    console_found(context, &QUERY_console_life, VALUES(relation.text, key, before, since, until, actor, op), answer);
  else
    console_found(context, &QUERY_console_history,
                  VALUES(table != NULL ? relation.text : NULL, text, before, since, until, actor, op), answer);
}

void console_past(void *context, const struct server_request *request, struct server_answer *answer) {
  const char *table = console_given(request, "table");
  const char *at = console_given(request, "at");
  if (!console_may_read(request, answer))
    return;
  if (table == NULL || at == NULL)
    console_error(answer, MHD_HTTP_BAD_REQUEST, "which table, and when?", "give table and at");
  else
    console_found(context, &QUERY_console_past, VALUES(table, console_given(request, "key"), at), answer);
}

void console_undo(void *context, const struct server_request *request, struct server_answer *answer) {
  const char *transaction = console_given(request, "transaction");
  const char *table = console_given(request, "table");
  const char *change = console_given(request, "change");
  if (!console_may_read(request, answer))
    return;
  if (transaction != NULL)
    console_found(context, &QUERY_console_undo_transaction, VALUES(transaction), answer);
  else if (table != NULL && change != NULL)
    console_found(context, &QUERY_console_undo, VALUES(table, server_parameter(request, "key"), change), answer);
  else
    console_error(answer, MHD_HTTP_BAD_REQUEST, "undo what?", "give table and change, or transaction");
}

void console_verify(void *context, const struct server_request *request, struct server_answer *answer) {
  const char *target = console_given(request, "target");
  if (!console_may_read(request, answer))
    return;
  answer->type = CONSOLE_JSON;
  verifier_write(monitor_verifier(context), target != NULL ? target : "", &answer->body);
}
