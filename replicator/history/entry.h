/*
 * entry: one change of the log as people read it, like an entry of `git log`: a paragraph with what changed, or one
 * line. Control characters are escaped, so that no content can affect a terminal.
 */
#ifndef ROWRELAY_HISTORY_ENTRY_H
#define ROWRELAY_HISTORY_ENTRY_H

#include <libpq-fe.h>
#include <stdbool.h>

#include "common/buffer.h"

struct entry_style {
  bool colours;
  int width; /* columns of a line; 0: no limit */
};

/* Append one entry; both end with a newline. */
void entry_add_paragraph(struct buffer *buffer, const struct entry_style *style, const PGresult *rows, int row);
void entry_add_line(struct buffer *buffer, const struct entry_style *style, const PGresult *rows, int row);

/*
 * Appends at most `room` columns of a text, with an ellipsis as the last if it is cut. Returns how many it took.
 * Control characters are escaped; libpq knows the width of every character, and depends on no locale.
 */
int entry_add_within(struct buffer *buffer, const char *text, size_t length, int room);

/* Appends the members of a row, one a line. */
void entry_add_row(struct buffer *buffer, const char *object);

#endif
