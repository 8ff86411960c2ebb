-- The lanes of targets that were dropped within a day, also the late lanes of documents, with a token that is newer
-- than every claim of theirs so far: a push of theirs may still be on its way.
-- Gives dropped: token, lanes
select nextval('rowrelay.claim_token') as token, d.lanes
  from (select array_agg(rowrelay.lane_number(t.id, l.position) order by t.id, l.position) as lanes
          from rowrelay.target t
          cross join lateral generate_series(-1, 2 * t.lanes - 1) as l(position)
         where t.dropped_at > now() - interval '1 day') as d
 where d.lanes is not null;
