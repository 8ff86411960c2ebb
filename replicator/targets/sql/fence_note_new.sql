-- Records which changes were applied, all newer than what was applied before (fence_pass_new.sql), and forgets settled
-- ones, which cannot come again. Sub-selects hide the lengths of the arrays from the planner: it would otherwise make a
-- plan for each push, which takes longer than running it.
--   $1 source  $2 for each change: its lane  $3 change ids  $4 hashes of their rows, 0: of any row
--   $5 everything below this id is settled in these lanes
update rowrelay_target.fence f
   set applied = array(select a.id from unnest(f.applied) as a(id) where abs(a.id) >= $5::bigint) || n.ids,
       rows = array(select a.row from unnest(f.applied, f.rows) as a(id, row) where abs(a.id) >= $5::bigint) || n.rows
  from (select u.lane, array_agg(u.id), array_agg(nullif(u.row, 0))
          from unnest((select $2::integer[]), (select $3::bigint[]), (select $4::bigint[])) as u(lane, id, row)
         group by u.lane) as n(lane, ids, rows)
 where f.source = $1::uuid and f.lane = n.lane;
