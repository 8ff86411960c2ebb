/* tail: prints the end of the log, and then what is committed, until it is told to leave. */
#ifndef ROWRELAY_HISTORY_TAIL_H
#define ROWRELAY_HISTORY_TAIL_H

#include "cli/option.h"
#include "history/log_reader.h"
#include "history/printer.h"

/* What is followed. */
struct following {
  const struct log_filter *filter;
  int64_t last; /* so many changes of before come first */
};

/*
 * Prints what was there, then what comes. A lost connection is made again, for as long as that takes, and nothing is
 * missed or shown twice. *source may be another one afterwards, or NULL. Returns true when it was told to leave.
 */
MUST_CHECK bool tail_run(struct source **source, const struct options *given, const struct following *following,
                         struct printer *printer, struct error *error);

#endif
