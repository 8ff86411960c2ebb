-- Lets others be at backfill $1.
select pg_advisory_unlock(1919907682, $1::integer);
