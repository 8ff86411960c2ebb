-- Notes which changes were applied. Those that are settled cannot come again.
--   $1 source  $2 lanes  $3 for each: a change id  $4 what is older in these lanes is settled
update rowrelay_target.fence f
   set applied = array(select a from unnest(f.applied) as a where a >= $4::bigint) || n.ids
  from (select u.lane, array_agg(u.id) as ids
          from unnest($2::integer[], $3::bigint[]) as u(lane, id) group by u.lane) as n
 where f.source = $1::uuid and f.lane = n.lane;
