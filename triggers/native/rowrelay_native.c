/*
 * rowrelay_native: a procedural language in which the trigger functions of captured tables run where a server lets a
 * library in. The body of such a function is PL/pgSQL, as rowrelay.trigger_function() makes it everywhere; its first
 * line is a plan: what the body does with a row for which nothing out of the ordinary is to be done. Such a row is
 * captured here, with the same result, for less than half of the CPU. Every other row goes the way of the body, which
 * PL/pgSQL's own handler runs: a row that may nest, whose key changes, that is large, of a session with rowrelay.actor
 * or SET ROLE, of a table that is not as the plan knows it. So there is one description of what a capture means, and
 * this file is never the only one that knows it.
 *
 * What is ordinary must not fail where PL/pgSQL's guarded block would have caught it: values are small, of types that
 * PostgreSQL itself made, and their output functions take every value. What cannot be written into the log fails the
 * statement here as there, because a change that is not in the log would be lost.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "parser/parse_func.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/bytea.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
#include "utils/xid8.h"

PG_MODULE_MAGIC;

/* What values of one row may have together; JSON makes six times as much of it at most. */
#define LARGE_ROW (8 * 1024 * 1024)
#define LARGE_IMAGE 52428800 /* rowrelay.large_image() */
#define MOST_KEY_COLUMNS 8
#define MOST_TARGETS 32

/* How a column's value becomes JSON. */
typedef enum form { FORM_TEXT, FORM_NUMBER, FORM_BOOL, FORM_DATETIME, FORM_JSONB } form;

typedef struct column {
  Oid type;      /* as the table has it, a domain for one */
  Oid base_type; /* of which a domain is */
  form form;
  FmgrInfo output;
} column;

typedef struct key_column {
  AttrNumber number;
  NameData name;
} key_column;

typedef struct lane_range {
  int32 first;
  int32 count;
} lane_range;

/* What the first line of a function says, and what its pg_proc row was when it was read. */
typedef struct plan {
  Oid function; /* the hash table's key */
  TransactionId xmin;
  ItemPointerData tid;
  bool is_usable;
  MemoryContext context; /* of what follows */
  int32 capture;
  Oid relation;
  bool captures_origin;
  bool keeps_before;
  int column_count; /* without those that were dropped */
  column *columns;
  int key_count;
  key_column keys[MOST_KEY_COLUMNS];
  int target_count;
  lane_range lanes[MOST_TARGETS];
  Oid change, queue, change_id, doorbell, ring_doorbell, partition_day;
} plan;

/* The columns of rowrelay.change that are written, in the order of CHANGE_COLUMNS. */
enum {
  CHANGE_ID,
  CHANGE_TXID,
  CHANGE_CAPTURED_AT,
  CHANGE_DAY,
  CHANGE_CAPTURE,
  CHANGE_OP,
  CHANGE_KEY,
  CHANGE_ACTOR,
  CHANGE_DB_USER,
  CHANGE_APPLICATION_NAME,
  CHANGE_CLIENT_ADDR,
  CHANGE_OLD_ROW,
  CHANGE_NEW_ROW,
  CHANGE_COLUMN_COUNT
};
static const char *const CHANGE_COLUMNS[] = {"id",          "txid",    "captured_at", "day",     "capture",
                                             "op",          "key",     "actor",       "db_user", "application_name",
                                             "client_addr", "old_row", "new_row"};

enum { QUEUE_CHANGE_ID, QUEUE_LANE, QUEUE_DAY, QUEUE_BYTES, QUEUE_COLUMN_COUNT };
static const char *const QUEUE_COLUMNS[] = {"change_id", "lane", "day", "bytes"};

/* Where today's changes go: what rowrelay.partition_day() says on this day, and that day's partition. */
static struct {
  bool is_valid;
  Oid function;
  TransactionId xmin;
  ItemPointerData tid;
  DateADT asked_on; /* UTC */
  DateADT day;
  Oid partition;
} today;

static HTAB *plans = NULL;
static PGFunction run_body = NULL;

PG_FUNCTION_INFO_V1(rowrelay_call_handler);

static void forget_today(Datum argument, Oid relation) {
  if (relation == InvalidOid || relation == today.partition)
    today.is_valid = false;
}

