/*
 * spoken: commands, and the words that they answer.
 */
#ifndef ROWRELAY_TESTS_SPOKEN_H
#define ROWRELAY_TESTS_SPOKEN_H

#include <criterion/criterion.h>
#include <string.h>

#include "fixture.h"

/* Begins the fixture, with tables item (id, name) and other (id) on both sides. */
void spoken_begin(struct fixture *fixture, const char *name);

/* Runs rowrelay with these words on the test's fixture `f`; `words` is what it must print: why it failed, or what it
 * has done. */
#define FAILS(status, words, ...)                                                                                      \
  do {                                                                                                                 \
    const char *out_;                                                                                                  \
    const char *err_;                                                                                                  \
    int status_ = rowrelay(&f, &out_, &err_, __VA_ARGS__, NULL);                                                       \
    cr_assert(status_ == (status), "exit status %d: %s%s", status_, out_, err_);                                       \
    cr_assert_str_eq(out_, "");                                                                                        \
    cr_assert_eq(strncmp(err_, "rowrelay: ", 10), 0, "%s", err_);                                                      \
    cr_assert_not_null(strstr(err_, words), "%s", err_);                                                               \
  } while (0)
#define SAYS(words, ...)                                                                                               \
  do {                                                                                                                 \
    const char *out_;                                                                                                  \
    const char *err_;                                                                                                  \
    int status_ = rowrelay(&f, &out_, &err_, __VA_ARGS__, NULL);                                                       \
    cr_assert(status_ == 0, "exit status %d: %s%s", status_, out_, err_);                                              \
    cr_assert_str_eq(out_, words);                                                                                     \
    cr_assert_str_eq(err_, "");                                                                                        \
  } while (0)

#endif
