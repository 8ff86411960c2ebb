/*
 * target_option: the options of targets. These tables describe each option completely: valid values and default
 * (schema/functions/target/target_options.sql is generated from them), its text in the help, the manual and README.md,
 * and what shells complete; see catalogue.h.
 */
#ifndef ROWRELAY_TARGETS_TARGET_OPTION_H
#define ROWRELAY_TARGETS_TARGET_OPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buffer.h"

/* Regular expression for a value taken from the environment of `rowrelay run`. */
#define TARGET_OPTION_VARIABLE "\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}"

/* One option; a table of them ends with a row without a name (TARGET_OPTION_END). Its value is a number, one of
 * `choices`, or matches `pattern`. */
struct target_option {
  const char *name;
  const char *help;    /* without a full stop */
  const char *number;  /* "a number of rows", from `least` to `most` */
  int64_t least;       /* 0 or more, */
  int64_t most;        /* and below 10^9 */
  const char *choices; /* "park|block|halt" */
  const char *pattern; /* a regular expression of PostgreSQL, */
  const char *words;   /* and that in words */
  const char *initial; /* default; NULL: none */
  bool secret;         /* its value appears in no message */
  bool elsewhere;      /* not for the source as its own target */
};

#define TARGET_OPTION_END                                                                                              \
  { .name = NULL }

/* Options of every target; source/settings.h holds their values. */
extern const struct target_option TARGET_COMMON_OPTIONS[];

/* Finds an option by name in tables that end with NULL; NULL: there is none. */
const struct target_option *target_option_find(const struct target_option *const *tables, const char *name);

/* Appends the regular expression for its values. */
void target_option_add_pattern(struct buffer *text, const struct target_option *option);
/* Appends its valid values in words: "a number from 1 to 1024". */
void target_option_add_words(struct buffer *text, const struct target_option *option);

#endif