void _PG_init(void);
void _PG_init(void) {
  HASHCTL control = {.keysize = sizeof(Oid), .entrysize = sizeof(plan)};
  plans = hash_create("rowrelay plans", 64, &control, HASH_ELEM | HASH_BLOBS);
  run_body = (PGFunction)load_external_function("$libdir/plpgsql", "plpgsql_call_handler", true, NULL);
  CacheRegisterRelcacheCallback(forget_today, (Datum)0);
}

/*
 * The plan: "-- plan 1 capture=7 relation=16385 origin=f before=f types=23,25 keys=1:6964 lanes=4097:64,8193:8", where
 * a key's name is in hexadecimal.
 */
static const char *plan_field(const char *line, const char *name) {
  char wanted[32];
  const char *found;
  snprintf(wanted, sizeof wanted, " %s=", name);
  found = strstr(line, wanted);
  return found == NULL ? NULL : found + strlen(wanted);
}

/* Reads one list of numbers, or of pairs of them; false when there are more than `most`. */
static bool next_number(const char **text, unsigned long *number) {
  char *end;
  if (**text < '0' || **text > '9')
    return false;
  *number = strtoul(*text, &end, 10);
  *text = end;
  return true;
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
  while (plan->key_count < MOST_KEY_COLUMNS && next_number(&text, &number)) {
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

static bool read_lanes(plan *plan, const char *text) {
  unsigned long first, count;
  while (plan->target_count < MOST_TARGETS && next_number(&text, &first)) {
    lane_range *lanes = &plan->lanes[plan->target_count++];
    if (*text++ != ':' || !next_number(&text, &count) || count == 0)
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
  case JSONBOID:
    return FORM_JSONB;
  default:
    return FORM_TEXT;
  }
}

static bool read_types(plan *plan, const char *text) {
  unsigned long type;
  plan->columns = MemoryContextAllocZero(plan->context, MaxTupleAttributeNumber * sizeof *plan->columns);
  while (plan->column_count < MaxTupleAttributeNumber && next_number(&text, &type)) {
    column *column = &plan->columns[plan->column_count++];
    Oid output;
    bool is_varlena;
    column->type = (Oid)type;
    column->base_type = getBaseType((Oid)type);
    if (column->base_type >= FirstNormalObjectId)
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
             *types = plan_field(line, "types"), *keys = plan_field(line, "keys"), *lanes = plan_field(line, "lanes");
  if (strncmp(line, "-- plan 1 ", 10) != 0 || capture == NULL || relation == NULL || origin == NULL || before == NULL ||
      types == NULL || keys == NULL || lanes == NULL)
    return false;
  plan->capture = atoi(capture);
  plan->relation = (Oid)strtoul(relation, NULL, 10);
  plan->captures_origin = *origin == 't';
  plan->keeps_before = *before == 't';
  return read_types(plan, types) && read_keys(plan, keys) && read_lanes(plan, lanes);
}

/* False when something is not there, as while the schema is being restored. */
static bool find_objects(plan *plan, Oid schema) {
  List *ring = list_make2(makeString("rowrelay"), makeString("ring_doorbell"));
  List *day = list_make2(makeString("rowrelay"), makeString("partition_day"));
  plan->change = get_relname_relid("change", schema);
  plan->queue = get_relname_relid("queue", schema);
  plan->change_id = get_relname_relid("change_id", schema);
  plan->doorbell = get_relname_relid("doorbell", schema);
  plan->ring_doorbell = LookupFuncName(ring, 0, NULL, true);
  plan->partition_day = LookupFuncName(day, 0, NULL, true);
  return OidIsValid(plan->change) && OidIsValid(plan->queue) && OidIsValid(plan->change_id) &&
         OidIsValid(plan->doorbell) && OidIsValid(plan->ring_doorbell) && OidIsValid(plan->partition_day);
}

/*
 * A function of this language writes into the log without being asked for the right to, so it has to be one that the
 * schema's owner made, and runs with his rights.
 */
static void check_owner(Form_pg_proc function) {
  HeapTuple schema = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(function->pronamespace));
  bool is_right;
  if (!HeapTupleIsValid(schema))
    elog(ERROR, "cache lookup failed for namespace %u", function->pronamespace);
  is_right = strcmp(NameStr(((Form_pg_namespace)GETSTRUCT(schema))->nspname), "rowrelay") == 0 &&
             ((Form_pg_namespace)GETSTRUCT(schema))->nspowner == function->proowner && function->prosecdef;
  ReleaseSysCache(schema);
  if (!is_right)
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("function %s cannot be in language rowrelay", NameStr(function->proname)),
                    errhint("Only functions of schema rowrelay, made by rowrelay capture, can be.")));
}

