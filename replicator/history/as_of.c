#include "history/as_of.h"

#include "cli/call.h"
#include "common/json.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"

/* A row that is as long as PostgreSQL allows, every byte of it escaped. */
#define LONGEST_ROW ((size_t)4 * 1024 * 1024 * 1024)

static void add_row(struct printer *printer, const char *row, struct buffer *text) {
  buffer_clear(text);
  if (printer->form == FORM_PARAGRAPHS) {
    buffer_add_string(text, printer->printed ? "\n" : "");
    entry_add_row(text, row);
  } else {
    json_add_line(text, row);
    buffer_add_string(text, "\n");
  }
  printer->printed = true;
}

static bool print_rows(struct printer *printer, const PGresult *rows, struct buffer *text, struct error *error) {
  for (int row = 0; row < PQntuples(rows); row++) {
    add_row(printer, PQgetvalue(rows, row, 0), text);
    if (!buffer_ok(text, "a row to be printed", error))
      return false;
    fwrite(text->data, 1, text->length, printer->pager->out);
  }
  return pager_flush(printer->pager, error);
}

/* Makes the cursor, which is when the rows are found. */
static bool declare(const struct as_of *past, struct source *source, struct error *error) {
  PGresult *statement = NULL;
  struct number most = number(past->limit);
  if (!call_run(source, &QUERY_cmd_log_past,
                VALUES(past->filter->relations, past->moment, past->filter->key, past->limit < 0 ? NULL : most.text),
                &statement, error))
    return false;
  const struct query query = {.text = PQgetvalue(statement, 0, 0)};
  bool ok = call_run(source, &query, NO_VALUES, NULL, error);
  PQclear(statement);
  return ok;
}

bool as_of_print(const struct as_of *past, struct source *source, struct printer *printer, struct error *error) {
  struct buffer text;
  buffer_init(&text, LONGEST_ROW);
  bool ok = declare(past, source, error);
  for (int count = 1; ok && count > 0 && !printer->pager->left;) {
    PGresult *rows = NULL;
    ok = call_run(source, &QUERY_cmd_log_past_rows, NO_VALUES, &rows, error) && print_rows(printer, rows, &text, error);
    count = rows != NULL ? PQntuples(rows) : 0;
    PQclear(rows);
  }
  buffer_release(&text);
  return ok;
}
