-- Locks backfill $1 for this connection, until it unlocks it or ends; false: another session runs it.
select pg_try_advisory_lock(rowrelay.backfill_lock(), $1::integer);
