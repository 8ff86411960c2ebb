-- The number of the last claim that has passed one of these fences.
--   $1 source  $2 lanes
select coalesce(max(f.token), 0) from rowrelay_target.fence f
 where f.source = $1::uuid and f.lane = any ($2::integer[]);
