/*
 * log_reader: finds changes in the log, the newest first, a page at a time.
 *
 * Changes are ordered by their ids, and kept by day, which is nearly the same order but not quite: what was written
 * after midnight in a transaction that began before is kept under the previous day. So the log is read in slices of
 * ids, each with the few days that it can be in, however many years there are.
 *
 * No transaction stays open between pages, because a pager may be left open for days, and that would hold
 * vacuum back in the whole cluster. Each statement reads a range of ids whose size adapts to how long that takes.
 */
#ifndef ROWRELAY_HISTORY_LOG_READER_H
#define ROWRELAY_HISTORY_LOG_READER_H

#include <libpq-fe.h>
#include <stdint.h>

#include "common/buffer.h"
#include "history/change_list.h"
#include "source/source.h"

/* What to find, in PostgreSQL's notation; NULL: all. */
struct log_filter {
  const char *relations; /* array of oids */
  const char *key;       /* of the one relation */
  const char *txid;
  const char *actors; /* arrays of texts */
  const char *ops;
  const char *since; /* timestamps */
  const char *until;
  const char *snapshot; /* only what it sees */
};

struct log_reader {
  struct source *source;           /* borrowed */
  const struct log_filter *filter; /* borrowed */
  PGresult *slices;
  int slice;
  int64_t high;   /* all of this slice above it has been read; -1: nothing yet */
  int64_t window; /* how many ids the next statement reads */
  bool is_list;   /* the ids are known: see list */
  struct change_list list;
  size_t listed; /* how many of the list were read */
};

/* To be closed, also after a failure. */
MUST_CHECK bool log_reader_open(struct log_reader *book, struct source *source, const struct log_filter *filter,
                                struct error *error);
void log_reader_close(struct log_reader *book);

/* Adds the next changes to the page, at least one and at most `limit`; none: there are no more. */
MUST_CHECK bool log_reader_read(struct log_reader *book, struct change_list *page, size_t limit, struct error *error);

#endif
