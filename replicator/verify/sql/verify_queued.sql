-- What is still queued for a target, or being delivered, of the changes up to an id: whether anything is; whether that
-- is too much to look through, or holds a truncate of the table; the keys of the table's rows that have such a change,
-- as a JSON array; and whether the target is running.
--   $1 target  $2 change id  $3 capture
-- Gives queued: any, too_much, keys, state
with queued as materialized (
  select q.change_id, q.day
    from rowrelay.target t
    cross join lateral (
      select coalesce((select f.floor from rowrelay.floor f where f.target = t.id), 0) as up_to) as settled
    cross join generate_series(-1, t.lanes - 1) as n
    cross join lateral (select q.change_id, q.day from rowrelay.queue q
                         where q.lane = rowrelay.lane_number(t.id, n) and q.change_id > settled.up_to
                           and q.change_id <= $2::bigint
                         order by q.change_id limit 20000) as q
   where t.id = $1::integer
   limit 20000
), waiting as materialized (
  select c.key, c.op
    from queued q
    cross join lateral (
      select h.key, h.op, h.capture from rowrelay.change h where h.id = q.change_id and h.day = q.day offset 0) as c
   where c.capture = $3::integer
  union all
  -- sent at most once: until it is known whether it arrived, it is not in the queue
  select f.key, null
    from rowrelay.refusal f join rowrelay.lease e on e.lane = f.lane and e.lease_until > clock_timestamp()
   where f.target = $1::integer and f.change_id <= $2::bigint and f.capture = $3::integer
)
select exists (select from queued) as any,
       (select count(*) = 20000 from queued) or exists (select from waiting w where w.key is null) as too_much,
       (select coalesce(json_agg(distinct w.key), '[]') from waiting w where w.key is not null) as keys,
       (select case when t.state <> 'running' then t.state
                    when exists (select from rowrelay.instance i
                                  where rowrelay.is_alive(i.heartbeat_at)
                                    and (i.targets is null or t.id = any (i.targets)))
                      then 'running'
                    else 'not running' end
          from rowrelay.target t where t.id = $1::integer) as state;
