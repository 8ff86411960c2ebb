/* captures: plans the steps for captured tables, and for their routes. */
#ifndef ROWRELAY_SETUP_CAPTURES_H
#define ROWRELAY_SETUP_CAPTURES_H

#include "setup/setup.h"

MUST_CHECK bool captures_plan(struct setup *setup, struct error *error);
/*
 * Of tables, except those that documents are built from: `used` is a map with their names. Routes are removed where the
 * file names routes of the table.
 */
MUST_CHECK bool captures_plan_removal(struct setup *setup, const struct tree *used, struct error *error);

#endif
