#include "log.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/xid8.h"

#include "schema.h"
#include "store.h"

/* How often the tables may be others than before when they are locked, until PL/pgSQL shall see to it. */
#define MOST_TRIES 10

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
  CHANGE_CAVEAT,
  CHANGE_COLUMN_COUNT
};
static const store_column CHANGE_COLUMNS[] = {[CHANGE_ID] = {"id", INT8OID, false},
                                              [CHANGE_TXID] = {"txid", XID8OID, false},
                                              [CHANGE_CAPTURED_AT] = {"captured_at", TIMESTAMPTZOID, false},
                                              [CHANGE_DAY] = {"day", DATEOID, false},
                                              [CHANGE_CAPTURE] = {"capture", INT4OID, false},
                                              [CHANGE_OP] = {"op", CHAROID, false},
                                              [CHANGE_KEY] = {"key", TEXTOID, false},
                                              [CHANGE_ACTOR] = {"actor", TEXTOID, true},
                                              [CHANGE_DB_USER] = {"db_user", TEXTOID, false},
                                              [CHANGE_APPLICATION_NAME] = {"application_name", TEXTOID, false},
                                              [CHANGE_CLIENT_ADDR] = {"client_addr", INETOID, true},
                                              [CHANGE_OLD_ROW] = {"old_row", JSONOID, true},
                                              [CHANGE_NEW_ROW] = {"new_row", JSONOID, true},
                                              [CHANGE_CAVEAT] = {"caveat", JSONOID, true}};

enum { QUEUE_CHANGE_ID, QUEUE_LANE, QUEUE_DAY, QUEUE_BYTES, QUEUE_COLUMN_COUNT };
static const store_column QUEUE_COLUMNS[] = {[QUEUE_CHANGE_ID] = {"change_id", INT8OID, false},
                                             [QUEUE_LANE] = {"lane", INT4OID, false},
                                             [QUEUE_DAY] = {"day", DATEOID, false},
                                             [QUEUE_BYTES] = {"bytes", INT4OID, false}};

static layout parent_layout = {.columns = CHANGE_COLUMNS, .count = CHANGE_COLUMN_COUNT},
              change_layout = {.columns = CHANGE_COLUMNS, .count = CHANGE_COLUMN_COUNT},
              queue_layout = {.columns = QUEUE_COLUMNS, .count = QUEUE_COLUMN_COUNT};

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

/* The same of a function in SQL or PL/pgSQL. */
static Datum call(Oid function, bool *is_null) {
  LOCAL_FCINFO(call, 0);
  FmgrInfo info;
  Datum answer;
  fmgr_info(function, &info);
  InitFunctionCallInfoData(*call, &info, 0, InvalidOid, NULL, NULL);
  answer = FunctionCallInvoke(call);
  *is_null = call->isnull;
  return answer;
}

/* Where today's changes go: what rowrelay.partition_day() says on this day, and that day's partition. */
static struct {
  bool is_valid;
  bool is_usable;
  DateADT asked_on; /* UTC */
  DateADT day;
  Oid partition;
} today;
static uint64 alterations = 0;

static void forget_relation(Datum argument, Oid relation) {
  alterations++;
  if (relation == InvalidOid || !today.is_usable || relation == today.partition)
    today.is_valid = false;
  if (relation == InvalidOid || relation == parent_layout.table)
    parent_layout.table = InvalidOid;
  if (relation == InvalidOid || relation == change_layout.table)
    change_layout.table = InvalidOid;
  if (relation == InvalidOid || relation == queue_layout.table)
    queue_layout.table = InvalidOid;
}

/* One may be partition_day(). */
static void forget_functions(Datum argument, int cache, uint32 hash) {
  alterations++;
  today.is_valid = false;
}

void log_init(void) {
  CacheRegisterRelcacheCallback(forget_relation, (Datum)0);
  CacheRegisterSyscacheCallback(PROCOID, forget_functions, (Datum)0);
}

static bool is_owned_partition(Oid relation, const schema *schema) {
  if (!OidIsValid(relation) || !get_rel_relispartition(relation) || get_rel_relkind(relation) != RELKIND_RELATION ||
      schema_owner_of(relation) != schema->owner)
    return false;
#if PG_VERSION_NUM >= 140000
  return get_partition_parent(relation, true) == schema->change;
#else
  return get_partition_parent(relation) == schema->change;
#endif
}