static void load_plan(plan *plan, HeapTuple row) {
  Form_pg_proc function = (Form_pg_proc)GETSTRUCT(row);
  MemoryContext context = plan->context;
  Oid oid = plan->function;
  bool is_null;
  char *body, *end;
  check_owner(function);
  body = TextDatumGetCString(SysCacheGetAttr(PROCOID, row, Anum_pg_proc_prosrc, &is_null));
  while (*body == '\n')
    body++;
  end = strchr(body, '\n');
  if (end != NULL)
    *end = '\0';
  memset(plan, 0, sizeof *plan);
  plan->function = oid;
  if (context == NULL)
    context = AllocSetContextCreate(CacheMemoryContext, "rowrelay plan", ALLOCSET_SMALL_SIZES);
  else
    MemoryContextReset(context);
  plan->context = context;
  plan->is_usable = read_plan(plan, body) && find_objects(plan, function->pronamespace);
  if (plan->columns != NULL)
    plan->columns = repalloc(plan->columns, Max(plan->column_count, 1) * sizeof *plan->columns);
  /* last: what failed half-way is read again */
  plan->xmin = HeapTupleHeaderGetRawXmin(row->t_data);
  plan->tid = row->t_self;
}

static plan *find_plan(Oid oid) {
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

static bool is_set(const char *name) {
  const char *value = GetConfigOption(name, true, false);
  return value != NULL && *value != '\0';
}

/* Who writes; texts, 0 for null. */
typedef struct author {
  Datum actor, db_user;
} author;

/* As rowrelay.actor() and rowrelay.db_user() say it; false when it may be that this is not to be captured. */
static bool find_author(const plan *plan, author *author) {
  const char *user = GetUserNameFromId(GetSessionUserId(), false);
  const char *role = GetConfigOption("role", false, false);
  bool has_role = strcmp(role, "none") != 0, has_actor = is_set("rowrelay.actor");
  if (is_set("rowrelay.skip") || (!plan->captures_origin && is_set("rowrelay.origin")))
    return false;
  author->actor = (Datum)0;
  if (has_actor || has_role)
    author->actor = CStringGetTextDatum(has_actor ? GetConfigOption("rowrelay.actor", true, false) : user);
  author->db_user = CStringGetTextDatum(has_role ? psprintf("%s as %s", user, role) : user);
  return true;
}

/* Whether the table's columns are those of the plan, and its key is called as it was. */
static bool table_is_known(const plan *plan, Relation relation) {
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
    int number = plan->keys[i].number;
    if (number > columns->natts || TupleDescAttr(columns, number - 1)->attisdropped ||
        strcmp(NameStr(TupleDescAttr(columns, number - 1)->attname), NameStr(plan->keys[i].name)) != 0)
      return false;
  }
  return true;
}

typedef struct row {
  TupleDesc columns;
  Datum *values;
  bool *nulls;
} row;

/* False for a row that is large, or has values that JSON would not bring back. */
static bool read_row(const plan *plan, Relation relation, HeapTuple tuple, row *row) {
  Size size = 0;
  row->columns = RelationGetDescr(relation);
  row->values = palloc(row->columns->natts * sizeof *row->values);
  row->nulls = palloc(row->columns->natts * sizeof *row->nulls);
  heap_deform_tuple(tuple, row->columns, row->values, row->nulls);
  for (int i = 0, n = 0; i < row->columns->natts; i++) {
    Form_pg_attribute attribute = TupleDescAttr(row->columns, i);
    if (attribute->attisdropped)
      continue;
    if (!row->nulls[i]) {
      if (attribute->attlen == -1)
        size += toast_raw_datum_size(row->values[i]);
      if (size > LARGE_ROW)
        return false;
      if (plan->columns[n].form == FORM_JSONB) {
        JsonbValue scalar;
        Jsonb *document = DatumGetJsonbP(row->values[i]);
        row->values[i] = JsonbPGetDatum(document);
        if (JB_ROOT_IS_SCALAR(document) && JsonbExtractScalar(&document->root, &scalar) && scalar.type == jbvNull)
          return false;
      }
    }
    n++;
  }
  return true;
}

