/* operation: the words for what a change did, as views show them and people ask for them. */
#ifndef ROWRELAY_SOURCE_OPERATION_H
#define ROWRELAY_SOURCE_OPERATION_H

#include "common/error.h"

/* Whether there is an operation of that name. */
MUST_CHECK bool operation_check(const char *word, struct error *error);

#endif
