-- A lane in which the target knows an older claim than it has confirmed: it has lost what it had. A standby may lag,
-- and is asked nothing.
--   $1 source  $2 lanes  $3 the last claim that was confirmed in each
select k.token as confirmed, coalesce(f.token, 0) as known
  from unnest($2::integer[], $3::bigint[]) as k(lane, token)
  left join rowrelay_target.fence f on f.source = $1::uuid and f.lane = k.lane
 where coalesce(f.token, 0) < k.token and not pg_is_in_recovery()
 order by k.token desc limit 1;