static bool has_key(const plan *plan, const row *row) {
  for (int i = 0; i < plan->key_count; i++)
    if (row->nulls[plan->keys[i].number - 1])
      return false;
  return true;
}

/* Whether both rows have the same bytes in their keys. Equal keys may have others: then PL/pgSQL looks. */
static bool has_same_key(const plan *plan, const row *one, const row *other) {
  for (int i = 0; i < plan->key_count; i++) {
    int n = plan->keys[i].number - 1;
    Form_pg_attribute attribute = TupleDescAttr(one->columns, n);
    if (!datumIsEqual(one->values[n], other->values[n], attribute->attbyval, attribute->attlen))
      return false;
  }
  return true;
}

static void append_json(StringInfo json, column *column, Datum value) {
  char datetime[MAXDATELEN + 1];
  char *text;
  int utc = 0;
  switch (column->form) {
  case FORM_BOOL:
    appendStringInfoString(json, DatumGetBool(value) ? "true" : "false");
    return;
  case FORM_DATETIME:
    JsonEncodeDateTime(datetime, value, column->base_type, column->base_type == TIMESTAMPTZOID ? &utc : NULL);
    appendStringInfo(json, "\"%s\"", datetime);
    return;
  case FORM_NUMBER:
    text = OutputFunctionCall(&column->output, value);
    /* NaN and the infinities are no JSON */
    if (text[strspn(text, "0123456789.eE+-")] == '\0')
      appendStringInfoString(json, text);
    else
      escape_json(json, text);
    return;
  case FORM_JSONB:
    appendStringInfoString(json, OutputFunctionCall(&column->output, value));
    return;
  case FORM_TEXT:
    escape_json(json, OutputFunctionCall(&column->output, value));
    return;
  }
}

/* What row_to_json() makes of the row. */
static Datum image_of(const plan *plan, const row *row, StringInfo json) {
  const char *separator = "{";
  resetStringInfo(json);
  for (int i = 0, n = 0; i < row->columns->natts; i++) {
    Form_pg_attribute attribute = TupleDescAttr(row->columns, i);
    if (attribute->attisdropped)
      continue;
    appendStringInfoString(json, separator);
    escape_json(json, NameStr(attribute->attname));
    appendStringInfoChar(json, ':');
    if (row->nulls[i])
      appendStringInfoString(json, "null");
    else
      append_json(json, &plan->columns[n], row->values[i]);
    separator = ",";
    n++;
  }
  appendStringInfoChar(json, '}');
  return PointerGetDatum(cstring_to_text_with_len(json->data, json->len));
}

static column *column_of(const plan *plan, const row *row, int number) {
  int n = 0;
  for (int i = 0; i < number - 1; i++)
    n += !TupleDescAttr(row->columns, i)->attisdropped;
  return &plan->columns[n];
}

/* What json_build_object() makes of the key. */
static Datum key_row_of(const plan *plan, const row *row, StringInfo json) {
  resetStringInfo(json);
  for (int i = 0; i < plan->key_count; i++) {
    int number = plan->keys[i].number;
    appendStringInfoString(json, i == 0 ? "{" : ", ");
    escape_json(json, NameStr(plan->keys[i].name));
    appendStringInfoString(json, " : ");
    append_json(json, column_of(plan, row, number), row->values[number - 1]);
  }
  appendStringInfoChar(json, '}');
  return PointerGetDatum(cstring_to_text_with_len(json->data, json->len));
}

/* Of one column its text, of several what json_build_array() makes of them. */
static Datum key_of(const plan *plan, const row *row, StringInfo json) {
  resetStringInfo(json);
  if (plan->key_count == 1) {
    int number = plan->keys[0].number;
    return CStringGetTextDatum(OutputFunctionCall(&column_of(plan, row, number)->output, row->values[number - 1]));
  }
  for (int i = 0; i < plan->key_count; i++) {
    int number = plan->keys[i].number;
    appendStringInfoString(json, i == 0 ? "[" : ", ");
    append_json(json, column_of(plan, row, number), row->values[number - 1]);
  }
  appendStringInfoChar(json, ']');
  return PointerGetDatum(cstring_to_text_with_len(json->data, json->len));
}

