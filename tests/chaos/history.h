/*
 * history: the text files of a run, as the checker reads them: lines of words.
 */
#ifndef ROWRELAY_CHAOS_HISTORY_H
#define ROWRELAY_CHAOS_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#define WORDS 8

struct line {
  char *words[WORDS]; /* "" beyond the last */
};

struct lines {
  struct line *lines;
  size_t count;
  char *text;
};

/* Reads DIR/NAME; no lines when it is not there. A line's last word may hold blanks only beyond the WORDS-th. */
struct lines lines_read(const char *dir, const char *name);
void lines_free(struct lines *lines);

/* Grows an array of `count` elements of `size` bytes by one. */
void *grown(void *array, size_t count, size_t size);

#endif