/* False where it is no date: minvalue, say, or one of several columns. */
static bool read_bound(List *datums, DateADT *date) {
  PartitionRangeDatum *datum = list_length(datums) == 1 ? linitial_node(PartitionRangeDatum, datums) : NULL;
  Const *value = datum != NULL && datum->kind == PARTITION_RANGE_DATUM_VALUE ? castNode(Const, datum->value) : NULL;
  if (value == NULL || value->consttype != DATEOID || value->constisnull)
    return false;
  *date = DatumGetDateADT(value->constvalue);
  return true;
}

static bool is_partition_for(Oid relation, DateADT day) {
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  bool is_null = true;
  Datum stored = HeapTupleIsValid(row) ? SysCacheGetAttr(RELOID, row, Anum_pg_class_relpartbound, &is_null) : (Datum)0;
  PartitionBoundSpec *bounds = is_null ? NULL : stringToNode(TextDatumGetCString(stored));
  DateADT from, to;
  if (HeapTupleIsValid(row))
    ReleaseSysCache(row);
  return bounds != NULL && bounds->strategy == PARTITION_STRATEGY_RANGE && !bounds->is_default &&
         read_bound(bounds->lowerdatums, &from) && read_bound(bounds->upperdatums, &to) && from <= day && day < to;
}

static Oid partition_of(DateADT date, const schema *schema) {
  int year, month, day;
  char name[NAMEDATALEN];
  j2date(date + POSTGRES_EPOCH_JDATE, &year, &month, &day);
  snprintf(name, sizeof name, "change_%04d%02d%02d", year, month, day);
  return get_relname_relid(name, schema->oid);
}

/* False: there is no such partition, so PL/pgSQL finds out. */
static bool find_today(const schema *schema) {
  DateADT date = (DateADT)(GetCurrentTransactionStartTimestamp() / USECS_PER_DAY -
                           (GetCurrentTransactionStartTimestamp() % USECS_PER_DAY < 0));
  uint64 before = alterations;
  bool is_null;
  if (today.is_valid && today.asked_on == date)
    return today.is_usable;
  today.is_valid = false;
  today.asked_on = date;
  today.day = DatumGetDateADT(call(schema->partition_day, &is_null));
  today.partition = partition_of(today.day, schema);
  today.is_usable =
      !is_null && is_owned_partition(today.partition, schema) && is_partition_for(today.partition, today.day);
  today.is_valid = alterations == before;
  return today.is_usable;
}

/* It stays the same for as long as the session lasts. */
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

typedef struct stores {
  store change, queue;
} stores;

/*
 * Locks the tables that changes go to now. Whoever renames one, or puts another in its place, has locked it too: once
 * the lock is there, so is the news of it, and the names are looked up again.
 */
static const schema *lock_tables(const plan *plan) {
  for (int tries = 0; tries < MOST_TRIES; tries++) {
    const schema *schema = schema_find();
    if (schema == NULL || !plan_is_allowed(plan, schema))
      return NULL;
    /* rowrelay.writers() relies on this lock: it is there before an id is taken */
    LockRelationOid(schema->change, RowExclusiveLock);
    if (!schema_is_current())
      continue;
    if (!find_today(schema))
      return NULL;
    LockRelationOid(today.partition, RowExclusiveLock);
    LockRelationOid(schema->queue, RowExclusiveLock);
    if (schema_is_current() && today.is_valid)
      return schema;
  }
  return NULL;
}

/* What an INSERT into rowrelay.change itself would do, and whether it would find the partition by the day. */
static bool parent_is_plain(const schema *schema) {
  Relation parent = table_open(schema->change, NoLock);
  bool is_plain = layout_fits(&parent_layout, parent);
  if (is_plain) {
    PartitionKey key = RelationGetPartitionKey(parent);
    is_plain = key->partnatts == 1 && key->partattrs[0] == parent_layout.numbers[CHANGE_DAY];
  }
  table_close(parent, NoLock);
  return is_plain;
}

static bool stores_open(const schema *schema, stores *stores) {
  if (!parent_is_plain(schema) || !store_open(&stores->change, today.partition, &change_layout))
    return false;
  if (!store_open(&stores->queue, schema->queue, &queue_layout)) {
    store_close(&stores->change);
    return false;
  }
  return true;
}

