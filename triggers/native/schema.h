/*
 * schema: the objects of schema rowrelay that the module uses, by their names as of now, because any of them may be
 * renamed or made anew while a session goes on.
 */
#ifndef ROWRELAY_NATIVE_SCHEMA_H
#define ROWRELAY_NATIVE_SCHEMA_H

#include "postgres.h"

typedef struct schema {
  Oid oid;
  Oid owner; /* of the relations, too */
  Oid change, queue, change_id, doorbell, lastval, no_lastval;
  Oid ring_doorbell, partition_day, continue_ids, former_lastval;
} schema;

/* Once, when the library is loaded. */
void schema_init(void);
/*
 * Kept for the session, and looked up again when one may have changed. NULL when one is missing, as while the schema
 * is being restored, or does not belong to the schema's owner.
 */
const schema *schema_find(void);
/* Whether what schema_find() returned last is still so. To be asked after locking: that is when one hears of it. */
bool schema_is_current(void);
/* InvalidOid where there is none. */
Oid schema_owner_of(Oid relation);

#endif
