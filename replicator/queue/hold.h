/*
 * hold: a table that a target cannot take at present, because its place there is missing or unfit, does not stop the
 * others. Its changes wait among the refused ones, in state "waiting", and a row of rowrelay.hold says so.
 *
 * Who claims a lane reads the holds when it has the lane, and puts the changes of held tables by, unread by the target.
 * Now and then one change is released: it goes back to the queue, at its old place, and with it all up to its id may
 * pass. When it arrives more are released, piece by piece and in order of ids; when it fails, everything waits again.
 * So what waits costs no attempt of anybody, keeps its order, and goes on by itself.
 *
 * What must hold: no change that waits has an id up to released_to. The row of the hold is locked first by whoever
 * releases or puts by, so that a hold does not end while somebody adds to it; and since whoever claims reads the hold
 * before the queue, while a release raises the version of the target, nobody sees a later change without the hold and
 * without the earlier one.
 */
#ifndef ROWRELAY_QUEUE_HOLD_H
#define ROWRELAY_QUEUE_HOLD_H

#include "common/buffer.h"
#include "queue/outcome.h"
#include "source/change.h"
#include "source/source.h"

/* Reads the holds of a reply to claim_token.sql into the batch. */
MUST_CHECK bool holds_read(struct batch *batch, const char *text, struct error *error);

/* Whether a change has to wait, since its table does. */
bool hold_catches(const struct batch *batch, const struct change *change);

/*
 * Writes lists of JSON for settle_held.sql and settle_passed.sql: the tables of which changes have to wait now, and
 * those held ones of which changes have passed; each "" where there are none.
 */
void hold_write_lists(const struct outcomes *outcomes, struct buffer *held, struct buffer *passed);

/* Lets changes of the target's held tables go on that it is time to try. */
MUST_CHECK bool hold_release(struct source *source, int target, struct error *error);

#endif