/* The types that rowrelay.native_plan() allows in a key. */
static int32 hash_of_value(const plan *plan, const row *row, int number) {
  Datum value = row->values[number - 1];
  switch (column_of(plan, row, number)->base_type) {
  case INT2OID:
    return DatumGetInt32(DirectFunctionCall1(hashint2, value));
  case INT4OID:
    return DatumGetInt32(DirectFunctionCall1(hashint4, value));
  case INT8OID:
    return DatumGetInt32(DirectFunctionCall1(hashint8, value));
  case UUIDOID:
    return DatumGetInt32(DirectFunctionCall1(uuid_hash, value));
  case TEXTOID:
  case VARCHAROID:
    return DatumGetInt32(
        DirectFunctionCall1Coll(hashtext, TupleDescAttr(row->columns, number - 1)->attcollation, value));
  default:
    elog(ERROR, "rowrelay: no hash for type %u", column_of(plan, row, number)->base_type);
  }
}

static int32 hash_of(const plan *plan, const row *row) {
  StringInfoData hashes;
  if (plan->key_count == 1)
    return hash_of_value(plan, row, plan->keys[0].number);
  initStringInfo(&hashes);
  for (int i = 0; i < plan->key_count; i++)
    appendStringInfo(&hashes, "%s%d", i == 0 ? "" : ",", hash_of_value(plan, row, plan->keys[i].number));
  return DatumGetInt32(DirectFunctionCall1Coll(hashtext, DEFAULT_COLLATION_OID, CStringGetTextDatum(hashes.data)));
}

/* The settings that change how values read, held for a moment; those of times do not matter here. */
static void make_images(const plan *plan, const row *old, const row *new, Datum *old_row, Datum *new_row) {
  StringInfoData json;
  int digits = extra_float_digits, style = IntervalStyle, bytes = bytea_output;
  initStringInfo(&json);
  PG_TRY();
  {
    extra_float_digits = 1;
    IntervalStyle = INTSTYLE_POSTGRES;
    bytea_output = BYTEA_OUTPUT_HEX;
    if (new != NULL)
      *new_row = image_of(plan, new, &json);
    if (old != NULL && plan->keeps_before)
      *old_row = image_of(plan, old, &json);
    else if (old != NULL && new == NULL)
      *old_row = key_row_of(plan, old, &json);
  }
  PG_FINALLY();
  {
    extra_float_digits = digits;
    IntervalStyle = style;
    bytea_output = bytes;
  }
  PG_END_TRY();
}

/* What rowrelay.partition_day() says, and the partition of that day. False: not known, so PL/pgSQL finds out. */
static bool find_today(const plan *plan) {
  DateADT date = (DateADT)(GetCurrentTransactionStartTimestamp() / USECS_PER_DAY -
                           (GetCurrentTransactionStartTimestamp() % USECS_PER_DAY < 0));
  HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(plan->partition_day));
  bool is_known;
  int year, month, day;
  char name[NAMEDATALEN];
  if (!HeapTupleIsValid(row))
    return false;
  is_known = today.is_valid && today.asked_on == date && today.function == plan->partition_day &&
             today.xmin == HeapTupleHeaderGetRawXmin(row->t_data) && ItemPointerEquals(&today.tid, &row->t_self);
  if (!is_known) {
    today.is_valid = false;
    today.function = plan->partition_day;
    today.xmin = HeapTupleHeaderGetRawXmin(row->t_data);
    today.tid = row->t_self;
    today.asked_on = date;
  }
  ReleaseSysCache(row);
  if (is_known)
    return true;
  today.day = DatumGetDateADT(OidFunctionCall0(plan->partition_day));
  j2date(today.day + POSTGRES_EPOCH_JDATE, &year, &month, &day);
  snprintf(name, sizeof name, "change_%04d%02d%02d", year, month, day);
  today.partition = get_relname_relid(name, get_rel_namespace(plan->change));
  today.is_valid = OidIsValid(today.partition) && get_rel_relispartition(today.partition);
