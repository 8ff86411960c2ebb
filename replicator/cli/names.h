/*
 * names: what a person may type next where a command line names a table, a target or a document. Shells ask for it
 * while a line is typed (see completion.h).
 */
#ifndef ROWRELAY_CLI_NAMES_H
#define ROWRELAY_CLI_NAMES_H

#include <stdio.h>

#include "cli/command.h"

/* Whether there are names for the values of an option, or for arguments of a command. */
bool names_has_option(const struct option *option);
bool names_has_arguments(const struct command *command);

/*
 * Prints the names that begin with `prefix` and fit behind `words`, which follow the program's name: a line each, at
 * most some hundred. None where nothing fits, and where the source cannot be asked: nobody wants an error there.
 */
void names_print(FILE *stream, size_t count, const char *const *words, const char *prefix);

#endif
