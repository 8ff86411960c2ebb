#include "source/operation.h"

#include <string.h>

bool operation_check(const char *word, struct error *error) {
  static const char *const WORDS[] = {"insert", "update", "delete", "truncate", "snapshot", "barrier", "refresh"};
  for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
    if (strcmp(WORDS[i], word) == 0)
      return true;
  error_set(error, FAILURE_USAGE, "unknown operation \"%s\"", word);
  return error_hint(error, "use insert, update, delete, truncate or snapshot%s",
                    strchr(word, ',') != NULL ? "; for several, give each of them on its own" : "");
}
