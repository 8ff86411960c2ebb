-- A barrier comes: what is newer and was applied before it, in whatever lane, may have been of the same rows.
--   $1 source  $2 lanes  $3 the barrier's change  $4 everything below this id is settled in these lanes
update rowrelay_target.fence f
   set applied = array(select case when abs(a) > $3::bigint then - abs(a) else a end
                         from unnest(f.applied) as a where abs(a) >= $4::bigint)
 where f.source = $1::uuid and f.lane = any ($2::integer[]) and f.applied <> '{}';
