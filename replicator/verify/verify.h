/*
 * verify: compares mirrors and documents with their source while both sides are live.
 *
 * Both sides hash the same range of keys at the same time, and only count and sum come over the wire. Where they
 * differ, both hash that range once more, in buckets by the hash of the key; of the buckets that differ, keys and
 * hashes of rows are fetched. What then looks different is checked row by row, see decide.h. So it takes the
 * time to read the table once, plus what the differences need.
 *
 * Ranges follow an index that both sides have, and each takes a fraction of a second, so that no statement holds back
 * vacuum. A range reaches from one key of the source to another; if the sides sort differently, rows only seem
 * different for a while. If they are known to, or there is no such index, or no key at all, each side reads its table
 * in ranges of blocks, in buckets from the start, which are added up. (Before PostgreSQL 14, and for checking rows
 * without a key, that is one statement.)
 *
 * Documents are compared in the same way. Their keys are those of their first table, and the source hashes what their
 * query returns for the keys of a range.
 */
#ifndef ROWRELAY_VERIFY_VERIFY_H
#define ROWRELAY_VERIFY_VERIFY_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "source/source.h"

struct verify_options {
  const char *conninfo; /* of the source */
  const char *target;
  size_t pattern_count; /* of tables */
  const char *const *patterns;
  size_t document_count; /* neither tables nor documents: all of the target */
  const char *const *documents;
  bool json;
  bool progress; /* say on stderr how far it is */
  bool repair;
  int64_t limit;    /* differences of each table that are shown */
  int64_t patience; /* milliseconds to wait for the queue, and for a row to stay unchanged */
  bool asked_to;    /* by the user, so also where no process delivers to the target */
};

/*
 * Compares, and prints what it finds. `source` is the connection for writing there. Fails with FAILURE_DIFFERENT when
 * the sides differ.
 */
MUST_CHECK bool verify_run(const struct verify_options *options, struct source *source, struct error *error);

#endif
