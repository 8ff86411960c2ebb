/*
 * text: makes text from others (an HTTP receiver, a server with another encoding) fit for a database: valid UTF-8, and
 * cut between characters.
 */
#ifndef ROWRELAY_COMMON_TEXT_H
#define ROWRELAY_COMMON_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character at `text`, of which `left` bytes remain; 0: not a valid one. */
size_t text_length(const char *text, size_t left);

/* Replaces each byte of invalid UTF-8 by a question mark; with `ascii_only`, also each character beyond ASCII. */
void text_sanitize(char *text, bool ascii_only);

/*
 * As snprintf, but never cuts within a character, which databases and terminals would reject. For every text that may
 * come from others and may be cut.
 */
void text_print(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
void text_print_arguments(char *text, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/*
 * FNV-1a of several texts, one after the other, each with its end. Not kept: what has equal hashes is taken for equal
 * by what only tells people less often.
 */
#define TEXT_HASH_BEGIN UINT64_C(14695981039346656037)
uint64_t text_hash(uint64_t hash, const char *text);

/* What a noun in the plural ends with after this number. */
const char *text_plural(int64_t count);

#endif
