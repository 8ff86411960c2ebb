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

#endif
