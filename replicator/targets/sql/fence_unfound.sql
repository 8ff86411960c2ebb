-- The changes of these lanes with which rows without a key were to be deleted that were not there; see fence.h.
--   $1 source  $2 lanes
select f.applied from rowrelay_target.fence f
 where f.source = $1::uuid and f.lane in (select - u.lane from unnest($2::integer[]) as u(lane));
