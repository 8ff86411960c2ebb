-- Backfill $1 is not copied as a whole, because of $2.
select rowrelay.copy_abandon($1::integer, $2);
