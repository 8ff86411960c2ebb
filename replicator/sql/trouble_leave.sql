-- Lets somebody else try the target next.
--   $1 target
select pg_advisory_unlock(1919907699, $1::integer);
