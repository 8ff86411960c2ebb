/* reply: what a query's answer holds, as C values. Numbers and booleans are never null. */
#ifndef ROWRELAY_POSTGRES_RESULT_H
#define ROWRELAY_POSTGRES_RESULT_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

/* NULL where it is null; borrowed from the reply. */
const char *reply_text(const PGresult *reply, int row, int column);
int reply_int(const PGresult *reply, int row, int column);
int64_t reply_bigint(const PGresult *reply, int row, int column);
bool reply_bool(const PGresult *reply, int row, int column);

#endif
