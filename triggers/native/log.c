#include "log.h"

#include "access/xact.h"
#include "catalog/partition.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/xid8.h"

#include "store.h"

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
                                              [CHANGE_NEW_ROW] = {"new_row", JSONOID, true}};

enum { QUEUE_CHANGE_ID, QUEUE_LANE, QUEUE_DAY, QUEUE_BYTES, QUEUE_COLUMN_COUNT };
static const store_column QUEUE_COLUMNS[] = {[QUEUE_CHANGE_ID] = {"change_id", INT8OID, false},
                                             [QUEUE_LANE] = {"lane", INT4OID, false},
                                             [QUEUE_DAY] = {"day", DATEOID, false},
                                             [QUEUE_BYTES] = {"bytes", INT4OID, false}};

static layout change_layout = {.columns = CHANGE_COLUMNS, .count = CHANGE_COLUMN_COUNT},
              queue_layout = {.columns = QUEUE_COLUMNS, .count = QUEUE_COLUMN_COUNT};

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

static void forget(Datum argument, Oid relation) {
  if (relation == InvalidOid || relation == today.partition)
    today.is_valid = false;
  if (relation == InvalidOid || relation == change_layout.table)
    change_layout.table = InvalidOid;
  if (relation == InvalidOid || relation == queue_layout.table)
    queue_layout.table = InvalidOid;
}

void log_init(void) {
  CacheRegisterRelcacheCallback(forget, (Datum)0);
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

static bool stores_open(const plan *plan, stores *stores) {
  /* rowrelay.writers() relies on this lock: it is there before an id is taken */
  LockRelationOid(plan->change, RowExclusiveLock);
  do {
    if (!find_today(plan))
      return false;
    LockRelationOid(today.partition, RowExclusiveLock); /* which may tell that it is not what it was */
  } while (!today.is_valid);
  if (!store_open(&stores->change, today.partition, &change_layout))
    return false;
  if (!store_open(&stores->queue, plan->queue, &queue_layout)) {
    store_close(&stores->change);
    return false;
  }
  return true;
}

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
  values[CHANGE_ACTOR] = change->actor;
  nulls[CHANGE_ACTOR] = change->actor == (Datum)0;
  values[CHANGE_DB_USER] = change->db_user;
  values[CHANGE_APPLICATION_NAME] = CStringGetTextDatum(application_name != NULL ? application_name : "");
  values[CHANGE_CLIENT_ADDR] = client_addr(&nulls[CHANGE_CLIENT_ADDR]);
  values[CHANGE_OLD_ROW] = change->old_row;
  nulls[CHANGE_OLD_ROW] = change->old_row == (Datum)0;
  values[CHANGE_NEW_ROW] = change->new_row;
  nulls[CHANGE_NEW_ROW] = change->new_row == (Datum)0;
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

static void ring_if_a_process_sleeps(const plan *plan, int64 id) {
  bool is_null;
  Datum armed = ask(pg_sequence_last_value, 1, ObjectIdGetDatum(plan->doorbell), &is_null);
  if (!is_null && id <= DatumGetInt64(armed))
    OidFunctionCall0(plan->ring_doorbell);
}

bool log_write(const plan *plan, const change *change) {
  stores stores;
  int64 id;
  if (!stores_open(plan, &stores))
    return false;
  id = write_change(plan, &stores, change);
  write_queue(plan, &stores, id, change);
  store_close(&stores.queue);
  store_close(&stores.change);
  if (plan->target_count > 0)
    ring_if_a_process_sleeps(plan, id);
  return true;
}
