-- Moves changes of backfill $1 above change $2 from the waiting room back to the queue, $3 at a time. Gives where the
-- next ones are, null at the end, and how many these were.
select j.next, j.passed from rowrelay.copy_join($1::integer, $2::bigint, $3::integer) as j;
