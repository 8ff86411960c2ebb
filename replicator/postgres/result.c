#include "postgres/result.h"

#include <stdlib.h>

const char *reply_text(const PGresult *reply, int row, int column) {
  return PQgetisnull(reply, row, column) ? NULL : PQgetvalue(reply, row, column);
}

int reply_int(const PGresult *reply, int row, int column) {
  return (int)reply_bigint(reply, row, column);
}

int64_t reply_bigint(const PGresult *reply, int row, int column) {
  return strtoll(PQgetvalue(reply, row, column), NULL, 10);
}

bool reply_bool(const PGresult *reply, int row, int column) {
  return PQgetvalue(reply, row, column)[0] == 't';
}
