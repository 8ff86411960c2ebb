-- Whether nobody else is at backfill $1; then this connection is, until it lets go of it or ends.
select pg_try_advisory_lock(1919907682, $1::integer);
