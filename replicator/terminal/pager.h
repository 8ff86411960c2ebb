/*
 * pager: output that may be longer than a screen: on a terminal through $PAGER (default less), elsewhere directly to
 * stdout.
 */
#ifndef ROWRELAY_TERMINAL_PAGER_H
#define ROWRELAY_TERMINAL_PAGER_H

#include <stdio.h>

#include "common/error.h"

struct pager {
  FILE *out;  /* what to print to */
  bool paged; /* `out` is a pager, not stdout */
  bool left;  /* the reader has quit: print no more */
};

/* `wanted`: use one, if stdout is a terminal and PAGER is not empty or "cat". Once for a process. */
MUST_CHECK bool pager_open(struct pager *pager, bool wanted, struct error *error);

/* Flushes the output. A reader that has quit is no error; see `left`. */
MUST_CHECK bool pager_flush(struct pager *pager, struct error *error);

/* Waits until the reader quits. */
void pager_close(struct pager *pager);

#endif
