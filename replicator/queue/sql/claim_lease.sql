-- Leases lanes whose locks this transaction holds, after their rows were read. A lease that has expired belonged to a
-- process that died; one that was ended properly has lease_until = -infinity. Fewer lines than lanes: another process
-- leases the others. Gives the new claim's id, how often processes have died holding the lane since a claim was last
-- settled, and how often with this one change.
--   $1 lanes  $2 instance  $3 token  $4 for how many milliseconds  $5 the change, if the claim has only one
-- Gives leased: process_id, expiries, deaths
with claim as materialized (
  select gen_random_uuid() as id, $4::bigint * interval '1 ms' as lasts
)
insert into rowrelay.lease as l (lane, process_id, instance, token, claimed_at, lease_until, lasts, change_id)
select u.lane, c.id, $2::uuid, $3::bigint, clock_timestamp(), clock_timestamp() + c.lasts, c.lasts, $5::bigint
  from unnest($1::integer[]) as u(lane), claim c
on conflict (lane) do update
  set process_id = excluded.process_id, instance = excluded.instance, token = excluded.token,
      claimed_at = excluded.claimed_at, lease_until = excluded.lease_until, lasts = excluded.lasts,
      expiries = l.expiries + (l.lease_until > '-infinity')::integer, change_id = excluded.change_id,
      deaths = case when l.change_id = excluded.change_id then l.deaths + 1 else 0 end
  where l.lease_until <= clock_timestamp()
returning process_id, expiries, deaths;
