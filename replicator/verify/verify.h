/*
 * verify: compares mirrors and documents with their source while both sides are live.
 *
 * Both sides hash the same range of keys at the same time, and only count and sum come over the wire. Where they
 * differ, both hash that range once more, in buckets by the hash of the key; of the buckets that differ, keys and
 * hashes of rows are fetched. What then looks different is decided on one by one, see decide.h. So the time is
 * that of reading the table once, plus what the differences need.
 *
 * Ranges are taken from an index that both sides have, a fraction of a second's work each, so that no statement holds
 * back vacuum. A range reaches from one key of the source to another; were the two sides to sort differently, rows
 * would only look different for a while. Where they are known to do so, where there is no such index, and where there
 * is no key at all, each side reads its table in ranges of blocks, in buckets from the start, and these are added up.
 * (Before PostgreSQL 14 that is one statement. So it is when rows without a key are decided on.)
 *
 * Documents are compared in the same way. Their keys are those of the first of their tables, and what the source hashes
 * is what their query gives for the keys of a range.
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
  size_t pattern_count; /* of tables; */
  const char *const *patterns;
  size_t document_count; /* and of documents; neither: all that go there */
  const char *const *documents;
  bool json;
  bool repair;
  int64_t limit;    /* differences of each table that are shown */
  int64_t patience; /* milliseconds to wait for the queue, and for a row to stand still */
};

/*
 * Compares, and prints what it finds. `source` is for what is written there. Fails with FAILURE_DIFFERENT when the
 * sides differ.
 */
MUST_CHECK bool verify_run(const struct verify_options *options, struct source *source, struct error *error);

#endif
