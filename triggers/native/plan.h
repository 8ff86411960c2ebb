/*
 * plan: what the first line of a trigger function tells the module to do with an ordinary row:
 *
 *   -- plan 1 capture=7 relation=16385 origin=f before=f types=23,25 keys=1:6964 collations=0
 *      lanes=4097:64,8193:8
 *
 * A key's name is in hexadecimal; collations are those of the key's columns, 0 for none; lanes are the first of each
 * target, and how many there are. rowrelay.native_plan() writes it.
 */
#ifndef ROWRELAY_NATIVE_PLAN_H
#define ROWRELAY_NATIVE_PLAN_H

#include "postgres.h"

#include "fmgr.h"
#include "schema.h"
#include "utils/rel.h"

#define MOST_KEY_COLUMNS 8
#define MOST_TARGETS 32

/* How a column's value becomes JSON. */
typedef enum form { FORM_TEXT, FORM_NUMBER, FORM_BOOL, FORM_DATETIME, FORM_JSON, FORM_JSONB, FORM_ARRAY } form;

typedef struct column {
  Oid type;      /* as the table has it, a domain for one */
  Oid base_type; /* of which a domain is */
  form form;
  FmgrInfo output;
} column;

typedef struct key_column {
  AttrNumber number;
  NameData name;
  Oid collation;
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
  Oid schema, owner;
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
} plan;

/* Once, when the library is loaded. */
void plan_init(void);
/* The plan of a function, read anew when its pg_proc row has changed; kept for the session. */
const plan *plan_find(Oid function);
/*
 * Whether the module may do what the plan says: a function that the owner of schema rowrelay made there. It writes into
 * the log without asking for the right to, and anybody may write a plan.
 */
bool plan_is_allowed(const plan *plan, const schema *schema);
/* Whether the table's columns are those of the plan, and its key is called as it was. */
bool plan_knows_table(const plan *plan, Relation relation);

#endif
