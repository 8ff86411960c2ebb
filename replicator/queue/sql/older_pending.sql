-- Whether changes older than this one are still queued for a target.
--   $1 change id  $2 the target's lanes  $3 for each lane: the id up to which it was seen empty
select exists (
  select from unnest($2::integer[], $3::bigint[]) as l(lane, floor)
   cross join lateral (select q.change_id from rowrelay.queue q
                        where q.lane = l.lane and q.change_id > l.floor
                        order by q.change_id limit 1) as q
   where q.change_id < $1::bigint);
