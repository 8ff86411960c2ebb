/* spelling: finds what a mistyped word may have meant. */
#ifndef ROWRELAY_COMMON_SPELLING_H
#define ROWRELAY_COMMON_SPELLING_H

#include <stddef.h>

/* The word that differs from `typed` in the fewest characters, and in three at most; NULL: none is near. Borrowed. */
const char *spelling_nearest(const char *typed, size_t count, const char *const *words);

#endif
