-- Ends copying backfill $1 as a whole, if no transaction is writing to its table and at most $2 changes wait.
select f.finished, f.note from rowrelay.copy_finish($1::integer, $2::integer) as f;
