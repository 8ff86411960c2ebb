/* status_page: a page about all targets, for a terminal: totals, and those in trouble first. */
#ifndef ROWRELAY_CMD_STATUS_PAGE_H
#define ROWRELAY_CMD_STATUS_PAGE_H

#include <libpq-fe.h>
#include <stdint.h>

#include "common/buffer.h"

struct status_page_view {
  int rows; /* of the terminal */
  int columns;
  bool colours;
  const char *source;  /* what it is called */
  const char *clock;   /* the time of day */
  int64_t seconds;     /* between two pages */
  const char *problem; /* why there is nothing newer; NULL: it is new */
};

/* Appends a page that fits. */
void status_page_add(struct buffer *page, const struct status_page_view *view, const PGresult *targets);

/* The same of a table that was printed already, which is cut where it does not fit. */
void status_page_add_table(struct buffer *page, const struct status_page_view *view, const char *table);

#endif
