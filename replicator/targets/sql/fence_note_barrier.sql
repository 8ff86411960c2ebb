-- A barrier comes: what is newer and was applied before it, in whatever lane, may have been of the same rows.
--   $1 source  $2 lanes  $3 the barrier's change  $4 everything below this id is settled in these lanes
update rowrelay_target.fence f
   set (applied, rows) = (
         select coalesce(array_agg(case when abs(a.id) > $3::bigint then - abs(a.id) else a.id end), '{}'),
                coalesce(array_agg(a.row), '{}')
           from unnest(f.applied, f.rows) as a(id, row)
          where abs(a.id) >= $4::bigint)
 where f.source = $1::uuid and f.lane = any ($2::integer[]) and f.applied <> '{}';
