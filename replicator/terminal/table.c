#include "terminal/table.h"

#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "terminal/escape.h"

/* Bytes; a field as long as PostgreSQL allows, every byte of it escaped. */
#define LONGEST_CELL ((size_t)4 * 1024 * 1024 * 1024)

#define GAP "  "

/* Built-in types whose values line up to the right. */
static bool is_number(Oid type) {
  switch (type) {
  case 20:   /* bigint */
  case 21:   /* smallint */
  case 23:   /* integer */
  case 26:   /* oid */
  case 700:  /* real */
  case 701:  /* double precision */
  case 1700: /* numeric */
    return true;
  default:
    return false;
  }
}

/*
 * Appends `text` with its control characters escaped and returns how many columns of a terminal it takes. libpq knows
 * the width of every character of an encoding, and depends on no locale.
 */
static int add_cell(struct buffer *cell, const char *text) {
  int utf8 = pg_char_to_encoding("UTF8");
  size_t rest = strlen(text);
  int width = 0;
  while (rest > 0) {
    size_t bytes = escape_length(text, rest);
    if (escape_is_needed(text, bytes)) {
      width += escape_add(cell, text, bytes);
    } else {
      int columns = PQdsplen(text, utf8);
      buffer_add(cell, text, bytes);
      width += columns > 0 ? columns : 0;
    }
    text += bytes;
    rest -= bytes;
  }
  return width;
}

static const char *value_at(const PGresult *result, int row, int column) {
  return row < 0 ? PQfname(result, column) : PQgetvalue(result, row, column);
}

/* Prints one line; row -1 is the header. */
static void print_row(FILE *stream, const PGresult *result, int row, const int *widths, struct buffer *cell) {
  int last = PQnfields(result) - 1;
  for (int column = 0; column <= last; column++) {
    buffer_clear(cell);
    int padding = widths[column] - add_cell(cell, value_at(result, row, column));
    bool right = is_number(PQftype(result, column));
    if (right)
      fprintf(stream, "%*s", padding, "");
    if (cell->length > 0)
      fwrite(cell->data, 1, cell->length, stream);
    if (column < last)
      fprintf(stream, "%*s" GAP, right ? 0 : padding, "");
  }
  fputc('\n', stream);
}

bool table_print(FILE *stream, const PGresult *result, struct error *error) {
  bool ok = false;
  int columns = PQnfields(result);
  struct buffer cell;
  buffer_init(&cell, LONGEST_CELL);
  int *widths = calloc((size_t)columns + 1, sizeof *widths);
  if (widths == NULL) {
    error_set(error, FAILURE_RETRY, "out of memory");
    goto done;
  }
  for (int row = -1; row < PQntuples(result); row++) {
    for (int column = 0; column < columns; column++) {
      buffer_clear(&cell);
      int width = add_cell(&cell, value_at(result, row, column));
      if (!buffer_ok(&cell, "a value to be printed", error))
        goto done;
      widths[column] = width > widths[column] ? width : widths[column];
    }
  }
  print_row(stream, result, -1, widths, &cell);
  for (int column = 0; column < columns; column++) {
    for (int i = 0; i < widths[column]; i++)
      fputc('-', stream);
    fputs(column < columns - 1 ? GAP : "\n", stream);
  }
  for (int row = 0; row < PQntuples(result); row++)
    print_row(stream, result, row, widths, &cell);
  ok = true;
done:
  free(widths);
  buffer_release(&cell);
  return ok;
}
