/*
 * store: a table of rowrelay's that is written to as an INSERT would, without the executor, and whether it can be.
 */
#ifndef ROWRELAY_NATIVE_STORE_H
#define ROWRELAY_NATIVE_STORE_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/rel.h"

#define MOST_STORE_COLUMNS 16

/* A column that is given a value, and of which type. */
typedef struct store_column {
  const char *name;
  Oid type;
  bool may_be_null;
} store_column;

/* Where a table has the columns that are given; kept for as long as the table is as it was. */
typedef struct layout {
  const store_column *columns;
  int count;
  Oid table; /* InvalidOid: not known */
  bool is_plain;
  AttrNumber numbers[MOST_STORE_COLUMNS];
} layout;

/* The table with its indexes. */
typedef struct store {
  Relation table;
  List *indexes; /* of Relation */
  const layout *layout;
} store;

/* Whether the table has the columns, and nothing that only the executor could do. The layout is of this table then. */
bool layout_fits(layout *layout, Relation table);
/* Opens them, locked as an INSERT would lock them; false, with nothing open, when something is not plain. */
bool store_open(store *store, Oid oid, layout *layout);
/* The table's lock is kept to the end of the transaction. */
void store_close(store *store);
/* In the order of the layout's columns. */
void store_insert(store *store, const Datum *given, const bool *given_nulls);

#endif
