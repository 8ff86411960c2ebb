#include "plan.h"

#include <limits.h>

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

/* Of a target; see replicator/source/lanes.h. */
#define MOST_LANES 4096

static HTAB *plans = NULL;

void plan_init(void) {
  HASHCTL control = {.keysize = sizeof(Oid), .entrysize = sizeof(plan)};
  plans = hash_create("rowrelay plans", 64, &control, HASH_ELEM | HASH_BLOBS);
}

static const char *plan_field(const char *line, const char *name) {
  char wanted[32];
  const char *found;
  snprintf(wanted, sizeof wanted, " %s=", name);
  found = strstr(line, wanted);
  return found == NULL ? NULL : found + strlen(wanted);
}

/* False where there is none from 1 to `most`. */
static bool next_number(const char **text, unsigned long most, unsigned long *number) {
  char *end;
  if (**text < '0' || **text > '9')
    return false;
  *number = strtoul(*text, &end, 10);
  *text = end;
  return *number >= 1 && *number <= most;
}

static bool read_key_name(const char **text, NameData *name) {
  size_t length = 0;
  memset(name, 0, sizeof *name);
  for (; isxdigit((unsigned char)(*text)[0]) && isxdigit((unsigned char)(*text)[1]); *text += 2) {
    char pair[3] = {(*text)[0], (*text)[1], '\0'};
    if (length == NAMEDATALEN - 1)
      return false;
    NameStr(*name)[length++] = (char)strtoul(pair, NULL, 16);
  }
  return length > 0;
}

static bool read_keys(plan *plan, const char *text) {
  unsigned long number;
  while (plan->key_count < MOST_KEY_COLUMNS && next_number(&text, MaxHeapAttributeNumber, &number)) {
    key_column *key = &plan->keys[plan->key_count++];
    key->number = (AttrNumber)number;
    if (*text++ != ':' || !read_key_name(&text, &key->name))
      return false;
    if (*text != ',')
      return true;
    text++;
  }
  return false;
}

/* Of the columns of the key; 0: none. */
static bool read_collations(plan *plan, const char *text) {
  for (int i = 0; i < plan->key_count; i++) {
    char *end;
    plan->keys[i].collation = (Oid)strtoul(text, &end, 10);
    if (end == text || (i + 1 < plan->key_count && *end != ','))
      return false;
    text = end + 1;
  }
  return true;
}

static bool read_lanes(plan *plan, const char *text) {
  unsigned long first, count;
  while (plan->target_count < MOST_TARGETS && next_number(&text, PG_INT32_MAX, &first)) {
    lane_range *lanes = &plan->lanes[plan->target_count++];
    if (*text++ != ':' || !next_number(&text, MOST_LANES, &count) || first > PG_INT32_MAX - count + 1)
      return false;
    lanes->first = (int32)first;
    lanes->count = (int32)count;
    if (*text != ',')
      return true;
    text++;
  }
  return plan->target_count == 0; /* "lanes=": it goes to no target */
}

static form form_of(Oid base_type) {
  switch (base_type) {
  case BOOLOID:
    return FORM_BOOL;
  case INT2OID:
  case INT4OID:
  case INT8OID:
  case FLOAT4OID:
  case FLOAT8OID:
  case NUMERICOID:
    return FORM_NUMBER;
  case DATEOID:
  case TIMESTAMPOID:
  case TIMESTAMPTZOID:
    return FORM_DATETIME;
  case JSONOID:
    return FORM_JSON;
  case JSONBOID:
    return FORM_JSONB;
  default:
    return type_is_array(base_type) ? FORM_ARRAY : FORM_TEXT;
  }
}

static bool read_types(plan *plan, const char *text) {
  unsigned long type;
  plan->columns = MemoryContextAllocZero(plan->context, MaxTupleAttributeNumber * sizeof *plan->columns);
  while (plan->column_count < MaxTupleAttributeNumber && next_number(&text, OID_MAX, &type)) {
    column *column = &plan->columns[plan->column_count++];
    Oid output;
    bool is_varlena;
    /* a domain may have been dropped with its column: then the table is not as the plan knows it */
    if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum((Oid)type)))
      return false;
    column->type = (Oid)type;
    column->base_type = getBaseType((Oid)type);
    if (column->base_type >= FirstNormalObjectId && !type_is_enum(column->base_type))
      return false; /* a user's type, with a user's code */
    column->form = form_of(column->base_type);
    getTypeOutputInfo(column->type, &output, &is_varlena);
    fmgr_info_cxt(output, &column->output, plan->context);
    if (*text != ',')
      return true;
    text++;
  }
  return false;
}

