-- Records which changes were applied, of which some may have been before, and forgets settled ones, which cannot come
-- again. What was applied before an older change of its row has come is negative from then on.
--   $1 source  $2 for each change: its lane  $3 change ids  $4 hashes of their rows, 0: of any row
--   $5 everything below this id is settled in these lanes
with sent as (
  select u.lane, u.id, nullif(u.row, 0) as row, true as is_sent, null::bigint as noted
    from unnest($2::integer[], $3::bigint[], $4::bigint[]) as u(lane, id, row)
), had as (
  select f.lane, abs(a.id) as id, a.row, false as is_sent, a.id as noted
    from rowrelay_target.fence f cross join lateral unnest(f.applied, f.rows) as a(id, row)
   where f.source = $1::uuid and f.lane = any ($2::integer[]) and abs(a.id) >= $5::bigint
), known as (
  select k.lane, k.id, max(k.row) as row, bool_or(k.is_sent) as is_sent, min(k.noted) as noted
    from (select s.* from sent s union all select h.* from had h) as k
   group by k.lane, k.id
), marked as (
  select k.lane, k.row,
         case when k.is_sent then k.id
              when k.id > least(min(k.id) filter (where k.noted is null) over (partition by k.lane, k.row),
                                min(k.id) filter (where k.noted is null and k.row is null) over of_lane,
                                case when k.row is null then min(k.id) filter (where k.noted is null) over of_lane end)
              then - k.id else k.noted end as id
    from known k
  window of_lane as (partition by k.lane)
)
update rowrelay_target.fence f set applied = n.ids, rows = n.rows
  from (select m.lane, array_agg(m.id), array_agg(m.row) from marked m group by m.lane) as n(lane, ids, rows)
 where f.source = $1::uuid and f.lane = n.lane;
