/*
 * command: the commands of the program. One table lists them all; the parser and `--help` read it.
 */
#ifndef ROWRELAY_CLI_COMMAND_H
#define ROWRELAY_CLI_COMMAND_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/option.h"
#include "common/error.h"

#define ANY_NUMBER SIZE_MAX
#define COMMAND_NOTES_LIMIT ((size_t)64 * 1024) /* bytes */

struct command {
  const char *name;             /* one or two words: "capture", "target add" */
  const char *summary;          /* one line */
  const char *arguments;        /* as the help shows them; "" for none */
  size_t least;                 /* fewest arguments */
  size_t most;                  /* most arguments */
  const struct option *options; /* its own; ends with OPTION_END */
  const char *notes;            /* what else the help says; NULL: nothing */
  /* A command line each, as typed; one that ends with a backslash goes on in the next. NULL: none. */
  const char *examples;
  /* Appends to what notes say; NULL: nothing. */
  void (*more_notes)(struct buffer *text);
  /* For shells: appends what its argument URL can begin with, with a space before each word; NULL: unknown. */
  void (*offer)(struct buffer *words, const struct typed *typed);
  bool (*run)(const struct options *given, struct error *error);
};

/* All commands, in the order of the help. */
extern const struct command *const COMMANDS[];
extern const size_t COMMAND_COUNT;

/* Options that every command has. */
extern const struct option SHARED_OPTIONS[];

/* Help for the program as a whole: one sentence, and notes on all commands. */
extern const char PROGRAM_PURPOSE[];
extern const char PROGRAM_NOTES[];

/*
 * Finds the command that the first words name; *used is how many words that took. The error for an unknown one
 * suggests the nearest.
 */
MUST_CHECK bool command_find(size_t count, const char *const *words, const struct command **command, size_t *used,
                             struct error *error);

/* An error unless the number of arguments is right. */
MUST_CHECK bool command_check_arguments(const struct command *command, const struct options *given,
                                        struct error *error);

/* Appends the help beyond summary and options, if there is any. */
void command_add_notes(const struct command *command, struct buffer *text);

void command_print_help(FILE *stream, const struct command *command);
/* The commands of two words that begin with this one, a line each; false if there are none. */
bool command_print_group(FILE *stream, const char *word);
/* All commands, one line each. */
void command_print_summary(FILE *stream);

/* One file in cmd/ for each. */
extern const struct command COMMAND_doctor;
extern const struct command COMMAND_init;
extern const struct command COMMAND_capture;
extern const struct command COMMAND_release;
extern const struct command COMMAND_target_add;
extern const struct command COMMAND_target_list;
extern const struct command COMMAND_target_show;
extern const struct command COMMAND_target_set;
extern const struct command COMMAND_target_pause;
extern const struct command COMMAND_target_resume;
extern const struct command COMMAND_target_drop;
extern const struct command COMMAND_target_test;
extern const struct command COMMAND_route;
extern const struct command COMMAND_document_add;
extern const struct command COMMAND_document_suggest;
extern const struct command COMMAND_document_list;
extern const struct command COMMAND_document_show;
extern const struct command COMMAND_document_drop;
extern const struct command COMMAND_document_rebuild;
extern const struct command COMMAND_export;
extern const struct command COMMAND_apply;
extern const struct command COMMAND_backfill;
extern const struct command COMMAND_run;
extern const struct command COMMAND_health;
extern const struct command COMMAND_status;
extern const struct command COMMAND_errors;
extern const struct command COMMAND_retry;
extern const struct command COMMAND_replay;
extern const struct command COMMAND_resume;
extern const struct command COMMAND_skip;
extern const struct command COMMAND_log;
extern const struct command COMMAND_undo;
extern const struct command COMMAND_redact;
extern const struct command COMMAND_seal;
extern const struct command COMMAND_verify_log;
extern const struct command COMMAND_verify;
extern const struct command COMMAND_keep;
extern const struct command COMMAND_prune;
extern const struct command COMMAND_archive;
extern const struct command COMMAND_uninstall;
extern const struct command COMMAND_help;

#endif
