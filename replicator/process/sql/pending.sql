-- Whether a target has anything queued, including what another process is pushing now. Also true for held changes that
-- were released, which may be older than the ids up to which lanes were seen empty, and for held changes due for
-- release. (Held changes that are not due yet are reported elsewhere, as refused ones are.)
--   $1 the target's lanes  $2 for each lane: the id up to which it was seen empty
select exists (
  select from unnest($1::integer[], $2::bigint[]) as l(lane, floor)
   cross join lateral (select from rowrelay.queue q
                        where q.lane = l.lane and q.change_id > l.floor order by q.change_id limit 1) as q)
    or exists (select from rowrelay.hold h
                left join rowrelay.barred_by_holds(rowrelay.lane_target(($1::integer[])[1])) as b
                  on b.capture = h.capture
                where h.target = rowrelay.lane_target(($1::integer[])[1])
                  and (h.released > 0
                       or (h.retry_at not between clock_timestamp() and clock_timestamp() + interval '1 min'
                           -- it waits for what had its place before
                           and not coalesce(b.up_to < (select min(f.change_id) from rowrelay.refusal f
                                                        where f.target = h.target and f.capture = h.capture
                                                          and f.state = 'waiting'), false))));
