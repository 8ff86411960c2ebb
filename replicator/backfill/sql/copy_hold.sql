-- Puts into the waiting room what is queued for backfill $1 below change $2 (null: all), $3 rows at a time. Gives where the
-- next ones are, null at the end, and whether some of these are in flight.
select h.next, h.busy from rowrelay.copy_hold($1::integer, $2::bigint, $3::integer) as h;
