/* tail: prints the end of the log, and then what is committed, until it is told to leave. */
#ifndef ROWRELAY_HISTORY_TAIL_H
#define ROWRELAY_HISTORY_TAIL_H

#include "cli/option.h"
#include "history/log_reader.h"
#include "history/printer.h"

/*
 * `last` changes of before, then what comes. A lost connection is made again, for as long as that takes, and nothing is
 * missed or shown twice. *source may be another one afterwards, or NULL. Returns true when it was told to leave.
 */
MUST_CHECK bool tail_run(struct source **source, const struct options *given, const struct log_filter *filter,
                         int64_t last, struct printer *printer, struct error *error);

#endif
