-- Records which changes were applied, and forgets settled ones, which cannot come again. What was applied before an
-- older change of its row has come is negative from then on.
--   $1 source  $2 for each change: its lane  $3 change ids  $4 hashes of their rows, 0: of any row
--   $5 everything below this id is settled in these lanes
update rowrelay_target.fence f
   set (applied, rows) = (
         with had as (
           select abs(a.id) as id, a.id as noted, a.row from unnest(f.applied, f.rows) as a(id, row)
            where abs(a.id) >= $5::bigint
         ), came as (
           select c.id, c.row from unnest(n.ids, n.rows) as c(id, row)
         ), oldest as (
           select c.row, min(c.id) as id from came c
            where exists (select from had) and c.id not in (select h.id from had h)
            group by c.row
         )
         select array_agg(a.id), array_agg(a.row)
           from (select case when h.id > least(o.id, (select min(s.id) from oldest s where s.row is null or h.row is null))
                             then - h.id else h.noted end, h.row
                   from had h left join oldest o on o.row = h.row
                  where h.id not in (select c.id from came c)
                 union all
                 select c.id, c.row from came c) as a(id, row))
  from (select u.lane, array_agg(u.id), array_agg(nullif(u.row, 0))
          from unnest($2::integer[], $3::bigint[], $4::bigint[]) as u(lane, id, row)
         group by u.lane) as n(lane, ids, rows)
 where f.source = $1::uuid and f.lane = n.lane;
