-- Locks the one lane of a target that has no more, and its lane of barriers, until the transaction ends: both, or it
-- does not count. An only lane is claimed together with its barriers, so that these divide no transaction; whoever
-- claims tries the lane first, so that no two of them keep one lock each. As for claim_lanes.sql, what is seen here
-- only says where to try, and claim_queued.sql decides.
-- What is locked is noted in a setting of the transaction, for claim_token.sql.
--   $1 the lane of barriers, and the lane  $2 for each of them: the id up to which it was seen empty
-- Gives waiting: lane, first_id, locked, failures
with waiting as materialized (
  select l.lane, q.change_id as first_id
    from unnest($1::text::integer[], $2::bigint[]) as l(lane, floor)
    cross join lateral (select q.change_id from rowrelay.queue q
                         where q.lane = l.lane and q.change_id > l.floor
                         order by q.change_id limit 1) as q
), own_lock as materialized (
  select from rowrelay.lane k
   where k.lane = ($1::text::integer[])[2] and exists (select from waiting)
     for update skip locked
), barrier_lock as materialized (
  select from rowrelay.lane k
   where k.lane = ($1::text::integer[])[1] and exists (select from own_lock)
     for update skip locked
), noted as materialized (
  select set_config('rowrelay.locked_lanes', coalesce((select $1::text from barrier_lock), ''), true) <> '' as locked
)
select w.lane, w.first_id, noted.locked, 0 as failures
  from waiting w
  cross join noted
 order by w.lane;
