/* spelling: finds what a mistyped word may have meant. */
#ifndef ROWRELAY_COMMON_SPELLING_H
#define ROWRELAY_COMMON_SPELLING_H

#include <stddef.h>

/* The word from which `typed` differs in the fewest slips of the keyboard: one, or one for each three characters, and
 * three at most; NULL: none is near. Borrowed. */
const char *spelling_nearest(const char *typed, size_t count, const char *const *words);

#endif
