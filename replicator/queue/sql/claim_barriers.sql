-- Reads the barriers that may be delivered now, in order of ids, and removes nothing: those that have nothing older in
-- any other lane of the target, queued or being delivered. A truncate of a table that a document is built from in two
-- ways is queued twice: as a barrier first. The transaction holds the lock of the barriers' lane, taken
-- by an earlier statement, so that this snapshot shows what was settled before. What another worker is delivering is
-- still visible here: in the queue or, where it is sent at most once, by its lease.
--   $1 target  $2 all of its lanes  $3 for each lane: the id up to which it was seen empty  $4 maximum number of rows
--   $5 version of the target for which those ids hold  $6 whether its lanes are leased
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
       and q.change_id <= coalesce((select min(f.change_id) from first f), 9223372036854775807)
     order by q.change_id limit $4::integer) as q
 where rowrelay.lane_position(l.lane) = -1
   and t.id = $1::integer and t.version = $5::integer and t.state = 'running' and t.dropped_at is null
   and (not $6::boolean
        or not exists (select from rowrelay.lease e
                        where e.lane = any ($2::integer[]) and e.lease_until > clock_timestamp()))
 order by q.change_id;
