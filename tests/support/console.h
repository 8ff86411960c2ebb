/*
 * console: a process that serves its console, of a source with table item, which goes to target "w".
 */
#ifndef ROWRELAY_TESTS_CONSOLE_H
#define ROWRELAY_TESTS_CONSOLE_H

#include "fixture.h"

#define CONSOLE_TOKEN "open sesame"

/* Begins the fixture, and the process, which listens on *port; without the token nobody may do anything there. */
pid_t console_begin(struct fixture *fixture, const char *name, bool with_token, int *port);
/* Whether `first` stands before `second` in what it answered. */
bool console_has_before(const char *text, const char *first, const char *second);

#endif
