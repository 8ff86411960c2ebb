/* number: integers as the texts that parameters are. */
#ifndef ROWRELAY_POSTGRES_NUMBER_H
#define ROWRELAY_POSTGRES_NUMBER_H

#include <stdint.h>

struct number {
  char text[24];
};

/* Usable in place, in the arguments of a call: f(VALUES(number(7).text)). What is used later needs a name. */
struct number number(int64_t value);

#endif
