-- Whether nobody else is at backfill $1; then this connection is, until it lets go of it or ends.
select pg_try_advisory_lock(rowrelay.backfill_lock(), $1::integer);
