/* terminal: what a command prints on a terminal, which is not what it prints into a pipe. */
#ifndef ROWRELAY_TESTS_TERMINAL_H
#define ROWRELAY_TESTS_TERMINAL_H

#include "fixture.h"

/*
 * Runs build/rowrelay -d SOURCE with these words (NULL ends them) in a pseudo-terminal of 80 columns, and gives what
 * stood there, with \r\n as \n; valid until the next call. *status is its exit status, NULL for who does not care.
 * PAGER, NO_COLOR and such are those of the test.
 */
const char *on_terminal(const struct fixture *fixture, int *status, const char *word, ...) __attribute__((sentinel));

#endif
