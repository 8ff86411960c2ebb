/*
 * row_identity: which changes of a batch are of one row where the texts of keys do not say it: two spellings in citext,
 * 0 and -0, a day and 24 hours. The source hashes such keys by their types' own idea of equality.
 */
#ifndef ROWRELAY_SOURCE_ROW_IDENTITY_H
#define ROWRELAY_SOURCE_ROW_IDENTITY_H

#include "source/change.h"
#include "source/source.h"

/* Sets has_hash and hash of such changes. Where there is none in the batch, which is the rule, it asks nothing. */
MUST_CHECK bool row_identity_read(struct source *source, struct batch *batch, struct error *error);

#endif
