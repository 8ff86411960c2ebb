/* What a terminal gets to see: the columns of a row, each after a line with a single dot. */
#include <libpq-fe.h>

#include "common/text.h"
#include "fuzz.h"
#include "history/entry.h"
#include "postgres/result.h"
#include "queries.h"
#include "terminal/table.h"

/* None that a terminal obeys, but for the ends of lines. C1 is two bytes in UTF-8. */
static void promise_plain(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    unsigned char byte = (unsigned char)text[i];
    PROMISE((byte >= ' ' || byte == '\n') && byte != 127, "a terminal gets no control character");
  }
}

static PGresult *make_row(char *text, int columns) {
  PGresult *row = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
  PGresAttDesc *attributes = calloc((size_t)columns, sizeof *attributes);
  for (int i = 0; i < columns; i++)
    attributes[i] = (PGresAttDesc){.name = (char *)"column", .typid = i == 0 ? 23 : 25};
  if (!PQsetResultAttrs(row, columns, attributes))
    abort();
  for (int i = 0; i < columns; i++) {
    char *end = text != NULL ? strstr(text, "\n.\n") : NULL;
    if (end != NULL)
      *end = '\0';
    /* The id of a change is a number of the database's own. */
    const char *value = i == ENTRY_ID ? "1" : text;
    if (!PQsetvalue(row, 0, i, (char *)value, value != NULL ? (int)strlen(value) : -1))
      abort();
    text = end != NULL ? end + 3 : NULL;
  }
  free(attributes);
  return row;
}

static void print_table(const PGresult *row) {
  char *text = NULL;
  size_t length = 0;
  struct error error;
  FILE *stream = open_memstream(&text, &length);
  bool ok = table_print(stream, row, &error);
  fclose(stream);
  if (ok)
    promise_plain(text, length);
  free(text);
}

static void print_entry(const PGresult *row) {
  struct entry_style style = {.colours = false, .width = 80};
  struct buffer made;
  buffer_init(&made, 1 << 22);
  entry_add_line(&made, &style, row, 0);
  if (!made.overflow)
    promise_plain(made.data, made.length);
  buffer_clear(&made);
  entry_add_paragraph(&made, &style, row, 0);
  if (!made.overflow && made.data != NULL)
    promise_plain(made.data, made.length);
  buffer_release(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = text_of(data, size);
  char cut[40];
  text_print(cut, sizeof cut, "%s", text);
  PROMISE(strlen(cut) < sizeof cut, "a cut text fits");
  char *copy = text_of(data, size);
  text_sanitize(copy, size % 2 == 0);
  for (const char *c = copy; *c != '\0'; c += text_length(c, strlen(c)))
    PROMISE(text_length(c, strlen(c)) > 0, "a text that was sanitized is UTF-8");
  free(copy);
  PGresult *row = make_row(text, ENTRY_COLUMN_COUNT);
  print_table(row);
  print_entry(row);
  PQclear(row);
  free(text);
  return 0;
}
