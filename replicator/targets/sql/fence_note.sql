-- Records which changes were applied, and forgets settled ones, which cannot come again.
--   $1 source  $2 for each change: its lane  $3 change ids  $4 everything below this id is settled in these lanes
update rowrelay_target.fence f
   set applied = array(select a from unnest(f.applied) as a where a >= $4::bigint) || n.ids
  from (select u.lane, array_agg(u.id) as ids
          from unnest($2::integer[], $3::bigint[]) as u(lane, id) group by u.lane) as n
 where f.source = $1::uuid and f.lane = n.lane;
