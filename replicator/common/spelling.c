#include "common/spelling.h"

#include <stdint.h>
#include <string.h>

/* A suggestion that differs in more characters than this would be a guess. */
#define FARTHEST_SUGGESTION 3
#define LONGEST_WORD 63

/* How many characters must be added, removed or replaced to turn one text into the other (Levenshtein). */
static size_t distance(const char *from, const char *to) {
  size_t row[LONGEST_WORD + 1]; /* distances of what was read of `from` to each beginning of `to` */
  size_t columns = strlen(to);
  if (columns > LONGEST_WORD)
    return SIZE_MAX;
  for (size_t j = 0; j <= columns; j++)
    row[j] = j;
  for (size_t i = 0; from[i] != '\0'; i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < columns; j++) {
      size_t best = diagonal + (from[i] != to[j]);
      best = row[j] + 1 < best ? row[j] + 1 : best;
      best = row[j + 1] + 1 < best ? row[j + 1] + 1 : best;
      diagonal = row[j + 1];
      row[j + 1] = best;
    }
  }
  return row[columns];
}

const char *spelling_nearest(const char *typed, size_t count, const char *const *words) {
  const char *nearest = NULL;
  size_t least = FARTHEST_SUGGESTION + 1;
  for (size_t i = 0; i < count; i++) {
    size_t away = distance(typed, words[i]);
    if (away < least && away < strlen(words[i])) {
      least = away;
      nearest = words[i];
    }
  }
  return nearest;
}
