/*
 * text: texts that somebody else wrote, a receiver of HTTP or a server in another encoding, made into what a
 * database can hold, and cut between letters.
 */
#ifndef ROWRELAY_COMMON_TEXT_H
#define ROWRELAY_COMMON_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Length of the UTF-8 letter that stands there; 0: it is none. */
size_t text_length(const char *text, size_t left);

/* Replaces every byte that is no letter by a question mark, and where `ascii_only` every letter that is not of ASCII.
 */
void text_tame(char *text, bool ascii_only);

/*
 * As snprintf, but what is cut does not end in the middle of a letter: databases and terminals take whole ones. For
 * every text that may hold words of others and may be cut.
 */
void text_print(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
void text_print_arguments(char *text, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

#endif
