#include "store.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_type.h"
#include "nodes/execnodes.h"
#include "utils/lsyscache.h"

/* The types are compared, because a value is a pointer or not, and so long, by its type. */
static bool takes(Form_pg_attribute column, const store_column *given) {
  return column->atttypid == given->type && column->atttypmod == -1 && column->attgenerated == '\0' &&
         column->attidentity == '\0' && !(given->may_be_null && column->attnotnull);
}

/* It must be one that is null when no value is given. */
static bool may_be_left_out(Form_pg_attribute column) {
  return !column->attnotnull && !column->atthasdef && column->attidentity == '\0' &&
         get_typtype(column->atttypid) != TYPTYPE_DOMAIN;
}

static int given_as(const layout *layout, const char *name) {
  for (int i = 0; i < layout->count; i++)
    if (strcmp(layout->columns[i].name, name) == 0)
      return i;
  return -1;
}

static bool find_columns(layout *layout, TupleDesc columns) {
  int found = 0;
  for (int n = 0; n < columns->natts; n++) {
    Form_pg_attribute column = TupleDescAttr(columns, n);
    int i = column->attisdropped ? -1 : given_as(layout, NameStr(column->attname));
    if (column->attisdropped)
      continue;
    if (i < 0 ? !may_be_left_out(column) : !takes(column, &layout->columns[i]))
      return false;
    if (i >= 0) {
      layout->numbers[i] = (AttrNumber)(n + 1);
      found++;
    }
  }
  return found == layout->count;
}

/* Whether the table has nothing that the executor would see to. */
static bool table_is_plain(Relation table) {
  TupleConstr *constraints = RelationGetDescr(table)->constr;
  return (table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE || table->rd_tableam == GetHeapamTableAmRoutine()) &&
         table->trigdesc == NULL && table->rd_rules == NULL && !table->rd_rel->relrowsecurity &&
         (constraints == NULL || constraints->num_check == 0);
}

bool layout_fits(layout *layout, Relation table) {
  if (layout->table != RelationGetRelid(table)) {
    layout->is_plain = table_is_plain(table) && find_columns(layout, RelationGetDescr(table));
    layout->table = RelationGetRelid(table);
  }
  return layout->is_plain;
}

static bool index_is_plain(Relation index) {
  return index->rd_index->indimmediate && !index->rd_index->indisexclusion &&
         heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL) &&
         heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
}

void store_close(store *store) {
  ListCell *cell;
  foreach (cell, store->indexes)
    index_close((Relation)lfirst(cell), RowExclusiveLock);
  table_close(store->table, NoLock);
}

bool store_open(store *store, Oid oid, layout *layout) {
  ListCell *cell;
  bool is_plain;
  store->indexes = NIL;
  store->layout = layout;
  store->table = table_open(oid, RowExclusiveLock);
  is_plain = layout_fits(layout, store->table);
  foreach (cell, RelationGetIndexList(store->table)) {
    Relation index = index_open(lfirst_oid(cell), RowExclusiveLock);
    store->indexes = lappend(store->indexes, index);
    is_plain = is_plain && index_is_plain(index);
  }
  if (!is_plain)
    store_close(store);
  return is_plain;
}

static void insert_into_index(Relation index, Relation table, HeapTuple tuple, const Datum *values, const bool *nulls) {
  IndexInfo *info = BuildIndexInfo(index);
  Datum keys[INDEX_MAX_KEYS];
  bool key_nulls[INDEX_MAX_KEYS];
  for (int i = 0; i < info->ii_NumIndexAttrs; i++) {
    int number = info->ii_IndexAttrNumbers[i];
    keys[i] = values[number - 1];
    key_nulls[i] = nulls[number - 1];
  }
  index_insert(index, keys, key_nulls, &tuple->t_self, table,
               index->rd_index->indisunique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
#if PG_VERSION_NUM >= 140000
               false,
#endif
               info);
#if PG_VERSION_NUM >= 170000
  /* Some keep what they have read for the next row (BRIN does), and the executor ends that with the statement. */
  index_insert_cleanup(index, info);
#endif
}

void store_insert(store *store, const Datum *given, const bool *given_nulls) {
  TupleDesc columns = RelationGetDescr(store->table);
  Datum *values = palloc0(columns->natts * sizeof *values);
  bool *nulls = palloc(columns->natts * sizeof *nulls);
  HeapTuple tuple;
  ListCell *cell;
  memset(nulls, true, columns->natts * sizeof *nulls);
  for (int i = 0; i < store->layout->count; i++) {
    values[store->layout->numbers[i] - 1] = given[i];
    nulls[store->layout->numbers[i] - 1] = given_nulls[i];
  }
  tuple = heap_form_tuple(columns, values, nulls);
  heap_insert(store->table, tuple, GetCurrentCommandId(true), 0, NULL);
  foreach (cell, store->indexes) {
    Relation index = lfirst(cell);
    if (index->rd_index->indisready)
      insert_into_index(index, store->table, tuple, values, nulls);
  }
}
