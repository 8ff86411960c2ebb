/*
 * setup: what is set up at a source (its targets, captures with their routes, documents, and how long changes are
 * kept), beside what a file says of it. One file of this folder plans the steps for each kind of object: targets,
 * captures, documents.
 */
#ifndef ROWRELAY_SETUP_SETUP_H
#define ROWRELAY_SETUP_SETUP_H

#include "common/tree.h"
#include "setup/file.h"
#include "setup/steps.h"
#include "source/source.h"

struct setup {
  struct source *source; /* borrowed, like all but the last two */
  const char *file;      /* its name, for errors */
  struct tree *wanted;   /* what it says; names become those that the source gives */
  const char *lock_wait; /* seconds */
  bool prune;            /* plan to remove what the file does not name */
  struct tree *present;  /* as a file would say it, with all defaults; owned */
  struct steps steps;
};

/*
 * Reads what is set up, as a file of "rowrelay apply" says it; `everything`: also what has its default value. The
 * caller owns *present.
 */
MUST_CHECK bool setup_read_present(struct tree **present, struct source *source, bool everything, struct error *error);

/* Reads what is there, compares, and checks all that the plan would do. Changes nothing. */
MUST_CHECK bool setup_plan(struct setup *setup, struct error *error);
void setup_release(struct setup *setup);

/* What the others need. */

/* A section of the file or of what is there: "targets"; NULL: it has none. */
const struct tree *setup_section(const struct tree *tree, const char *section);
/* The full name of a table, or an error at its place in the file. */
MUST_CHECK bool setup_find_table(struct setup *setup, const struct tree *name, struct buffer *full_name,
                                 struct error *error);
/* The URL and options that a target will have, or an error at the place of its name. */
MUST_CHECK bool setup_find_target(const struct setup *setup, const struct tree *target, const char **url,
                                  struct buffer *options, struct error *error);
/* How long changes are kept, as the source writes it. */
MUST_CHECK bool setup_read_keep(struct setup *setup, struct tree *keep, struct error *error);
/* Replaces a text by what the source calls the same. */
MUST_CHECK bool setup_rename(struct tree *tree, const char *text, struct error *error);
/* Whether the section has an item of this name. */
bool setup_is_named(const struct tree *section, const char *name);

#endif
