-- The version of a target, by which a process sees whether what it knows of the target is up to date. No row: it is
-- dropped.
--   $1 target
select t.version from rowrelay.target t where t.id = $1::integer and t.dropped_at is null;
