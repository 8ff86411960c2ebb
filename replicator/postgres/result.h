/* result: what a query's answer holds, as C values. Numbers and booleans are never null. */
#ifndef ROWRELAY_POSTGRES_RESULT_H
#define ROWRELAY_POSTGRES_RESULT_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

/* NULL where it is null; borrowed from the reply. */
const char *result_text(const PGresult *reply, int row, int column);
int result_int(const PGresult *reply, int row, int column);
int64_t result_bigint(const PGresult *reply, int row, int column);
bool result_bool(const PGresult *reply, int row, int column);

/*
 * The same by a column's name, for queries that give many: a column that is not there is a mistake in the program, and
 * aborts. Here a text that is null is "", a number 0 and a boolean false.
 */
struct result_row {
  const PGresult *reply;
  int row;
};
const char *row_text(const struct result_row *row, const char *column);
int row_int(const struct result_row *row, const char *column);
int64_t row_bigint(const struct result_row *row, const char *column);
bool row_bool(const struct result_row *row, const char *column);

#endif
