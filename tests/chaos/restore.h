/*
 * restore: the source is dumped, and goes on as what was restored from that, as its guide says: nobody writes or
 * delivers meanwhile. The database is renamed, so that nobody can; whoever tries to connect tries again until it is
 * back.
 */
#ifndef ROWRELAY_CHAOS_RESTORE_H
#define ROWRELAY_CHAOS_RESTORE_H

#include "stage.h"

/* Tries until it has worked. Whoever ends processes of rowrelay, does not start them again while `resting` says so. */
void restore_from_dump(const struct stage *stage);
/* Puts the database back for somebody who has not come to the end of that. */
void restore_give_up(const struct stage *stage);

#endif
