#include "common/spelling.h"

#include <stdint.h>
#include <string.h>

/* A suggestion that differs in more slips than this, or in more than one of three characters, would be a guess. */
#define FARTHEST_SUGGESTION 3
#define LONGEST_WORD 63

static size_t least_of(size_t a, size_t b) {
  return a < b ? a : b;
}

/* How many slips turn one text into the other: a character added, removed, replaced, or two neighbours that have
 * changed places (optimal string alignment). */
static size_t distance(const char *from, const char *to) {
  size_t rows[3]
             [LONGEST_WORD + 1]; /* distances of what was read of `from`, and of one and two less, to each beginning */
  size_t *row = rows[0], *above = rows[1], *two_above = rows[2];
  size_t columns = strlen(to);
  if (columns > LONGEST_WORD)
    return SIZE_MAX;
  for (size_t j = 0; j <= columns; j++)
    row[j] = j;
  for (size_t i = 1; from[i - 1] != '\0'; i++) {
    size_t *oldest = two_above;
    two_above = above;
    above = row;
    row = oldest;
    row[0] = i;
    for (size_t j = 1; j <= columns; j++) {
      row[j] = least_of(above[j - 1] + (from[i - 1] != to[j - 1]), least_of(row[j - 1], above[j]) + 1);
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        row[j] = least_of(row[j], two_above[j - 2] + 1);
    }
  }
  return row[columns];
}

static size_t farthest(const char *typed) {
  size_t length = strlen(typed);
  return length < 6 ? 1 : least_of(length / 3, FARTHEST_SUGGESTION);
}

const char *spelling_nearest(const char *typed, size_t count, const char *const *words) {
  const char *nearest = NULL;
  size_t least = farthest(typed) + 1;
  for (size_t i = 0; i < count; i++) {
    size_t away = distance(typed, words[i]);
    if (away < least && away < strlen(words[i])) {
      least = away;
      nearest = words[i];
    }
  }
  return nearest;
}
