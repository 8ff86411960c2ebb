-- Reads the barriers that may be delivered now, in order of ids, and takes nothing: those before which nothing is queued or
-- in hand in any other lane of the target. The transaction holds the lock of the lane of barriers; it must be a statement
-- after the one that took it. What somebody else has in hand is seen here until it is settled: in the queue, or, where it
-- was sent at most once, by its lease.
--   $1 target  $2 all of its lanes  $3 for each: the id up to which it was seen empty  $4 rows at most
--   $5 version of the target for which the floors hold  $6 whether its lanes are leased
-- Gives row: change_id, lane, day, bytes
with first as materialized (
  select l.lane, q.change_id
    from unnest($2::integer[], $3::bigint[]) as l(lane, floor)
    cross join lateral (select q.change_id from rowrelay.queue q
                         where q.lane = l.lane and q.change_id > l.floor and rowrelay.lane_position(l.lane) <> -1
                         order by q.change_id limit 1) as q
)
select q.change_id, q.lane, q.day, q.bytes
  from rowrelay.target t
  cross join unnest($2::integer[], $3::bigint[]) as l(lane, floor)
  cross join lateral (
    select q.change_id, q.lane, q.day, q.bytes
      from rowrelay.queue q
     where q.lane = l.lane and q.change_id > l.floor
       and q.change_id < coalesce((select min(f.change_id) from first f), 9223372036854775807)
     order by q.change_id limit $4::integer) as q
 where rowrelay.lane_position(l.lane) = -1
   and t.id = $1::integer and t.version = $5::integer and t.state = 'running' and t.dropped_at is null
   and (not $6::boolean
        or not exists (select from rowrelay.lease e
                        where e.lane = any ($2::integer[]) and e.lease_until > clock_timestamp()))
 order by q.change_id;
