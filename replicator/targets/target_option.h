/*
 * target_option: what can be set of a target. These tables say everything about an option: whether a value can be taken
 * and what its default is (schema/functions/target/target_options.sql is made of them), what the help, the manual and
 * README.md say of it, and what shells complete; see catalogue.h.
 */
#ifndef ROWRELAY_TARGETS_TARGET_OPTION_H
#define ROWRELAY_TARGETS_TARGET_OPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buffer.h"

/* A value that is kept in the environment of `rowrelay run`, as a regular expression. */
#define TARGET_OPTION_VARIABLE "\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}"

/* One option; a table of them ends with a row without a name (TARGET_OPTION_END). It is a number, one of `choices`, or
 * what `pattern` says. */
struct target_option {
  const char *name;
  const char *help;    /* what it is for, without a full stop */
  const char *number;  /* "a number of rows", from `least` to `most` */
  int64_t least;       /* 0 or more, */
  int64_t most;        /* and below 10^9 */
  const char *choices; /* "park|block|halt" */
  const char *pattern; /* a regular expression of PostgreSQL, */
  const char *words;   /* and what that looks like, behind "NAME is " */
  const char *initial; /* what it is unless it is set; NULL: nothing */
  bool secret;         /* its value stands in no message */
  bool elsewhere;      /* not for the source as its own target */
};

#define TARGET_OPTION_END                                                                                              \
  { .name = NULL }

/* What every target has. source/settings.h holds what they are. */
extern const struct target_option TARGET_COMMON_OPTIONS[];

/* The one of that name in tables that end with NULL; NULL: there is none. */
const struct target_option *target_option_find(const struct target_option *const *tables, const char *name);

/* Appends the regular expression for its values. */
void target_option_add_pattern(struct buffer *text, const struct target_option *option);
/* Appends what its value looks like: "a number from 1 to 1024". */
void target_option_add_words(struct buffer *text, const struct target_option *option);

#endif
