-- Records which changes were applied, and forgets settled ones, which cannot come again. What was applied before an
-- older change of its lane has come is negative from then on: the older one may have been of the same row.
--   $1 source  $2 for each change: its lane  $3 change ids  $4 everything below this id is settled in these lanes
update rowrelay_target.fence f
   set applied = case
         when not exists (select from unnest(f.applied) as a where abs(a) >= $4::bigint) then n.ids
         else array(
           select case when abs(a) > (select min(i) from unnest(n.ids) as i
                                       where not exists (select from unnest(f.applied) as b where abs(b) = i))
                       then - abs(a) else a end
             from unnest(f.applied) as a
            where abs(a) >= $4::bigint and abs(a) <> all (n.ids)) || n.ids
       end
  from (select u.lane, array_agg(u.id) as ids
          from unnest($2::integer[], $3::bigint[]) as u(lane, id) group by u.lane) as n
 where f.source = $1::uuid and f.lane = n.lane;
