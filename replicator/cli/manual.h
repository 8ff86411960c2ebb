/*
 * manual: the manual pages, generated from the same tables as `--help`: rowrelay(1) with all commands, and one for
 * each, such as rowrelay-target-add(1).
 */
#ifndef ROWRELAY_CLI_MANUAL_H
#define ROWRELAY_CLI_MANUAL_H

#include <stdio.h>

#include "cli/command.h"

/* Prints the page of a command, or with NULL that of the program, as man(7) source. */
void manual_print(FILE *stream, const struct command *command);

/* Writes all of them into a directory, which must be there. */
MUST_CHECK bool manual_write(const char *directory, struct error *error);

#endif
