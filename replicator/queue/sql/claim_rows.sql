-- Removes the oldest queued rows of lanes whose locks this transaction holds; they are gone when it commits. An earlier
-- statement must have taken the locks: only a snapshot taken after that shows what others did with these lanes before.
-- Nothing behind a barrier is taken: a barrier that another worker is delivering is visible here until it is settled.
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
      select q.ctid as tuple, q.change_id, q.bytes
        from rowrelay.queue q
       where q.lane = l.lane and q.change_id > l.floor and q.change_id < barrier.id
       order by q.change_id limit $4::integer
         for update of q) as c
   where t.id = $1::integer and t.version = $6::integer and t.state = 'running' and t.dropped_at is null
), measured as (
  select c.tuple, sum(c.bytes) over in_order as bytes, row_number() over in_order as n
    from candidate c
  window in_order as (order by c.change_id rows unbounded preceding)
), claimed as (
  delete from rowrelay.queue q
   where q.ctid = any (array(select m.tuple from measured m where m.bytes <= $5::bigint or m.n = 1))
  returning q.change_id, q.lane, q.day, q.bytes
)
select c.change_id, c.lane, c.day, c.bytes from claimed c order by c.change_id;