static bool read_plan(plan *plan, const char *line) {
  const char *capture = plan_field(line, "capture"), *relation = plan_field(line, "relation"),
             *origin = plan_field(line, "origin"), *before = plan_field(line, "before"),
             *types = plan_field(line, "types"), *keys = plan_field(line, "keys"),
             *collations = plan_field(line, "collations"), *lanes = plan_field(line, "lanes");
  if (strncmp(line, "-- plan 1 ", 10) != 0 || capture == NULL || relation == NULL || origin == NULL || before == NULL ||
      types == NULL || keys == NULL || collations == NULL || lanes == NULL)
    return false;
  plan->capture = atoi(capture);
  plan->relation = (Oid)strtoul(relation, NULL, 10);
  plan->captures_origin = *origin == 't';
  plan->keeps_before = *before == 't';
  return read_types(plan, types) && read_keys(plan, keys) && read_collations(plan, collations) &&
         read_lanes(plan, lanes);
}

static void load_plan(plan *plan, HeapTuple row) {
  Form_pg_proc function = (Form_pg_proc)GETSTRUCT(row);
  MemoryContext context = plan->context;
  Oid oid = plan->function;
  bool is_null;
  char *body, *end;
  body = TextDatumGetCString(SysCacheGetAttr(PROCOID, row, Anum_pg_proc_prosrc, &is_null));
  while (*body == '\n')
    body++;
  end = strchr(body, '\n');
  if (end != NULL)
    *end = '\0';
  memset(plan, 0, sizeof *plan);
  plan->function = oid;
  plan->schema = function->pronamespace;
  plan->owner = function->proowner;
  if (context == NULL)
    context = AllocSetContextCreate(CacheMemoryContext, "rowrelay plan", ALLOCSET_SMALL_SIZES);
  else
    MemoryContextReset(context);
  plan->context = context;
  plan->is_usable = function->prosecdef && read_plan(plan, body);
  if (plan->columns != NULL)
    plan->columns = repalloc(plan->columns, Max(plan->column_count, 1) * sizeof *plan->columns);
  /* last: what failed half-way is read again */
  plan->xmin = HeapTupleHeaderGetRawXmin(row->t_data);
  plan->tid = row->t_self;
}

const plan *plan_find(Oid oid) {
  bool is_known;
  plan *plan;
  HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(oid));
  if (!HeapTupleIsValid(row))
    elog(ERROR, "cache lookup failed for function %u", oid);
  plan = hash_search(plans, &oid, HASH_ENTER, &is_known);
  if (!is_known) {
    plan->xmin = InvalidTransactionId;
    plan->context = NULL;
  }
  if (plan->xmin != HeapTupleHeaderGetRawXmin(row->t_data) || !ItemPointerEquals(&plan->tid, &row->t_self)) {
    plan->xmin = InvalidTransactionId;
    load_plan(plan, row);
  }
  ReleaseSysCache(row);
  return plan;
}

bool plan_is_allowed(const plan *plan, const schema *schema) {
  return plan->schema == schema->oid && plan->owner == schema->owner;
}

bool plan_knows_table(const plan *plan, Relation relation) {
  TupleDesc columns = RelationGetDescr(relation);
  int count = 0;
  if (RelationGetRelid(relation) != plan->relation)
    return false;
  for (int i = 0; i < columns->natts; i++) {
    Form_pg_attribute attribute = TupleDescAttr(columns, i);
    if (attribute->attisdropped)
      continue;
    if (count == plan->column_count || attribute->atttypid != plan->columns[count].type)
      return false;
    count++;
  }
  if (count != plan->column_count)
    return false;
  for (int i = 0; i < plan->key_count; i++) {
    const key_column *key = &plan->keys[i];
    Form_pg_attribute attribute;
    if (key->number > columns->natts)
      return false;
    attribute = TupleDescAttr(columns, key->number - 1);
    if (attribute->attisdropped || attribute->attcollation != key->collation || /* else it has another hash */
        strcmp(NameStr(attribute->attname), NameStr(key->name)) != 0)
      return false;
  }
  return true;
}