#if PG_VERSION_NUM >= 140000
  today.is_valid = today.is_valid && get_partition_parent(today.partition, true) == plan->change;
#else
  today.is_valid = today.is_valid && get_partition_parent(today.partition) == plan->change;
#endif
  return today.is_valid;
}

/* One table that is written to, with its indexes. */
typedef struct store {
  Relation table;
  List *indexes; /* of Relation */
} store;

static bool index_is_plain(Relation index) {
  return heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL) &&
         heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
}

/* Opens them, locked as an INSERT would; false when something is there that a plain heap and its plain indexes have
 * not. */
static bool store_open(store *store, Oid oid) {
  ListCell *cell;
  List *indexes;
  bool is_plain;
  store->indexes = NIL;
  store->table = table_open(oid, RowExclusiveLock);
  indexes = RelationGetIndexList(store->table);
  is_plain = store->table->rd_tableam == GetHeapamTableAmRoutine() && store->table->trigdesc == NULL &&
             (store->table->rd_att->constr == NULL || store->table->rd_att->constr->num_check == 0);
  foreach (cell, indexes) {
    Relation index = index_open(lfirst_oid(cell), RowExclusiveLock);
    store->indexes = lappend(store->indexes, index);
    is_plain = is_plain && index_is_plain(index);
  }
  return is_plain;
}

/* The table's lock is kept to the end of the transaction. */
static void store_close(store *store) {
  ListCell *cell;
  foreach (cell, store->indexes)
    index_close((Relation)lfirst(cell), RowExclusiveLock);
  table_close(store->table, NoLock);
}

/* Puts values, which are in the order of `names`, where the table has these columns; false when one is not there. */
static bool place_values(const store *store, const char *const *names, int count, AttrNumber *numbers) {
  TupleDesc columns = RelationGetDescr(store->table);
  for (int i = 0; i < count; i++) {
    /* nearly always in the same order */
    numbers[i] = InvalidAttrNumber;
    for (int n = 0; n < columns->natts && numbers[i] == InvalidAttrNumber; n++)
      if (!TupleDescAttr(columns, n)->attisdropped &&
          strcmp(NameStr(TupleDescAttr(columns, n)->attname), names[i]) == 0)
        numbers[i] = (AttrNumber)(n + 1);
    if (numbers[i] == InvalidAttrNumber)
      return false;
  }
  return true;
}

static void store_insert(store *store, const AttrNumber *numbers, const Datum *given, const bool *given_nulls,
                         int count) {
  TupleDesc columns = RelationGetDescr(store->table);
  Datum *values = palloc0(columns->natts * sizeof *values);
  bool *nulls = palloc(columns->natts * sizeof *nulls);
  HeapTuple tuple;
  ListCell *cell;
  memset(nulls, true, columns->natts * sizeof *nulls);
  for (int i = 0; i < count; i++) {
    values[numbers[i] - 1] = given[i];
    nulls[numbers[i] - 1] = given_nulls[i];
  }
  tuple = heap_form_tuple(columns, values, nulls);
  heap_insert(store->table, tuple, GetCurrentCommandId(true), 0, NULL);
  foreach (cell, store->indexes) {
    Relation index = lfirst(cell);
    IndexInfo *info;
    Datum keys[INDEX_MAX_KEYS];
    bool key_nulls[INDEX_MAX_KEYS];
    if (!index->rd_index->indisready)
      continue;
    info = BuildIndexInfo(index);
    for (int i = 0; i < info->ii_NumIndexAttrs; i++) {
      int number = info->ii_IndexAttrNumbers[i];
      keys[i] = values[number - 1];
      key_nulls[i] = nulls[number - 1];
    }
    index_insert(index, keys, key_nulls, &tuple->t_self, store->table,
                 index->rd_index->indisunique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
#if PG_VERSION_NUM >= 140000
                 false,
#endif
                 info);
  }
}

/* An answer that may be null. */
static Datum ask(PGFunction function, int count, Datum argument, bool *is_null) {
  LOCAL_FCINFO(call, 1);
  Datum answer;
  InitFunctionCallInfoData(*call, NULL, (short)count, InvalidOid, NULL, NULL);
  call->args[0].value = argument;
  call->args[0].isnull = false;
  answer = function(call);
  *is_null = call->isnull;
  return answer;
}

