-- Passes the fences of a claim's lanes as fence_pass.sql does, if everything that is to be pushed is newer than what
-- was applied. Otherwise, or if a newer claim has passed one of them, it fails: a token is never null. So the changes
-- can be sent together with it. A fence that is new is given the oldest change as applied, as it will be.
--   $1 source  $2 lanes, ascending  $3 for each: the oldest change that is to be pushed, or null  $4 token
insert into rowrelay_target.fence as f (source, lane, token, applied)
select $1::uuid, l.lane, $4::bigint, case when l.first_id is null then '{}' else array[l.first_id] end
  from unnest($2::integer[], $3::bigint[]) as l(lane, first_id)
on conflict (source, lane) do update
  set token = case when f.token <= excluded.token
                    and coalesce((select max(abs(a)) from unnest(f.applied) as a) < excluded.applied[1], true)
                   then excluded.token end;
