/*
 * file: what a file for "rowrelay apply" may say: its names, and the kind of each value. One table for each kind of
 * object drives checking and comparing.
 */
#ifndef ROWRELAY_SETUP_FILE_H
#define ROWRELAY_SETUP_FILE_H

#include "common/buffer.h"
#include "common/tree.h"

enum setup_kind {
  SETUP_TEXT,
  SETUP_BOOLEAN,
  SETUP_LIKE,    /* minimal or full */
  SETUP_LIST,    /* of texts, in an order that matters */
  SETUP_SET,     /* of texts, in any order */
  SETUP_OPTIONS, /* texts by name; null takes one away */
  SETUP_MASKS,   /* any values by name */
  SETUP_OBJECTS  /* by name, each with the same names within */
};

/* One name; a table of them ends with a row without a name. */
struct setup_key {
  const char *name;
  enum setup_kind kind;
  bool may_be_null;             /* for the default */
  const char *initial;          /* what null means: a text, "false", or "" for an empty list; NULL: not known here */
  const struct setup_key *keys; /* of SETUP_OBJECTS */
  const char *what;             /* such an object */
};

extern const struct setup_key SETUP_FILE_KEYS[];
extern const struct setup_key SETUP_TARGET_KEYS[];
extern const struct setup_key SETUP_CAPTURE_KEYS[];
extern const struct setup_key SETUP_ROUTE_KEYS[];
extern const struct setup_key SETUP_DOCUMENT_KEYS[];

/* Whether all of the file has known names and values of the right kinds; the error tells the place. */
MUST_CHECK bool setup_file_check(const char *file, const struct tree *tree, struct error *error);

/* Fails with an error that begins with the place of `tree`; NULL: only the file. Returns false. */
bool setup_fail(const char *file, const struct tree *tree, struct error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds to an error about a name that is unknown: the nearest of the known ones, or else all. Returns false. */
bool setup_suggest(struct error *error, const char *typed, size_t count, const char *const *words);

/* Whether the file says something else than what is there. `wanted` NULL: it says nothing. */
bool setup_differs(const struct setup_key *key, const struct tree *wanted, const struct tree *present);

/*
 * Appends the value for a parameter of SQL: a text, true or false, an array, or JSON. A null is the initial value.
 * False: it has none, so it has to be reset.
 */
bool setup_add_value(struct buffer *text, const struct setup_key *key, const struct tree *wanted);

/* Appends a value for people, cut when it is long; NULL is shown as nothing being there. */
void setup_add_words(struct buffer *words, const struct tree *value);

#endif
