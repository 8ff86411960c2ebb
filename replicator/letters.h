/*
 * letters: texts that somebody else wrote, a receiver of HTTP or a server in another encoding, made into what a
 * database can hold.
 */
#ifndef ROWRELAY_LETTERS_H
#define ROWRELAY_LETTERS_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the UTF-8 letter that stands there; 0: it is none. */
size_t letters_length(const char *text, size_t left);

/* Replaces every byte that is no letter by a question mark, and where `ascii_only` every letter that is not of ASCII.
 */
void letters_tame(char *text, bool ascii_only);

#endif