/* The same for as long as the session lasts. */
static Datum client_addr(bool *is_null) {
  static bool is_known = false, has_none;
  static Datum address;
  if (!is_known) {
    MemoryContext former = MemoryContextSwitchTo(TopMemoryContext);
    address = ask(inet_client_addr, 0, (Datum)0, &has_none);
    MemoryContextSwitchTo(former);
    is_known = true;
  }
  *is_null = has_none;
  return address;
}

/* Both tables, open, and where their columns are; false: PL/pgSQL has to write. */
typedef struct stores {
  store change, queue;
  AttrNumber change_numbers[CHANGE_COLUMN_COUNT];
  AttrNumber queue_numbers[QUEUE_COLUMN_COUNT];
} stores;

static bool stores_open(const plan *plan, stores *stores) {
  bool is_plain;
  /* rowrelay.writers() relies on this lock: it is there before an id is taken */
  LockRelationOid(plan->change, RowExclusiveLock);
  do {
    if (!find_today(plan))
      return false;
    LockRelationOid(today.partition, RowExclusiveLock); /* which may say that it is not what it was */
  } while (!today.is_valid);
  is_plain = store_open(&stores->change, today.partition);
  is_plain = store_open(&stores->queue, plan->queue) && is_plain;
  is_plain = is_plain && today.is_valid && stores->change.table->rd_rel->relispartition &&
             place_values(&stores->change, CHANGE_COLUMNS, CHANGE_COLUMN_COUNT, stores->change_numbers) &&
             place_values(&stores->queue, QUEUE_COLUMNS, QUEUE_COLUMN_COUNT, stores->queue_numbers);
  if (!is_plain) {
    store_close(&stores->queue);
    store_close(&stores->change);
  }
  return is_plain;
}

/* What is written of one row; images and actor are 0 for null. */
typedef struct change {
  char op;
  Datum key, old_row, new_row;
  author author;
} change;

static int64 write_change(const plan *plan, stores *stores, const change *change) {
  Datum values[CHANGE_COLUMN_COUNT];
  bool nulls[CHANGE_COLUMN_COUNT] = {false};
  FullTransactionId xid = GetTopFullTransactionId();
  int64 id = nextval_internal(plan->change_id, false);
  values[CHANGE_ID] = Int64GetDatum(id);
  values[CHANGE_TXID] = FullTransactionIdGetDatum(xid);
  values[CHANGE_CAPTURED_AT] = TimestampTzGetDatum(GetCurrentTimestamp());
  values[CHANGE_DAY] = DateADTGetDatum(today.day);
  values[CHANGE_CAPTURE] = Int32GetDatum(plan->capture);
  values[CHANGE_OP] = CharGetDatum(change->op);
  values[CHANGE_KEY] = change->key;
  values[CHANGE_ACTOR] = change->author.actor;
  nulls[CHANGE_ACTOR] = change->author.actor == (Datum)0;
  values[CHANGE_DB_USER] = change->author.db_user;
  values[CHANGE_APPLICATION_NAME] = CStringGetTextDatum(application_name != NULL ? application_name : "");
  values[CHANGE_CLIENT_ADDR] = client_addr(&nulls[CHANGE_CLIENT_ADDR]);
  values[CHANGE_OLD_ROW] = change->old_row;
  nulls[CHANGE_OLD_ROW] = change->old_row == (Datum)0;
  values[CHANGE_NEW_ROW] = change->new_row;
  nulls[CHANGE_NEW_ROW] = change->new_row == (Datum)0;
  store_insert(&stores->change, stores->change_numbers, values, nulls, CHANGE_COLUMN_COUNT);
  return id;
}

static void write_queue(const plan *plan, stores *stores, int64 id, int32 hash, int32 bytes) {
  static const bool NO_NULLS[QUEUE_COLUMN_COUNT] = {false};
  for (int i = 0; i < plan->target_count; i++) {
    const lane_range *lanes = &plan->lanes[i];
    Datum values[QUEUE_COLUMN_COUNT];
    values[QUEUE_CHANGE_ID] = Int64GetDatum(id);
    values[QUEUE_LANE] = Int32GetDatum(lanes->first + (hash & 2147483647) % lanes->count);
    values[QUEUE_DAY] = DateADTGetDatum(today.day);
    values[QUEUE_BYTES] = Int32GetDatum(bytes);
    store_insert(&stores->queue, stores->queue_numbers, values, NO_NULLS, QUEUE_COLUMN_COUNT);
  }
}

