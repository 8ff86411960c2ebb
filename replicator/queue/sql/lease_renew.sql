-- Extends the lease of a claim's lanes. Fewer lines than lanes: other processes have leased the rest.
--   $1 lanes  $2 process_id of the claim  $3 for how many milliseconds from now
update rowrelay.lease l
   set lease_until = clock_timestamp() + $3::bigint * interval '1 ms', lasts = $3::bigint * interval '1 ms'
 where l.lane = any ($1::integer[]) and l.process_id = $2::uuid
returning l.lane;
