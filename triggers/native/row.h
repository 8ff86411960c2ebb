/*
 * row: the values of a row, and what the log has of them: key, lane hash and image, as the body of the function makes
 * them.
 */
#ifndef ROWRELAY_NATIVE_ROW_H
#define ROWRELAY_NATIVE_ROW_H

#include "postgres.h"

#include "access/htup.h"
#include "plan.h"

typedef struct row {
  TupleDesc columns; /* borrowed from the relation */
  Datum *values;
  bool *nulls;
} row;

/* In the current memory context. False where a column of the key is null. */
bool row_read(row *row, const plan *plan, Relation relation, HeapTuple tuple);
/* False for a row that is large, or has values that JSON would not bring back. Large values are fetched here. */
bool row_fits_json(row *row, const plan *plan);
/* Whether both have the same bytes in their keys. Equal keys may have others: then PL/pgSQL compares them. */
bool row_has_key_of(const row *row, const struct row *other, const plan *plan);
/* Of one column its text, of several what json_build_array() makes of them. */
Datum row_key(const row *row, const plan *plan);
int32 row_hash(const row *row, const plan *plan);
/* What row_to_json() makes of the row under the settings that the body pins. False: it is longer than `most`. */
bool row_image(const row *row, const plan *plan, int most, Datum *image);
/* What json_build_object() makes of the key. */
Datum row_key_image(const row *row, const plan *plan);

#endif
