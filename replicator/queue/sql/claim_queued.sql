-- Reads what is queued in the one lane of a target that has no more, in order of ids, and removes nothing. The
-- transaction holds the lane's lock, taken by an earlier statement, as for claim_rows.sql.
--   $1 target  $2 lane, as an array  $3 the id up to which it was seen empty, as an array  $4 maximum number of rows
--   $5 version of the target for which that id holds
-- Gives row: change_id, lane, day, bytes
select q.change_id, q.lane, q.day, q.bytes
  from rowrelay.target t
  cross join unnest($2::integer[], $3::bigint[]) as l(lane, floor)
  cross join lateral (
    select q.change_id, q.lane, q.day, q.bytes
      from rowrelay.queue q
     where q.lane = l.lane and q.change_id > l.floor
       and q.change_id < coalesce((select min(b.change_id) from rowrelay.queue b
                                    where b.lane = rowrelay.lane_number($1::integer, -1)), 9223372036854775807)
     order by q.change_id limit $4::integer) as q
 where t.id = $1::integer and t.version = $5::integer and t.state = 'running' and t.dropped_at is null
 order by q.change_id;
