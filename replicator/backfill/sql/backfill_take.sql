-- Locks backfill $1 for this session; false: another session runs it.
select pg_try_advisory_lock(rowrelay.backfill_lock(), $1::integer);
