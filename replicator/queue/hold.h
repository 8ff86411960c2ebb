/*
 * hold: keeps a table that a target cannot take at present, because its place there is missing or unfit, from stopping
 * the others. Its changes wait among the refused ones, in state "waiting", and a row of rowrelay.hold records that.
 *
 * A claim reads the holds once it has its lanes, and sets the changes of held tables aside without pushing them. Now
 * and then one change is released: it goes back to its place in the queue, and everything up to its id may pass. When
 * it arrives, more are released, in pieces and in order of ids; when it fails, everything waits again. So waiting
 * changes cost no attempts, keep their order, and go on without help.
 *
 * What came to the table's place at the target after the table had left it waits for what is held of it: see
 * rowrelay.barred_by_holds().
 *
 * Invariant: no waiting change has an id up to released_to. Releasing and setting aside lock the row of the hold first,
 * so that a hold does not end while changes are added to it; and since a claim reads the hold before the queue, while a
 * release raises the version of the target, none sees a later change without the hold or the earlier change.
 */
#ifndef ROWRELAY_QUEUE_HOLD_H
#define ROWRELAY_QUEUE_HOLD_H

#include "common/buffer.h"
#include "queue/outcome.h"
#include "source/change.h"
#include "source/source.h"

/* Reads the holds of a reply to claim_holds.sql into the batch. */
MUST_CHECK bool holds_read(struct batch *batch, const char *text, struct error *error);

/* Whether a change has to wait because its table is held. */
bool hold_catches(const struct batch *batch, const struct change *change);

/*
 * Writes JSON lists for settle_held.sql and settle_passed.sql: the tables whose changes have to wait now, and the held
 * ones of which changes have passed; "" for an empty list.
 */
void hold_write_lists(const struct outcomes *outcomes, struct buffer *held, struct buffer *passed);

/* Releases changes of the target's held tables that are due for a try. */
MUST_CHECK bool hold_release(struct source *source, int target, struct error *error);

#endif
