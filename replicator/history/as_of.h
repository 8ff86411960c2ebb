/* past: prints a table, or one of its rows, as it was. */
#ifndef ROWRELAY_HISTORY_AS_OF_H
#define ROWRELAY_HISTORY_AS_OF_H

#include "history/log_reader.h"
#include "history/printer.h"

/* The filter names the one table, and the key if there is one. `limit`: -1 for all rows. */
MUST_CHECK bool past_print(struct source *source, const struct log_filter *filter, const char *at, int64_t limit,
                           struct printer *printer, struct error *error);

#endif
