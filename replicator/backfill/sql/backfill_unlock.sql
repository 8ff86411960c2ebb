-- Unlocks backfill $1.
select pg_advisory_unlock(rowrelay.backfill_lock(), $1::integer);
