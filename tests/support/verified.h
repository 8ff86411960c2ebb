/*
 * verified: what rowrelay verify says of target "w".
 */
#ifndef ROWRELAY_TESTS_VERIFIED_H
#define ROWRELAY_TESTS_VERIFIED_H

#include <stddef.h>

#include "fixture.h"

/* What it said last, on stdout and stderr. */
extern const char *verified_said;
extern const char *verified_complained;

/* Runs verify with a further word, NULL for none; gives its exit status. */
int verified(struct fixture *fixture, const char *word);
/* It finds no difference. */
void verified_equal(struct fixture *fixture);
/* It finds some, and says these things of them. */
void verified_finds(struct fixture *fixture, const char *const *lines, size_t count);
#define VERIFIED_FINDS(f, ...)                                                                                         \
  verified_finds(f, (const char *const[]){__VA_ARGS__},                                                                \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
/* It repairs all that it finds. */
void verified_repaired(struct fixture *fixture);

#endif
