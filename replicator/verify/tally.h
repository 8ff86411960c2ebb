/*
 * tally: counts and hashes for each name (a bucket, a key, the hash of a row), added up from the replies for
 * the parts of a table.
 */
#ifndef ROWRELAY_VERIFY_TALLY_H
#define ROWRELAY_VERIFY_TALLY_H

#include <libpq-fe.h>
#include <stdint.h>

#include "verify/keys.h"

/* Wide enough for the sum of the 64-bit hashes of any number of rows. */
__extension__ typedef __int128 wide;

struct tally {
  struct tally_entry *entries; /* in order of names, each name once */
  size_t count;
};

/* What the columns of a reply are. */
enum tally_columns {
  TALLY_COUNT_AND_SUM, /* name, number of rows, sum of hashes */
  TALLY_HASH,          /* name, hash of one row */
  TALLY_COUNT          /* name, number of rows */
};

void tally_init(struct tally *tally);
void tally_release(struct tally *tally);

MUST_CHECK bool tally_add(struct tally *tally, const PGresult *reply, enum tally_columns columns, struct error *error);

/* Rows under all names. */
int64_t tally_rows(const struct tally *tally);

/* Adds the names that do not have the same in both; not those that only `there` has, unless `extra` is true. */
MUST_CHECK bool tally_compare(const struct tally *here, const struct tally *there, bool extra, struct keys *names,
                              struct error *error);

#endif