static int64 write_change(const plan *plan, const schema *schema, stores *stores, const change *change) {
  Datum values[CHANGE_COLUMN_COUNT];
  bool nulls[CHANGE_COLUMN_COUNT] = {false};
  FullTransactionId xid = GetTopFullTransactionId();
  int64 id = nextval_internal(schema->change_id, false);
  values[CHANGE_ID] = Int64GetDatum(id);
  values[CHANGE_TXID] = FullTransactionIdGetDatum(xid);
  values[CHANGE_CAPTURED_AT] = TimestampTzGetDatum(GetCurrentTimestamp());
  values[CHANGE_DAY] = DateADTGetDatum(today.day);
  values[CHANGE_CAPTURE] = Int32GetDatum(plan->capture);
  values[CHANGE_OP] = CharGetDatum(change->op);
  values[CHANGE_KEY] = change->key;
  values[CHANGE_ACTOR] = change->actor;
  nulls[CHANGE_ACTOR] = change->actor == (Datum)0;
  values[CHANGE_DB_USER] = change->db_user;
  values[CHANGE_APPLICATION_NAME] = CStringGetTextDatum(application_name != NULL ? application_name : "");
  values[CHANGE_CLIENT_ADDR] = client_addr(&nulls[CHANGE_CLIENT_ADDR]);
  values[CHANGE_OLD_ROW] = change->old_row;
  nulls[CHANGE_OLD_ROW] = change->old_row == (Datum)0;
  values[CHANGE_NEW_ROW] = change->new_row;
  nulls[CHANGE_NEW_ROW] = change->new_row == (Datum)0;
  values[CHANGE_CAVEAT] = change->caveat;
  nulls[CHANGE_CAVEAT] = change->caveat == (Datum)0;
  store_insert(&stores->change, values, nulls);
  return id;
}

static void write_queue(const plan *plan, stores *stores, int64 id, const change *change) {
  static const bool NO_NULLS[QUEUE_COLUMN_COUNT] = {false};
  for (int i = 0; i < plan->target_count; i++) {
    const lane_range *lanes = &plan->lanes[i];
    Datum values[QUEUE_COLUMN_COUNT];
    values[QUEUE_CHANGE_ID] = Int64GetDatum(id);
    values[QUEUE_LANE] = Int32GetDatum(lanes->first + (change->hash & 2147483647) % lanes->count);
    values[QUEUE_DAY] = DateADTGetDatum(today.day);
    values[QUEUE_BYTES] = Int32GetDatum(change->bytes);
    store_insert(&stores->queue, values, NO_NULLS);
  }
}

static void ring_if_a_process_sleeps(const schema *schema, int64 id) {
  bool is_null;
  Datum armed = ask(pg_sequence_last_value, 1, ObjectIdGetDatum(schema->doorbell), &is_null);
  if (!is_null && id <= DatumGetInt64(armed))
    call(schema->ring_doorbell, &is_null);
}

/* Once in a session, and again where the sequence is another one: see rowrelay.next_change_id(). */
static void continue_ids(void) {
  static Oid continued = InvalidOid;
  bool is_null;
  const schema *schema = schema_find();
  if (schema != NULL && schema->change_id != continued && DatumGetBool(call(schema->continue_ids, &is_null)))
    continued = schema->change_id;
}

/* As rowrelay.keep_lastval() does. */
static void keep_lastval(const schema *schema, Datum former, bool had_none) {
  if (had_none)
    nextval_internal(schema->no_lastval, false);
  else if (nextval_internal(schema->lastval, false) != DatumGetInt64(former))
    DirectFunctionCall2(setval_oid, ObjectIdGetDatum(schema->lastval), former);
}

bool log_write(const plan *plan, const change *change) {
  stores stores;
  int64 id;
  Datum former;
  bool had_none;
  const schema *schema;
  continue_ids();
  schema = lock_tables(plan);
  if (schema == NULL)
    return false;
  former = call(schema->former_lastval, &had_none);
  if (!schema_is_current() || !stores_open(schema, &stores))
    return false;
  id = write_change(plan, schema, &stores, change);
  keep_lastval(schema, former, had_none);
  write_queue(plan, &stores, id, change);
  store_close(&stores.queue);
  store_close(&stores.change);
  /* asked again, because a function can be replaced without a lock on any table */
  schema = schema_find();
  if (plan->target_count > 0 && schema != NULL)
    ring_if_a_process_sleeps(schema, id);
  return true;
}
