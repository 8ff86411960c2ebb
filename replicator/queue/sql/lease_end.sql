-- Lets go of a claim's lanes; fewer lines than there are lanes: others have them. That processes died there is forgotten
-- little by little, while batches are settled: what kills them may be further on.
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
