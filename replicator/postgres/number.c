#include "postgres/number.h"

#include <stdio.h>

struct number number(int64_t value) {
  struct number made;
  snprintf(made.text, sizeof made.text, "%lld", (long long)value);
  return made;
}
