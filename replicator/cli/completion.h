/*
 * completion: scripts for shells, which complete commands and their options. Made of the same tables as `--help`.
 */
#ifndef ROWRELAY_CLI_COMPLETION_H
#define ROWRELAY_CLI_COMPLETION_H

#include <stdio.h>

#include "common/error.h"

/* Prints the script for "bash", "zsh" or "fish"; an error for any other. */
MUST_CHECK bool completion_print(FILE *stream, const char *shell, struct error *error);

#endif
