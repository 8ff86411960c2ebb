/*
 * entry: one change of the log as people read it, like an entry of `git log`: a paragraph with what changed, or one
 * line. Nothing that is printed can do more to a terminal than show itself: control characters are escaped.
 */
#ifndef ROWRELAY_HISTORY_ENTRY_H
#define ROWRELAY_HISTORY_ENTRY_H

#include <libpq-fe.h>
#include <stdbool.h>

#include "common/buffer.h"

struct entry_style {
  bool colours;
  int width; /* columns that a line may have; 0: any number */
};

/* Append one entry; both end with a newline. */
void entry_add_paragraph(struct buffer *buffer, const struct entry_style *style, const PGresult *rows, int row);
void entry_add_line(struct buffer *buffer, const struct entry_style *style, const PGresult *rows, int row);

/*
 * Appends at most `room` columns of a text, and an ellipsis in the last of them where it is longer. Gives how many it
 * took. Control characters are escaped; libpq knows the width of every character, and depends on no locale.
 */
int entry_add_within(struct buffer *buffer, const char *text, size_t length, int room);

/* Appends the members of a row, one a line. */
void entry_add_row(struct buffer *buffer, const char *object);

#endif
