#include "schema.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

static schema found;
static bool is_complete;
/* A count, because some are heard of while the objects are looked up. */
static uint64 alterations = 1, found_after = 0;

static void forget(Datum argument, int cache, uint32 hash) {
  alterations++;
}

void schema_init(void) {
  CacheRegisterSyscacheCallback(NAMESPACEOID, forget, (Datum)0);
  CacheRegisterSyscacheCallback(RELNAMENSP, forget, (Datum)0);
  CacheRegisterSyscacheCallback(PROCNAMEARGSNSP, forget, (Datum)0);
}

static Oid owner_of(int cache, Oid oid, AttrNumber attribute) {
  bool is_null;
  Oid owner;
  HeapTuple row = SearchSysCache1(cache, ObjectIdGetDatum(oid));
  if (!HeapTupleIsValid(row))
    return InvalidOid;
  owner = DatumGetObjectId(SysCacheGetAttr(cache, row, attribute, &is_null));
  ReleaseSysCache(row);
  return owner;
}

Oid schema_owner_of(Oid relation) {
  return owner_of(RELOID, relation, Anum_pg_class_relowner);
}

static bool find_relation(Oid *oid, const char *name, char kind) {
  *oid = get_relname_relid(name, found.oid);
  return OidIsValid(*oid) && get_rel_relkind(*oid) == kind && schema_owner_of(*oid) == found.owner;
}

static bool find_function(Oid *oid, const char *name) {
  *oid = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
                         PointerGetDatum(buildoidvector(NULL, 0)), ObjectIdGetDatum(found.oid));
  return OidIsValid(*oid);
}

static bool find_objects(void) {
  found.oid = get_namespace_oid("rowrelay", true);
  found.owner = owner_of(NAMESPACEOID, found.oid, Anum_pg_namespace_nspowner);
  return OidIsValid(found.owner) && find_relation(&found.change, "change", RELKIND_PARTITIONED_TABLE) &&
         find_relation(&found.queue, "queue", RELKIND_RELATION) &&
         find_relation(&found.change_id, "change_id", RELKIND_SEQUENCE) &&
         find_relation(&found.doorbell, "doorbell", RELKIND_SEQUENCE) &&
         find_relation(&found.lastval, "lastval", RELKIND_SEQUENCE) &&
         find_relation(&found.no_lastval, "no_lastval", RELKIND_SEQUENCE) &&
         find_function(&found.ring_doorbell, "ring_doorbell") && find_function(&found.partition_day, "partition_day") &&
         find_function(&found.continue_ids, "continue_ids") && find_function(&found.former_lastval, "former_lastval");
}

const schema *schema_find(void) {
  if (!schema_is_current()) {
    uint64 before = alterations;
    is_complete = find_objects();
    found_after = before;
  }
  return is_complete ? &found : NULL;
}

bool schema_is_current(void) {
  return found_after == alterations;
}
