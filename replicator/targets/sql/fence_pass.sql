-- Passes the fences of a claim's lanes, and keeps older claims out until the transaction ends. One line for each fence
-- passed; fewer lines than lanes: a newer claim has passed one of them.
--   $1 source  $2 lanes, ascending  $3 token
insert into rowrelay_target.fence as f (source, lane, token)
select $1::uuid, l.lane, $3::bigint from unnest($2::integer[]) as l(lane)
on conflict (source, lane) do update set token = excluded.token
  where f.token <= excluded.token
returning f.applied;
