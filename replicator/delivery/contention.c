#include "delivery/contention.h"

#include <limits.h>
#include <string.h>

static size_t place(int lane) {
  return (size_t)lane % LANES_OF_A_TARGET;
}

bool contention_is(const struct error *error) {
  return strlen(error->sqlstate) == 5 && strncmp(error->sqlstate, "40", 2) == 0;
}

int contention_most(const struct contention *contention, const int *lanes, size_t count) {
  int most = 0;
  for (size_t i = 0; i < count; i++)
    if (contention->failures[place(lanes[i])] > most)
      most = contention->failures[place(lanes[i])];
  return most;
}

void contention_count(struct contention *contention, const int *lanes, size_t count, bool failed) {
  for (size_t i = 0; i < count; i++) {
    unsigned char *failures = &contention->failures[place(lanes[i])];
    *failures = !failed ? 0 : *failures < UCHAR_MAX ? (unsigned char)(*failures + 1) : UCHAR_MAX;
  }
}
