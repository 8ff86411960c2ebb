/* targets: plans the steps for targets, and for the options of documents, which are targets too. */
#ifndef ROWRELAY_SETUP_TARGETS_H
#define ROWRELAY_SETUP_TARGETS_H

#include "setup/setup.h"

MUST_CHECK bool targets_plan(struct setup *setup, struct error *error);
MUST_CHECK bool targets_plan_removal(struct setup *setup, struct error *error);

/* A target or document by its name in the file, and what it is called in texts. */
struct targets_item {
  const struct tree *name;
  const struct tree *wanted;
  const struct tree *present;
  const char *what;
};

/* Plans to set the URL and options that differ, and to pause or resume. */
MUST_CHECK bool targets_plan_change(struct setup *setup, const struct targets_item *item, struct error *error);
MUST_CHECK bool targets_plan_pause(struct setup *setup, const struct targets_item *item, struct error *error);
/* Whether the file names options that no target has. */
MUST_CHECK bool targets_check_options(const struct setup *setup, const struct tree *options, struct error *error);
/*
 * Appends as JSON the options of both that are not null, for a new target; those of `wanted` win. Each may be NULL or a
 * null.
 */
void targets_add_options(struct buffer *json, const struct tree *wanted, const struct tree *present);

#endif
