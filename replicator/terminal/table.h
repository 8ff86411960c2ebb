/*
 * table: a query's result as aligned text for people: a header, a rule, one line for each row. Numbers are
 * right-aligned, nulls are empty, and control characters are escaped, so that no value can break the layout or control
 * the terminal.
 */
#ifndef ROWRELAY_TERMINAL_TABLE_H
#define ROWRELAY_TERMINAL_TABLE_H

#include <libpq-fe.h>
#include <stdio.h>

#include "common/error.h"

/* Texts in `result` are UTF-8. */
MUST_CHECK bool table_print(FILE *stream, const PGresult *result, struct error *error);

#endif
