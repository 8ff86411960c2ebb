-- The last claim that target $1 has confirmed in each lane, of the latest hundred receipts, as two array literals;
-- null: none is known. What a target loses, it loses from a moment on, so one of the latest is missing there. Those by
-- which a loss was noted have no lanes any more: see rowrelay.note_loss().
-- Gives confirmed: lanes, tokens
select array_agg(l.lane) as lanes, array_agg(l.token) as tokens
  from (select u.lane, max(r.token) as token
          from (select c.token, c.lanes from rowrelay.receipt c
                 where c.target = $1::integer
                 order by c.settled_at desc limit 100) as r
         cross join lateral unnest(r.lanes) as u(lane)
         group by u.lane) as l;
