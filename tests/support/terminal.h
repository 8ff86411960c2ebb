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
/* Types these keys into the next on_terminal(), before its command asks for them; borrowed until then. */
void terminal_answer(const char *keys);

/*
 * The same for a command that goes on, with the terminal of this size: what it shows is read when it is asked for. One
 * at a time; it dies with the test.
 */
void terminal_start(const struct fixture *fixture, int rows, int columns, const char *word, ...)
    __attribute__((sentinel));
/*
 * Waits until the page has these words, and gives it, a line for each row; valid until the next call. The test fails
 * after `seconds`, when anything is written beyond the terminal's size, and by a sequence that is not known here.
 */
const char *terminal_wait(const char *words, double seconds);
/* The same for words that the page no longer has. */
const char *terminal_wait_without(const char *words, double seconds);
void terminal_resize(int rows, int columns);
void terminal_type(const char *keys);
/* Waits for its end; gives the exit status. Fails the test unless the page from before is shown again, and a cursor. */
int terminal_end(double seconds);

#endif
