/*
 * screen: redraws the whole terminal in place, as `top` does. The previous contents are restored when it ends, also by
 * Ctrl-C, and while it is suspended by Ctrl-Z.
 */
#ifndef ROWRELAY_TERMINAL_SCREEN_H
#define ROWRELAY_TERMINAL_SCREEN_H

#include <stdint.h>

#include "common/buffer.h"

/* Takes the terminal that stdout is; there can be one at a time. */
MUST_CHECK bool screen_begin(struct error *error);
void screen_end(void);

/* Its present size. */
void screen_size(int *rows, int *columns);

/* Replaces what is there. `text` has no more lines than there are rows, and none that is wider than the terminal. */
MUST_CHECK bool screen_draw(const struct buffer *text, struct error *error);

enum screen_event {
  SCREEN_DUE,     /* the time is over, or a key was pressed to refresh */
  SCREEN_RESIZED, /* its size or contents have changed: draw again */
  SCREEN_LEAVE    /* q, Ctrl-C or a signal */
};

enum screen_event screen_wait(int64_t milliseconds);

#endif
