/* documents: plans the steps for documents. */
#ifndef ROWRELAY_SETUP_DOCUMENTS_H
#define ROWRELAY_SETUP_DOCUMENTS_H

#include "setup/setup.h"

MUST_CHECK bool documents_plan(struct setup *setup, struct error *error);
MUST_CHECK bool documents_plan_removal(struct setup *setup, struct error *error);

/* Adds to the map `used` the tables of all documents that will be there; after documents_plan(). */
MUST_CHECK bool documents_find_tables(struct setup *setup, struct tree *used, struct error *error);

#endif