static void ring_if_a_process_sleeps(const plan *plan, int64 id) {
  bool is_null;
  Datum armed = ask(pg_sequence_last_value, 1, ObjectIdGetDatum(plan->doorbell), &is_null);
  if (!is_null && id <= DatumGetInt64(armed))
    OidFunctionCall0(plan->ring_doorbell);
}

/* Whether a row that is deleted may have come back in this transaction, or another be there under its key. */
static bool may_be_back(Oid relation) {
  bool is_null;
  return !pgstat_track_counts ||
         DatumGetInt64(ask(pg_stat_get_xact_tuples_inserted, 1, ObjectIdGetDatum(relation), &is_null)) > 0 ||
         DatumGetInt64(ask(pg_stat_get_xact_tuples_updated, 1, ObjectIdGetDatum(relation), &is_null)) > 0;
}

/* Whether another statement may have been told of the row before this one, or its key changes. */
static bool may_nest(const plan *plan, HeapTuple new_tuple, const row *old, const row *new) {
  if (new == NULL)
    return may_be_back(plan->relation);
  return HeapTupleHeaderGetRawXmax(new_tuple->t_data) != InvalidTransactionId ||
         (old != NULL && !has_same_key(plan, old, new));
}

static int32 size_of(Datum image) {
  return image == (Datum)0 ? 0 : (int32)VARSIZE(DatumGetPointer(image));
}

/* Captures the row, if it is an ordinary one. */
static bool capture_row(const plan *plan, TriggerData *trigger) {
  bool is_insert = TRIGGER_FIRED_BY_INSERT(trigger->tg_event), is_delete = TRIGGER_FIRED_BY_DELETE(trigger->tg_event);
  HeapTuple new_tuple = is_delete ? NULL : is_insert ? trigger->tg_trigtuple : trigger->tg_newtuple;
  row old_values, new_values;
  row *old = is_insert ? NULL : &old_values, *new = is_delete ? NULL : &new_values;
  row *current = is_delete ? old : new;
  change change = {.op = is_insert ? 'i' : is_delete ? 'd' : 'u'};
  StringInfoData json;
  stores stores;
  int64 id;
  int32 hash;
  if (!find_author(plan, &change.author) ||
      (old != NULL && !(read_row(plan, trigger->tg_relation, trigger->tg_trigtuple, old) && has_key(plan, old))) ||
      (new != NULL && !(read_row(plan, trigger->tg_relation, new_tuple, new) && has_key(plan, new))) ||
      may_nest(plan, new_tuple, old, new))
    return false;
  initStringInfo(&json);
  change.key = key_of(plan, current, &json);
  hash = hash_of(plan, current);
  make_images(plan, old, new, &change.old_row, &change.new_row);
  if (size_of(change.new_row) > LARGE_IMAGE - size_of(change.old_row) || !stores_open(plan, &stores))
    return false;
  id = write_change(plan, &stores, &change);
  write_queue(plan, &stores, id, hash, size_of(change.new_row) + (plan->keeps_before ? size_of(change.old_row) : 0));
  store_close(&stores.queue);
  store_close(&stores.change);
  if (plan->target_count > 0)
    ring_if_a_process_sleeps(plan, id);
  return true;
}

Datum rowrelay_call_handler(PG_FUNCTION_ARGS) {
  const plan *plan = find_plan(fcinfo->flinfo->fn_oid);
  TriggerData *trigger = (TriggerData *)fcinfo->context;
  if (plan->is_usable && CALLED_AS_TRIGGER(fcinfo) && TRIGGER_FIRED_FOR_ROW(trigger->tg_event) &&
      TRIGGER_FIRED_AFTER(trigger->tg_event) && trigger->tg_trigger->tgnargs == 0 &&
      table_is_known(plan, trigger->tg_relation) && capture_row(plan, trigger))
    return PointerGetDatum(NULL);
  return run_body(fcinfo);
}
