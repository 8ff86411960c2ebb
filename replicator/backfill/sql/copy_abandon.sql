-- Copies the table of backfill $1 row by row instead of as a whole, because of $2.
select rowrelay.copy_abandon($1::integer, $2);
