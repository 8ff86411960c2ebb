-- Passes the fences of a claim's lanes as fence_pass.sql does, and records what is to be pushed as applied, if all is
-- newer than what was applied before. Otherwise, or if a newer claim has passed one of them, it fails: a token is never
-- null. So the changes can be sent together with it. What is settled is forgotten: it cannot come again. Sub-selects
-- hide the lengths of the arrays from the planner: it would otherwise make a plan for each push, which takes longer
-- than running it. Fences are passed in ascending order, so that no two claims wait for each other.
--   $1 source  $2 lanes, ascending  $3 token
--   $4 for each change that is recorded: its lane  $5 its id  $6 the hash of its row, 0: of any row
--   $7 everything below this id is settled in these lanes
insert into rowrelay_target.fence as f (source, lane, token, applied, rows)
select $1::uuid, l.lane, $3::bigint, coalesce(n.ids, '{}'), coalesce(n.rows, '{}')
  from unnest((select $2::integer[])) as l(lane)
  left join (select u.lane, array_agg(u.id) as ids, array_agg(nullif(u.row, 0)) as rows
               from unnest((select $4::integer[]), (select $5::bigint[]), (select $6::bigint[])) as u(lane, id, row)
              group by u.lane) as n on n.lane = l.lane
 order by l.lane
on conflict (source, lane) do update
  set token = case when f.token <= excluded.token
                    and coalesce((select max(abs(a)) from unnest(f.applied) as a)
                                 < (select min(a) from unnest(excluded.applied) as a), true)
                   then excluded.token end,
      applied = array(select a.id from unnest(f.applied) as a(id) where abs(a.id) >= $7::bigint) || excluded.applied,
      rows = array(select a.row from unnest(f.applied, f.rows) as a(id, row) where abs(a.id) >= $7::bigint)
             || excluded.rows;
