-- Reads the rows of lanes that claim_rows.sql would remove, and leaves them in the queue. No row when another process
-- has leased one of the lanes, or the lane of barriers, meanwhile.
--   $1 target  $2 lanes, without that of barriers  $3 for each lane: the id up to which it was seen empty
--   $4 maximum number of rows of each lane  $5 maximum number of bytes; one larger row comes alone
--   $6 version of the target for which those ids hold  $7 the id up to which the lane of barriers was seen empty
-- Gives row: change_id, lane, day, bytes
with candidate as materialized (
  select c.*
    from rowrelay.target t
    cross join lateral (
      select coalesce(min(b.change_id), 9223372036854775807) as id
        from rowrelay.queue b
       where b.lane = rowrelay.lane_number($1::integer, -1) and b.change_id > $7::bigint) as barrier
    cross join unnest($2::integer[], $3::bigint[]) as l(lane, floor)
    cross join lateral (
      select q.change_id, q.lane, q.day, q.bytes
        from rowrelay.queue q
       where q.lane = l.lane and q.change_id > l.floor and q.change_id < barrier.id
       order by q.change_id limit $4::integer) as c
   where t.id = $1::integer and t.version = $6::integer and t.state = 'running' and t.dropped_at is null
     and not exists (select from rowrelay.lease e
                      where e.lane = any ($2::integer[] || rowrelay.lane_number($1::integer, -1))
                        and e.lease_until > clock_timestamp())
), measured as (
  select c.*, sum(c.bytes) over in_order as sum_bytes, row_number() over in_order as n
    from candidate c
  window in_order as (order by c.change_id rows unbounded preceding)
)
select m.change_id, m.lane, m.day, m.bytes
  from measured m
 where m.sum_bytes <= $5::bigint or m.n = 1
 order by m.change_id;
