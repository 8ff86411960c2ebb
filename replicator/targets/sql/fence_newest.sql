-- The number of the last claim of a source that the target knows.
--   $1 source
select coalesce(max(f.token), 0) from rowrelay_target.fence f where f.source = $1::uuid;
