-- The lanes of targets that were dropped within a day, also the late lanes of documents: a push of theirs may still be
-- on its way.
select coalesce(array_agg(rowrelay.lane_number(t.id, l.position) order by t.id, l.position), '{}') as lanes,
       count(*) > 0 as any
  from rowrelay.target t
  cross join lateral generate_series(-1, 2 * t.lanes - 1) as l(position)
 where t.dropped_at > now() - interval '1 day';
