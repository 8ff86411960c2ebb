/* escape: prints texts of unknown origin so that they can neither break the layout nor control the terminal. */
#ifndef ROWRELAY_TERMINAL_ESCAPE_H
#define ROWRELAY_TERMINAL_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buffer.h"

/* Bytes of the character at `text`, of which `left` remain: 1 for a byte that begins none. */
size_t escape_length(const char *text, size_t left);
/* Whether a terminal would obey that character (C0, DEL, and C1, which is two bytes), or it is not UTF-8. */
bool escape_is_needed(const char *text, size_t length);
/* Appends it as \n, \t, \xNN or \uNNNN. Returns how many columns that takes. */
int escape_add(struct buffer *buffer, const char *text, size_t length);

/* Prints a text, with such characters escaped. */
void escape_print(const char *text);
/* As a JSON string; null for NULL. */
void escape_print_json(const char *text);

#endif
