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
