#include "author.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool author_chance(struct author *author, int percent) {
  return roll(&author->dice, 100) <= percent;
}

const char *author_one_of(struct author *author, const char *const *words, int count) {
  return words[roll(&author->dice, count) - 1];
}

int author_table(struct author *author) {
  bool is_favourite = author->favourite != 0 && author_chance(author, 70);
  return is_favourite ? author->favourite : roll(&author->dice, TABLES);
}

void author_add(struct author *author, const char *format, ...) {
  va_list values;
  cr_assert(author->story->count < NASTY_MOST, "the story is too long");
  va_start(values, format);
  char *statement = author->story->statements[author->story->count];
  size_t begun = strlen(author->voice);
  memcpy(statement, author->voice, begun);
  int length = vsnprintf(statement + begun, NASTY_LENGTH - begun, format, values);
  va_end(values);
  cr_assert(length > 0 && begun + (size_t)length < NASTY_LENGTH, "the statement is too long");
  author->story->count++;
}

bool author_has_nulls(const struct author *author, int t) {
  return author->kinds[t] == NULLABLE || author->kinds[t] == NULLABLE_PAIR;
}

bool author_stands_alone(const struct author *author, int t) {
  enum kind kind = author->kinds[t];
  return (kind == KEYED || kind == PAIR || kind == UNIQUE || kind == KEYLESS || kind == DEFERRED ||
          author_has_nulls(author, t)) &&
         !author->has_late_child[t];
}
