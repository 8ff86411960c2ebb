/* sqlstate: what a code of https://www.postgresql.org/docs/current/errcodes-appendix.html means for the statement that
 * failed. */
#ifndef ROWRELAY_POSTGRES_SQLSTATE_H
#define ROWRELAY_POSTGRES_SQLSTATE_H

#include "common/error.h"

/* Whether the same may work later, the server is not as it should be, or the data are at fault. */
enum failure sqlstate_failure(const char *sqlstate);

/* Whether it says that something is wrong with a table, or the right to it, rather than with the server or the data. */
bool sqlstate_is_of_a_table(const char *sqlstate);

/* Whether a name that was looked up is unknown: that of a table, type or function, which a value may be, too. */
bool sqlstate_is_of_a_name(const char *sqlstate);

/* Whether it says that another session held a lock for longer than lock_timeout. */
bool sqlstate_is_lock_wait(const char *sqlstate);

#endif
