-- Goes on holding a claim's lanes; fewer lines than there are lanes: others have them.
--   $1 lanes  $2 process_id of the claim  $3 how long from now, in milliseconds
update rowrelay.lease l
   set lease_until = clock_timestamp() + $3::bigint * interval '1 ms', lasts = $3::bigint * interval '1 ms'
 where l.lane = any ($1::integer[]) and l.process_id = $2::uuid
returning l.lane;
