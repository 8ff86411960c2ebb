/* What listeners are told. */
#include <criterion/criterion.h>
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/listener.h"
#include "queries.h"

#define TOO_LARGE ((size_t)129 * 1024 * 1024)

static struct error error;

/* Rows with these lines; NULL is the cursor alone. */
static PGresult *rows_of(int count, char *const lines[]) {
  PGresAttDesc columns[] = {{.name = "next_cursor"}, {.name = "line"}, {.name = "found"}};
  PGresult *rows = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
  cr_assert(rows != NULL && PQsetResultAttrs(rows, HEARD_COLUMN_COUNT, columns));
  for (int row = 0; row < count; row++) {
    cr_assert(PQsetvalue(rows, row, HEARD_NEXT_CURSOR, (char[]){"0/1:1:"}, 6));
    cr_assert(PQsetvalue(rows, row, HEARD_LINE, lines[row], lines[row] != NULL ? (int)strlen(lines[row]) : -1));
    cr_assert(PQsetvalue(rows, row, HEARD_FOUND, (char[]){"1"}, 1));
  }
  return rows;
}

static void hands_out(const struct listener *listener, int expected, int count, char *const lines[]) {
  struct listener_news news = {.changes = rows_of(count, lines)};
  struct piece *piece = listener_format(listener, &news, &error);
  if (expected > 0)
    cr_assert(piece != NULL && news.count == expected, "%d", news.count);
  else
    cr_assert(piece == NULL && error.kind != FAILURE_RETRY, "%s", error.message);
  piece_release(piece);
  PQclear((PGresult *)news.changes);
}

Test(listener, is_given_what_comes_before_a_change_that_is_too_large) {
  char small[] = "{\"change_id\" : 1}";
  char *large = malloc(TOO_LARGE + 1);
  memset(large, ' ', TOO_LARGE);
  memcpy(large, "{\"a\":1", 6);
  large[TOO_LARGE - 1] = '}';
  large[TOO_LARGE] = '\0';
  for (int is_stream = 0; is_stream < 2; is_stream++) {
    const struct listener listener = {.is_stream = is_stream == 1};
    hands_out(&listener, 3, 3, (char *[]){small, small, NULL});
    hands_out(&listener, 2, 3, (char *[]){small, small, large});
    hands_out(&listener, 0, 2, (char *[]){large, small});
  }
  free(large);
}
