-- Finds the lanes of a target that have work, and locks some that no other worker holds, until the transaction ends. A
-- lane without queued rows is neither in the result nor locked, so that a poll of an empty queue writes nothing. What
-- is seen here only says where to try: a lane's former holder may have committed after this snapshot was taken. The
-- statement that follows (claim_rows.sql, claim_queued.sql, claim_barriers.sql) begins when the locks are held, and
-- decides what is claimed. claim_rows.sql is sent together with this one, so it finds the locked lanes and their first
-- ids in settings of the transaction.
-- A document has a late lane behind each of its lanes, for work that live changes overtake. The two share one lock,
-- because they have the same keys. One call locks either live lanes or late ones; few of the latter, because each of
-- their rows is much work, and the rows of one lane often name the same keys.
--   $1 the target's lanes  $2 for each lane: the id up to which it was seen empty  $3 maximum number of lanes to lock
--   $4 number of its lanes that are not late  $5 whether late lanes come first this time
--   $6 whether its lanes are leased: then a lane under a lease is not free
-- Gives waiting: lane, first_id, locked, failures
with lane as materialized (
  select l.lane, l.floor, rowrelay.lane_position(l.lane) >= $4::integer as is_late
    from unnest($1::integer[], $2::bigint[]) as l(lane, floor)
), waiting as materialized (
  select l.lane, l.is_late, q.change_id as first_id
    from lane l
    cross join lateral (select q.change_id from rowrelay.queue q
                         where q.lane = l.lane and q.change_id > l.floor
                         order by q.change_id limit 1) as q
), held as materialized (
  -- nothing overtakes a barrier that is held, and a barrier overtakes nothing that is
  select e.lane
    from lane l
    join rowrelay.lease e on e.lane = l.lane
   where $6::boolean and e.lease_until > clock_timestamp()
), barrier as materialized (
  select w.first_id as id from waiting w where rowrelay.lane_position(w.lane) = -1
), ready as materialized (
  select w.lane, w.is_late, w.first_id
    from waiting w
   where case when rowrelay.lane_position(w.lane) = -1
              then not exists (select from waiting o where o.first_id < w.first_id)
              else w.first_id < coalesce((select b.id from barrier b), 9223372036854775807) end
     and (not $6::boolean
          or not exists (select from held h
                          where h.lane = w.lane - case when w.is_late then $4::integer else 0 end
                             or rowrelay.lane_position(w.lane) = -1 or rowrelay.lane_position(h.lane) = -1))
), chosen as materialized (
  select r.lane, r.first_id, r.is_late
    from ready r
   where r.is_late = coalesce((select $5::boolean from ready o where o.is_late = $5::boolean limit 1), not $5::boolean)
), locked as materialized (
  -- the oldest first, so that no lane starves
  select c.lane
    from (select * from chosen order by first_id offset 0) as c
    join rowrelay.lane k on k.lane = c.lane - case when c.is_late then $4::integer else 0 end
   order by c.first_id
   limit case when exists (select from chosen c where c.is_late) then greatest(1, $3::integer / 16) else $3::integer end
     for update of k skip locked
), noted as materialized (
  select set_config('rowrelay.locked_lanes', coalesce(array_agg(w.lane)::text, ''), true),
         set_config('rowrelay.first_ids', coalesce(array_agg(w.first_id)::text, ''), true)
    from waiting w
    join locked k on k.lane = w.lane
)
select w.lane, w.first_id, exists (select from locked k where k.lane = w.lane) as locked,
       case when $6::boolean then coalesce((select e.expiries + (e.lease_until > '-infinity')::integer
                                              from rowrelay.lease e where e.lane = w.lane), 0) else 0 end as failures
  from waiting w
  cross join noted
 order by w.lane;
