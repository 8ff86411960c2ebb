/*
 * copy: the fast backfill: copies a whole table into an empty mirror by COPY, and joins it with concurrent changes
 * without gap or repetition, also for tables without a key.
 *
 * The difficulty is to know which changes the copied rows include. A change that the copied snapshot sees must not be
 * delivered after it (an older row would replace a newer one; without a key it would be duplicated); a change that it
 * does not see must be. That is unknown before the snapshot is taken, and transactions may stay open for long. So:
 *
 * 1. The switch (rowrelay.copy_switch). While the table is copied, the trigger queues its changes for this target in
 *    other lanes, a waiting room, from which nobody delivers: logged and queued as ever, with the lane that they will
 *    have. Other targets and documents of the table, and other tables of the target, notice nothing. The
 *    switch happens under a lock that keeps writers out for a moment, so no transaction has some of its changes here
 * and some there. The lock is asked for only when everybody who was writing at the last look has ended, for a tenth of
 * a second at a time. Where changes are captured the slow way, and for TRUNCATE, rowrelay.waiting_room() says where
 * they go; it does not go by the writer's snapshot, which may be older than the switch.
 * 2. What was queued before goes into the waiting room too (rowrelay.copy_hold), the youngest first; what is in flight
 *    is waited for. What a process has on its way that lost its claim comes too late: the copy raises the target's
 * fences before it looks there. If the copy is abandoned, all of it returns to its old place and order, as if
 * nothing had happened.
 * 3. At the target a transaction locks the table against other writers, and sees that it is empty. Then a repeatable
 *    read at the source takes the snapshot. The source notes it, on disk, before anything is copied; so everything that
 *    the snapshot shows is on disk, and no crash of the source makes it forget what the target has.
 * 4. COPY out, COPY in, and a mark with the snapshot in the same transaction at the target. A process that finds the
 * note at the source later (the process was killed, a connection was lost) asks the target for the mark: if it is
 * there, the copy is; if not, and the table is empty, all begins again at 2. A process left behind that still copies
 * holds the lock on the target's table; and one that gets that lock afterwards finds the table no longer empty. Rows
 * without a mark come from elsewhere: then nothing is copied as a whole. Of a table without a key nothing can be copied
 * otherwise, and a table that changes all the time is never empty while its changes are delivered: so they stay in the
 * waiting room until somebody has emptied it. If the mark has another snapshot, a standby of the source took over that
 * does not know of the copy: without a key the same is done, because changes that came with it would come again.
 * 5. The join (rowrelay.copy_join): of each change in the waiting room the log has the transaction. What the snapshot
 *    sees is dropped, what it does not see goes into its lane, in order of ids, and processes look for it from there
 *    (rowrelay.rewind). Nothing younger of its key can be in flight, because all of that is in the waiting room. What
 * is committed after a poll is found by the next: changes of a key commit in the order of their ids, so none can
 *    overtake another. A barrier (TRUNCATE) comes out after, or together with, what is before it.
 * 6. When little is left, the rest comes out under a lock as for the switch, and the trigger queues in the lanes again
 *    (rowrelay.copy_finish).
 *
 * The table at the source is read like pg_dump reads it: under ACCESS SHARE, and by one long snapshot. If another
 * session waits for an exclusive lock (TRUNCATE, ALTER TABLE), and so blocks all others, the copy gives way after a
 * second or two and begins again later.
 *
 * What cannot be copied so (the target's table has rows, lacks a column, refuses a row, has columns whose values would
 * come out otherwise than from a change) is copied piece by piece, as all other backfills are.
 */
#ifndef ROWRELAY_BACKFILL_COPY_H
#define ROWRELAY_BACKFILL_COPY_H

#include "backfill/backfill.h"

/*
 * The next step of a backfill. *is_copy is false, and nothing was done, when it is not one that is copied as a whole,
 * or not any more. A failure of the target is no error: progress->note tells it. The step that copies takes long, and
 * calls backfill->tell() meanwhile.
 */
MUST_CHECK bool copy_step(struct backfill *backfill, struct backfill_progress *progress, bool *is_copy,
                          struct error *error);

/* See backfill_prepare(). */
MUST_CHECK bool copy_prepare(struct backfill *backfill, bool *waits, struct error *error);

#endif
