/* status_page: a page about all targets, for a terminal: totals, then the failing ones first. */
#ifndef ROWRELAY_CMD_STATUS_PAGE_H
#define ROWRELAY_CMD_STATUS_PAGE_H

#include <libpq-fe.h>
#include <stdint.h>

#include "common/buffer.h"

struct status_page_view {
  int rows; /* of the terminal */
  int columns;
  bool colours;
  const char *source;  /* its name */
  const char *clock;   /* the time of day */
  int64_t seconds;     /* between two pages */
  const char *problem; /* why the page is not current; NULL: it is */
};

/* Appends a page that fits. */
void status_page_add(struct buffer *page, const struct status_page_view *view, const PGresult *targets);

/* The same from a table that was printed already; it is cut where it does not fit. */
void status_page_add_table(struct buffer *page, const struct status_page_view *view, const char *table);

#endif
