-- Puts queued changes of backfill $1 below change $2 (null: all) into the waiting room, $3 at a time. Gives where the
-- next ones are, null at the end, and whether some of these are being delivered.
select h.next, h.busy from rowrelay.copy_hold($1::integer, $2::bigint, $3::integer) as h;
