/* sqlstate: what a code of https://www.postgresql.org/docs/current/errcodes-appendix.html means for whoever asked. */
#ifndef ROWRELAY_SQLSTATE_H
#define ROWRELAY_SQLSTATE_H

#include "error.h"

/* Whether the same may work later, the server is not as it should be, or the data are at fault. */
enum failure sqlstate_failure(const char *sqlstate);

#endif
