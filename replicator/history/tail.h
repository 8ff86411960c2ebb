/* tail: prints the end of the log, then new changes as they commit, until interrupted. */
#ifndef ROWRELAY_HISTORY_TAIL_H
#define ROWRELAY_HISTORY_TAIL_H

#include "cli/option.h"
#include "history/log_reader.h"
#include "history/printer.h"

/* What is followed. */
struct following {
  const struct log_filter *filter;
  int64_t last; /* how many earlier changes to print first */
};

/*
 * Prints what was there, then what comes. Reconnects for as long as it takes when the connection is lost; nothing
 * is missed or shown twice. *source may be another one afterwards, or NULL. True when interrupted.
 */
MUST_CHECK bool tail_run(struct source **source, const struct options *given, const struct following *following,
                         struct printer *printer, struct error *error);

#endif
