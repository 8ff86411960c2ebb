/*
 * option: parses the command line. One table for each command describes its options; parsing, defaults and `--help` all
 * read that table.
 *
 * Accepted are `--name VALUE`, `--name=VALUE`, `-x VALUE`, `-xVALUE`, several flags in one word (`-ab`), options
 * between and after arguments, and `--`, after which everything is an argument.
 */
#ifndef ROWRELAY_CLI_OPTION_H
#define ROWRELAY_CLI_OPTION_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/buffer.h"
#include "common/error.h"

/* What stands already in a line that somebody types, as far as it is known. */
struct typed {
  const char *const *arguments;
  size_t count;
};

/* One option; a table of them ends with a row without a name (OPTION_END). */
struct option {
  const char *name;    /* without the dashes */
  char letter;         /* the short form; 0: none */
  const char *value;   /* name of its value in the help; NULL: it takes none */
  const char *initial; /* its value when it is not given; NULL: none */
  const char *implied; /* its value when it is given without one; NULL: a value must follow */
  bool repeatable;  /* every use counts; else a second use with another value is wrong use (an option of all commands:
                       the last counts) */
  bool required;    /* without it the command is wrong use */
  const char *help; /* one line */
  /* For shells: the values, "row|statement", where `value` does not list them. */
  const char *choices;
  /* For shells: appends the values, or what they begin with, with a space before each; NULL: unknown. */
  void (*offer)(struct buffer *words, const struct typed *typed);
};

#define OPTION_END                                                                                                     \
  { .name = NULL }

/* One use of an option. `text` points into the command line; "" for an option without a value. */
struct option_use {
  const struct option *option;
  const char *text;
};

struct options {
  const struct option *shared; /* options of every command */
  const struct option *own;    /* options of this command; NULL until it is known */
  struct option_use *uses;     /* owned, in the order given */
  size_t use_count;
  const char **arguments; /* owned, the rest in the order given */
  size_t argument_count;
};

/* `word_count`: how many words the command line has. */
MUST_CHECK bool option_init(struct options *given, const struct option *shared, size_t word_count, struct error *error);
void option_release(struct options *given);

/*
 * Reads the options of `shared` that stand before the first argument, which is a command's name and not read.
 * *used is the number of words read.
 */
MUST_CHECK bool option_parse_leading(struct options *given, size_t count, const char *const *words, size_t *used,
                                     struct error *error);

/* Reads all words, with the options of `shared` and `own`. Adds to what was read before. */
MUST_CHECK bool option_parse(struct options *given, const struct option *own, size_t count, const char *const *words,
                             struct error *error);

/*
 * These look an option up by its long name, which must be in one of the tables: a wrong name is a mistake in the
 * program, and aborts.
 */
bool option_given(const struct options *given, const char *name);
/* The value it was given, of a repeatable one the last, else the default, else NULL. */
const char *option_text(const struct options *given, const char *name);
/* How many times it was given, and the value of the index-th use. */
size_t option_count(const struct options *given, const char *name);
const char *option_at(const struct options *given, const char *name, size_t index);
/* Range of a number. */
struct bounds {
  int64_t least;
  int64_t most;
};
/* The value as a whole number; otherwise, or if it is out of bounds, an error that names the option. */
MUST_CHECK bool option_integer(const struct options *given, const char *name, struct bounds bounds, int64_t *value,
                               struct error *error);

/* Whether a text is the id of a change or of a transaction: digits alone, at most those of a bigint. PostgreSQL would
 * take "12x" for transaction 12. */
bool option_is_id(const char *text);

/* Prints a table of options for people. */
void option_print_help(FILE *stream, const struct option *table);

#endif
