-- Which lanes of a target have work, and locks some of them that nobody else works on. The locks end with the
-- transaction. A lane without queued rows is not in the result. Behind a barrier nothing is claimed; the
-- barrier itself is, once all before it is settled.
--   $1 the target's lanes  $2 for each: the id up to which it was seen empty  $3 how many to lock at most
with lane as materialized (
  select l.lane, l.floor from unnest($1::integer[], $2::bigint[]) as l(lane, floor)
), waiting as materialized (
  select l.lane, q.change_id as first_id
    from lane l
    cross join lateral (select q.change_id from rowrelay.queue q
                         where q.lane = l.lane and q.change_id > l.floor
                         order by q.change_id limit 1) as q
), barrier as materialized (
  select w.first_id as id from waiting w where w.lane & 4095 = 0
), ready as materialized (
  select w.lane, w.first_id
    from waiting w
   where case when w.lane & 4095 = 0 then not exists (select from waiting o where o.first_id < w.first_id)
              else w.first_id < coalesce((select b.id from barrier b), 9223372036854775807) end
   order by w.first_id
), locked as materialized (
  -- the oldest first, so that no lane starves
  select r.lane from (select * from ready order by first_id offset 0) as r
   where pg_try_advisory_xact_lock(1919907698, r.lane)
   limit $3::integer
)
select w.lane, w.first_id, exists (select from locked k where k.lane = w.lane) as locked
  from waiting w
 order by w.lane;
