-- Reads what is queued for a target that has one lane, in it and among its barriers, in order of ids, and removes
-- nothing. The transaction holds the locks of both, taken by an earlier statement, as for claim_rows.sql.
--   $1 target  $2 its lanes  $3 for each of them: the id up to which it was seen empty  $4 maximum number of rows
--   $5 version of the target for which those ids hold
-- Gives row: change_id, lane, day, bytes
select q.change_id, q.lane, q.day, q.bytes
  from rowrelay.target t
  cross join unnest($2::integer[], $3::bigint[]) as l(lane, floor)
  cross join lateral (
    select q.change_id, q.lane, q.day, q.bytes
      from rowrelay.queue q
     where q.lane = l.lane and q.change_id > l.floor
     order by q.change_id limit $4::integer) as q
 where t.id = $1::integer and t.version = $5::integer and t.state = 'running' and t.dropped_at is null
 order by q.change_id
 limit $4::integer;
