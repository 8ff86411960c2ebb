-- Shuts out every claim of these lanes for good, and waits for pushes that have passed already.
--   $1 source  $2 lanes, ascending
insert into rowrelay_target.fence as f (source, lane, token)
select $1::uuid, l.lane, 9223372036854775807 from unnest($2::integer[]) as l(lane)
on conflict (source, lane) do update set token = excluded.token
  where f.token < excluded.token;
