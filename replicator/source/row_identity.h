/*
 * row_identity: finds changes of the same row if equal keys may have different texts: two spellings in citext, 0 and
 * -0, a day and 24 hours. The source hashes such keys by the equality of their types.
 */
#ifndef ROWRELAY_SOURCE_ROW_IDENTITY_H
#define ROWRELAY_SOURCE_ROW_IDENTITY_H

#include "source/change.h"
#include "source/source.h"

/* Sets has_hash and hash of such changes. Batches without such keys, the normal case, cost no query. */
MUST_CHECK bool row_identity_read(struct source *source, struct batch *batch, struct error *error);

#endif
