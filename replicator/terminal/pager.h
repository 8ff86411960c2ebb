/*
 * pager: where a command prints what may be longer than a screen: on a terminal through $PAGER (less, where that is not
 * set), elsewhere straight to stdout.
 */
#ifndef ROWRELAY_TERMINAL_PAGER_H
#define ROWRELAY_TERMINAL_PAGER_H

#include <stdio.h>

#include "common/error.h"

struct pager {
  FILE *out;  /* what to print to */
  bool paged; /* it is a pager's, else stdout */
  bool left;  /* whoever read has seen enough: print no more */
};

/* `wanted`: use one, if stdout is a terminal and PAGER is not empty or "cat". Once for a process. */
MUST_CHECK bool pager_open(struct pager *pager, bool wanted, struct error *error);

/* Shows what was printed so far. That the reader has left is no error, but told by `left`. */
MUST_CHECK bool pager_flush(struct pager *pager, struct error *error);

/* Waits until whoever reads has seen enough. */
void pager_close(struct pager *pager);

#endif
