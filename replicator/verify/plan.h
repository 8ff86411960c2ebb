/*
 * plan: how one table is compared: the statements for either side, made by verify_source.sql, verify_target.sql
 * and verify_statements.sql from what the catalogs say.
 */
#ifndef ROWRELAY_VERIFY_PLAN_H
#define ROWRELAY_VERIFY_PLAN_H

#include "queries.h"
#include "verify/pair.h"

/* Statements of verify_statements.sql, which says what each gives and takes; the last is of verify_built.sql. */
enum ask {
  ASK_SUM = COMPARING_SUM,
  ASK_BUCKETS = COMPARING_BUCKETS,
  ASK_ROWS = COMPARING_ROWS,
  ASK_BOUNDARY = COMPARING_BOUNDARY,
  ASK_LOOKUP = COMPARING_LOOKUP,
  ASK_KEYS = COMPARING_KEYS
};

struct plan {
  const char *oid;      /* of the table at the source; borrowed; NULL: it is a document */
  const char *relation; /* its name, for people; borrowed */
  int capture;
  bool nothing;               /* no rows are routed, and the table does not exist yet: no plan */
  bool keyless;               /* rows are identified by all their values */
  bool in_ranges;             /* rows can be read in order of the key on both sides */
  int64_t blocks[SIDE_COUNT]; /* how many blocks to read otherwise */
  char *missing;              /* columns that the target lacks, which are not compared; NULL: none */
  char
      *shared_with; /* another table whose rows are in the same place, so that none there is one too many; NULL: none */
  char *coarse;     /* columns whose types there cannot hold what is here, see coarse_columns.sql; NULL: none */
  bool may_be_altered; /* the mirror was made by us, and waits until its coarse columns are altered */
  PGresult *columns;   /* names of those that are compared, a row each */
  PGresult *statements[SIDE_COUNT];
  PGresult *safe; /* those for the source that no value makes fail; NULL: none does */
};

/* What to compare; all texts are borrowed. */
struct subject {
  int target;           /* that of a document is its own */
  const char *oid;      /* of the table at the source; NULL: it is a document */
  const char *relation; /* its name, for people */
};

/* How to hash. */
struct recipe {
  const char *token; /* a text that no value holds */
  bool md5_only;     /* the servers' fast hash functions differ, or their encodings */
};

/* To be released also when it failed. */
MUST_CHECK bool plan_make(struct plan *plan, struct pair *pair, const struct subject *subject,
                          const struct recipe *recipe, struct error *error);
void plan_release(struct plan *plan);

/* What one side is to be asked, with values for the statement. */
struct question plan_question(const struct plan *plan, enum side side, enum ask ask, struct values values);

#endif
