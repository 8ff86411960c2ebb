/*
 * verify_plan: how one table is compared: the statements for either side, made by verify_source.sql, verify_target.sql
 * and verify_statements.sql from what the catalogs say.
 */
#ifndef ROWRELAY_VERIFY_PLAN_H
#define ROWRELAY_VERIFY_PLAN_H

#include "verify_pair.h"

/* Columns of verify_statements.sql, which says what each gives and takes. */
enum ask { ASK_SUM, ASK_BUCKETS, ASK_ROWS, ASK_BOUNDARY, ASK_LOOKUP, ASK_COUNT };

struct plan {
  const char *oid;      /* of the table at the source; borrowed */
  const char *relation; /* its name, for people; borrowed */
  int capture;
  bool keyless;      /* rows are told apart by all they hold */
  bool in_ranges;    /* rows can be read in order of the key on both sides */
  char *missing;     /* columns that the target lacks, which are not compared; NULL: none */
  PGresult *columns; /* names of those that are compared, a row each */
  PGresult *statements[SIDE_COUNT];
};

/*
 * `token` is a text that no value holds, and `md5_only` tells that the servers' fast hash functions differ. To be
 * released also when it failed.
 */
MUST_CHECK bool plan_make(struct plan *plan, struct pair *pair, int target, const char *oid, const char *relation,
                          const char *token, bool md5_only, struct error *error);
void plan_release(struct plan *plan);

const char *plan_statement(const struct plan *plan, enum side side, enum ask ask);

#endif
