/*
 * printer: prints changes that were found, in one of the forms of `rowrelay log`. It reads a few megabytes of them at a
 * time, and only as fast as the output is read.
 */
#ifndef ROWRELAY_HISTORY_PRINTER_H
#define ROWRELAY_HISTORY_PRINTER_H

#include "history/change_list.h"
#include "history/entry.h"
#include "source/source.h"
#include "terminal/pager.h"

enum form { FORM_PARAGRAPHS, FORM_LINES, FORM_JSON };

struct printer {
  struct pager *pager; /* borrowed */
  enum form form;
  struct entry_style style;
  bool newest_first;
  const struct change_list
      *life; /* borrowed; all changes of the one key that is asked for, the newest first; NULL: none is */
  /* private */
  size_t batch; /* how many changes to read at a time */
  size_t done;  /* how many changes of the last page were printed */
  bool printed; /* something was printed */
};

void printer_init(struct printer *printer, struct pager *pager);

/* Prints the changes of the page in its order, which is the newest first, or the other way round. */
MUST_CHECK bool printer_print(struct printer *printer, struct source *source, const struct change_list *page,
                              struct error *error);

#endif
