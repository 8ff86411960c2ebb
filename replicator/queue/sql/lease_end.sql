-- Ends the lease of a claim's lanes. Fewer lines than lanes: other processes have leased the rest. The count of
-- processes that died with a lane goes down by one with each settled batch: what kills them may come later in the lane.
--   $1 lanes  $2 process_id of the claim  $3 whether the batch is settled
with gone as (
  delete from rowrelay.lease l
   where l.lane = any ($1::integer[]) and l.process_id = $2::uuid and l.expiries <= $3::boolean::integer
  returning l.lane
), freed as (
  update rowrelay.lease l
     set lease_until = '-infinity', expiries = l.expiries - $3::boolean::integer, deaths = 0
   where l.lane = any ($1::integer[]) and l.process_id = $2::uuid and l.expiries > $3::boolean::integer
  returning l.lane
)
select lane from gone union all select lane from freed;
