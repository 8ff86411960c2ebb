#include <criterion/criterion.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#include "terminal/table.h"

#define TEXT 25
#define BIGINT 20

static struct error error;

/* A result of two columns: a text and a number. */
static PGresult *result_of(int rows, const char *const (*values)[2]) {
  PGresult *result = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
  PGresAttDesc columns[] = {{.name = (char *)"name", .typid = TEXT}, {.name = (char *)"n", .typid = BIGINT}};
  cr_assert(PQsetResultAttrs(result, 2, columns));
  for (int row = 0; row < rows; row++)
    for (int column = 0; column < 2; column++) {
      const char *value = values[row][column];
      cr_assert(PQsetvalue(result, row, column, (char *)value, value != NULL ? (int)strlen(value) : -1));
    }
  return result;
}

static void expect(int rows, const char *const (*values)[2], const char *expected) {
  char *text = NULL;
  size_t length = 0;
  PGresult *result = result_of(rows, values);
  FILE *stream = open_memstream(&text, &length);
  cr_assert(table_print(stream, result, &error));
  fclose(stream);
  cr_assert_str_eq(text, expected);
  free(text);
  PQclear(result);
}

Test(table, texts_stand_left_and_numbers_right) {
  expect(2, (const char *const[][2]){{"a", "7"}, {"longer", "1234"}},
         "name       n\n"
         "------  ----\n"
         "a          7\n"
         "longer  1234\n");
}

Test(table, without_rows_there_is_a_header) {
  expect(0, NULL,
         "name  n\n"
         "----  -\n");
}

Test(table, nulls_are_empty) {
  expect(1, (const char *const[][2]){{NULL, NULL}},
         "name  n\n"
         "----  -\n"
         "       \n");
}

Test(table, letters_count_and_not_bytes) {
  expect(2, (const char *const[][2]){{"Müller", "1"}, {"Miller", "2"}},
         "name    n\n"
         "------  -\n"
         "Müller  1\n"
         "Miller  2\n");
}

Test(table, wide_letters_take_two_columns_and_combining_ones_none) {
  expect(2, (const char *const[][2]){{"東京", "1"}, {"e\xcc\x81tage", "2"}},
         "name   n\n"
         "-----  -\n"
         "東京   1\n"
         "e\xcc\x81tage  2\n");
}

Test(table, control_characters_are_shown) {
  expect(1, (const char *const[][2]){{"a\nb\t\033[2J", "1"}},
         "name           n\n"
         "-------------  -\n"
         "a\\nb\\t\\x1b[2J  1\n");
}

Test(table, control_characters_beyond_ascii_are_shown) {
  expect(1, (const char *const[][2]){{"\xc2\x9b[2J", "1"}},
         "name       n\n"
         "---------  -\n"
         "\\u009b[2J  1\n");
}

Test(table, a_control_character_behind_half_a_letter_is_shown) {
  expect(1, (const char *const[][2]){{"\xc3\033[2J", "1"}},
         "name         n\n"
         "-----------  -\n"
         "\\xc3\\x1b[2J  1\n");
}

Test(table, broken_utf8_is_shown_and_does_not_run_past_the_end) {
  expect(1, (const char *const[][2]){{"a\xe2\x82", "1"}},
         "name       n\n"
         "---------  -\n"
         "a\\xe2\\x82  1\n");
}
