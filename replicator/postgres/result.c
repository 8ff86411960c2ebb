#include "postgres/result.h"

#include <stdio.h>
#include <stdlib.h>

const char *result_text(const PGresult *reply, int row, int column) {
  return PQgetisnull(reply, row, column) ? NULL : PQgetvalue(reply, row, column);
}

int result_int(const PGresult *reply, int row, int column) {
  return (int)result_bigint(reply, row, column);
}

int64_t result_bigint(const PGresult *reply, int row, int column) {
  return strtoll(PQgetvalue(reply, row, column), NULL, 10);
}

bool result_bool(const PGresult *reply, int row, int column) {
  return PQgetvalue(reply, row, column)[0] == 't';
}

static int column_of(const struct result_row *row, const char *column) {
  int number = PQfnumber(row->reply, column);
  if (number < 0) {
    fprintf(stderr, "rowrelay: a query gives no column %s\n", column);
    abort();
  }
  return number;
}

const char *row_text(const struct result_row *row, const char *column) {
  return PQgetvalue(row->reply, row->row, column_of(row, column));
}

int row_int(const struct result_row *row, const char *column) {
  return result_int(row->reply, row->row, column_of(row, column));
}

int64_t row_bigint(const struct result_row *row, const char *column) {
  return result_bigint(row->reply, row->row, column_of(row, column));
}

bool row_bool(const struct result_row *row, const char *column) {
  return result_bool(row->reply, row->row, column_of(row, column));
}
