-- Removes settled changes from the queue.
--   $1 for each change: its lane  $2 change ids
delete from rowrelay.queue q
 using unnest($1::integer[], $2::bigint[]) as s(lane, change_id)
 where q.lane = s.lane and q.change_id = s.change_id;
