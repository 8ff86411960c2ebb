/* as_of: a table, or one of its rows, as it was. */
#ifndef ROWRELAY_HISTORY_AS_OF_H
#define ROWRELAY_HISTORY_AS_OF_H

#include "history/log_reader.h"
#include "history/printer.h"

struct as_of {
  const struct log_filter *filter; /* names the one table, and the key if there is one */
  const char *moment;
  int64_t limit; /* how many rows at most; -1: all */
};

MUST_CHECK bool as_of_print(const struct as_of *past, struct source *source, struct printer *printer,
                            struct error *error);

#endif
